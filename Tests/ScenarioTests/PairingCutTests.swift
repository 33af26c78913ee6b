import HearthHome
import MatterController
import MatterModel
import Simulation
import Testing
import VirtualDevices

@testable import Scenario

/// Power cuts of the home's machine during a commissioning.
@Suite struct PairingCutTests {
  /// Cuts the power before each effect of the last part of a commissioning: whenever the device is in the fabric, it
  /// is in the home with the requested name and room.
  @Test func keepsNameAndRoomOfCommissionedDevice() async throws {
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
        try await world.cutPower(of: "hub")
        try await world.restorePower(of: "hub")
        try await world.simulation.sleep(for: .seconds(60))
        let home = try await world.home
        let nodes = try await home.controller.nodes.count
        let names = HomeRegistry(await home.state).devices.map(\.fullName)
        return (paired != nil, nodes, names)
      }
      let (isAnswered, nodes, names) = try run.result.get()
      #expect(names == (nodes == 0 ? [] : ["Sky/Sun"]), "after \(effects) effects")
      #expect(nodes == 1 || !isAnswered)
      isIn.append(nodes == 1)
      isComplete = isAnswered
    }
    #expect(isComplete && isIn.count > 10)
    // Both outcomes occur, in this order.
    #expect(isIn.first == false && isIn.last == true && isIn == isIn.sorted { !$0 && $1 }, "\(isIn)")
  }
}
