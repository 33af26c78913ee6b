import MatterCrypto
import Testing

@testable import MatterProtocol

/// Whose a name is. RFC 6762 § 8, § 9.
@Suite struct DNSProbingTests {
  private let on = InterfaceID(3)
  private let peer = SocketAddress(.v4(0x0A00_0002), port: 5353)
  private let later = Instant(nanoseconds: 100_000_000_000)

  private var probing: DNSResponder.Options {
    var options = DNSResponder.Options()
    options.probes = true
    return options
  }

  private func responder(seed: UInt64 = 1, address: UInt32 = 0x0A00_0001) -> DNSResponder {
    var responder = DNSResponder(random: SeededRandomSource(seed: seed), options: probing)
    responder.setInterfaces([on: [.v4(address)]], at: .zero)
    return responder
  }

  /// What comes out until `end`, with the time.
  private func drain(
    _ responder: inout DNSResponder, from now: Instant, until end: Instant
  ) throws -> [(at: Instant, message: DNSMessage)] {
    var messages: [(Instant, DNSMessage)] = []
    var now = now
    while true {
      while let output = responder.nextOutput() { messages.append((now, try DNSMessage(output.bytes))) }
      guard let deadline = responder.nextDeadline, deadline <= end else { return messages }
      now = max(now, deadline)
      responder.advance(to: now)
    }
  }

  private func answer(_ name: DNSName, _ data: DNSRecordData) -> [UInt8] {
    DNSMessage(flags: 0x8400, answers: [DNSRecord(name, data, ttl: 120, cacheFlush: true)]).encoded()
  }

