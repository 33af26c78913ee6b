import Foundation
import Testing

@testable import VirtualDevices

@Suite("Capacity for devices") struct FleetCapacityTests {
  private let many = FleetCapacity(devices: 10_000, socketsPerDevice: 2)

  @Test("permits devices that fit") func permitsDevices() throws {
    try many.check(openFileLimit: 20_192, memory: 1 << 30)
    try many.check(openFileLimit: nil, memory: nil)
    try FleetCapacity(devices: 1, socketsPerDevice: 2).reserve()
  }

  @Test("explains how many open files are needed, and how many processes") func explainsOpenFiles() {
    let error = #expect(throws: FleetCapacityError.self) { try many.check(openFileLimit: 20_000, memory: nil) }
    #expect(
      error?.description
        == "10000 devices need 20192 open files, and this process may have 20000; raise the limit as root (ulimit -n 20192) "
        + "or in the settings of the service or container (LimitNOFILE=20192, docker --ulimit nofile=20192), "
        + "or run a part of them in each of several processes (--shard 1/2)")
    #expect(throws: FleetCapacityError.self) { try many.check(openFileLimit: 0, memory: nil) }
  }

  @Test("explains how much memory is needed") func explainsMemory() {
    let error = #expect(throws: FleetCapacityError.self) { try many.check(openFileLimit: nil, memory: 256 << 20) }
    #expect(
      error?.description.hasPrefix("10000 devices need about 468 MiB of memory, and 256 MiB are available") == true)
  }

  /// Returns the available memory of a host with these files, in MiB.
  private func available(_ files: [String: String]) throws -> Int? {
    let root = FileManager.default.temporaryDirectory.appending(path: "hearth-capacity-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: root) }
    for (name, text) in files {
      let file = root.appending(path: name)
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
    }
    return FleetCapacity.availableMemory(in: root.path).map { $0 >> 20 }
  }

  private let host = ["proc/meminfo": "MemTotal:  8388608 kB\nMemAvailable:  4194304 kB\n"]

  @Test("uses the memory of the host without a limit") func readsHostMemory() throws {
    #expect(try available([:]) == nil)
    #expect(try available(host) == 4096)
    let unlimited = host.merging([
      "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "max\n", "sys/fs/cgroup/memory.current": "1048576\n",
    ]) { $1 }
    #expect(try available(unlimited) == 4096)
    let large = host.merging([
      "proc/self/cgroup": "4:memory:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
      "sys/fs/cgroup/memory/memory.usage_in_bytes": "1048576\n",
    ]) { $1 }
    #expect(try available(large) == 4096)
    #expect(FleetCapacity.availableMemory().map { $0 > 0 } == true)
  }

  @Test("uses the limit of a container if that is smaller") func readsControlGroups() throws {
    let second = host.merging([
      "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "536870912\n",
      "sys/fs/cgroup/memory.current": "209715200\n",
    ]) { $1 }
    #expect(try available(second) == 312)
    // The cache of files counts as available.
    #expect(
      try available(second.merging(["sys/fs/cgroup/memory.stat": "anon 5\ninactive_file 104857600\n"]) { $1 }) == 412)
    // A group of a service, and one above it with less memory.
    let nested = host.merging([
      "proc/self/cgroup": "0::/system.slice/hearth.service\n",
      "sys/fs/cgroup/system.slice/hearth.service/memory.max": "1073741824\n",
      "sys/fs/cgroup/system.slice/hearth.service/memory.current": "0\n",
      "sys/fs/cgroup/system.slice/memory.max": "268435456\n", "sys/fs/cgroup/system.slice/memory.current": "1048576\n",
    ]) { $1 }
    #expect(try available(nested) == 255)
    let first = host.merging([
      "proc/self/cgroup": "5:cpu,cpuacct:/x\n4:memory:/docker/abc\n",
      "sys/fs/cgroup/memory/memory.limit_in_bytes": "536870912\n",
      "sys/fs/cgroup/memory/memory.usage_in_bytes": "603979776\n",
    ]) { $1 }
    #expect(try available(first) == 0)
  }
}
