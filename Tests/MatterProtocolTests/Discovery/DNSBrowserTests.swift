import MatterCrypto
import Testing

@testable import MatterProtocol

private func found(_ events: [BrowseEvent]) -> [MatterService] {
  events.compactMap { if case .found(_, let service, _) = $0 { service } else { nil } }
}

private func lost(_ events: [BrowseEvent]) -> [MatterService] {
  events.compactMap { if case .lost(_, let service, _) = $0 { service } else { nil } }
}

@Test func resolvesService() throws {
  var link = VirtualLink(hosts: 2)
  link.hosts[0].responder.publish(.lamp(), at: link.now)
  link.run(for: .seconds(5))
  let id = link.hosts[1].browser.browse(.commissionable(.longDiscriminator(3840)), at: link.now)
  let start = link.now
  link.run(for: .seconds(5)) { !$0.hosts[1].events.isEmpty }
  var expected = MatterService.lamp()
  expected.addresses = [link.hosts[0].v6, link.hosts[0].v4]
  #expect(link.hosts[1].events == [.found(id, expected, on: VirtualLink.interface)])
  // The first question requests a unicast response, which is not delayed.
  #expect(link.now - start == .milliseconds(2))
  link.run(for: .seconds(20))
  #expect(link.hosts[1].events.count == 1)
}

