import MatterClusters
import MatterController
import MatterDevice
import MatterModel
import MatterProtocol
import Simulation
import Testing

@Suite struct FaultTests {
  /// Discovery, commissioning and a toggle.
  private func commissionAndToggle(_ home: SimulatedHome) throws {
    try home.commission()
    let before: Bool = try home.state()
    try home.toggle()
    #expect(home.isOn == !before)
  }

  @Test func sameSeedGivesSameDigest() throws {
    func run(seed: UInt64) throws -> Trace {
      let home = try SimulatedHome(seed: seed)
      home.world.network.conditions = .poor
      try home.commission()
      _ = home.controller.command {
        $0.subscribe(1, SubscriptionRequest(paths: [AttributePath()], maxInterval: .seconds(60)), at: $1)
      }
      try home.world.run(for: .seconds(200))
      return home.world.trace
    }
    let first = try run(seed: 11), second = try run(seed: 11)
    #expect(first.digest == second.digest)
    if first.digest != second.digest {
      let index = zip(first.entries, second.entries).enumerated().first { $0.element.0 != $0.element.1 }
      Issue.record("first difference: \(index.map { "\($0)" } ?? "the length")")
    }
    #expect(try run(seed: 12).digest != first.digest)
    #expect(first.count > 100)
  }

  /// The loss of any packet has no visible effect.
  @Test func survivesTheLossOfAnyOnePacket() throws {
    let whole = try SimulatedHome()
    try commissionAndToggle(whole)
    let count = whole.world.network.packetCount
    #expect(count > 40)
    for packet in 0..<count {
      let home = try SimulatedHome()
      home.world.trace.keepsEntries = false
      home.world.network.drop(packet: packet)
      do {
        try commissionAndToggle(home)
      } catch {
        Issue.record("packet \(packet) of \(count): \(error)")
      }
      #expect(home.world.network.losses == [.picked: 1], "packet \(packet)")
      #expect(home.light.engine?.fabrics.count == 1, "packet \(packet)")
    }
  }

  /// A poor network first, then a perfect one.
  @Test(arguments: 1...8) func worksOnPoorNetwork(seed: UInt64) throws {
    let home = try SimulatedHome(seed: seed)
    home.world.network.conditions = .poor
    try commissionAndToggle(home)
    for _ in 0..<20 {
      let before: Bool = try home.state()
      try home.toggle()
      #expect(home.isOn == !before)
    }
    home.world.network.conditions = .perfect
    let report = try home.read([AttributePath()])
    #expect(report.statuses.isEmpty)
    #expect(try report.value(of: OnOff.onOff, on: 1) == home.isOn)
  }

  @Test func resumesSubscriptionAfterPartition() throws {
    let home = try SimulatedHome()
    try home.commission()
    let request = SubscriptionRequest(
      paths: [AttributePath(OnOff.onOff.path(on: 1))], maxInterval: .seconds(10))
    _ = home.controller.command { $0.subscribe(1, request, at: $1) }
    try home.controller.event { if case .subscriptionEstablished = $0 { true } else { nil } }
    home.controller.forgetEvents()
    home.world.network.partition([home.light.id], from: [home.controller.id])
    let state: Bool = try home.state()
    home.light.command { engine, now in try? engine.act(set: OnOff.onOff, !state, on: 1, at: now) }
    try home.controller.event(within: .seconds(120)) { if case .subscriptionLost = $0 { true } else { nil } }
    #expect(throws: ControllerError.self) { try home.toggle() }
    try home.world.run(for: .seconds(600))
    home.world.network.heal()
    try home.controller.event(within: .seconds(400)) { if case .subscriptionEstablished = $0 { true } else { nil } }
    #expect(try home.reports(of: OnOff.onOff.path(on: 1), as: Bool.self).last == !state)
  }

  /// The light is killed before each effect of its commissioning. It restarts with what it had committed, and can be
  /// commissioned unless it was.
  @Test func survivesKillAtAnyEffectOfCommissioning() throws {
    let whole = try SimulatedHome()
    try whole.commission()
    let count = whole.light.effectCount
    #expect(count > 30)
    var lateKills = 0
    for effect in 0..<count {
      let home = try SimulatedHome()
      home.world.trace.keepsEntries = false
      home.light.effectsUntilPowerCut = effect
      let result = Result { try home.commission() }
      // The kill may come before or after the controller was done.
      if home.light.isPowered { home.light.cutPower() }
      try home.world.run(for: .seconds(5))
      home.light.powerOn()
      let fabrics = try #require(home.light.engine).fabrics.count
      if case .success = result {
        #expect(fabrics == 1, "killed at effect \(effect)")
        try home.reconnect()
        try home.toggle()
      } else if fabrics == 0 {
        #expect(home.light.engine?.isCommissionable == true, "killed at effect \(effect)")
        #expect(throws: Never.self, "killed at effect \(effect)") { try home.commission() }
      } else {
        // Only the response to the last command was lost: the light is commissioned, which the controller learns when
        // it commissions it again.
        guard case .failure(let error) = result, case .commissioningFailed(.complete, _)? = error as? ControllerError
        else {
          Issue.record("killed at effect \(effect): \(result)")
          continue
        }
        lateKills += 1
        #expect(home.unconfirmed.count == 1)
        #expect(throws: Never.self, "killed at effect \(effect)") { try home.commission() }
        try home.toggle()
        #expect(home.light.engine?.fabrics.count == 1)
      }
      #expect(home.unconfirmed.isEmpty, "killed at effect \(effect)")
    }
    #expect((1..<10).contains(lateKills))
  }
}
