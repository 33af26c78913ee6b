import Testing

@testable import VirtualDevices

@Suite("Capacity for devices") struct FleetCapacityTests {
  private let many = FleetCapacity(devices: 10_000, socketsPerDevice: 2)

  @Test("permits devices that fit") func permitsDevices() throws {
    try many.check(openFileLimit: 30_064, memory: 1 << 30)
    try many.check(openFileLimit: nil, memory: nil)
    try FleetCapacity(devices: 1, socketsPerDevice: 2).reserve()
  }

  @Test("explains how many open files are needed, and how many processes") func explainsOpenFiles() {
    let error = #expect(throws: FleetCapacityError.self) { try many.check(openFileLimit: 20_000, memory: nil) }
    #expect(
      error?.description
        == "10000 devices need 30064 open files, and this process may have 20000; raise the limit as root (ulimit -n 30064), "
        + "or run a part of them in each of several processes (--shard 1/2)")
    #expect(throws: FleetCapacityError.self) { try many.check(openFileLimit: 0, memory: nil) }
  }

  @Test("explains how much memory is needed") func explainsMemory() {
    let error = #expect(throws: FleetCapacityError.self) { try many.check(openFileLimit: nil, memory: 512 << 20) }
    #expect(
      error?.description.hasPrefix("10000 devices need about 781 MiB of memory, and 512 MiB are available") == true)
  }
}
