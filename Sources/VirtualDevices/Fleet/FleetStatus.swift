import Foundation
import Glibc

/// What a running fleet tells other processes of the same user: a file in the run directory, written anew at each change.
public struct FleetStatus: Codable, Sendable, Hashable {
  public var home: String
  public var process: Int32
  public var devices: [DeviceStatus]

  /// Writes the file in one step, so that a reader sees the old one or the new one.
  func write(to directory: String) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    try encoder.encode(self).write(to: URL(filePath: Self.path(process, in: directory)), options: .atomic)
  }

  static func remove(process: Int32, from directory: String) { unlink(path(process, in: directory)) }

  private static func path(_ process: Int32, in directory: String) -> String { "\(directory)/\(process).json" }

  /// The fleets that run now. Files of processes that are gone are removed.
  public static func running(in directory: String) -> [FleetStatus] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    return names.sorted().compactMap { name in
      let path = "\(directory)/\(name)"
      guard name.hasSuffix(".json"), let process = Int32(name.dropLast(5)) else { return nil }
      guard kill(process, 0) == 0 || errno == EPERM else {
        unlink(path)
        return nil
      }
      return FileManager.default.contents(atPath: path).flatMap {
        try? JSONDecoder().decode(FleetStatus.self, from: $0)
      }
    }
  }
}