  @Test func threeProbesForInstanceAndHostComeBeforeTheAnnouncement() throws {
    var responder = responder()
    responder.publish(.lamp(), at: .zero)
    let messages = try drain(&responder, from: .zero, until: later)
    #expect(messages.map(\.message.isResponse) == [false, false, false, true, true])
    try #require(messages.count == 5)
    #expect(messages[0].at - .zero <= .milliseconds(250))
    #expect(messages[1].at - messages[0].at == .milliseconds(250))
    #expect(messages[3].at - messages[0].at == .milliseconds(750))
    let (instance, host) = (MatterService.lamp().kind.instanceName, DNSName(MatterService.lamp().hostName))
    #expect(
      messages[0].message.questions
        == [instance, host].map { DNSQuestion($0, .any, wantsUnicast: true) })
    #expect(messages[0].message.authorities.map(\.type) == [.srv, .a])
  }

  @Test("announces a service on an owned host at once")
  func announcesOnOwnedHost() throws {
    var responder = responder()
    responder.publish(.lamp(), at: .zero)
    _ = try drain(&responder, from: .zero, until: later)
    let query = DNSMessage(questions: [DNSQuestion(second.kind.instanceName, .srv)]).encoded()
    responder.publish(second, at: later)
    let messages = try drain(&responder, from: later, until: later + .milliseconds(10))
    #expect(messages.map(\.at) == [later, later])
    // The probe is one packet that nothing waits for: it marks the start of the service.
    #expect(messages.first?.message.questions.map(\.name) == [second.kind.instanceName])
    #expect(messages.last?.message.answers.contains { $0.name == second.kind.instanceName } == true)
    _ = try drain(&responder, from: later, until: later + .seconds(2))
    responder.handle(packet: query, from: peer, on: on, at: later + .seconds(2))
    let reply = try #require(try drain(&responder, from: later + .seconds(2), until: later + .seconds(2)).first)
    #expect(reply.message.answers.map(\.type) == [.srv] && reply.message.additionals.map(\.type) == [.a])
  }

  @Test("keeps the name of a host without services, unless another host claims it", arguments: [false, true])
  func retainsHostName(isClaimed: Bool) throws {
    var responder = responder()
    responder.publish(.lamp(), at: .zero)
    _ = try drain(&responder, from: .zero, until: later)
    // As when a commissioner begins: the node has no service until it has credentials.
    responder.withdraw(.lamp(), at: later)
    _ = try drain(&responder, from: later, until: later + .seconds(5))
    if isClaimed {
      responder.handle(
        packet: answer(DNSName(second.hostName), .a(0x0A00_0099)), from: peer, on: on, at: later + .seconds(6))
    }
    let now = later + .seconds(10)
    responder.publish(second, at: now)
    let messages = try drain(&responder, from: now, until: now + .milliseconds(600))
    #expect(messages.contains { $0.message.isResponse } == !isClaimed)
    if !isClaimed { #expect(messages.allSatisfy { $0.at == now }) }
    // Not for ever.
    responder.withdraw(second, at: now + .seconds(10))
    _ = try drain(&responder, from: now + .seconds(10), until: now + .seconds(11))
    let end = now + .seconds(11) + DNSResponder.Options().hostRetention
    responder.publish(second, at: end)
    #expect(try drain(&responder, from: end, until: end + .milliseconds(600)).allSatisfy { !$0.message.isResponse })
  }

  @Test("ends the probing of all services of a host together")
  func probesHostOnce() throws {
    var responder = responder()
    responder.publish(.lamp(), at: later)
    let first = try #require(try drain(&responder, from: later, until: later + .milliseconds(300)).first)
    responder.publish(second, at: later + .milliseconds(300))
    let messages = try drain(&responder, from: later + .milliseconds(300), until: later + .seconds(10))
    let announced = messages.filter { $0.message.isResponse }
    #expect(announced.prefix(2).map { $0.at - first.at } == [.milliseconds(750), .milliseconds(750)])
    #expect(
      Set(announced.prefix(2).flatMap(\.message.answers).compactMap { $0.type == .srv ? $0.name : nil }).count == 2)
  }

  /// On the host of the lamp.
  private var second: MatterService {
    var service = MatterService.node(9)
    service.hostName = MatterService.lamp().hostName
    return service
  }

  @Test func aProbedNameIsNotAnsweredUntilItIsOurs() throws {
    var responder = responder()
    responder.publish(.lamp(), at: later)
    let question = DNSQuestion(MatterService.lamp().kind.instanceName, .srv)
    let query = DNSMessage(questions: [question]).encoded()
    responder.handle(packet: query, from: peer, on: on, at: later + .milliseconds(100))
    let early = try drain(&responder, from: later, until: later + .milliseconds(740))
    #expect(early.allSatisfy { !$0.message.isResponse })
    _ = try drain(&responder, from: later, until: later + .seconds(5))
    responder.handle(packet: query, from: peer, on: on, at: later + .seconds(5))
    let output = responder.nextOutput()
    #expect(output != nil)
  }

  @Test("defends an instance name and reports the conflict")
  func defendsInstanceName() throws {
    var responder = responder()
    responder.publish(.lamp(), at: .zero)
    _ = try drain(&responder, from: .zero, until: later)
    let rival = answer(
      MatterService.lamp().kind.instanceName, .srv(priority: 0, weight: 0, port: 1, target: DNSName("x.local")))
    responder.handle(packet: rival, from: peer, on: on, at: later)
    let messages = try drain(&responder, from: later, until: later + .seconds(10))
    #expect(messages.map(\.message.isResponse) == [true] && messages.first?.at == later)
    #expect(responder.nextEvent() == .conflict(MatterService.lamp().kind))
    // A probe for the name is answered at once.
    let question = DNSQuestion(MatterService.lamp().kind.instanceName, .any, wantsUnicast: true)
    let probe = DNSMessage(
      questions: [question],
      authorities: [DNSRecord(question.name, .srv(priority: 0, weight: 0, port: 9, target: question.name), ttl: 120)])
    responder.handle(packet: probe.encoded(), from: peer, on: on, at: later + .seconds(20))
    let output = responder.nextOutput()
    let reply = try #require(output)
    #expect(reply.destination == .unicast(peer, interface: on))
    #expect(try DNSMessage(reply.bytes).answers.map(\.type) == [.srv, .txt])
  }

  @Test func aHostNameThatSomebodyHasHoldsBackAllItsServices() throws {
    var responder = responder()
    var second = MatterService.node(9)
    second.hostName = MatterService.lamp().hostName
    responder.publish(.lamp(), at: later)
    responder.publish(second, at: later)
    let host = DNSName(second.hostName)
    responder.handle(packet: answer(host, .a(0x0A00_0099)), from: peer, on: on, at: later + .milliseconds(300))
    #expect(responder.nextEvent() == .hostConflict(second.hostName, [MatterService.lamp().kind, second.kind]))
    let sent = try drain(&responder, from: later + .milliseconds(300), until: later + .seconds(50))
    #expect(sent.allSatisfy { !$0.message.isResponse })
    // An address of our own, heard on another interface of the same link, is no conflict.
    var innocent = self.responder()
    innocent.setInterfaces([on: [.v4(0x0A00_0001)], InterfaceID(4): [.v4(0x0A00_0007)]], at: .zero)
    innocent.publish(.lamp(), at: later)
    innocent.handle(packet: answer(host, .a(0x0A00_0007)), from: peer, on: on, at: later + .milliseconds(300))
    let probe = DNSMessage(
      questions: [DNSQuestion(host, .any)], authorities: [DNSRecord(host, .a(0x0A00_0007), ttl: 120)])
    innocent.handle(packet: probe.encoded(), from: peer, on: on, at: later + .milliseconds(310))
    #expect(innocent.nextEvent() == nil)
    let announced = try drain(&innocent, from: later + .milliseconds(310), until: later + .seconds(2))
    #expect(announced.contains { $0.message.isResponse })
  }

  @Test("two hosts with one instance name announce it without a storm", arguments: [1, 2, 3] as [UInt64])
  func conflictMakesNoStorm(seed: UInt64) {
    var link = VirtualLink(hosts: 2, seed: seed, responder: probing)
    var (mine, yours) = (MatterService.lamp(1, host: "020000000001"), MatterService.lamp(1, host: "020000000002"))
    (mine.port, yours.port) = (5540, 5541)
    link.hosts[0].responder.publish(mine, at: link.now)
    link.hosts[1].responder.publish(yours, at: link.now)
    link.run(for: .seconds(60))
    #expect(link.hosts[0].responder.nextEvent() == .conflict(mine.kind))
    #expect(link.hosts[1].responder.nextEvent() == .conflict(yours.kind))
    #expect(link.sent.count < 60, "\(link.sent.count)")
  }

  @Test func identicalRecordsAreNoConflict() {
    var link = VirtualLink(hosts: 2, responder: probing)
    var service = MatterService.lamp(1)
    service.addresses = [.v4(0x0A00_0063)]
    for host in 0..<2 { link.hosts[host].responder.publish(service, at: link.now) }
    link.run(for: .seconds(5))
    for host in 0..<2 { #expect(link.hosts[host].responder.nextEvent() == nil) }
  }

  @Test func aThousandServicesShareTheirProbes() throws {
    var responder = responder()
    for number in 1...1000 { responder.publish(.lamp(UInt64(number)), at: later) }
    let messages = try drain(&responder, from: later, until: later + .milliseconds(900))
    let probes = messages.filter { !$0.message.isResponse }
    #expect(probes.count < 3 * 130, "\(probes.count)")
    #expect(Set(probes.flatMap(\.message.questions).map(\.name)).count == 2000)
    #expect(Set(probes.map(\.at)).count == 3)
  }
}

