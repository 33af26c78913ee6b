import Glibc
import Logging
import MatterProtocol
import NIOCore
import NIOPosix
import Runtime
import Simulation
import Testing
import VirtualDevices

@testable import Scenario

/// Scenarios on real sockets, with the same outcome as in virtual time.
@Suite(.serialized) struct RealTimeTests {
  static let text = """
    devices:
      - { name: Lamp, type: dimmable light }
      - { name: Plug, type: plug }
      - name: Bridge
        type: bridge
        devices:
          - { name: Spot, type: on/off light }
    paired: false
    steps:
      - clock: { hub: -1y }
      - drift: { lamp: 200000ppm, hub: -100ppm }
      - clock: { lamp: +3h }
      - do: pair lamp
      - do: pair plug
      - do: pair bridge
      - expect: { lamp.connectivity: online, plug.connectivity: online, spot.connectivity: online, within: 60s }
      - net: { lamp: { reorder: 20%, hold: 30ms, rate: 20kB/s, mtu: 1280, latency: 5ms, jitter: 5ms, duplicate: 10% } }
      - do: on lamp
      - expect: { lamp.onOff: true, actual lamp.onOff: true, within: 60s }
      - net: { lamp: heal }
      - net: { plug: no multicast }
      - do: on plug
      - expect: { plug.onOff: true, plug.messages: "> 1", within: 60s }
      - net: { plug: multicast }
      - net: { plug: { network: iot } }
      - power: { hub: cycle }
      - expect: { plug.connectivity: online, lamp.connectivity: online, within: 60s }
      - net: { plug: heal }
      - rival: { plug: 2 }
      - rival: { plug: { subscriptions: 30 } }
      - do: off plug
      - expect: { plug.onOff: false, within: 60s }
      - power: { spot: off }
      - expect: { spot.connectivity: offline, bridge.connectivity: online, within: 60s }
      - power: { spot: on }
      - expect: { spot.connectivity: online, within: 60s }
      - cut: { plug: 3 }
      - do: toggle plug
      - wait: 100ms
      - power: { plug: off }
      - move: lamp
      - power: { plug: on, hub: cycle }
      - power: { hub: off }
      - power: { hub: off }
      - power: { hub: on }
      - expect: { lamp.connectivity: online, plug.connectivity: online, spot.connectivity: online, within: 90s }
      - do: off lamp
      - expect: { actual lamp.onOff: false, within: 60s }
    """

  @Test(.timeLimit(.minutes(10))) func passesInVirtualAndRealTime() async throws {
    let scenario = try ScenarioFileTests.load(Self.text)
    let simulated = await scenario.simulate(seed: 1).result
    #expect(simulated.isPassed, "\(simulated)")
    let real = await scenario.playInRealTime()
    #expect(real.isPassed, "\(real)")
  }

  @Test(.timeLimit(.minutes(10))) func printsCommandForReplay() async throws {
    let text = """
      devices: [{ name: Lamp, type: on/off light }]
      paired: false
      steps: [{ expect: { actual lamp.onOff: true } }]
      """

    let real = await (try ScenarioFileTests.load(text)).playInRealTime(defect: .sendsOnce)
    #expect(real.failure?.again == "hearth test s.yaml --realtime --defect sendsOnce", "\(real)")
  }

  /// A router blocks discovery; machines of the same network find each other.
  @Test(.timeLimit(.minutes(10))) func isolatesNetworks() async throws {
    let text = """
      devices:
        - { name: Plug, type: plug }
      paired: false
      steps:
        - net: { plug: { network: iot } }
        - do: pair plug
        - expect: { plug.messages: 0 }
        - net: { hub: { network: iot } }
        - do: pair plug
        - expect: { plug.connectivity: online, within: 120s }
        - net: { hub: heal }
        - do: on plug
        - expect: { actual plug.onOff: true, within: 120s }
      """
    let scenario = try ScenarioFileTests.load(text)
    let simulated = await scenario.simulate(seed: 1).result
    #expect(simulated.isPassed, "\(simulated)")
    let real = await scenario.playInRealTime()
    #expect(real.isPassed, "\(real)")
  }

