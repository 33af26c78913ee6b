import HearthHome
import MatterProtocol
import Runtime
import Scenario
import Simulation
import VirtualDevices

/// A home with many devices over a day of virtual time, with a fault every minute.
struct SimulatedDay {
  /// The time to start and commission all devices, in nanoseconds.
  var pairing: Double
  /// The time to simulate the day, in nanoseconds.
  var day: Double
  var datagrams: Int
  /// The number of devices that were online at the end.
  var online: Int
  var digest: UInt64

  static func definition(_ devices: Int) throws -> HomeDefinition {
    let text = """
      devices:
        - name: Lamp
          room: Hall
          type: dimmable light
          count: \(devices)
      """
    return try HomeDefinition.load(simulating: [("bench.yaml", text)])
  }

  static func run(devices: Int, hours: Int, seed: UInt64 = 1) async throws -> SimulatedDay {
    var options = SimulatedHomeOptions()
    options.keepsTrace = false
    let definition = try definition(devices)
    let start = HostClock.now()
    let run = await simulate(definition, seed: seed, limit: .seconds(hours * 3600 + 86_400), options) { home, world in
      let begin = HostClock.now()
      let before = await world.simulation.perform { $0.network.packetCount }
      for minute in 0..<hours * 60 { try await fault(minute, world) }
      // Let the home reconnect to the last devices.
      try await world.simulation.sleep(for: .seconds(180))
      let after = await world.simulation.perform { $0.network.packetCount }
      let online = try await home.devices().list().count {
        $0.sourceConnectivity.connectivityState == .online
      }
      return (begin, HostClock.now(), after - before, online)
    }
    let (begin, end, datagrams, online) = try run.result.get()
    return SimulatedDay(
      pairing: Double((begin - start).nanoseconds), day: Double((end - begin).nanoseconds), datagrams: datagrams,
      online: online, digest: run.trace.digest)
  }

  /// Runs one minute, with a fault of one device in its first half.
  static func fault(_ minute: Int, _ world: SimulatedHome) async throws {
    let devices = world.definition.devices
    let device = devices[minute * 7 % devices.count].path
    let (machine, hub) = (try await world.machine(of: device), world.hub)
    func network(_ body: @Sendable (inout SimulatedNetwork) -> Void) async {
      await world.simulation.perform { body(&$0.network) }
    }
    switch minute % 4 {
    case 0: try await world.cutPower(of: device)
    case 1: await network { $0.partition([machine.id], from: [hub.id]) }
    case 2:
      await network { $0.set(LinkConditions(loss: Ratio(1, of: 2)), from: machine.id, to: hub.id) }
    default:
      await world.simulation.perform { _ in
        machine.move(to: [.v6(high: 0xFD00_0000_0000_0001, low: UInt64(minute) + 1, scope: 0)])
      }
    }
    try await world.simulation.sleep(for: .seconds(30))
    switch minute % 4 {
    case 0: try await world.restorePower(of: device)
    case 1: await network { $0.heal() }
    case 2: await network { $0.set(nil, from: machine.id, to: hub.id) }
    default: break
    }
    try await world.simulation.sleep(for: .seconds(30))
  }
}
