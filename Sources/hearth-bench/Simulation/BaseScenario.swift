import HearthHome
import MatterClusters
import MatterProtocol
import Runtime
import Scenario
import Simulation
import VirtualDevices

/// A minimal scenario: a lamp is commissioned, switched, cut off and reconnected.
enum BaseScenario {
  static func run(seed: UInt64) async throws {
    var options = SimulatedHomeOptions()
    options.keepsTrace = false
    options.isPaired = false
    let run = await simulate(try SimulatedDay.definition(1), seed: seed, options) { home, world in
      let lamp = world.definition.devices[0].path
      try await world.pairDevice(lamp)
      try await world.simulation.sleep(for: .seconds(5))
      func device() async throws -> HomeDevice {
        guard let device = try await home.devices().list().first else { throw BenchError("the lamp is missing") }
        return device
      }
      func expect(_ state: ConnectivityState) async throws {
        let found = try await device().sourceConnectivity.connectivityState
        guard found == state else { throw BenchError("seed \(seed): the lamp is \(found), and should be \(state)") }
      }
      try await device().types.get(DimmableLightDeviceType.self)?.matterTraits.onOffTrait?.on()
      try await world.simulation.sleep(for: .seconds(1))
      let isOn = try await device().types.get(DimmableLightDeviceType.self)?.matterTraits.onOffTrait?.attributes.onOff
      guard isOn == true else { throw BenchError("seed \(seed): the lamp is not on") }
      try await expect(.online)
      let (machine, hub) = (try await world.machine(of: lamp), world.hub)
      await world.simulation.perform { $0.network.partition([machine.id], from: [hub.id]) }
      try await world.simulation.sleep(for: .seconds(120))
      try await expect(.offline)
      await world.simulation.perform { $0.network.heal() }
      try await world.simulation.sleep(for: .seconds(120))
      try await expect(.online)
    }
    try run.result.get()
  }

  /// - Returns: the number of runs per second on two threads.
  static func rate(runs: Int) async throws -> Double {
    VirtualTime.useAllProcessors()
    try await run(seed: 0)
    let start = HostClock.now()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for thread in 0..<2 {
        group.addTask { for seed in stride(from: thread, to: runs, by: 2) { try await run(seed: UInt64(seed)) } }
      }
      try await group.waitForAll()
    }
    return Double(runs) / Double((HostClock.now() - start).nanoseconds) * 1_000_000_000
  }
}
