import Foundation
import Glibc
import Runtime

/// What a running fleet tells other processes of the same user: a file in the run directory, written anew at each change.
public struct FleetStatus: Codable, Sendable, Hashable {
  /// The name of the home, as its definition has it.
  public var home: String
  /// The id of the process that it runs in.
  public var process: Int32
  /// In the order of the definition.
  public var devices: [DeviceStatus]
  /// How many packets of DNS-SD were not acted on since it started, by reason; nil: an older fleet, which does not say.
  public var discoveryDrops: [String: Int]?

  /// Writes the file in one step, so that a reader sees the old one or the new one.
  func write(to directory: String) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    // It has the passcodes.
    try SecretFile.replace(Self.path(process, in: directory), with: [UInt8](encoder.encode(self)))
  }

  static func remove(process: Int32, from directory: String) { unlink(path(process, in: directory)) }

  private static func path(_ process: Int32, in directory: String) -> String { "\(directory)/\(process).json" }

  /// Where a running fleet listens for ``ControlRequest``s.
  static func socketPath(of process: Int32, in directory: String) -> String { "\(directory)/\(process).sock" }

  /// The fleets that run now, as they say themselves; by the file where a fleet is too busy to answer. Files of processes
  /// that are gone are removed: a process of that number may be another's by now, so it is the socket that tells.
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