  /// A device that has moved is found at its new address after a restart, whether it moved while off or while running.
  @Test(.timeLimit(.minutes(10))) func restartsAtNewAddress() async throws {
    let text = """
      devices:
        - { name: Plug, type: plug }
      steps:
        - net: { plug: { network: iot } }
        - power: { hub: off, plug: off }
        - move: plug
        - power: { plug: on, hub: on }
        - expect: { plug.connectivity: offline, within: 60s }
        - net: { plug: heal }
        - expect: { plug.connectivity: online, within: 60s }
        - move: plug
        - do: on plug
        - expect: { actual plug.onOff: true, plug.connectivity: online, within: 60s }
        - net: { plug: { network: iot } }
        - power: { hub: off, plug: cycle }
        - power: { plug: cycle }
        - power: { hub: on }
        - expect: { plug.connectivity: online, within: 60s }
      """
    let scenario = try ScenarioFileTests.load(text)
    let simulated = await scenario.simulate(seed: 1).result
    #expect(simulated.isPassed, "\(simulated)")
    let real = await scenario.playInRealTime()
    #expect(real.isPassed, "\(real)")
  }

  /// A service that is first published after a move has the new address.
  @Test(.timeLimit(.minutes(10))) func sharesDeviceAfterMove() async throws {
    let text = """
      devices:
        - { name: Lamp, type: on/off light }
      steps:
        - move: lamp
        - move: lamp
        - rival: { lamp: 1 }
        - do: on lamp
        - expect: { actual lamp.onOff: true, within: 60s }
      """
    let real = await (try ScenarioFileTests.load(text)).playInRealTime()
    #expect(real.isPassed, "\(real)")
  }

  /// Homes of the same definition can run concurrently without sharing host names.
  @Test(.timeLimit(.minutes(10))) func usesDifferentHostNamesPerHome() async throws {
    let name = "Lamp \(UInt32.random(in: 0...UInt32.max))"
    let scenario = try ScenarioFileTests.load(
      "devices: [{ name: \(name), type: on/off light }]\nsteps: [{ wait: 1s }]\n")
    let homes = try [RealHome(scenario.home), RealHome(scenario.home)]
    for home in homes { try await home.begin(isPaired: false, defect: nil) }
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let discovery = try HostMachine().openDiscovery(
      .builtin, .loopback, registry: nil, on: loop, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    let (found, continuation) = AsyncStream.makeStream(of: MatterService.self)
    let browse = discovery.browse(.commissionable(), on: loop) { event in
      if case .found(let service) = event, service.deviceName == name { continuation.yield(service) }
    }
    var hosts: [MatterService.Kind: String] = [:]
    for await service in found {
      hosts[service.kind] = service.hostName
      if hosts.count == homes.count { break }
    }
    #expect(Set(hosts.values).count == homes.count, "\(hosts)")
    discovery.stop(browse)
    try await discovery.stop().get()
    for home in homes { await home.close() }
  }

  @Test(.timeLimit(.minutes(10))) func enforcesLimit() async throws {
    try await expectLimit("- wait: 1h", "s.yaml:6:5: wait 60 min")
    try await expectLimit("- { after: 1h, do: on plug }", "s.yaml:6:5: do on plug, after 60 min")
  }

  private func expectLimit(_ step: String, _ waits: String) async throws {
    let scenario = try ScenarioFileTests.load(
      "devices:\n  - { name: Plug, type: plug }\npaired: false\nlimit: 2s\nsteps:\n  \(step)")
    let result = await scenario.playInRealTime()
    #expect(
      result.failure?.message
        == "the time is over after 2 s (“limit:” of the scenario), and there still waits “\(waits)”", "\(result)")
    #expect(result.failure?.mark?.line == 6)
    #expect(result.duration < .seconds(1800))
  }

