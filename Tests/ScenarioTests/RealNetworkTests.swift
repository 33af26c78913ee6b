import MatterModel
import MatterProtocol
import NIOCore
import Runtime
import Simulation
import Synchronization
import Testing
import VirtualDevices

@testable import Scenario

/// The effects of faults on multicast and service discovery over real sockets.
@Suite(.serialized) struct RealNetworkTests {
  private static let group = IPAddress.multicast(fabricID: 0x2345_6789_ABCD_EF01, group: 0x0103)

  /// Returns a message to a group with this counter, unencrypted.
  private static func message(_ counter: UInt32) -> [UInt8] {
    var bytes: [UInt8] = []
    MessageHeader(
      sessionID: 1, sessionKind: .group, counter: counter, source: NodeID(5), destination: .group(GroupID(0x0103))
    ).encode(to: &bytes)
    return bytes
  }

  private final class ReceivedMessages: Sendable {
    let counters = Mutex<[UInt32]>([])

    func add(_ bytes: [UInt8]) {
      guard let header = try? MessageHeader.decode(bytes).header else { return }
      counters.withLock { $0.append(header.counter) }
    }

    /// Waits for a message.
    func has(_ counter: UInt32) async -> Bool { await eventually { counters.withLock { $0.contains(counter) } } }
  }

  @Test func dropsGroupMessagesWithoutMulticast() async throws {
    let loop = HostMachine().nextEventLoop()
    let networks = RealNetworks()
    let (sender, receiver) = (RealMachine(on: loop, in: networks), RealMachine(on: loop, in: networks))
    let received = ReceivedMessages()
    let (from, to) = try await loop.submit {
      let from = try sender.impaired.openTransport(.loopback, port: nil, on: loop)
      let to = try receiver.impaired.openTransport(.loopback, port: nil, on: loop)
      to.onDatagram = { bytes, _ in received.add(bytes) }
      #expect(to.join(Self.group, port: 5540).isEmpty)
      return (NIOLoopBound(from, eventLoop: loop), NIOLoopBound(to, eventLoop: loop))
    }.get()
    func send(_ counter: UInt32) async throws {
      try await loop.submit { from.value.send(Self.message(counter), to: SocketAddress(Self.group, port: 5540)) }.get()
    }
    try await send(1)
    #expect(await received.has(1))
    let faults: [(RealMachine, NetworkFault)] = [
      (sender, .multicast(false)), (receiver, .multicast(false)), (sender, .place("iot")), (receiver, .place("iot")),
    ]
    for (number, (machine, fault)) in faults.enumerated() {
      machine.inject(fault)
      let counter = UInt32(10 * (number + 1))
      try await send(counter)
      // A later unicast message gets through, so a lost one would have arrived before it.
      try await loop.submit {
        var bytes: [UInt8] = []
        MessageHeader(sessionID: 1, counter: counter + 1).encode(to: &bytes)
        from.value.send(bytes, to: SocketAddress(.loopback6, port: to.value.port))
      }.get()
      #expect(await received.has(counter + 1), "\(fault)")
      #expect(!received.counters.withLock { $0.contains(counter) }, "\(fault)")
      machine.inject(.heal)
      try await send(counter + 2)
      #expect(await received.has(counter + 2), "\(fault)")
    }
    // Two machines in the same network, other than the home's own.
    for machine in [sender, receiver] { machine.inject(.place("iot")) }
    try await send(100)
    #expect(await received.has(100))
    try await loop.submit {
      from.value.close()
      to.value.close()
    }.get()
  }

  /// A machine without addresses neither finds others nor is found, and two machines without a common family don't
  /// find each other.
  @Test(
    .timeLimit(.minutes(10)),
    arguments: [
      ["plug: no ipv4", "plug: no ipv6"], ["hub: no ipv6", "hub: no ipv4"], ["plug: no ipv4", "hub: no ipv6"],
    ]) func isNotFoundWithoutCommonAddressFamily(_ faults: [String]) async throws
  {
    let text =
      "devices:\n  - { name: Plug, type: plug }\npaired: false\nsteps:\n"
      + faults.map { "  - net: { \($0) }\n" }.joined() + """
          - do: pair plug
          - expect: { hub.messages: 0 }
          - net: { plug: heal, hub: heal }
          - do: pair plug
          - expect: { plug.connectivity: online, within: 60s }
        """
    let scenario = try ScenarioFileTests.load(text)
    let simulated = await scenario.simulate(seed: 1).result
    #expect(simulated.isPassed, "\(simulated)")
    let real = await scenario.playInRealTime()
    #expect(real.isPassed, "\(real)")
  }

