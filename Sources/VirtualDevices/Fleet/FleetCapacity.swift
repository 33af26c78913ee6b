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

  /// The files of the process and its event loops, discovery and controllers of its devices, and the open journals.
  private static let otherFiles = 192
  /// The resident memory of a light that is commissioned, with a session and a subscription.
  private static let bytesPerDevice = 48 * 1024

  /// The files and sockets of all devices.
  var openFiles: UInt64 { UInt64(clamping: devices * socketsPerDevice + Self.otherFiles) }

  /// The memory of all devices, in bytes.
  var memory: Int { devices * Self.bytesPerDevice }

  /// Raises the limit on open files if necessary.
  /// - Throws: ``FleetCapacityError`` if the host permits fewer files or has less memory than the devices need.
  func reserve() throws(FleetCapacityError) {
    // As far as possible: devices that join groups open further sockets.
    try check(openFileLimit: OpenFileLimit.raise(to: .max), memory: Self.availableMemory())
  }

  /// Compares the needs with the limits of the host; nil stands for no limit.
  func check(openFileLimit: UInt64?, memory available: Int?) throws(FleetCapacityError) {
    if let limit = openFileLimit, limit < openFiles {
      throw FleetCapacityError(
        description: "\(devices) devices need \(openFiles) open files, and this process may have \(limit); raise the "
          + "limit as root (ulimit -n \(openFiles)) or in the settings of the service or container "
          + "(LimitNOFILE=\(openFiles), docker --ulimit nofile=\(openFiles)), or run a part of them in each of several "
          + "processes (--shard 1/\(parts(limit)))")
    }
    if let available, available < memory {
      let (needed, left) = (memory >> 20, available >> 20)
      throw FleetCapacityError(
        description: "\(devices) devices need about \(needed) MiB of memory, and \(left) MiB are available; end other "
          + "processes, raise the limit of the container or service, or run a part of the devices on each of several "
          + "machines (--shard)")
    }
  }

  /// The number of processes that the devices need with a limit on open files.
  private func parts(_ limit: UInt64) -> UInt64 {
    let own = UInt64(Self.otherFiles)
    let each = limit > own ? limit - own : 1
    return (openFiles - own + each - 1) / each
  }

  /// Returns the memory that new processes can use without swapping, in bytes: that of the host, or less if a control
  /// group limits it. Nil if neither is known.
  /// - Parameter root: the directory with `proc` and `sys`.
  static func availableMemory(in root: String = "") -> Int? {
    let host = lines(of: root + "/proc/meminfo").filter { $0.first == "MemAvailable:" }
    let kibibytes = host.compactMap { $0.dropFirst().first.flatMap { Int($0) } }
    let bytes = kibibytes.map { $0.multipliedReportingOverflow(by: 1024) }.filter { !$0.overflow }.map(\.partialValue)
    return (bytes + memoryOfControlGroups(in: root)).min()
  }

  /// Returns the memory that is left in the control groups of this process.
  private static func memoryOfControlGroups(in root: String) -> [Int] {
    lines(of: root + "/proc/self/cgroup", separator: ":", maxSplits: 2).flatMap { fields -> [Int] in
      // The number of the hierarchy, its controllers and the path. Version 2 has no controllers.
      guard fields.count == 3 else { return [] }
      let controllers = fields[1].split(separator: ",")
      guard controllers.isEmpty || controllers.contains("memory") else { return [] }
      var groups = fields[2].split(separator: "/")
      var left: [Int] = []
      // In a container without a namespace of its own, only the top directory exists.
      while true {
        let path = groups.map { "/" + $0 }.joined()
        let bytes =
          controllers.isEmpty
          ? memory(
            of: root + "/sys/fs/cgroup" + path, limit: "memory.max", usage: "memory.current", cache: "inactive_file")
          : memory(
            of: root + "/sys/fs/cgroup/memory" + path, limit: "memory.limit_in_bytes", usage: "memory.usage_in_bytes",
            cache: "total_inactive_file")
        if let bytes { left.append(bytes) }
        guard groups.popLast() != nil else { return left }
      }
    }
  }

  /// Returns the memory that is left in a control group; nil without a limit.
  private static func memory(of directory: String, limit: String, usage: String, cache: String) -> Int? {
    func number(_ name: String) -> Int? { lines(of: directory + "/" + name).first?.first.flatMap { Int($0) } }
    guard let limit = number(limit), limit >= 0, let usage = number(usage), usage >= 0 else { return nil }
    // The cache of files that were not used recently is released on demand.
    let released = lines(of: directory + "/memory.stat").first { $0.first == cache[...] }?.last.flatMap { Int($0) } ?? 0
    return max(0, limit - max(0, usage - max(0, released)))
  }

  /// Returns the fields of each line of a file; empty if it can't be read.
  private static func lines(of path: String, separator: Character = " ", maxSplits: Int = .max) -> [[Substring]] {
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return [] }
    return text.split(separator: "\n").map {
      $0.split(separator: separator, maxSplits: maxSplits, omittingEmptySubsequences: separator == " ")
    }
  }
}