  /// If a device can't be paired during the setup, the failure shows the progress.
  @Test(.timeLimit(.minutes(10))) func reportsEventsOfSetup() async throws {
    let scenario = try ScenarioFileTests.load("devices:\n  - { name: Plug, type: plug }\nsteps:\n  - wait: 1s\n")
    let timeline = Timeline()
    let home = try RealHome(scenario.home, timeline)
    try await home.perform(.network(device: "hub", .partition))
    let failure = try #require(await scenario.play(on: home, timeline, defect: nil))
    #expect(failure.timeline.count == 1, "\(failure)")
    #expect(failure.timeline.first?.hasPrefix("setting up, ") == true, "\(failure)")
    #expect(failure.timeline.first?.hasSuffix(": pair Plug, discover") == true, "\(failure)")
  }

  @Test(.timeLimit(.minutes(10))) func appliesDefect() async throws {
    func scenario(within time: String) throws -> ScenarioDefinition {
      try ScenarioFileTests.load(
        """
        devices:
          - name: Bridge
            type: bridge
            devices:
              - { name: Spot, type: on/off light }
        steps:
          - power: { spot: off }
          - expect: { spot.connectivity: offline, within: \(time) }
        """)
    }
    #expect(await (try scenario(within: "120s")).playInRealTime().isPassed)
    #expect(await !(try scenario(within: "5s")).playInRealTime(defect: .ignoresReachable).isPassed)
  }

  /// A stack overflow can be reported because signals have an alternate stack.
  @Test func installsAlternateSignalStack() async throws {
    let home = try RealHome(
      try ScenarioFileTests.load("devices:\n  - { name: Plug, type: plug }\nsteps:\n  - wait: 1s\n").home)
    for loop in home.loops {
      let (size, isSame) = try await loop.submit { () -> (Int, Bool) in
        var (stack, next) = (stack_t(), stack_t())
        // Not “disabled”.
        guard sigaltstack(nil, &stack) == 0, stack.ss_flags & 2 == 0 else { return (0, false) }
        SignalStack.keep()
        return (stack.ss_size, sigaltstack(nil, &next) == 0 && stack.ss_sp == next.ss_sp)
      }.get()
      #expect(size >= 32 << 10 && isSame)
    }
    await home.close()
  }

  /// Rules about the home, a device and messages are checked continuously.
  @Test(
    .timeLimit(.minutes(10)),
    arguments: [
      ("always:\n  - { plug.connectivity: online }", "power: { plug: off }"),
      ("always:\n  - { actual plug.onOff: false }", "do: on plug"),
      ("never:\n  - { plug.onOff: true }", "do: on plug"), ("never:\n  - { actual plug.onOff: true }", "do: on plug"),
      ("always:\n  - { plug.messages: 0 }", "do: on plug"), ("never:\n  - { messages: \"> 0\" }", "do: on plug"),
    ]) func checksRulesContinuously(_ rule: String, _ step: String) async throws
  {
    let text = "devices:\n  - { name: Plug, type: plug }\n\(rule)\nsteps:\n"
    let fine = try ScenarioFileTests.load(text + "  - expect: { plug.locality: peer }\n")
    let real = await fine.playInRealTime()
    #expect(real.isPassed, "\(real)")
    let wrong = try ScenarioFileTests.load(text + "  - \(step)\n  - wait: 5m\n")
    let result = await wrong.playInRealTime()
    #expect(result.failure?.mark?.line == 4, "\(result)")
    // Soon, and not at the end.
    #expect(result.duration < .seconds(290), "\(result)")
  }

  @Test(.timeLimit(.minutes(10))) func pressesButton() async throws {
    let scenario = try ScenarioFileTests.load(
      """
      devices:
        - { name: Button, type: generic switch }
      never:
        - { button.currentPosition: 1 }
      steps:
        - press: { button: long }
        - wait: 60s
      """)
    let result = await scenario.playInRealTime()
    #expect(result.failure?.mark?.line == 4, "\(result)")
  }
}
