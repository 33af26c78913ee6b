import MatterProtocol
import Scenario
import Simulation
import VirtualDevices

/// How well our own controller knows how its devices are: a few hours with a fault a minute, held against the truth.
enum ScoreRows {
  static func card(devices: Int, hours: Int) async throws -> ScoreCard {
    var options = SimulatedHomeOptions()
    options.keepsTrace = false
    let definition = try SimulatedDay.definition(devices)
    let run = await simulate(definition, seed: 2, limit: .seconds(hours * 3600 + 86_400), options) { _, world in
      async let card = world.score(for: .seconds(hours * 3600))
      // Half of the times a device is away for longer than it may be silent.
      for turn in 0..<hours * 12 { try await trouble(turn, world) }
      return try await card
    }
    return try run.result.get()
  }

  /// Five minutes, in which one device is away for a while.
  private static func trouble(_ turn: Int, _ world: SimulatedHome) async throws {
    let devices = world.definition.devices
    let device = devices[turn * 7 % devices.count].path
    let (machine, hub) = (try await world.machine(of: device), world.hub)
    let away = Duration.seconds([20, 100, 150, 45][turn % 4])
    if turn % 3 == 0 {
      try await world.cutPower(of: device)
      try await world.simulation.sleep(for: away)
      try await world.restorePower(of: device)
    } else {
      await world.simulation.perform { $0.network.partition([machine.id], from: [hub.id]) }
      try await world.simulation.sleep(for: away / 2)
      // The home can't know of that until the network is whole again.
      await world.pressByHand(device)
      try await world.simulation.sleep(for: away - away / 2)
      await world.simulation.perform { $0.network.heal() }
    }
    try await world.simulation.sleep(for: .seconds(300) - away)
  }
}
