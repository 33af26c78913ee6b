import Foundation
import Glibc
import Runtime

/// The status of a running fleet for other processes of the same user: a file in the run directory, rewritten at each
/// change.
public struct FleetStatus: Codable, Sendable, Hashable {
  /// The name of the home in its definition.
  public var home: String
  /// The ID of the process.
  public var process: Int32
  /// The devices in the order of the definition.
  public var devices: [DeviceStatus]
  /// The dropped DNS-SD packets since the start, by reason; nil from an older fleet.
  public var discoveryDrops: [String: Int]?

  /// Replaces the file atomically.
  func write(to directory: String) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    // The file contains passcodes.
    try SecretFile.replace(Self.path(process, in: directory), with: [UInt8](encoder.encode(self)))
  }

  static func remove(process: Int32, from directory: String) { unlink(path(process, in: directory)) }

  private static func path(_ process: Int32, in directory: String) -> String { "\(directory)/\(process).json" }

  /// Returns the path of the socket for ``ControlRequest``s.
  static func socketPath(of process: Int32, in directory: String) -> String { "\(directory)/\(process).sock" }

  /// Returns the running fleets, as they report themselves, or from the file if a fleet is too busy to reply. Files of
  /// ended processes are removed. The socket decides which ones those are, since a process ID may have been reused.
  public static func running(in directory: String) -> [FleetStatus] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    return names.sorted().compactMap { name in
      guard name.hasSuffix(".json"), let process = Int32(name.dropLast(5)) else { return nil }
      let path = "\(directory)/\(name)"
      do throws(ControlError) {
        if let status = try ControlClient.send(.status, toProcess: process, in: directory).fleet { return status }
      } catch {
        if error.code == .notRunning {
          unlink(path)
          unlink(socketPath(of: process, in: directory))
          return nil
        }
      }
      return FileManager.default.contents(atPath: path).flatMap {
        try? JSONDecoder().decode(FleetStatus.self, from: $0)
      }
    }
  }
}
