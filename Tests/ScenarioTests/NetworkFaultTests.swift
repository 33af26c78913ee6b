import HearthHome
import MatterClusters
import MatterModel
import MatterProtocol
import NIOPosix
import Simulation
import Synchronization
import Testing
import VirtualDevices

@testable import Scenario

/// The effects of network faults: each test fails if its fault had no effect.
@Suite struct NetworkFaultTests {
  private func steps(_ text: String) throws -> [ScenarioStep] {
    try ScenarioFileTests.load(ScenarioFileTests.lamp + "steps:\n" + text).steps
  }

  private func expectPass(_ steps: String, _ home: String = ScenarioFileTests.lamp) async throws {
    let result = await (try ScenarioFileTests.load(home + "steps:\n" + steps)).simulate(seed: 1).result
    #expect(result.isPassed, "\(result)")
  }

  // MARK: Parsing

  @Test func parsesLinkConditions() throws {
    let step = try #require(
      try steps(
        "  - net: { lamp: { loss: 0.5%, latency: 80ms, jitter: 7ms, duplicate: 2%, reorder: 25%, hold: 30ms, rate: 20kB/s, mtu: 1280 } }"
      ).first)
    var wanted = LinkConditions(
      latency: .milliseconds(80), jitter: .milliseconds(7), loss: Ratio(5_000, of: 1_000_000),
      duplication: Ratio(20_000, of: 1_000_000), reordering: Ratio(250_000, of: 1_000_000))
    (wanted.holding, wanted.bytesPerSecond, wanted.maximumDatagramSize) = (.milliseconds(30), 20_000, 1232)
    guard case .network("Kitchen/Lamp", .conditions(wanted)) = step.action else {
      Issue.record("\(step.action)")
      return
    }
  }

  @Test(arguments: [
    ("partition", NetworkFault.partition), ("mute", .mute), ("deaf", .deaf), ("heal", .heal),
    ("no multicast", .multicast(false)), ("multicast", .multicast(true)), ("no ipv4", .family(.v4, isOn: false)),
    ("ipv4", .family(.v4, isOn: true)), ("no ipv6", .family(.v6, isOn: false)), ("ipv6", .family(.v6, isOn: true)),
    ("{ network: iot }", .place("iot")),
  ]) func parsesFault(_ text: String, _ wanted: NetworkFault) throws {
    let step = try #require(try steps("  - net: { hub: \(text) }").first)
    guard case .network("hub", wanted) = step.action else {
      Issue.record("\(step.action)")
      return
    }
  }

  // MARK: Effects

  /// A mute device receives, but sends nothing.
  @Test func muteDeviceReceives() async throws {
    try await expectPass(
      """
        - net: { lamp: mute }
        - do: on lamp
        - expect: { actual lamp.onOff: true }
        - expect: { lamp.connectivity: offline, within: 3m }
        - net: { lamp: heal }
        - expect: { lamp.connectivity: online, lamp.onOff: true, within: 5m }
      """)
  }

  /// A deaf device sends, but receives nothing.
  @Test func deafDeviceSends() async throws {
    try await expectPass(
      """
        - net: { lamp: deaf }
        - set: { lamp.onOff: true }
        - expect: { lamp.onOff: true, within: 2s }
        - do: off lamp
        - expect: { actual lamp.onOff: true }
        - net: { lamp: heal }
        - expect: { lamp.connectivity: online, within: 5m }
        - do: off lamp
        - expect: { actual lamp.onOff: false, within: 2s }
      """)
  }

  /// A new address is unknown until service discovery works again.
  @Test func isNotFoundWithoutMulticast() async throws {
    try await expectPass(
      """
        - net: { lamp: no multicast }
        - after: 5m
          do: on lamp
        - expect: { lamp.onOff: true, within: 2s }
        - power: { lamp: off }
        - expect: { lamp.connectivity: offline, within: 3m }
        - move: lamp
        - power: { lamp: on }
        - after: 10m
          expect: { lamp.connectivity: offline }
        - net: { lamp: multicast }
        - expect: { lamp.connectivity: online, within: 10s }
      """, ScenarioFileTests.forgetfulLamp)
  }

  @Test func appliesSlowAndNarrowLinks() async throws {
    // Before, during and after the delay.
    for (conditions, early, late) in [("latency: 3s", "2s", "3s"), ("rate: 50B/s", "500ms", "60s")] {
      try await expectPass(
        """
          - net: { lamp: { \(conditions) } }
          - set: { lamp.onOff: true }
          - after: \(early)
            expect: { lamp.onOff: false }
          - expect: { lamp.onOff: true, within: \(late) }
        """)
    }
    // Handshake messages are too long, so no session is established.
    try await expectPass(
      """
        - power: { hub: off }
        - net: { lamp: { mtu: 200 } }
        - power: { hub: on }
        - after: 2m
          expect: { lamp.connectivity: offline, plug.connectivity: online }
        - net: { lamp: heal }
        - expect: { lamp.connectivity: online, within: 5m }
      """)
  }

  /// The home detects a lost subscription by its own clock.
  @Test func appliesClockDrift() async throws {
    func time(_ drift: String) async throws -> Duration {
      let text = "steps:\n  - drift: { hub: \(drift) }\n  - power: { lamp: off }\n"
      let scenario = try ScenarioFileTests.load(
        ScenarioFileTests.lamp + text + "  - expect: { lamp.connectivity: offline, within: 10m }")
      let result = await scenario.simulate(seed: 1).result
      #expect(result.isPassed, "\(result)")
      return result.duration
    }
    let (slow, right, fast) = (try await time("-400000ppm"), try await time("0ppm"), try await time("400000ppm"))
    #expect(fast < right && right < slow, "\(fast), \(right), \(slow)")
  }

  @Test func pressesButton() async throws {
    let button = "devices:\n  - { name: Button, type: generic switch }\n"
    try await expectPass(
      """
        - expect: { actual button.currentPosition: 0 }
        - press: { button: long }
        - after: 1500ms
          expect: { actual button.currentPosition: 1, button.currentPosition: 1 }
        - after: 1s
          expect: { actual button.currentPosition: 0, button.currentPosition: 0 }
        - press: { button: short }
        - after: 25ms
          expect: { actual button.currentPosition: 1 }
        - after: 100ms
          expect: { actual button.currentPosition: 0 }
        - press: { button: double }
        - after: 175ms
          expect: { actual button.currentPosition: 1 }
        - after: 100ms
          expect: { actual button.currentPosition: 0 }
      """, button)
  }

  /// As in virtual time: a cut scheduled without power applies after the next restore; restoring power twice has no
  /// effect; and another loss of power cancels the cut.
  @Test func schedulesCutWithoutPowerInRealTime() {
    let machine = RealMachine(on: MultiThreadedEventLoopGroup.singleton.any(), in: RealNetworks())
    final class Cuts: Sendable { let count = Atomic(0) }
    let cuts = Cuts()
    machine.losePower()
    machine.cutPower(afterEffects: 1)
    machine.restorePower()
    machine.onPowerCut { cuts.count.add(1, ordering: .relaxed) }
    machine.restorePower()
    #expect(machine.takesEffect() && machine.isPowered)
    #expect(!machine.takesEffect() && !machine.isPowered)
    #expect(!machine.takesEffect() && cuts.count.load(ordering: .relaxed) == 1)
    machine.restorePower()
    machine.cutPower(afterEffects: 0)
    machine.losePower()
    machine.restorePower()
    #expect(machine.takesEffect() && machine.isPowered)
  }

  @Test func changesAllAddresses() async throws {
    let run = await simulate(try SimulatedHomeTests.definition(), seed: 1) { _, world in
      let machine = try await world.machine(of: "Lamp")
      let before = machine.addresses
      try await world.move("Lamp")
      return (before, machine.addresses)
    }
    let (before, after) = try run.result.get()
    #expect(before.count == 2 && after.count == 2 && Set(before).isDisjoint(with: after))
  }

  /// A home that knows more addresses than it tries concurrently waits for an attempt to end, without busy waiting.
  @Test func triesFewAddressesConcurrently() async throws {
    let scenario = try ScenarioFileTests.load(
      """
      devices:
        - { name: Plug, type: plug }
      steps:
        - net: { hub: no ipv6 }
        - move: plug
        - do: on plug
        - expect: { actual plug.onOff: true, plug.onOff: true, within: 60s }
        - move: plug
        - power: { plug: off }
        - expect: { plug.connectivity: offline, within: 3m }
        - power: { plug: on }
        - expect: { plug.connectivity: online, within: 60s }
      """)
    let result = await scenario.simulate(seed: 1).result
    #expect(result.isPassed, "\(result)")
  }

  @Test func restoresIPv6AfterMove() async throws {
    let run = await simulate(try SimulatedHomeTests.definition(), seed: 1) { _, world in
      let machine = try await world.machine(of: "Lamp")
      try await world.inject("Lamp", .family(.v6, isOn: false))
      try await world.move("Lamp")
      let meanwhile = machine.addresses
      try await world.inject("Lamp", .family(.v6, isOn: true))
      return (meanwhile, machine.addresses)
    }
    let (meanwhile, after) = try run.result.get()
    #expect(meanwhile.map(\.isIPv6) == [false])
    #expect(after.map(\.isIPv6) == [true, false])
  }

  /// Pending operations continue at the new address, as the device keeps the session.
  @Test(.timeLimit(.minutes(10))) func continuesOperationsAfterMove() async throws {
    func scenario(within time: String) throws -> ScenarioDefinition {
      try ScenarioFileTests.load(
        """
        devices:
          - { name: Lamp, type: dimmable light }
        steps:
          - { do: toggle lamp, times: 4 }
          - set: { lamp.levelControl.onLevel: 40 }
          - move: lamp
          - do: on lamp
          - expect: { actual lamp.onOff: true, lamp.levelControl.onLevel: 40, lamp.connectivity: online, within: \(time) }
        """)
    }
    for seed in UInt64(1)...5 {
      let simulated = await (try scenario(within: "2s")).simulate(seed: seed).result
      #expect(simulated.isPassed, "\(simulated)")
    }
    let real = await (try scenario(within: "120s")).playInRealTime()
    #expect(real.isPassed, "\(real)")
  }

  /// Selects one of several buttons by its name or number, in virtual time and in real time.
  @Test(.timeLimit(.minutes(10))) func pressesOneOfSeveralButtons() async throws {
    let scenario = try ScenarioFileTests.load(
      """
      devices:
        - { name: Remote, type: generic switch, buttons: [On, Off] }
      steps:
        - press: { remote: { press: long, button: "off" } }
        - press: { remote: { button: 1 } }
      """)
    let buttons = scenario.steps.map { step -> String in
      if case .press(let device, let press, let button) = step.action { "\(device) \(press) \(button)" } else { "" }
    }
    #expect(buttons == ["Remote long 1", "Remote short 0"])
    let simulated = await scenario.simulate(seed: 1).result
    #expect(simulated.isPassed, "\(simulated)")
    let real = await scenario.playInRealTime()
    #expect(real.isPassed, "\(real)")
    let run = await simulate(scenario.home, seed: 1) { _, world in
      try await world.press("Remote", .long, button: 2)
      let held = try await world.positions(of: "Remote")
      try await world.simulation.sleep(for: .seconds(3))
      await #expect(throws: HomeError.self) { try await world.press("Remote", .long, button: 3) }
      let after = try await world.positions(of: "Remote")
      return (held, after)
    }
    let (held, after) = try run.result.get()
    #expect(held == [0, 1] && after == [0, 0])
  }
}

extension SimulatedHome {
  /// The positions of the two buttons of a switch.
  fileprivate func positions(of name: String) throws -> [UInt8] {
    let device = try find(name).device
    return try [EndpointID(1), EndpointID(2)].map {
      try UInt8(tlv: device.find(Switch.id, Switch.currentPosition.id, on: [$0]).value)
    }
  }
}
