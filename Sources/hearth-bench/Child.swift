import Foundation
import Glibc

/// A child process of this executable that prints a line when it is ready.
final class Child {
  private let process = Process()
  private let output = Pipe()
  private let input = Pipe()

  init(_ arguments: [String]) throws {
    process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = arguments
    process.standardOutput = output
    process.standardInput = input
    try process.run()
  }

  /// Reads the next line without its end; shorter if the process has ended.
  func line() throws -> String {
    var text: [UInt8] = []
    while let byte = try output.fileHandleForReading.read(upToCount: 1)?.first, byte != UInt8(ascii: "\n") {
      text.append(byte)
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Writes a line to the standard input of the process.
  func send(line: String) throws { try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8)) }

  /// The processor time so far, including system time, in nanoseconds.
  var processorTime: Double {
    let text = (try? String(contentsOfFile: "/proc/\(process.processIdentifier)/stat", encoding: .utf8)) ?? ""
    // The second field may contain spaces, and ends with the last parenthesis.
    let fields = text.drop { $0 != ")" }.split(separator: " ")
    guard fields.count > 12, let user = Double(fields[12]), let system = Double(fields[11]) else { return .nan }
    return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK))) * 1_000_000_000
  }

  /// The resident memory, in bytes.
  var memory: Double { Double(residentBytes(of: "\(process.processIdentifier)")) }

  func kill() {
    if process.isRunning { Glibc.kill(process.processIdentifier, SIGKILL) }
    process.waitUntilExit()
  }
}

/// Prints a line for the parent of a child process.
func printLine(_ text: String) {
  print(text)
  fflush(nil)
}
