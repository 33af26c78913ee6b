import MatterClusters
import MatterController
import MatterDevice
import MatterModel
import MatterProtocol
import Simulation
import Testing

/// Power that goes at any moment.
@Suite struct KillTests {
  /// What the light said it had done, it had stored.
  @Test func anAnsweredCommandIsNeverForgotten() throws {
    for effect in 0..<40 {
      let home = try SimulatedHome()
      home.world.trace.keepsEntries = false
      try home.commission()
      home.light.effectsUntilPowerCut = effect
      var answered = try home.state()
      var asked = answered
      do {
        for _ in 0..<8 {
          asked = !answered
          try home.toggle()
          answered = asked
        }
      } catch is ControllerError {
        // Killed; the last command may have been carried out without an answer.
      }
      home.light.restart()
      let state = try home.state()
      #expect(state == answered || state == asked, "killed at effect \(effect)")
      try home.toggle()
      #expect(home.isOn == !state, "killed at effect \(effect)")
    }
  }

  /// The controller is killed before each of its effects while it commissions: afterwards the light is either its node
  /// or, once the fail-safe has run out, free again.
  @Test func aKilledCommissioner() throws {
    let whole = try SimulatedHome()
    let begin = whole.controller.effectCount
    try whole.commission()
    let count = whole.controller.effectCount - begin
    #expect(count > 30)
    for effect in 0..<count {
      let home = try SimulatedHome()
      home.world.trace.keepsEntries = false
      home.controller.effectsUntilPowerCut = effect
      let request = CommissioningRequest(
        passcode: SimulatedHome.passcode, target: .discriminator(.long(SimulatedHome.discriminator)))
      _ = home.controller.command { $0.commission(request, at: $1) }
      try home.world.run(for: .seconds(5))
      #expect(!home.controller.isPowered, "effect \(effect)")
      // Operations are numbered anew in each life.
      home.controller.forgetEvents()
      home.controller.powerOn()
      try home.world.run(for: .seconds(300))
      let fabrics = try #require(home.light.engine).fabrics.count
      let nodes = try #require(home.controller.engine).nodes
      if fabrics == 0 {
        #expect(nodes.isEmpty, "effect \(effect)")
        #expect(home.light.engine?.isCommissionable == true, "effect \(effect)")
        #expect(throws: Never.self, "effect \(effect)") { try home.commission() }
      } else if !nodes.isEmpty {
        #expect(throws: Never.self, "effect \(effect)") { try home.toggle() }
      }
    }
  }

  /// The power goes and comes all the time; what was switched by hand and stored stays, and the fabric with it.
  @Test func manyLives() throws {
    let home = try SimulatedHome()
    try home.commission()
    for life in 0..<50 {
      let state = life % 3 == 0
      home.switchByHand(state)
      home.light.restart()
      #expect(home.isOn == state, "life \(life)")
      #expect(home.light.engine?.fabrics.count == 1)
    }
    try home.toggle()
    #expect(home.light.life == 51)
  }
}
