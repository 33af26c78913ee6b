import HearthHome
import MatterController
import MatterModel
import Scenario
import Simulation
import Testing
import VirtualDevices

/// Power cuts of the home's machine while a device is added to or removed from the fabric.
@Suite struct PairingCutTests {
  /// The outcome of one run, directly after the home was opened again.
  private struct Outcome: Sendable {
    var isAnswered: Bool
    /// The number of nodes in the fabric.
    var nodes: Int
    /// The names of the devices in the home.
    var names: [String]
  }

  private static func restart(_ world: SimulatedHome, isAnswered: Bool) async throws -> Outcome {
    try await world.cutPower(of: "hub")
    try await world.restorePower(of: "hub")
    let home = try await world.home
    let nodes = try await home.controller.nodes.count
    return Outcome(
      isAnswered: isAnswered, nodes: nodes, names: HomeRegistry(await home.state).devices.map(\.fullName))
  }

  /// Cuts the power before each effect of the last part of a commissioning: the device is in the fabric, and in the home
  /// with the requested name and room, or in neither.
  @Test func commissionsAndNamesInOneTransaction() async throws {
    var options = SimulatedHomeOptions()
    options.isPaired = false
    var (isIn, isComplete): ([Bool], Bool) = ([], false)
    // After the last effect of the commissioning, the power cut does not disturb it.
    for effects in 0..<100 where !isComplete {
      let run = await simulate(try SimulatedHomeTests.definition(), seed: 3, options) { old, world in
        try await world.simulation.sleep(for: .seconds(5))
        let lamp = world.definition.devices[0]
        let request = CommissioningRequest(
          passcode: lamp.passcode, target: .discriminator(.long(lamp.discriminator)))
        let paired = try? await old.pair(request, name: "Sun", room: "Sky") { step, progress in
          // Before this step the device is not in the fabric.
          guard step == .complete, case .started = progress else { return }
          world.hub.effectsUntilPowerCut = effects
        }
        let outcome = try await Self.restart(world, isAnswered: paired != nil)
        guard outcome.nodes == 0 else { return outcome }
        // The device has completed its commissioning, or reverts it when its fail-safe expires: pairing again succeeds.
        try await world.simulation.sleep(for: .seconds(200))
        _ = try await world.home.pair(request, name: "Sun", room: "Sky")
        let names = HomeRegistry(try await world.home.state).devices.map(\.fullName)
        #expect(names == ["Sky/Sun"], "after \(effects) effects")
        return outcome
      }
      let outcome = try run.result.get()
      #expect(outcome.names == (outcome.nodes == 0 ? [] : ["Sky/Sun"]), "after \(effects) effects")
      #expect(outcome.nodes == 1 || !outcome.isAnswered, "after \(effects) effects")
      isIn.append(outcome.nodes == 1)
      isComplete = outcome.isAnswered
    }
    #expect(isComplete && isIn.count > 3, "\(isIn)")
    // Both outcomes occur, in this order.
    #expect(isIn.first == false && isIn.last == true && isIn == isIn.sorted { !$0 && $1 }, "\(isIn)")
  }

  /// Cuts the power before each effect of a removal.
  @Test func removesFromFabricAndHomeInOneTransaction() async throws {
    var isIn: [Bool] = []
    for effects in 0..<60 {
      let run = await simulate(try SimulatedHomeTests.definition(), seed: 3) { old, world in
        try await world.simulation.sleep(for: .seconds(5))
        let device = try #require(await old.registry.devices.first)
        world.hub.effectsUntilPowerCut = effects
        let removed = try? await old.remove(device, force: false)
        return try await Self.restart(world, isAnswered: removed != nil)
      }
      let outcome = try run.result.get()
      #expect(outcome.nodes == outcome.names.count, "after \(effects) effects: \(outcome)")
      isIn.append(outcome.isAnswered)
    }
    #expect(isIn.first == false && isIn.last == true, "\(isIn)")
  }
}
