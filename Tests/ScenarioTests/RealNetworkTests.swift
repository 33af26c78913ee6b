import MatterModel
import MatterProtocol
import NIOCore
import Runtime
import Simulation
import Synchronization
import Testing

@testable import Scenario

/// What is injected into machines on real sockets is injected into what they send to groups, and service discovery,
/// too.
@Suite(.serialized) struct RealNetworkTests {
  private static let group = IPAddress.multicast(fabricID: 0x2345_6789_ABCD_EF01, group: 0x0103)

  /// A message for a group with this number, as far as anybody can read it.
  private static func message(_ counter: UInt32) -> [UInt8] {
    var bytes: [UInt8] = []
    MessageHeader(
      sessionID: 1, sessionKind: .group, counter: counter, source: NodeID(5), destination: .group(GroupID(0x0103))
    ).encode(to: &bytes)
    return bytes
  }

  private final class Heard: Sendable {
    let counters = Mutex<[UInt32]>([])

    func add(_ bytes: [UInt8]) {
      guard let header = try? MessageHeader.decode(bytes).header else { return }
      counters.withLock { $0.append(header.counter) }
    }

    /// Whether it comes, on however busy a machine.
    func has(_ counter: UInt32) async -> Bool {
      for _ in 0..<12_000 {
        if counters.withLock({ $0.contains(counter) }) { return true }
        try? await Task.sleep(for: .milliseconds(10))
      }
      return false
    }
  }

  @Test func whatIsSentToAGroupGetsNowhereWithoutMulticast() async throws {
    let loop = HostMachine().nextEventLoop()
    let networks = RealNetworks()
    let (sender, receiver) = (FaultyMachine(on: loop, in: networks), FaultyMachine(on: loop, in: networks))
    let heard = Heard()
    let (from, to) = try await loop.submit {
      let from = try sender.openTransport(.loopback, port: nil, on: loop)
      let to = try receiver.openTransport(.loopback, port: nil, on: loop)
      to.onDatagram = { bytes, _ in heard.add(bytes) }
      #expect(to.join(Self.group, port: 5540).isEmpty)
      return (NIOLoopBound(from, eventLoop: loop), NIOLoopBound(to, eventLoop: loop))
    }.get()
    func send(_ counter: UInt32) async throws {
      try await loop.submit { from.value.send(Self.message(counter), to: SocketAddress(Self.group, port: 5540)) }.get()
    }
    try await send(1)
    #expect(await heard.has(1))
    let faults: [(FaultyMachine, NetworkFault)] = [
      (sender, .multicast(false)), (receiver, .multicast(false)), (sender, .place("iot")), (receiver, .place("iot")),
    ]
    for (number, (machine, fault)) in faults.enumerated() {
      machine.inject(fault)
      let counter = UInt32(10 * (number + 1))
      try await send(counter)
      // What is for one machine gets through, and comes later than what did not.
      try await loop.submit {
        var bytes: [UInt8] = []
        MessageHeader(sessionID: 1, counter: counter + 1).encode(to: &bytes)
        from.value.send(bytes, to: SocketAddress(.loopback6, port: to.value.port))
      }.get()
      #expect(await heard.has(counter + 1), "\(fault)")
      #expect(!heard.counters.withLock { $0.contains(counter) }, "\(fault)")
      machine.inject(.heal)
      try await send(counter + 2)
      #expect(await heard.has(counter + 2), "\(fault)")
    }
    // Two in the same network, though not the home's own.
    for machine in [sender, receiver] { machine.inject(.place("iot")) }
    try await send(100)
    #expect(await heard.has(100))
    try await loop.submit {
      from.value.close()
      to.value.close()
    }.get()
  }

  /// Who has no address is not seen by service discovery, and nobody by who has none; nor do two see each other who
  /// have none in common.
  @Test(
    .timeLimit(.minutes(10)),
    arguments: [
      ["plug: no ipv4", "plug: no ipv6"], ["hub: no ipv6", "hub: no ipv4"], ["plug: no ipv4", "hub: no ipv6"],
    ]) func whoHasNoAddressIsNotFound(_ faults: [String]) async throws
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