  /// Without a source address nothing is sent or counted.
  @Test(.timeLimit(.minutes(10))) func sendsNothingWithoutAddress() async throws {
    let scenario = try ScenarioFileTests.load(
      """
      devices:
        - { name: Plug, type: plug }
      steps:
        - net: { hub: no ipv4 }
        - net: { hub: no ipv6 }
        - do: on plug
        - expect: { hub.messages: 0, actual plug.onOff: false }
      """)
    let simulated = await scenario.simulate(seed: 1).result
    #expect(simulated.isPassed, "\(simulated)")
    let real = await scenario.playInRealTime()
    #expect(real.isPassed, "\(real)")
  }

  /// A discovery that finds its service at once and records the calls.
  private final class FakeDiscovery: NodeDiscovery {
    let service: MatterService
    let loop: any EventLoop
    private let calls = Mutex<[String]>([])
    /// The handler of the last search.
    private let handler = Mutex<(@Sendable (ServiceDiscovery.Event) -> Void)?>(nil)

    init(_ service: MatterService, _ loop: any EventLoop) { (self.service, self.loop) = (service, loop) }

    func follow(_ interfaces: [NetworkInterface]) {}

    /// The calls since the last access.
    var newCalls: [String] {
      calls.withLock { calls in
        defer { calls = [] }
        return calls
      }
    }

    /// Reports the service as lost.
    func reportLost() { handler.withLock(\.self)?(.lost(service)) }

    private func note(_ call: String) { calls.withLock { $0.append(call) } }

    func publish(_: MatterService, on _: (any EventLoop)?, onConflict _: (@Sendable (ServiceConflict) -> Void)?) {
      note("publish")
    }
    func withdraw(_: MatterService, silently: Bool) { note(silently ? "hide" : "withdraw") }
    func browse(
      _: DiscoveryQuery, on _: any EventLoop, _ handler: @escaping @Sendable (ServiceDiscovery.Event) -> Void
    ) -> ServiceDiscovery.Browse {
      note("browse")
      self.handler.withLock { $0 = handler }
      handler(.found(service))
      return ServiceDiscovery.Browse(number: 1)
    }
    func stop(_: ServiceDiscovery.Browse) { note("stop") }
    func stop() -> EventLoopFuture<Void> { loop.makeSucceededVoidFuture() }
  }

  /// A mute machine is not found and a deaf one finds nothing, until the fault heals.
  @Test func updatesServiceDiscoveryWithFaults() throws {
    let loop = HostMachine().nextEventLoop()
    let plug = RealMachine(on: loop, in: RealNetworks())
    let service = MatterService(kind: .commissionable(instance: 7), hostName: "0011223344FF", port: 5540, text: [])
    let fake = FakeDiscovery(service, loop)
    let discovery = ImpairedDiscovery(fake, plug)
    discovery.publish(service, on: nil, onConflict: nil)
    _ = discovery.browse(.commissionable(), on: loop) { _ in }
    #expect(fake.newCalls == ["publish", "browse"])
    let faults: [(NetworkFault, [String], [String])] = [
      (.multicast(false), ["hide", "stop"], ["publish", "browse"]), (.mute, ["hide"], ["publish"]),
      (.deaf, ["stop"], ["browse"]), (.partition, ["hide", "stop"], ["publish", "browse"]),
      (.conditions(LinkConditions(latency: .seconds(1))), [], []),
    ]
    for (fault, gone, back) in faults {
      plug.inject(fault)
      #expect(fake.newCalls == gone, "\(fault)")
      plug.inject(.heal)
      #expect(fake.newCalls == back, "\(fault)")
    }
    // With one family the service is announced with its addresses only, and with none it is hidden.
    plug.inject(.family(.v6, isOn: false))
    #expect(fake.newCalls == ["publish"])
    plug.inject(.family(.v4, isOn: false))
    #expect(fake.newCalls == ["hide", "stop"])
    // A new address is announced.
    plug.inject(.heal)
    #expect(fake.newCalls == ["publish", "browse"])
    try plug.move()
    #expect(fake.newCalls == ["publish"])
  }

