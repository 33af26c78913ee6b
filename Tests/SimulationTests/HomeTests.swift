import MatterClusters
import MatterController
import MatterDevice
import MatterModel
import MatterProtocol
import Simulation
import Testing

@Suite struct HomeTests {
  @Test func commissionsTogglesAndDims() throws {
    let home = try SimulatedHome()
    let node = try home.commission()
    #expect(node == 1)
    #expect(home.light.engine?.fabrics.count == 1)
    #expect(home.light.events.contains { $0.event == .commissioned(1) })
    // Computation takes no virtual time, so this is the network's: discovery, and about thirty round trips.
    #expect(home.world.now < .zero + .seconds(2))

    let before: Bool = try home.state()
    try home.toggle()
    #expect(home.isOn == !before)
    if home.isOn == false { try home.toggle() }

    // Two seconds from full to a fifth: in between halfway, and at the target at the end.
    let dim = LevelControl.MoveToLevelRequest(
      level: 50, transitionTime: .value(20), optionsMask: [], optionsOverride: [])
    try home.invoke([CommandData(LevelControl.moveToLevel.path(on: 1), fields: dim.tlv)]).checkStatus()
    try home.world.run(for: .seconds(1))
    let halfWay = try #require(home.level)
    #expect((130...175).contains(halfWay))
    try home.world.run(for: .milliseconds(1100))
    #expect(home.level == 50)
    let report = try home.read([AttributePath(LevelControl.currentLevel.path(on: 1))])
    #expect(try report.value(of: LevelControl.currentLevel, on: 1) == .value(50))
  }

  @Test func subscriptionDeliversChanges() throws {
    let home = try SimulatedHome()
    try home.commission()
    let onOff = OnOff.onOff.path(on: 1)
    let request = SubscriptionRequest(paths: [AttributePath(onOff)], maxInterval: .seconds(30))
    _ = home.controller.command { $0.subscribe(1, request, at: $1) }
    try home.controller.event { if case .subscriptionEstablished = $0 { true } else { nil } }
    let first: Bool = try home.state()
    #expect(try home.reports(of: onOff, as: Bool.self) == [first])

    // A change by the controller, and one at the device.
    try home.toggle()
    try home.world.run(for: .seconds(1))
    home.light.command { engine, now in
      try? engine.act(set: OnOff.onOff, first, on: 1, at: now)
    }
    try home.world.run(for: .seconds(1))
    #expect(try home.reports(of: onOff, as: Bool.self) == [first, !first, first])

    // Keep-alive reports maintain the subscription for hours.
    try home.world.run(for: .seconds(3600))
    #expect(!home.controller.events.contains { if case .subscriptionLost = $0.event { true } else { false } })
    try home.toggle()
    try home.world.run(for: .seconds(1))
    #expect(try home.reports(of: onOff, as: Bool.self) == [first, !first, first, !first])
  }

  @Test func resumesAfterRestart() throws {
    let home = try SimulatedHome()
    try home.commission()
    let onOff = OnOff.onOff.path(on: 1)
    let request = SubscriptionRequest(paths: [AttributePath(onOff)], maxInterval: .seconds(30))
    _ = home.controller.command { $0.subscribe(1, request, at: $1) }
    try home.controller.event { if case .subscriptionEstablished = $0 { true } else { nil } }
    try home.toggle()
    let state = home.isOn
    home.light.restart()
    #expect(home.isOn == state)
    #expect(home.light.engine?.fabrics.count == 1)
    #expect(home.light.engine?.isCommissionable == false)
    // The light establishes a session and resumes the subscription on its own.
    home.controller.forgetEvents()
    try home.controller.event(within: .seconds(1)) { if case .report = $0 { true } else { nil } }
    try home.toggle()
    #expect(home.isOn == state.map { !$0 })
    try home.world.run(for: .seconds(1))
    #expect(try home.reports(of: onOff, as: Bool.self) == [state, state.map { !$0 }])
    #expect(!home.controller.events.contains { if case .subscriptionLost = $0.event { true } else { false } })

    // After a restart, the controller still has its node.
    home.controller.restart()
    #expect(home.controller.engine?.nodes.map(\.nodeID) == [1])
    try home.toggle()
    #expect(home.isOn == state)
  }

  @Test func findsMovedLight() throws {
    let home = try SimulatedHome()
    try home.commission()
    home.light.cutPower()
    home.light.move(to: SocketAddress(.v6(high: 0xFD00_0000_0000_0000, low: 99, scope: 0), port: 5540))
    home.light.powerOn()
    let state = home.isOn
    try home.reconnect()
    try home.toggle()
    #expect(home.isOn == state.map { !$0 })
  }

  @Test func keepsOnlyConfirmedAddresses() throws {
    let home = try SimulatedHome()
    try home.commission()
    let nowhere = SocketAddress(.v6(high: 0xFD00_0000_0000_0000, low: 98, scope: 0), port: 5540)
    let address = try #require(home.controller.engine?.node(1)?.address)
    home.controller.restart()
    home.controller.forgetEvents()
    home.controller.command { engine, _ in engine.setAddress(nowhere, of: 1) }
    #expect(home.controller.engine?.node(1)?.address == address)
    let state = home.isOn
    try home.toggle()
    #expect(home.isOn == state.map { !$0 })
    home.controller.restart()
    home.controller.forgetEvents()
    #expect(home.controller.engine?.node(1)?.address == address)

    // The light answers at a correct address, which is stored.
    let moved = SocketAddress(.v6(high: 0xFD00_0000_0000_0000, low: 99, scope: 0), port: 5540)
    home.light.cutPower()
    home.light.move(to: moved)
    home.light.powerOn()
    home.controller.restart()
    home.controller.forgetEvents()
    home.controller.command { engine, _ in engine.setAddress(moved, of: 1) }
    try home.toggle()
    home.controller.restart()
    home.controller.forgetEvents()
    #expect(home.controller.engine?.node(1)?.address == moved)
  }

  @Test func rejectsWrongPasscode() throws {
    let home = try SimulatedHome()
    #expect(throws: ControllerError.self) { try home.commission(20_202_022) }
    #expect(home.light.engine?.fabrics.isEmpty == true)
    try home.commission()
  }

  @Test func removalAllowsCommissioningAgain() throws {
    let home = try SimulatedHome()
    try home.commission()
    _ = try home.result { $0.removeNode(1, at: $1) }
    try home.world.run(for: .seconds(5))
    #expect(home.light.engine?.fabrics.isEmpty == true)
    #expect(home.controller.engine?.nodes.isEmpty == true)
    #expect(home.light.engine?.isCommissionable == true)
    #expect(try home.commission() == 2)
  }
}
