import Foundation
import Glibc
import MatterProtocol
import Runtime
import VirtualDevices

/// A `hearth` process that can be killed.
final class HearthProcess {
  private let process = Process()
  private let log: URL

  /// Starts a command.
  /// - Parameter log: the file for its output.
  init(_ arguments: [String], state: String, log: URL) throws {
    self.log = log
    process.executableURL = try Self.executable
    process.arguments = arguments + ["--state", state]
    process.standardInput = FileHandle.nullDevice
    _ = FileManager.default.createFile(atPath: log.path, contents: nil)
    let output = try FileHandle(forWritingTo: log)
    process.standardOutput = output
    process.standardError = output
    try process.run()
    try output.close()
  }

  /// The executable beside this one.
  private static var executable: URL {
    get throws {
      let own = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
      let path = own.deletingLastPathComponent().appending(path: "hearth")
      guard FileManager.default.isExecutableFile(atPath: path.path) else {
        throw BenchError("\(path.path) is missing; build hearth first")
      }
      return path
    }
  }

  var number: Int32 { process.processIdentifier }
  var isRunning: Bool { process.isRunning }
  /// The output of the process.
  var text: String { (try? String(contentsOf: log, encoding: .utf8)) ?? "" }

  /// Kills the process with SIGKILL; does nothing if it has ended.
  func kill() {
    if process.isRunning { Glibc.kill(number, SIGKILL) }
    process.waitUntilExit()
  }

  /// Waits for the exit status; after the limit kills the process and returns 128.
  func wait(_ limit: Duration = .seconds(30)) -> Int32 {
    let end = HostClock.now() + limit
    while process.isRunning {
      if HostClock.now() > end {
        kill()
        return 128
      }
      usleep(5_000)
    }
    process.waitUntilExit()
    return process.terminationStatus
  }
}

/// A process that runs virtual devices.
struct DeviceProcess {
  let process: HearthProcess
  private let state: String
  private let ready: String

  /// Starts the process; the devices are available after ``waitUntilReady()``.
  init(definition: String, state: String) throws {
    self.state = state
    ready = state + "/ready"
    unlink(ready)
    process = try HearthProcess(
      ["run", definition, "--mdns", "off", "--ready-file", ready], state: state,
      log: URL(filePath: state + "/run.log"))
  }

  /// - Throws: ``BenchError`` with the output of the process if the devices don't start.
  func waitUntilReady() throws {
    let end = HostClock.now() + .seconds(30)
    while !FileManager.default.fileExists(atPath: ready) {
      guard process.isRunning, HostClock.now() < end else {
        process.kill()
        throw BenchError("the devices did not start: \(process.text)")
      }
      usleep(2_000)
    }
  }

  /// Returns the devices by name.
  func devices() throws -> [String: DeviceStatus] {
    guard let fleet = FleetStatus.running(in: state + "/run").first(where: { $0.process == process.number }) else {
      throw BenchError("the devices do not answer")
    }
    return Dictionary(fleet.devices.map { ($0.name, $0) }) { first, _ in first }
  }
}
