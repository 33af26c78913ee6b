import Foundation
import MatterProtocol
import Scenario
import Simulation
import VirtualDevices

/// How well our own controller knows how its devices are: a few hours with a fault a minute, held against the truth.
enum ScoreRows {
  static func card(devices: Int, minutes: Int) async throws -> ScoreCard {
    var options = SimulatedHomeOptions()
    options.keepsTrace = false
    let definition = try SimulatedDay.definition(devices)
    let run = await simulate(definition, seed: 2, limit: .seconds(minutes * 60 + 86_400), options) { _, world in
      async let card = world.score(for: .seconds(minutes * 60))
      // Half of the times a device is away for longer than it may be silent.
      for turn in 0..<minutes / 5 { try await trouble(turn, world) }
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

extension HearthBench {
  /// The card alone, for other numbers of devices and minutes.
  static func score() {
    let numbers = CommandLine.arguments.dropFirst(2).map { Int($0) ?? 0 }
    do {
      let card = try waitFor {
        try await ScoreRows.card(
          devices: max(1, numbers.first ?? 20), minutes: max(5, numbers.dropFirst().first ?? 360))
      }
      print(card.lines.joined(separator: "\n"))
    } catch {
      FileHandle.standardError.write(Data("score: \(error)\n".utf8))
      exit(1)
    }
  }
}