  /// Without an address to send from nothing is sent, and nothing is counted, whatever the home tries.
  @Test(.timeLimit(.minutes(10))) func whoHasNoAddressSendsNothing() async throws {
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

  /// A service discovery that finds everything at once, and knows what it was asked for.
  private final class Finder: NodeDiscovery {
    let service: MatterService
    let loop: any EventLoop
    private let asked = Mutex<[String]>([])
    /// Who looks for something.
    private let handler = Mutex<(@Sendable (ServiceDiscovery.Event) -> Void)?>(nil)

    init(_ service: MatterService, _ loop: any EventLoop) { (self.service, self.loop) = (service, loop) }

    /// What it was asked for since this was asked last.
    var news: [String] {
      asked.withLock { asked in
        defer { asked = [] }
        return asked
      }
    }

    /// Nobody publishes it any more.
    func takeBack() { handler.withLock(\.self)?(.lost(service)) }

    private func note(_ what: String) { asked.withLock { $0.append(what) } }

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

  /// Who is not heard is not seen, and who does not hear sees nothing; afterwards they are and do again.
  @Test func serviceDiscoveryFollowsTheFaults() {
    let loop = HostMachine().nextEventLoop()
    let plug = FaultyMachine(on: loop, in: RealNetworks())
    let service = MatterService(kind: .commissionable(instance: 7), hostName: "0011223344FF", port: 5540, text: [])
    let finder = Finder(service, loop)
    let discovery = plug.share(finder)
    discovery.publish(service, on: nil, onConflict: nil)
    _ = discovery.browse(.commissionable(), on: loop) { _ in }
    #expect(finder.news == ["publish", "browse"])
    let faults: [(NetworkFault, [String], [String])] = [
      (.multicast(false), ["hide", "stop"], ["publish", "browse"]), (.mute, ["hide"], ["publish"]),
      (.deaf, ["stop"], ["browse"]), (.partition, ["hide", "stop"], ["publish", "browse"]),
      (.conditions(LinkConditions(latency: .seconds(1))), [], []),
    ]
    for (fault, gone, back) in faults {
      plug.inject(fault)
      #expect(finder.news == gone, "\(fault)")
      plug.inject(.heal)
      #expect(finder.news == back, "\(fault)")
    }
    // With one family left it is told with the addresses of that one, and with none not at all.
    plug.inject(.family(.v6, isOn: false))
    #expect(finder.news == ["publish"])
    plug.inject(.family(.v4, isOn: false))
    #expect(finder.news == ["hide", "stop"])
    // Its port is another one: that is told as well.
    plug.inject(.heal)
    #expect(finder.news == ["publish", "browse"])
    (discovery as? FaultyDiscovery)?.move(from: 5540, to: 5541)
    #expect(finder.news == ["publish"])
  }

  /// A cut that was asked for while there was no power comes when there is, as on virtual time; who has power and
  /// loses it is rid of it.
  @Test func aCutWaitsForThePower() {
    let plug = FaultyMachine(on: HostMachine().nextEventLoop(), in: RealNetworks())
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

  /// A plug that publishes something, and a hub that has not looked for it yet.
  private static func machines(
    on loop: any EventLoop
  ) -> (plug: FaultyMachine, hub: FaultyMachine, publisher: any NodeDiscovery) {
    let networks = RealNetworks()
    let (plug, hub) = (FaultyMachine(on: loop, in: networks), FaultyMachine(on: loop, in: networks))
    let publisher = plug.share(Finder(service, loop))
    publisher.publish(service, on: nil, onConflict: nil)
    return (plug, hub, publisher)
  }

  /// A home's discovery in a world of its own, where time is virtual, and a plug that it has found.
  /// - Parameter body: is given, among others, what has the plug take its service back, and the discovery beneath
  ///   forget it.
  private func found(
    _ body: (
      _ world: World, _ hub: FaultyMachine, _ plug: FaultyMachine, _ end: (_ silently: Bool) -> Void, _ lost: () -> Int
    ) throws -> Void
  ) throws {
    let world = World(seed: 1)
    let loop = world.addMachine("loop").eventLoop
    let (plug, hub, publisher) = Self.machines(on: loop)
    let found = Atomic(0)
    let lost = Atomic(0)
    let finder = Finder(Self.service, loop)
    let discovery = hub.share(finder)
    _ = discovery.browse(.commissionable(), on: loop) { event in
      if case .found = event { found.add(1, ordering: .relaxed) } else { lost.add(1, ordering: .relaxed) }
    }
    try world.run(for: .seconds(1))
    #expect(found.load(ordering: .relaxed) == 1)
    try body(
      world, hub, plug,
      { isSilent in
        publisher.withdraw(Self.service, silently: isSilent)
        finder.takeBack()
      }, { lost.load(ordering: .relaxed) })
  }

  /// What a machine has found it forgets when it has heard nothing for as long as records live.
  @Test func whoIsDeafForgetsWhatItKnows() throws {
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

  /// Who is not seen any more is forgotten, whatever is injected into others meanwhile.
  @Test(arguments: [NetworkFault.mute, .partition, .multicast(false)]) func whoIsNotSeenIsForgotten(
    _ fault: NetworkFault
  ) throws {
    try found { world, hub, plug, _, lost in
      plug.inject(fault)
      for _ in 0..<11 {
        hub.updateSearches()
        try world.run(for: .seconds(10))
      }
      #expect(lost() == 0)
      try world.run(for: .seconds(11))
      #expect(lost() == 1)
    }
  }

  /// Who is not heard finds what was there before only when it has been announced anew.
  @Test func whoIsMuteHasNoAnswer() throws {
    let world = World(seed: 1)
    let loop = world.addMachine("loop").eventLoop
    let (_, hub, publisher) = Self.machines(on: loop)
    hub.inject(.mute)
    let found = Atomic(0)
    let discovery = hub.share(Finder(Self.service, loop))
    _ = discovery.browse(.commissionable(), on: loop) { _ in found.add(1, ordering: .relaxed) }
    try world.run(for: .seconds(100))
    #expect(found.load(ordering: .relaxed) == 0)
    publisher.publish(Self.service, on: nil, onConflict: nil)
    hub.updateSearches()
    try world.run(for: .seconds(1))
    #expect(found.load(ordering: .relaxed) == 1)
  }

  /// Each absence has its own time, whatever an earlier one has begun.
  @Test func anEarlierAbsenceIsOver() throws {
    try found { world, hub, plug, _, lost in
      for fault in [NetworkFault.place("iot"), .heal, .place("iot")] {
        plug.inject(fault)
        hub.updateSearches()
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

  /// A goodbye takes its way, and is said once.
  @Test func aGoodbyeIsOfTheLink() throws {
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

  /// Who loses its power says none: what the records of the discovery beneath were good for is over with them, on a
  /// bad link as well.
  @Test func whatHasExpiredIsForgottenAtOnce() throws {
    for conditions in [LinkConditions(loss: Ratio(999_999, of: 1_000_000)), LinkConditions(latency: .seconds(3)), nil] {
      try found { world, _, plug, end, lost in
        if let conditions { plug.inject(.conditions(conditions)) }
        end(true)
        try world.run(for: .milliseconds(100))
        #expect(lost() == 1)
        // Nor is it news again.
        try world.run(for: .seconds(1_000))
        #expect(lost() == 1)
      }
    }
  }

  // MARK: Another address

  /// Who moves is told of with what is another: the IPv4 address, where both ends have one.
  @Test func whoMovesIsFoundElsewhere() async throws {
    let loop = HostMachine().nextEventLoop()
    let networks = RealNetworks()
    let (plug, hub) = (FaultyMachine(on: loop, in: networks), FaultyMachine(on: loop, in: networks))
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
    // Who has no IPv4 finds it at the IPv6 address that there is.
    hub.inject(.family(.v4, isOn: false))
    #expect(resolved([.loopback6, new]) == [.loopback6, new])
    hub.inject(.heal)
    // What is known of a family that it has lost is not taken in.
    plug.inject(.family(.v4, isOn: false))
    #expect(resolved([.loopback6, new]) == [.loopback6])
    plug.inject(.heal)
    plug.inject(.family(.v6, isOn: false))
    #expect(resolved([.loopback6, .loopback4]) == [.loopback4])
    try await loop.submit { try plug.move() }.get()
    #expect(plug.address4 != new)
  }

  /// Its sockets are there, and nobody is where it was; what it opens later is there, too.
  @Test func whoMovesHasSocketsElsewhere() async throws {
    let loop = HostMachine().nextEventLoop()
    try await loop.submit {
      let plug = FaultyMachine(on: loop, in: RealNetworks())
      let transport = try plug.openTransport(.loopback, port: nil, on: loop)
      let before = Set(transport.addresses)
      try plug.move()
      #expect(before.isDisjoint(with: transport.addresses), "\(transport.addresses)")
      #expect(transport.addresses.contains { $0.ip == plug.address4 })
      // Whoever looks what the host has finds what it had before.
      #expect(transport.follow(try NetworkInterfaces.select(.loopback)).isEmpty)
      #expect(transport.addresses.contains { $0.ip == plug.address4 })
      let next = try plug.openTransport(.loopback, port: nil, on: loop)
      #expect(next.addresses.contains { $0.ip == plug.address4 } && !next.addresses.contains { $0.ip == .loopback4 })
      for transport in [transport, next] { transport.close() }
    }.get()
  }

  /// A home finds it there, in each family that both have, and nowhere else; and it comes back there.
  @Test(.timeLimit(.minutes(10)), arguments: ["", "plug: no ipv6", "plug: no ipv4", "hub: no ipv4", "hub: no ipv6"])
  func whoMovesIsReachedElsewhere(_ fault: String) async throws {
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

  // MARK: Slow and bad links

  /// What both ends add to the way is added to that of service discovery.
  @Test(.timeLimit(.minutes(10))) func whatIsFoundOverASlowLinkIsFoundLater() async throws {
    let loop = HostMachine().nextEventLoop()
    let (plug, hub, _) = Self.machines(on: loop)
    for machine in [plug, hub] { machine.inject(.conditions(LinkConditions(latency: .milliseconds(400)))) }
    let begin = HostClock.now()
    let discovery = hub.share(Finder(Self.service, loop))
    let took: Duration = try await withCheckedThrowingContinuation { continuation in
      _ = discovery.browse(.commissionable(), on: loop) { _ in continuation.resume(returning: HostClock.now() - begin) }
    }
    // The question's way and the answer's.
    #expect(took >= .milliseconds(1600), "\(took)")
  }

  /// Where everything is lost nothing is found, in virtual time and in real time.
  @Test(.timeLimit(.minutes(10))) func serviceDiscoveryLosesWhatTheLinkLoses() async throws {
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
        # It may have been left in the middle of it, where nobody else may begin.
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
