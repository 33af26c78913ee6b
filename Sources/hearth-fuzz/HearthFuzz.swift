import Foundation

/// The entry point of libFuzzer, called with the function that processes an input.
@_silgen_name("LLVMFuzzerRunDriver") private func runDriver(
  _ count: UnsafeMutablePointer<CInt>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
  _ body: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// Required by the linker; the driver is passed its own callback.
@_cdecl("LLVMFuzzerTestOneInput") public func unused(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt { 0 }

/// Runs a part of Hearth on hostile input.
///
///     hearth-fuzz list                      list the targets
///     hearth-fuzz seed TARGET DIRECTORY     write initial inputs, recorded from valid exchanges
///     hearth-fuzz TARGET FILE…              run the target on these inputs once, to reproduce a finding
///     hearth-fuzz TARGET -OPTION… DIR…      let libFuzzer generate inputs
@main enum HearthFuzz {
  /// The current target; global, as the driver's callback can't capture context.
  nonisolated(unsafe) private static var target: FuzzTarget?

  static func main() {
    let arguments = Array(CommandLine.arguments.dropFirst())
    switch arguments.first {
    case "list": for target in FuzzTarget.all { print(target.name) }
    case "seed": seed(Array(arguments.dropFirst()))
    case let name?:
      guard let target = FuzzTarget.all.first(where: { $0.name == name }) else { quit("unknown target \(name)") }
      run(target)
    case nil: quit("hearth-fuzz list | seed TARGET DIRECTORY | TARGET FILE… | TARGET -OPTION… DIRECTORY…")
    }
  }

  private static func seed(_ arguments: [String]) {
    guard arguments.count == 2, let target = FuzzTarget.all.first(where: { $0.name == arguments[0] }) else {
      quit("hearth-fuzz seed TARGET DIRECTORY")
    }
    let directory = URL(filePath: arguments[1])
    do {
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
      for (index, input) in target.seeds().enumerated() {
        let number = String(index)
        let name = String(repeating: "0", count: max(0, 3 - number.count)) + number
        try Data(input).write(to: directory.appending(path: name))
      }
    } catch {
      quit("\(error)")
    }
  }

  private static func run(_ target: FuzzTarget) {
    self.target = target
    // Without the target's name, which libFuzzer would treat as a file.
    var values = CommandLine.unsafeArgv + 1
    values[0] = CommandLine.unsafeArgv[0]
    var count = CommandLine.argc - 1
    let code = runDriver(&count, &values) { bytes, count in
      HearthFuzz.target?.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
      return 0
    }
    exit(code)
  }

  private static func quit(_ message: String) -> Never {
    FileHandle.standardError.write(Data((message + "\n").utf8))
    exit(2)
  }
}

/// A part of Hearth that processes bytes from outside.
struct FuzzTarget: Sendable {
  let name: String
  /// Returns the initial inputs.
  let seeds: @Sendable () -> [[UInt8]]
  /// Processes an input. Must return, and soon, for every input.
  let run: @Sendable ([UInt8]) -> Void

  static let all: [FuzzTarget] =
    codecs + [
      .handshake("pase", RecordedHandshake.pase), .handshake("case", RecordedHandshake.certificates),
      .handshake("resumption", RecordedHandshake.resumption), credentials, bulkData, datagram, device, controller, hub,
      invitation, hostileAdmin, hostileNode,
    ]

  /// Reports the violation of a property and aborts.
  static func finding(_ message: String) -> Never {
    FileHandle.standardError.write(Data("hearth-fuzz: \(message)\n".utf8))
    abort()
  }
}
