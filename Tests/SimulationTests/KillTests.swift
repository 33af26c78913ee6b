import MatterClusters
import MatterController
import MatterDevice
import MatterModel
import MatterProtocol
import Runtime
import Simulation
import Testing

/// Power cuts at any point.
@Suite struct KillTests {
  /// A machine without power stores nothing, nor does a process from before the cut after power is restored. Stored
  /// data is kept.
  @Test func powerCutKeepsOnlyCommittedState() throws {
    let world = World(seed: 1)
    let machine = world.addMachine("light")
    let store = try machine.openStore("device")
    func commit(_ store: any NodeStore, _ value: UInt8) throws -> UInt8? {
      try store.commit([StoreChange("count", [value])])
      return machine.stored(in: "device")["count"]?.first
    }
    #expect(try commit(store, 1) == 1)
    machine.effectsUntilPowerCut = 1
    #expect(try commit(store, 2) == 2)
    #expect(try commit(store, 3) == 2 && !machine.isPowered)
    #expect(try commit(store, 4) == 2)
    machine.restorePower()
    #expect(try commit(store, 5) == 2)
    let next = try machine.openStore("device")
    #expect(try next.load() == ["count": [2]])
    #expect(try commit(next, 6) == 6)
    machine.cutPower()
    #expect(try commit(next, 7) == 6)
    machine.eraseDisk()
    machine.restorePower()
    #expect(try machine.openStore("device").load().isEmpty)
  }

  /// The light stores a change before it responds.
  @Test func keepsAcknowledgedCommands() throws {
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
        // Killed; the last command may have been performed without a response.
      }
      home.light.restart()
      let state = try home.state()
      #expect(state == answered || state == asked, "killed at effect \(effect)")
      try home.reconnect()
      try home.toggle()
      #expect(home.isOn == !state, "killed at effect \(effect)")
    }
  }

  /// The controller is killed before each of its effects while it commissions. Afterward the light is its node, or
  /// commissionable again after the fail-safe expires.
  @Test func survivesKilledCommissioner() throws {
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
      // Operation IDs start again after each start.
      home.controller.forgetEvents()
      home.controller.powerOn()
      try home.world.run(for: .seconds(300))
      let fabrics = try #require(home.light.engine).fabrics.count
      let nodes = try #require(home.controller.engine).nodes
      if fabrics == 0 {
        #expect(nodes.isEmpty, "effect \(effect)")
        #expect(home.light.engine?.isCommissionable == true, "effect \(effect)")
        #expect(throws: Never.self, "effect \(effect)") { try home.commission() }
      } else {
        // The light is in the controller's fabric, which the controller may only learn when it commissions it again.
        if nodes.isEmpty { #expect(throws: Never.self, "effect \(effect)") { try home.commission() } }
        #expect(throws: Never.self, "effect \(effect)") { try home.toggle() }
      }
      #expect(home.unconfirmed.isEmpty, "effect \(effect)")
    }
  }

  /// The light is killed before each of its effects while it is commissioned, and restarts two seconds later. Either
  /// commissioning succeeds, or the failed step is reported and the next attempt succeeds.
  @Test func survivesKilledDevice() throws {
    let request = CommissioningRequest(
      passcode: SimulatedHome.passcode, target: .discriminator(.long(SimulatedHome.discriminator)))
    let whole = try SimulatedHome()
    let begin = whole.light.effectCount
    try whole.commission()
    let count = whole.light.effectCount - begin
    #expect(count > 20)
    var failures = 0
    for effect in 0..<count {
      let home = try SimulatedHome()
      home.world.trace.keepsEntries = false
      home.light.effectsUntilPowerCut = effect
      let operation = try #require(home.controller.command { $0.commission(request, at: $1) })
      try home.world.run(for: .seconds(2))
      #expect(!home.light.isPowered, "effect \(effect)")
      home.light.powerOn()
      let outcome = try home.controller.event(within: .seconds(200)) {
        event -> Result<OperationOutcome, ControllerError>? in
        if case .completed(operation, let result) = event { result } else { nil }
      }
      switch outcome {
      case .success: #expect(home.controller.engine?.nodes.count == 1, "effect \(effect)")
      case .failure(.commissioningFailed):
        failures += 1
        #expect(home.controller.engine?.nodes.isEmpty == true, "effect \(effect)")
        #expect(
          home.light.engine?.fabrics.isEmpty == true,
          "effect \(effect): the light is in a fabric unknown to the controller")
        #expect(throws: Never.self, "effect \(effect)") { try home.commission() }
      case .failure(let error): Issue.record("effect \(effect): \(error)")
      }
      let node = try #require(home.controller.engine?.nodes.first?.nodeID, "effect \(effect)")
      let toggle = try home.result { $0.invoke(node, [CommandData(OnOff.toggle.path(on: 1))], at: $1) }
      guard case .invoked(let results) = toggle else { continue }
      try results.checkStatus()
    }
    #expect(failures > 10)
  }

  /// Repeated power cuts keep the fabric and the changes made at the device.
  @Test func survivesManyPowerCuts() throws {
    let home = try SimulatedHome()
    try home.commission()
    for run in 0..<50 {
      let state = run % 3 == 0
      home.switchByHand(state)
      home.light.restart()
      #expect(home.isOn == state, "run \(run)")
      #expect(home.light.engine?.fabrics.count == 1)
    }
    try home.reconnect()
    try home.toggle()
    #expect(home.light.startCount == 51)
  }
}
