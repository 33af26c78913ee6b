import MatterCrypto
import Testing

@testable import MatterProtocol

/// The responder announces names without probing, and reports conflicts. RFC 6762 § 8, § 9.
@Suite("Names of the responder") struct DNSNameConflictTests {
  private let on = InterfaceID(3)
  private let peer = SocketAddress(.v4(0x0A00_0002), port: 5353)
  private let later = Instant(nanoseconds: 100_000_000_000)

  private func responder(seed: UInt64 = 1, address: UInt32 = 0x0A00_0001) -> DNSResponder {
    var responder = DNSResponder(random: SeededRandomSource(seed: seed))
    responder.setInterfaces([on: [.v4(address)]], at: .zero)
    return responder
  }

  /// Returns the messages sent until `end`, with their times.
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

  @Test("announces and answers a service at once, with its addresses, and without a probe", arguments: [false, true])
  func announcesAtOnce(isRestarted: Bool) throws {
    var responder = responder()
    if isRestarted {
      responder.publish(.lamp(), at: .zero)
      _ = try drain(&responder, from: .zero, until: .zero + .seconds(90))
      responder = self.responder(seed: 2)
    }
    responder.publish(.lamp(), at: later)
    responder.publish(second, at: later)
    let instance = second.kind.instanceName
    let query = DNSMessage(questions: [DNSQuestion(instance, .srv, wantsUnicast: true)]).encoded()
    let early = try drain(&responder, from: later, until: later + .milliseconds(10))
    responder.handle(packet: query, from: peer, on: on, at: later + .milliseconds(11))
    let reply = responder.nextOutput()
    #expect(reply?.destination == .unicast(peer, interface: on))
    let messages = early + (try drain(&responder, from: later + .milliseconds(11), until: later + .seconds(10)))
    #expect(messages.allSatisfy { $0.message.isResponse && $0.message.questions.isEmpty })
    #expect(messages.map { ($0.at - later).milliseconds } == [0, 10, 1000, 1010])
    for (_, message) in messages {
      #expect(Set((message.answers + message.additionals).map(\.type)) == [.ptr, .srv, .txt, .a])
    }
  }

  /// A service on the host of the lamp.
  private var second: MatterService {
    var service = MatterService.node(9)
    service.hostName = MatterService.lamp().hostName
    return service
  }

  @Test("defends an instance name and reports the conflict")
  func defendsInstanceName() throws {
    var responder = responder()
    responder.publish(.lamp(), at: .zero)
    _ = try drain(&responder, from: .zero, until: later)
    let conflict = answer(
      MatterService.lamp().kind.instanceName, .srv(priority: 0, weight: 0, port: 1, target: DNSName("x.local")))
    responder.handle(packet: conflict, from: peer, on: on, at: later)
    let messages = try drain(&responder, from: later, until: later + .seconds(10))
    #expect(messages.map(\.message.isResponse) == [true] && messages.first?.at == later)
    #expect(responder.nextEvent() == .conflict(MatterService.lamp().kind))
    // A probe for the name is answered at once. It is a conflict only within a second after the announcement.
    let question = DNSQuestion(MatterService.lamp().kind.instanceName, .any, wantsUnicast: true)
    let probe = DNSMessage(
      questions: [question],
      authorities: [DNSRecord(question.name, .srv(priority: 0, weight: 0, port: 9, target: question.name), ttl: 120)])
    responder.handle(packet: probe.encoded(), from: peer, on: on, at: later + .seconds(20))
    let output = responder.nextOutput()
    let reply = try #require(output)
    #expect(reply.destination == .unicast(peer, interface: on))
    #expect(try DNSMessage(reply.bytes).answers.map(\.type) == [.srv, .txt])
    #expect(responder.nextEvent() == nil)
    responder.publish(.node(9), at: later + .seconds(21))
    let name = MatterService.node(9).kind.instanceName
    let other = DNSMessage(
      questions: [DNSQuestion(name, .any)],
      authorities: [DNSRecord(name, .srv(priority: 0, weight: 0, port: 9, target: name), ttl: 120)])
    responder.handle(packet: other.encoded(), from: peer, on: on, at: later + .milliseconds(21_200))
    #expect(responder.nextEvent() == .conflict(MatterService.node(9).kind))
  }