  /// A cut scheduled without power applies after the next restore, as on virtual time; another loss of power cancels
  /// it.
  @Test func schedulesCutWithoutPower() {
    let plug = RealMachine(on: HostMachine().nextEventLoop(), in: RealNetworks())
    plug.losePower()
    plug.cutPower(afterEffects: 1)
    plug.losePower()
    plug.restorePower()
    #expect(plug.takesEffect() && !plug.takesEffect() && !plug.isPowered)
    plug.restorePower()
    plug.cutPower(afterEffects: 1)
    plug.losePower()
    plug.restorePower()
    #expect(plug.takesEffect() && plug.takesEffect() && plug.isPowered)
  }

  private static let service = MatterService(
    kind: .commissionable(instance: 7), hostName: "0011223344FF", port: 5540, text: [])

  /// Creates a plug that publishes a service, and a hub that does not search for it yet.
  private static func machines(
    on loop: any EventLoop
  ) -> (plug: RealMachine, hub: RealMachine, publisher: any NodeDiscovery) {
    let networks = RealNetworks()
    let (plug, hub) = (RealMachine(on: loop, in: networks), RealMachine(on: loop, in: networks))
    let publisher = ImpairedDiscovery(FakeDiscovery(service, loop), plug)
    publisher.publish(service, on: nil, onConflict: nil)
    return (plug, hub, publisher)
  }

  /// Runs a body on virtual time with a hub that has found the service of a plug.
  /// - Parameter body: receives, among others, a closure that withdraws the service and reports it as lost by the
  ///   underlying discovery.
  private func found(
    _ body: (
      _ world: World, _ hub: RealMachine, _ plug: RealMachine, _ end: (_ silently: Bool) -> Void, _ lost: () -> Int
    ) throws -> Void
  ) throws {
    let world = World(seed: 1)
    let loop = world.addMachine("loop").eventLoop
    let (plug, hub, publisher) = Self.machines(on: loop)
    let found = Atomic(0)
    let lost = Atomic(0)
    let fake = FakeDiscovery(Self.service, loop)
    let discovery = ImpairedDiscovery(fake, hub)
    _ = discovery.browse(.commissionable(), on: loop) { event in
      if case .found = event { found.add(1, ordering: .relaxed) } else { lost.add(1, ordering: .relaxed) }
    }
    try world.run(for: .seconds(1))
    #expect(found.load(ordering: .relaxed) == 1)
    try body(
      world, hub, plug,
      { isSilent in
        publisher.withdraw(Self.service, silently: isSilent)
        fake.reportLost()
      }, { lost.load(ordering: .relaxed) })
  }

  /// Records expire while a machine receives nothing.
  @Test func expiresRecordsOfDeafMachine() throws {
    try found { world, hub, _, _, lost in
      hub.inject(.deaf)
      try world.run(for: .seconds(119))
      #expect(lost() == 0)
      try world.run(for: .seconds(2))
      #expect(lost() == 1)
    }
    try found { world, hub, _, _, lost in
      hub.inject(.deaf)
      try world.run(for: .seconds(100))
      hub.inject(.heal)
      try world.run(for: .seconds(1_000))
      #expect(lost() == 0)
    }
  }

  /// The records of a machine that is not visible expire, also if other machines change meanwhile.
  @Test(arguments: [NetworkFault.mute, .partition, .multicast(false)]) func expiresRecordsOfInvisibleMachine(
    _ fault: NetworkFault
  ) throws {
    try found { world, hub, plug, _, lost in
      plug.inject(fault)
      for _ in 0..<11 {
        hub.updateDiscovery()
        try world.run(for: .seconds(10))
      }
      #expect(lost() == 0)
      try world.run(for: .seconds(11))
      #expect(lost() == 1)
    }
  }

