import Foundation
import Runtime

/// More devices than the host has resources for.
public struct FleetCapacityError: Error, Sendable, CustomStringConvertible {
  public let description: String
}

/// The resources of the host that a fleet needs.
struct FleetCapacity {
  /// The number of devices of the process.
  let devices: Int
  let socketsPerDevice: Int

  /// The directory of a device.
  private static let filesPerDevice = 1
  /// The files of the process and its event loops, discovery and controllers of its devices.
  private static let otherFiles = 64
  /// The resident memory of a light that is commissioned.
  private static let bytesPerDevice = 80 * 1024

  /// The files and sockets of all devices.
  var openFiles: UInt64 { UInt64(clamping: devices * (Self.filesPerDevice + socketsPerDevice) + Self.otherFiles) }

  /// The memory of all devices, in bytes.
  var memory: Int { devices * Self.bytesPerDevice }

  /// Raises the limit on open files if necessary.
  /// - Throws: ``FleetCapacityError`` if the host permits fewer files or has less memory than the devices need.
  func reserve() throws(FleetCapacityError) {
    try check(openFileLimit: OpenFileLimit.raise(to: openFiles), memory: Self.availableMemory)
  }

  /// Compares the needs with the limits of the host; nil stands for no limit.
  func check(openFileLimit: UInt64?, memory available: Int?) throws(FleetCapacityError) {
    if let limit = openFileLimit, limit < openFiles {
      throw FleetCapacityError(
        description: "\(devices) devices need \(openFiles) open files, and this process may have \(limit); raise the "
          + "limit as root (ulimit -n \(openFiles)), or run a part of them in each of several processes "
          + "(--shard 1/\(parts(limit)))")
    }
    if let available, available < memory {
      let (needed, left) = (memory >> 20, available >> 20)
      throw FleetCapacityError(
        description: "\(devices) devices need about \(needed) MiB of memory, and \(left) MiB are available; end other "
          + "processes, or run a part of the devices on each of several machines (--shard)")
    }
  }

  /// The number of processes that the devices need with a limit on open files.
  private func parts(_ limit: UInt64) -> UInt64 {
    let own = UInt64(Self.otherFiles)
    let each = limit > own ? limit - own : 1
    return (openFiles - own + each - 1) / each
  }

  /// The memory that new processes can use without swapping, in bytes; nil if the host does not tell.
  private static var availableMemory: Int? {
    guard let text = try? String(contentsOfFile: "/proc/meminfo", encoding: .utf8),
      let line = text.split(separator: "\n").first(where: { $0.hasPrefix("MemAvailable:") }),
      let kibibytes = line.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
    else { return nil }
    return kibibytes.multipliedReportingOverflow(by: 1024).overflow ? nil : kibibytes * 1024
  }
}