  @Test("withdraws all services of a host on a host name conflict", arguments: [false, true])
  func hostConflict(isProbe: Bool) throws {
    var responder = responder()
    responder.publish(.lamp(), at: later)
    responder.publish(second, at: later)
    let start = later + .milliseconds(300)
    #expect(try drain(&responder, from: later, until: start).count == 2)
    let host = DNSName(second.hostName)
    let claim = DNSRecord(host, .a(0x0A00_0099), ttl: 120)
    // A probe within the first second comes from a host that had the name before.
    let probe = DNSMessage(questions: [DNSQuestion(host, .any)], authorities: [claim]).encoded()
    responder.handle(packet: isProbe ? probe : answer(host, claim.data), from: peer, on: on, at: start)
    #expect(responder.nextEvent() == .hostConflict(second.hostName, [MatterService.lamp().kind, second.kind]))
    let sent = try drain(&responder, from: start, until: later + .seconds(50))
    #expect(sent.flatMap(\.message.answers).map(\.ttl) == [0, 0, 0])
    let query = DNSMessage(questions: [DNSQuestion(second.kind.instanceName, .srv)]).encoded()
    responder.handle(packet: query, from: peer, on: on, at: later + .seconds(50))
    #expect(responder.nextOutput() == nil)
    // The services are announced again after the pause.
    let again = try drain(&responder, from: later + .seconds(50), until: later + .seconds(62))
    #expect(again.count == 4 && again.allSatisfy { $0.at - start >= .seconds(60) })
  }

  @Test("defends an established host name against a probe") func defendsHostName() throws {
    var responder = responder()
    responder.publish(.lamp(), at: .zero)
    _ = try drain(&responder, from: .zero, until: later)
    responder.publish(second, at: later)
    while responder.nextOutput() != nil {}
    let host = DNSName(second.hostName)
    let probe = DNSMessage(
      questions: [DNSQuestion(host, .any, wantsUnicast: true)],
      authorities: [DNSRecord(host, .a(0x0A00_0099), ttl: 120)])
    responder.handle(packet: probe.encoded(), from: peer, on: on, at: later + .milliseconds(100))
    let reply = responder.nextOutput()
    #expect(reply?.destination == .unicast(peer, interface: on) && responder.nextEvent() == nil)
  }

  @Test("ignores records with its own addresses", arguments: [0x0A00_0007, 0x0A00_0001] as [UInt32])
  func ownAddress(_ address: UInt32) throws {
    var responder = responder()
    responder.publish(.lamp(), at: .zero)
    // The second address was removed just now, and a delayed announcement of it may arrive.
    responder.setInterfaces([on: [.v4(0x0A00_0008)], InterfaceID(4): [.v4(0x0A00_0007)]], at: later)
    let host = DNSName(MatterService.lamp().hostName)
    responder.handle(packet: answer(host, .a(address)), from: peer, on: on, at: later)
    let probe = DNSMessage(
      questions: [DNSQuestion(host, .any)], authorities: [DNSRecord(host, .a(address), ttl: 120)])
    responder.handle(packet: probe.encoded(), from: peer, on: on, at: later)
    #expect(responder.nextEvent() == nil)
  }

  @Test("limits renaming to one per second if a host contradicts every name") func limitsRenaming() throws {
    var responder = responder()
    var names = SeededRandomSource(seed: 9)
    var service = MatterService.lamp()
    var now = later
    var count = 0
    responder.publish(service, at: now)
    while now < later + .seconds(10) {
      for (at, message) in try drain(&responder, from: now, until: now + .milliseconds(100)) {
        now = max(now, at)
        guard message.answers.contains(where: { $0.name == DNSName(service.hostName) && $0.ttl > 0 }) else { continue }
        responder.handle(packet: answer(DNSName(service.hostName), .a(0x0A00_0099)), from: peer, on: on, at: now)
        while let event = responder.nextEvent() {
          guard case .hostConflict = event else { continue }
          count += 1
          service.hostName = MatterService.hostName(drawnFrom: &names)
          responder.publish(service, at: now)
        }
      }
      now = now + .milliseconds(100)
    }
    #expect((2...12).contains(count), "\(count)")
  }

  @Test("limits announcements of two hosts with the same instance name", arguments: [1, 2, 3] as [UInt64])
  func conflictMakesNoStorm(seed: UInt64) {
    var link = VirtualLink(hosts: 2, seed: seed)
    var (mine, yours) = (MatterService.lamp(1, host: "020000000001"), MatterService.lamp(1, host: "020000000002"))
    (mine.port, yours.port) = (5540, 5541)
    link.hosts[0].responder.publish(mine, at: link.now)
    link.hosts[1].responder.publish(yours, at: link.now)
    link.run(for: .seconds(60))
    #expect(link.hosts[0].responder.nextEvent() == .conflict(mine.kind))
    #expect(link.hosts[1].responder.nextEvent() == .conflict(yours.kind))
    #expect(link.sent.count < 60, "\(link.sent.count)")
  }

  @Test func ignoresIdenticalRecords() {
    var link = VirtualLink(hosts: 2)
    var service = MatterService.lamp(1)
    service.addresses = [.v4(0x0A00_0063)]
    for host in 0..<2 { link.hosts[host].responder.publish(service, at: link.now) }
    link.run(for: .seconds(5))
    for host in 0..<2 { #expect(link.hosts[host].responder.nextEvent() == nil) }
  }
}

@Test func providesLabelsForOtherImplementations() throws {
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
