import Foundation

#if LIBFUZZER
  /// libFuzzer's own main, to be called with what to do with an input.
  @_silgen_name("LLVMFuzzerRunDriver") private func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ body: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
  ) -> CInt

  /// The linker wants it; the driver gets its own.
  @_cdecl("LLVMFuzzerTestOneInput") public func unused(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt { 0 }
#endif

/// Gives hostile input to one part of Hearth.
///
///     hearth-fuzz list                      the targets
///     hearth-fuzz seed TARGET DIRECTORY     write the first inputs, made of our own exchanges
///     hearth-fuzz TARGET FILE…              give these inputs to the target once, as after a finding
///     hearth-fuzz TARGET -OPTION… DIR…      let libFuzzer make inputs (only in a build by `make fuzz`)
@main enum HearthFuzz {
  /// What the driver's callback, which can't capture anything, is to run.
  nonisolated(unsafe) private static var target: FuzzTarget?

  static func main() {
    let arguments = Array(CommandLine.arguments.dropFirst())
    switch arguments.first {
    case "list": for target in FuzzTarget.all { print(target.name) }
    case "seed": seed(Array(arguments.dropFirst()))
    case let name?:
      guard let target = FuzzTarget.all.first(where: { $0.name == name }) else { quit("there is no target \(name)") }
      run(target, Array(arguments.dropFirst()))
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

  private static func run(_ target: FuzzTarget, _ arguments: [String]) {
    #if LIBFUZZER
      self.target = target
      // Without the target's name, which libFuzzer would take for a file.
      var values = CommandLine.unsafeArgv + 1
      values[0] = CommandLine.unsafeArgv[0]
      var count = CommandLine.argc - 1
      let code = runDriver(&count, &values) { bytes, count in
        HearthFuzz.target?.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
        return 0
      }
      exit(code)
    #else
      for path in arguments {
        guard !path.hasPrefix("-") else { quit("this build has no libFuzzer in it: make fuzz") }
        guard let input = FileManager.default.contents(atPath: path) else { quit("there is no file \(path)") }
        target.run([UInt8](input))
      }
      print("\(target.name): \(arguments.count) inputs, no finding")
    #endif
  }

  private static func quit(_ message: String) -> Never {
    FileHandle.standardError.write(Data((message + "\n").utf8))
    exit(2)
  }
}

/// A part of Hearth that takes bytes from outside.
struct FuzzTarget: Sendable {
  let name: String
  /// Inputs to begin with.
  let seeds: @Sendable () -> [[UInt8]]
  /// Must come back, soon, whatever the input is.
  let run: @Sendable ([UInt8]) -> Void

  static let all: [FuzzTarget] =
    codecs + [
      .handshake("pase", HandshakeTape.pase), .handshake("case", HandshakeTape.certificates),
      .handshake("resumption", HandshakeTape.resumption), credentials, datagram, device, controller, hub, hostileAdmin,
      hostileNode,
    ]

  /// A property that must hold for each input does not hold.
  static func finding(_ message: String) -> Never {
    FileHandle.standardError.write(Data("hearth-fuzz: \(message)\n".utf8))
    abort()
  }
}
