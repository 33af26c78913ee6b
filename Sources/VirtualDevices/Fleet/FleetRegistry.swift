import Foundation
import Glibc

/// The run directories of all fleets of a user: a symbolic link for each process, in one directory whatever `--state` says.
public enum FleetRegistry {
  /// `$XDG_RUNTIME_DIR/hearth/fleets`; nil where the environment names no directory for running processes.
  public static func standard(environment: [String: String]) -> String? {
    environment["XDG_RUNTIME_DIR"].flatMap { $0.hasPrefix("/") ? $0 + "/hearth/fleets" : nil }
  }

  /// Adds this process, until ``remove(from:)``. A failure is not reported: it costs other fleets a warning.
  public static func add(run directory: String, to registry: String) {
    try? FileManager.default.createDirectory(
      atPath: registry, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    remove(from: registry)
    symlink(directory, path(getpid(), in: registry))
  }

  /// Removes this process.
  public static func remove(from registry: String) { unlink(path(getpid(), in: registry)) }

  /// The fleets of all processes in the registry, and those of one more run directory. Links of processes that ended are removed.
  public static func running(in registry: String?, and directory: String) -> [FleetStatus] {
    var fleets = FleetStatus.running(in: directory)
    let names = registry.flatMap { try? FileManager.default.contentsOfDirectory(atPath: $0) } ?? []
    for process in names.compactMap(Int32.init).sorted() where !fleets.contains(where: { $0.process == process }) {
      let link = path(process, in: registry ?? "")
      let target = try? FileManager.default.destinationOfSymbolicLink(atPath: link)
      if let fleet = target.flatMap({ FleetStatus.running(in: $0).first { $0.process == process } }) {
        fleets.append(fleet)
      } else {
        unlink(link)
      }
    }
    return fleets
  }

  private static func path(_ process: Int32, in registry: String) -> String { "\(registry)/\(process)" }
}