@Test(arguments: [
  (DiscoveryQuery.commissionable(), [1, 2]), (.commissionable(.shortDiscriminator(15)), [1]),
  (.commissionable(.shortDiscriminator(1)), [2]), (.commissionable(.longDiscriminator(300)), [2]),
  (.commissionable(.vendor(0xFFF1)), [1, 2]), (.commissionable(.deviceType(0x0101)), [1, 2]),
  (.commissionable(.inCommissioningMode), [1]), (.commissionable(.instance(0xA000_0000_0000_0002)), [2]),
  (.commissionable(.longDiscriminator(7)), []), (.operational(compressedFabricID: nil, nodeID: nil), [11, 12]),
  (.operational(compressedFabricID: 5, nodeID: nil), [12]), (.operational(compressedFabricID: 5, nodeID: 12), [12]),
  (.operational(compressedFabricID: 5, nodeID: 13), []), (.commissioner, []),
])
func findsServicesMatchingQuery(_ query: DiscoveryQuery, _ expected: [UInt64]) {
  var link = VirtualLink(hosts: 2)
  var quiet = MatterService.lamp(2, discriminator: 300)
  quiet.commissioningMode = 0
  let all: [UInt64: MatterService] = [1: .lamp(1), 2: quiet, 11: .node(11), 12: .node(12, fabric: 5)]
  for number in all.keys.sorted() { if let it = all[number] { link.hosts[0].responder.publish(it, at: link.now) } }
  link.run(for: .seconds(5))
  _ = link.hosts[1].browser.browse(query, at: link.now)
  link.run(for: .seconds(3))
  let kinds = found(link.hosts[1].events).map(\.kind.instanceName).sorted()
  #expect(kinds == expected.compactMap { all[$0]?.kind.instanceName }.sorted())
  for service in found(link.hosts[1].events) { #expect(query.matches(service)) }
}

@Test func doublesQueryIntervals() {
  var browser = DNSBrowser(random: SeededRandomSource(seed: 1))
  _ = browser.browse(.commissionable(), at: .zero)
  var times: [Int64] = []
  var unicast: [Bool] = []
  while let deadline = browser.nextDeadline, deadline < .zero + .seconds(20_000) {
    while let output = browser.nextOutput() {
      times.append((times.isEmpty ? 0 : deadline.nanoseconds) / 1_000_000_000)
      unicast.append((try? DNSMessage(output.bytes))?.questions.first?.wantsUnicast ?? false)
    }
    browser.advance(to: deadline)
    while let output = browser.nextOutput() {
      times.append(deadline.nanoseconds / 1_000_000_000)
      unicast.append((try? DNSMessage(output.bytes))?.questions.first?.wantsUnicast ?? false)
    }
  }
  #expect(times == [0, 1, 3, 7, 15, 31, 63, 127, 255, 511, 1023, 2047, 4095, 7695, 11295, 14895, 18495])
  #expect(unicast.first == true && !unicast.dropFirst().contains(true))
}

@Test func reportsGoodbyeAfterOneSecond() {
  var link = VirtualLink(hosts: 2)
  link.hosts[0].responder.publish(.lamp(), at: link.now)
  _ = link.hosts[1].browser.browse(.commissionable(), at: link.now)
  link.run(for: .seconds(10))
  #expect(found(link.hosts[1].events).count == 1)
  link.hosts[0].responder.withdraw(.lamp(), at: link.now)
  let start = link.now
  link.run(for: .seconds(10)) { !lost($0.hosts[1].events).isEmpty }
  #expect(lost(link.hosts[1].events).map(\.kind) == [MatterService.lamp().kind])
  #expect(link.now - start == .milliseconds(1001))
  link.run(for: .seconds(10_000))
  #expect(link.hosts[1].events.count == 2)
  #expect(link.hosts[1].browser.instances.isEmpty && link.hosts[1].browser.hosts.isEmpty)
}

@Test func keepsServiceThatReturnsAtOnce() {
  var link = VirtualLink(hosts: 2)
  link.hosts[0].responder.publish(.lamp(), at: link.now)
  _ = link.hosts[1].browser.browse(.commissionable(), at: link.now)
  link.run(for: .seconds(10))
  link.hosts[0].responder.withdraw(.lamp(), at: link.now)
  link.hosts[0].responder.publish(.lamp(), at: link.now)
  link.run(for: .seconds(200))
  // The only further event is the update for the new announcement.
  #expect(link.hosts[1].events.count == 2 && found(link.hosts[1].events).count == 1)
  #expect(lost(link.hosts[1].events).isEmpty)
}

@Test func reportsChangedServices() throws {
  var link = VirtualLink(hosts: 2)
  link.hosts[0].responder.publish(.node(1), at: link.now)
  let id = link.hosts[1].browser.browse(.operational(compressedFabricID: nil, nodeID: nil), at: link.now)
  link.run(for: .seconds(10))
  var changed = MatterService.node(1)
  changed.port = 6000
  changed.idleInterval = .milliseconds(800)
  link.hosts[0].responder.publish(changed, at: link.now)
  link.run(for: .seconds(10))
  changed.addresses = [link.hosts[0].v6, link.hosts[0].v4]
  #expect(link.hosts[1].events.last == .updated(id, changed, on: VirtualLink.interface))
  #expect(lost(link.hosts[1].events).isEmpty)

  // A removed address is flushed by the cache-flush bit of the remaining ones.
  link.hosts[0].responder.setInterfaces([VirtualLink.interface: [link.hosts[0].v4, .v4(0x0A00_00AA)]], at: link.now)
  link.run(for: .seconds(10))
  let now = try #require(link.hosts[1].browser.found(id).first?.service)
  #expect(now.addresses.contains(.v4(0x0A00_00AA)))
}

/// The answer to a query for the service record has the addresses as well, which need no query of their own.
@Test func refreshesServicesAndAddressesTogether() {
  var link = VirtualLink(hosts: 2)
  for node in 1...20 { link.hosts[0].responder.publish(.node(UInt64(node)), at: link.now) }
  let id = link.hosts[1].browser.browse(.operational(compressedFabricID: nil, nodeID: nil), at: link.now)
  link.run(for: .seconds(10))
  #expect(link.hosts[1].browser.found(id).count == 20)
  link.sent = []
  // The TTL of service and address records is 120 s.
  link.run(for: .seconds(250))
  let questions = link.sent.filter { $0.host == 1 }.compactMap(\.message).flatMap(\.questions)
  #expect(questions.count { $0.type == .srv } == 40)
  #expect(!questions.contains { $0.type == .a || $0.type == .aaaa })
  #expect(lost(link.hosts[1].events).isEmpty)
}

/// A restarted responder announces its service again, which is reported once. Answers to other hosts and refreshed
/// records are not reported.
@Test func reportsUnsolicitedAnnouncements() {
  var link = VirtualLink(hosts: 3)
  link.hosts[0].responder.publish(.node(1), at: link.now)
  _ = link.hosts[1].browser.browse(.operational(compressedFabricID: nil, nodeID: nil), at: link.now)
  link.run(for: .seconds(5))
  #expect(link.hosts[1].events.count == 1)
  // Another host searches for all services and for this one, and records are refreshed before they expire.
  _ = link.hosts[2].browser.browse(.operational(compressedFabricID: nil, nodeID: nil), at: link.now)
  link.run(for: .seconds(60))
  _ = link.hosts[2].browser.browse(.operational(compressedFabricID: 1, nodeID: 1), at: link.now)
  link.run(for: .seconds(10_000))
  #expect(link.hosts[1].events.count == 1)
  // Restarts are reported after any pause.
  for (restart, pause) in zip(1..., [20_000, 20_000, 1600, 20_000] as [Int64]) {
    let addresses = [VirtualLink.interface: [link.hosts[0].v4, link.hosts[0].v6]]
    link.hosts[0].responder = DNSResponder(random: SeededRandomSource(seed: UInt64(restart)))
    link.hosts[0].responder.setInterfaces(addresses, at: link.now)
    link.hosts[0].responder.publish(.node(1), at: link.now)
    link.run(for: .milliseconds(pause))
    let updates = link.hosts[1].events.dropFirst(restart)
    guard case .updated(_, let service, _)? = updates.first else {
      Issue.record("\(restart): \(updates)")
      return
    }
    #expect(updates.count == 1 && found(link.hosts[1].events) == [service])
  }
}

/// Other hosts may query for an instance or for all while a responder is down; its announcement after the restart is
/// reported nevertheless. The same holds shortly after the previous announcement, which could be repeated, if the
/// responder probes.
@Test(arguments: [0, 1, 2]) func reportsAnnouncementsDespiteQueries(_ asked: Int) {
  var link = VirtualLink(hosts: 3)
  let addresses = [VirtualLink.interface: [link.hosts[0].v4, link.hosts[0].v6]]
  let service = MatterService.node(1)
  func start(_ seed: UInt64) {
    link.hosts[0].responder = DNSResponder(random: SeededRandomSource(seed: seed))
    link.hosts[0].responder.setInterfaces(addresses, at: link.now)
    link.hosts[0].responder.publish(service, at: link.now)
  }
  func look(_ host: Int) {
    link.hosts[2].browser = DNSBrowser(random: SeededRandomSource(seed: 3))
    let query: DiscoveryQuery =
      switch service.kind {
      case .operational(let fabric, let node) where asked == 0: .operational(compressedFabricID: fabric, nodeID: node)
      default: .operational(compressedFabricID: nil, nodeID: nil)
      }
    _ = link.hosts[host].browser.browse(query, at: link.now)
  }
  start(1)
  _ = link.hosts[1].browser.browse(.operational(compressedFabricID: nil, nodeID: nil), at: link.now)
  if asked == 2 {
    link.run(for: .milliseconds(700))
  } else {
    link.run(for: .seconds(20))
    #expect(link.hosts[1].events.count == 1)
    // An answer is not reported …
    look(2)
    link.run(for: .seconds(20))
    #expect(link.hosts[1].events.count == 1 && !link.hosts[2].events.isEmpty)
  }
  // … but a restart is.
  link.hosts[0].responder = DNSResponder(random: SeededRandomSource(seed: 2))
  if asked < 2 {
    link.run(for: .seconds(5))
    look(2)
    link.run(for: .milliseconds(500))
  }
  if asked == 2 {
    let name = service.kind.instanceName
    let srv = DNSRecordData.srv(priority: 0, weight: 0, port: service.port, target: DNSName(service.hostName))
    let probe = DNSMessage(questions: [DNSQuestion(name, .any)], authorities: [DNSRecord(name, srv, ttl: 120)])
    link.hosts[1].browser.handle(
      packet: probe.encoded(), from: SocketAddress(link.hosts[0].v4, port: 5353), on: VirtualLink.interface,
      at: link.now)
  }
  start(4)
  link.run(for: .seconds(20))
  #expect(link.hosts[1].events.count == 2, "\(link.hosts[1].events)")
}

@Test func expiresUnreachableServices() {
  var link = VirtualLink(hosts: 3)
  link.hosts[0].responder.publish(.node(1), at: link.now)
  link.hosts[1].responder.publish(.node(2), at: link.now)
  _ = link.hosts[2].browser.browse(.operational(compressedFabricID: nil, nodeID: nil), at: link.now)
  link.run(for: .seconds(10))
  #expect(found(link.hosts[2].events).count == 2)
  // Power loss: no goodbye.
  link.hosts[0].responder = DNSResponder(random: SeededRandomSource(seed: 9))
  link.run(for: .seconds(130))
  #expect(lost(link.hosts[2].events).map(\.kind) == [MatterService.node(1).kind])
  let before = link.sent.count
  link.run(for: .seconds(20_000))
  #expect(lost(link.hosts[2].events).count == 1)
  // Monitoring a service for five hours takes a few packets per two minutes.
  #expect(link.sent.count - before < 1500, "\(link.sent.count - before)")
}

@Test func queriesAgainOnRequest() {
  var browser = DNSBrowser(random: SeededRandomSource(seed: 1))
  let id = browser.browse(.commissionable(), at: .zero)
  while browser.nextOutput() != nil {}
  browser.queryAgain(id, at: .zero + .milliseconds(100))
  #expect(browser.nextOutput() != nil)
  #expect(browser.nextDeadline == .zero + .milliseconds(1100))
  browser.stop(id)
  browser.advance(to: .zero + .milliseconds(1100))
  #expect(browser.nextOutput() == nil && browser.nextDeadline == nil)
}

@Test func queriesMissingRecords() throws {
  var browser = DNSBrowser(random: SeededRandomSource(seed: 1))
  _ = browser.browse(.commissionable(), at: .zero)
  while browser.nextOutput() != nil {}
  let lamp = MatterService.lamp()
  let (instance, host) = (lamp.kind.instanceName, DNSName(lamp.hostName))
  let from = SocketAddress(.v4(1), port: 5353)
  var now = Instant.zero + .milliseconds(5)
  func receive(_ record: DNSRecord) throws -> [DNSQuestion] {
    browser.handle(
      packet: DNSMessage(flags: 0x8400, answers: [record]).encoded(), from: from, on: InterfaceID(1), at: now)
    now += .milliseconds(20)
    browser.advance(to: now)
    var questions: [DNSQuestion] = []
    while let output = browser.nextOutput() { questions += try DNSMessage(output.bytes).questions }
    return questions
  }
  let first = try receive(DNSRecord(MatterServiceNames.commissionable, .ptr(instance), ttl: 4500))
  #expect(first.map(\.type) == [.srv, .txt] && first.allSatisfy { $0.name == instance })
  _ = try receive(DNSRecord(instance, .srv(priority: 0, weight: 0, port: 1, target: host), ttl: 120))
  now += .seconds(1)
  let second = try receive(DNSRecord(instance, .txt(lamp.textStrings), ttl: 4500))
  #expect(second.filter { $0.type != .ptr }.map(\.type) == [.aaaa, .a])
  #expect(browser.nextEvent() == nil)
  _ = try receive(DNSRecord(host, .a(0x0A00_0001), ttl: 120))
  #expect(browser.nextEvent() != nil)
}

@Test func limitsBrowserCache() {
  var options = DNSBrowser.Options()
  options.maximumInstances = 100
  var browser = DNSBrowser(random: SeededRandomSource(seed: 1), options: options)
  _ = browser.browse(.commissionable(), at: .zero)
  let from = SocketAddress(.v4(1), port: 5353)
  for number in 0..<2000 as Range<UInt64> {
    let lamp = MatterService.lamp(number)
    let message = DNSMessage(
      flags: 0x8400,
      answers: [
        DNSRecord(MatterServiceNames.commissionable, .ptr(lamp.kind.instanceName), ttl: 4500),
        DNSRecord(DNSName("noise\(number).local"), .a(UInt32(number)), ttl: 4500),
        DNSRecord(
          lamp.kind.instanceName, .srv(priority: 0, weight: 0, port: 1, target: DNSName("one.local")), ttl: 4500),
        DNSRecord(DNSName("one.local"), .a(UInt32(number)), ttl: 4500),
      ])
    browser.handle(packet: message.encoded(), from: from, on: InterfaceID(1), at: .zero)
  }
  #expect(browser.instances.count == 100 && browser.hosts.count == 1)
  #expect(browser.hosts.values.first?.addresses.count == 16)
  #expect(browser.counters.overflowed > 1900)
}

@Test func worksWithoutMulticast() {
  var options = DNSBrowser.Options()
  options.sendsDirect = true
  var link = VirtualLink(hosts: 2, browser: options)
  link.hasMulticast = false
  link.hosts[0].responder.publish(.lamp(), at: link.now)
  link.run(for: .seconds(5))
  _ = link.hosts[1].browser.browse(.commissionable(.shortDiscriminator(15)), at: link.now)
  link.run(for: .seconds(300))
  // The short TTLs of unicast responses are refreshed in time.
  #expect(found(link.hosts[1].events).count == 1 && lost(link.hosts[1].events).isEmpty)
  #expect(link.sent.count < 300, "\(link.sent.count)")
}

@Test(arguments: [1, 2, 3, 4, 5] as [UInt64])
func findsServicesDespiteLoss(_ seed: UInt64) {
  var link = VirtualLink(hosts: 6, seed: seed)
  link.lossPercent = 40
  for host in 0..<5 { link.hosts[host].responder.publish(.lamp(UInt64(host)), at: link.now) }
  _ = link.hosts[5].browser.browse(.commissionable(), at: link.now)
  link.run(for: .seconds(70)) { Set(found($0.hosts[5].events).map(\.kind)).count == 5 }
  #expect(Set(found(link.hosts[5].events).map(\.kind)).count == 5, "\(link.now)")
}

@Test(arguments: [(1000, 0), (200, 10)] as [(UInt64, UInt64)])
func resolvesManyServicesFromOneQuery(_ count: UInt64, _ loss: UInt64) {
  var link = VirtualLink(hosts: 2)
  let services = (1...count).map { MatterService.lamp($0, discriminator: UInt16($0)) }
  // The announcements are not received.
  link.hasMulticast = false
  for service in services { link.hosts[0].responder.publish(service, at: link.now) }
  link.run(for: .seconds(10))
  let before = link.sent.count
  let start = link.now
  link.hasMulticast = true
  link.lossPercent = loss
  _ = link.hosts[1].browser.browse(.commissionable(), at: link.now)
  link.run(for: .seconds(20)) { $0.hosts[1].events.count >= Int(count) }
  #expect(Set(found(link.hosts[1].events).map(\.kind)).count == Int(count))
  // One packet per service and address family.
  #expect(UInt64(link.sent.count - before) < count * (loss == 0 ? 5 : 6) / 2, "\(link.sent.count - before)")
  if loss == 0 { #expect(link.now - start < .milliseconds(1400), "\(link.now - start)") }
  #expect(link.sent.allSatisfy { $0.output.bytes.count <= 1400 })
}

@Test func sendsSamePacketsForSameSeed() {
  func run() -> [[UInt8]] {
    var link = VirtualLink(hosts: 3, seed: 77)
    link.lossPercent = 20
    for number in 1...10 as ClosedRange<UInt64> { link.hosts[0].responder.publish(.lamp(number), at: link.now) }
    for number in 1...10 as ClosedRange<UInt64> { link.hosts[1].responder.publish(.node(number), at: link.now) }
    _ = link.hosts[2].browser.browse(.commissionable(), at: link.now)
    _ = link.hosts[2].browser.browse(.operational(compressedFabricID: nil, nodeID: nil), at: link.now)
    link.run(for: .seconds(200))
    return link.sent.map(\.output.bytes)
  }
  #expect(run() == run())
}