@Test func factsForAnotherImplementation() throws {
  let lamp = MatterService.lamp()
  #expect(lamp.kind.instanceLabel == "A000000000000001" && lamp.kind.typeLabel == "_matterc._udp")
  #expect(
    lamp.subtypeLabels
      == ["_S15", "_L3840", "_V65521", "_T257", "_CM"].map { $0 + "._sub._matterc._udp" })
  let kind = MatterService.Kind(instanceLabel: "A000000000000001", type: "_L3840._sub._matterc._udp")
  #expect(kind == lamp.kind)
  #expect(MatterService.Kind(instanceLabel: "A Printer", type: "_ipp._tcp") == nil)
  #expect(DiscoveryQuery.commissionable(.longDiscriminator(5)).subject == .type("_L5._sub._matterc._udp"))
  #expect(DiscoveryQuery.commissionable(.instance(7)).subject == .instance(.commissionable(instance: 7)))
  let srv = DNSRecordData.srv(priority: 0, weight: 0, port: 5540, target: DNSName(lamp.hostName))
  let txt = DNSRecordData.txt(lamp.textRecord)
  #expect(try DNSRecordData(.srv, wire: srv.wire) == srv && DNSRecordData(.txt, wire: txt.wire) == txt)
  #expect(throws: DNSError.self) { try DNSRecordData(.srv, wire: Array(srv.wire.dropLast())) }
  #expect(throws: DNSError.self) { try DNSRecordData(.a, wire: [1, 2, 3, 4, 5]) }
  var heard = lamp
  heard.addresses = [.v4(0x0A00_0001)]
  #expect(MatterService(lamp.kind, srv: srv, txt: txt, addresses: heard.addresses) == heard)
  #expect(MatterService(lamp.kind, srv: txt, txt: nil, addresses: []) == nil)
}
