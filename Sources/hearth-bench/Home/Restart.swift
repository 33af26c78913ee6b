import Foundation
import Glibc
import HearthHome
import MatterClusters
import MatterProtocol
import Runtime

/// Measures a process that opens a home and lists the last state of every device.
enum Restart {
  struct Result {
    /// The time from the start of the process until all devices were listed, in nanoseconds.
    var whole: Double
    /// The time from opening the home until all devices were listed, in nanoseconds.
    var opening: Double
    /// The memory of the home, in bytes: the growth of the process.
    var memory: Double
    /// The memory of the process, in bytes.
    var resident: Double
  }

  static func run(_ state: StateDirectory) throws -> Result {
    let process = Process()
    process.executableURL = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe").asURL
    process.arguments = ["home-restart", state.root]
    let pipe = Pipe()
    process.standardOutput = pipe
    let start = HostClock.now()
    try process.run()
    let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    let numbers = output.split(whereSeparator: \.isWhitespace).compactMap { Int64($0) }
    guard process.terminationStatus == 0, numbers.count == 5 else { throw BenchError("the restart failed: \(output)") }
    guard numbers[4] == StoredDevices.count else { throw BenchError("\(numbers[4]) devices were loaded") }
    return Result(
      whole: Double(numbers[1] - start.nanoseconds), opening: Double(numbers[1] - numbers[0]),
      memory: Double(numbers[3] - numbers[2]), resident: Double(numbers[3]))
  }

  /// The child process.
  static func child(_ root: String) throws {
    let before = residentBytes()
    let begin = HostClock.now()
    let (home, shown) = try waitFor {
      let home = try await Home(StoredDevices.options(StateDirectory(root)))
      let devices = try await home.devices().list()
      // Connectivity is unknown before the home subscribes; the values are those last stored.
      let shown = devices.count { device in
        device.sourceConnectivity.connectivityState == .unknown
          && device.types.get(DimmableLightDeviceType.self)?.matterTraits.levelControlTrait?.attributes.currentLevel
            == 128
      }
      return (home, shown)
    }
    let end = HostClock.now()
    print(begin.nanoseconds, end.nanoseconds, before, residentBytes(), shown)
    try waitFor { await home.close() }
  }
}

extension String {
  fileprivate var asURL: URL { URL(fileURLWithPath: self) }
}
