import Foundation
import MatterProtocol
import Scenario
import Simulation
import VirtualDevices

/// Scores the controller over a few hours with a fault every five minutes.
enum ScoreRows {
  static func card(devices: Int, minutes: Int) async throws -> ScoreCard {
    var options = SimulatedHomeOptions()
    options.keepsTrace = false
    let definition = try SimulatedDay.definition(devices)
    let run = await simulate(definition, seed: 2, limit: .seconds(minutes * 60 + 86_400), options) { _, world in
      async let card = world.score(for: .seconds(minutes * 60))
      // In half of the turns a device is away for longer than the liveness timeout of its subscription.
      for turn in 0..<minutes / 5 { try await runTurn(turn, world) }
      return try await card
    }
    return try run.result.get()
  }

  /// Runs five minutes, during which one device is unreachable for a while.
  private static func runTurn(_ turn: Int, _ world: SimulatedHome) async throws {
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
      // A change that the home can't learn before the network heals.
      await world.pressByHand(device)
      try await world.simulation.sleep(for: away - away / 2)
      await world.simulation.perform { $0.network.heal() }
    }
    try await world.simulation.sleep(for: .seconds(300) - away)
  }
}

extension HearthBench {
  /// Prints the score for other numbers of devices and minutes.
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