  /// A mute machine can't send questions, and finds existing services only when they are announced again.
  @Test func muteMachineGetsNoAnswers() throws {
    let world = World(seed: 1)
    let loop = world.addMachine("loop").eventLoop
    let (_, hub, publisher) = Self.machines(on: loop)
    hub.inject(.mute)
    let found = Atomic(0)
    let discovery = ImpairedDiscovery(FakeDiscovery(Self.service, loop), hub)
    _ = discovery.browse(.commissionable(), on: loop) { _ in found.add(1, ordering: .relaxed) }
    try world.run(for: .seconds(100))
    #expect(found.load(ordering: .relaxed) == 0)
    publisher.publish(Self.service, on: nil, onConflict: nil)
    hub.updateDiscovery()
    try world.run(for: .seconds(1))
    #expect(found.load(ordering: .relaxed) == 1)
  }

  /// The expiry restarts with each absence.
  @Test func restartsExpiryWithEachAbsence() throws {
    try found { world, hub, plug, _, lost in
      for fault in [NetworkFault.place("iot"), .heal, .place("iot")] {
        plug.inject(fault)
        hub.updateDiscovery()
        try world.run(for: .seconds(50))
      }
      // 150 s after the first, 50 s after the second.
      #expect(lost() == 0)
      try world.run(for: .seconds(69))
      #expect(lost() == 0)
      try world.run(for: .seconds(2))
      #expect(lost() == 1)
    }
  }

  /// A goodbye is subject to the link, and is not repeated.
  @Test func appliesLinkToGoodbye() throws {
    try found { world, _, plug, end, lost in
      plug.inject(.conditions(LinkConditions(latency: .seconds(3))))
      end(false)
      try world.run(for: .milliseconds(2_900))
      #expect(lost() == 0)
      try world.run(for: .milliseconds(200))
      #expect(lost() == 1)
    }
    try found { world, _, plug, end, lost in
      plug.inject(.conditions(LinkConditions(loss: Ratio(999_999, of: 1_000_000))))
      end(false)
      try world.run(for: .seconds(1))
      plug.inject(.heal)
      try world.run(for: .seconds(118))
      #expect(lost() == 0)
      try world.run(for: .seconds(2))
      #expect(lost() == 1)
    }
  }

  /// A machine without power sends no goodbye: when the underlying records expire the service is lost at once, on any
  /// link.
  @Test func losesExpiredServiceImmediately() throws {
    for conditions in [LinkConditions(loss: Ratio(999_999, of: 1_000_000)), LinkConditions(latency: .seconds(3)), nil] {
      try found { world, _, plug, end, lost in
        if let conditions { plug.inject(.conditions(conditions)) }
        end(true)
        try world.run(for: .milliseconds(100))
        #expect(lost() == 1)
        // It is not reported again.
        try world.run(for: .seconds(1_000))
        #expect(lost() == 1)
      }
    }
  }

  // MARK: Another address

  /// After a move the new IPv4 address is resolved if both ends have IPv4.
  @Test func resolvesAddressAfterMove() async throws {
    let loop = HostMachine().nextEventLoop()
    let networks = RealNetworks()
    let (plug, hub) = (RealMachine(on: loop, in: networks), RealMachine(on: loop, in: networks))
    var service = Self.service
    networks.recordPublication(of: service.kind, by: plug)
    func resolved(_ addresses: [IPAddress]) -> [IPAddress] {
      service.addresses = addresses
      return networks.resolved(service, to: hub).addresses
    }
    #expect(resolved([.loopback6, .loopback4]) == [.loopback6, .loopback4])
    try await loop.submit { try plug.move() }.get()
    let new = plug.address4
    #expect(new != .loopback4 && new.isLoopback && hub.address4 == .loopback4)
    #expect(resolved([.loopback6, .loopback4, new]) == [new])
    // Without IPv4 the IPv6 address is used.
    hub.inject(.family(.v4, isOn: false))
    #expect(resolved([.loopback6, new]) == [.loopback6, new])
    hub.inject(.heal)
    // Known addresses of a disabled family are removed.
    plug.inject(.family(.v4, isOn: false))
    #expect(resolved([.loopback6, new]) == [.loopback6])
    plug.inject(.heal)
    plug.inject(.family(.v6, isOn: false))
    #expect(resolved([.loopback6, .loopback4]) == [.loopback4])
    try await loop.submit { try plug.move() }.get()
    #expect(plug.address4 != new)
  }

  /// Sockets that are open and those opened later are bound to the new address.
  @Test func bindsSocketsAtNewAddress() async throws {
    let loop = HostMachine().nextEventLoop()
    try await loop.submit {
      let plug = RealMachine(on: loop, in: RealNetworks())
      let transport = try plug.impaired.openTransport(.loopback, port: nil, on: loop)
      let before = Set(transport.addresses)
      try plug.move()
      #expect(before.isDisjoint(with: transport.addresses), "\(transport.addresses)")
      #expect(transport.addresses.contains { $0.ip == plug.address4 })
      // An update of the interfaces changes nothing.
      #expect(transport.follow(try NetworkInterfaces.select(.loopback)).isEmpty)
      #expect(transport.addresses.contains { $0.ip == plug.address4 })
      let next = try plug.impaired.openTransport(.loopback, port: nil, on: loop)
      #expect(next.addresses.contains { $0.ip == plug.address4 } && !next.addresses.contains { $0.ip == .loopback4 })
      for transport in [transport, next] { transport.close() }
    }.get()
  }

  /// A home reaches a moved device over each common family, also after a restart of the device.
  @Test(.timeLimit(.minutes(10)), arguments: ["", "plug: no ipv6", "plug: no ipv4", "hub: no ipv4", "hub: no ipv6"])
  func reachesMovedDevice(_ fault: String) async throws {
    let text =
      "devices:\n  - { name: Plug, type: plug }\nsteps:\n" + (fault.isEmpty ? "" : "  - net: { \(fault) }\n") + """
          - move: plug
          - do: on plug
          - expect: { actual plug.onOff: true, plug.onOff: true, within: 60s }
          - move: plug
          - power: { plug: cycle }
          - expect: { plug.connectivity: online, within: 60s }
          - move: hub
          - do: off plug
          - expect: { actual plug.onOff: false, plug.onOff: false, within: 60s }
        """
    let scenario = try ScenarioFileTests.load(text)
    let simulated = await scenario.simulate(seed: 1).result
    #expect(simulated.isPassed, "\(simulated)")
    let real = await scenario.playInRealTime()
    #expect(real.isPassed, "\(real)")
  }

  // MARK: Slow and lossy links

  /// The latencies of both ends delay service discovery.
  @Test(.timeLimit(.minutes(10))) func delaysServiceDiscovery() async throws {
    let loop = HostMachine().nextEventLoop()
    let (plug, hub, _) = Self.machines(on: loop)
    for machine in [plug, hub] { machine.inject(.conditions(LinkConditions(latency: .milliseconds(400)))) }
    let begin = HostClock.now()
    let discovery = ImpairedDiscovery(FakeDiscovery(Self.service, loop), hub)
    let took: Duration = try await withCheckedThrowingContinuation { continuation in
      _ = discovery.browse(.commissionable(), on: loop) { _ in continuation.resume(returning: HostClock.now() - begin) }
    }
    // A round trip.
    #expect(took >= .milliseconds(1600), "\(took)")
  }

  /// Loss applies to service discovery in virtual time and in real time.
  @Test(.timeLimit(.minutes(10))) func losesServiceDiscovery() async throws {
    let text = """
      devices:
        - { name: Plug, type: plug }
      paired: false
      steps:
        - net: { plug: { loss: 100% } }
        - do: pair plug
        - expect: { hub.messages: 0 }
        - net: { plug: { loss: 40% } }
        - do: pair plug
        - net: { plug: heal }
        # The previous attempt may have left the device busy.
        - power: { plug: cycle }
        - do: pair plug
        - expect: { plug.connectivity: online, within: 60s }
      """
    let scenario = try ScenarioFileTests.load(text)
    let simulated = await scenario.simulate(seed: 1).result
    #expect(simulated.isPassed, "\(simulated)")
    let real = await scenario.playInRealTime()
    #expect(real.isPassed, "\(real)")
  }
}
