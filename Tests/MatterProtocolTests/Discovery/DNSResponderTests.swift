import MatterCrypto
import Testing

@testable import MatterProtocol

private let on = InterfaceID(3)
private let peer = SocketAddress(.v4(0x0A00_0002), port: 5353)

private func responder(_ services: [MatterService], options: DNSResponder.Options = .init()) -> DNSResponder {
  var responder = DNSResponder(random: SeededRandomSource(seed: 1), options: options)
  responder.setInterfaces([on: [.v4(0x0A00_0001), .v6(high: 0xFE80 << 48, low: 1, scope: 3)]], at: .zero)
  for service in services { responder.publish(service, at: .zero) }
  while let deadline = responder.nextDeadline { responder.advance(to: deadline) }
  while responder.nextOutput() != nil {}
  return responder
}

private let later = Instant(nanoseconds: 100_000_000_000)

/// Returns all outputs with their times until no timer is left.
/// - Parameter busy: The time until which the driver is busy: timers fire 15 ms late.
private func drain(
  _ responder: inout DNSResponder, from now: Instant, busyUntil busy: Instant = .zero
) -> [(at: Instant, output: DNSOutput)] {
  var outputs: [(Instant, DNSOutput)] = []
  var now = now
  while true {
    while let output = responder.nextOutput() { outputs.append((now, output)) }
    guard let deadline = responder.nextDeadline else { return outputs }
    now = max(now, deadline + (deadline < busy ? .milliseconds(15) : .zero))
    responder.advance(to: now)
  }
}

private func sendQuery(
  _ responder: inout DNSResponder, _ message: DNSMessage, from: SocketAddress = peer, at now: Instant = later
) throws -> [(at: Instant, output: DNSOutput, message: DNSMessage)] {
  responder.handle(packet: message.encoded(), from: from, on: on, at: now)
  return try drain(&responder, from: now).map { ($0.at, $0.output, try DNSMessage($0.output.bytes)) }
}

@Test func delaysPointersAndAddsRelatedRecords() throws {
  var responder = responder([.lamp()])
  let type = MatterServiceNames.commissionable
  let replies = try sendQuery(&responder, DNSMessage(questions: [DNSQuestion(type, .ptr)]))
  try #require(replies.count == 1)
  let delay = replies[0].at - later
  #expect(delay >= .milliseconds(20) && delay <= .milliseconds(120))
  #expect(replies[0].output.destination == .multicast(interface: on, isIPv6: false))
  let message = replies[0].message
  #expect(message.id == 0 && message.flags == 0x8400 && message.questions.isEmpty)
  #expect(message.answers.map(\.type) == [.ptr] && message.answers[0].ttl == 4500 && !message.answers[0].cacheFlush)
  #expect(message.additionals.map(\.type).sorted() == [.a, .txt, .aaaa, .srv])
  #expect(message.additionals.allSatisfy { $0.cacheFlush })
  #expect(message.additionals.filter { $0.type != .txt }.allSatisfy { $0.ttl == 120 })
}

@Test func answersEachRecord() throws {
  let lamp = MatterService.lamp()
  let instance = lamp.kind.instanceName
  let host = DNSName(lamp.hostName)
  var questions = lamp.pointerNames.map { ($0, DNSType.ptr) }
  questions += [(instance, .srv), (instance, .txt), (host, .a), (host, .aaaa), (MatterServiceNames.enumeration, .ptr)]
  for (name, type) in questions {
    var responder = responder([lamp])
    let replies = try sendQuery(&responder, DNSMessage(questions: [DNSQuestion(name, type)]))
    #expect(replies.count == 1, "\(name)")
    #expect(replies.first?.message.answers.map(\.name) == [name])
    #expect(replies.first?.message.answers.map(\.type) == [type])
    // Only pointers are delayed; the other records are unique to this responder.
    if type != .ptr { #expect(replies.first?.at == later) }
  }
  var responder = responder([lamp])
  let other = DNSMessage(questions: [DNSQuestion(DNSName("other.local"), .a), DNSQuestion(lamp.pointerNames[0], .srv)])
  #expect(try sendQuery(&responder, other).isEmpty)
}

@Test func matchesNamesIgnoringCaseAndByAnyType() throws {
  var responder = responder([.lamp()])
  let lower = DNSName(MatterService.lamp().hostName.lowercased())
  let replies = try sendQuery(&responder, DNSMessage(questions: [DNSQuestion(lower, .any)]))
  #expect(replies.first?.message.answers.map(\.type) == [.a, .aaaa])
  let instance = MatterService.lamp().kind.instanceName
  let both = try sendQuery(&responder, DNSMessage(questions: [DNSQuestion(instance, .any)]), at: later + .seconds(5))
  #expect(both.first?.message.answers.map(\.type) == [.srv, .txt])
}

@Test func enumeratesTypes() throws {
  var responder = responder([.lamp(1), .lamp(2), .node(1), .node(2)])
  let query = DNSMessage(questions: [DNSQuestion(MatterServiceNames.enumeration, .ptr)])
  let all = try sendQuery(&responder, query).flatMap(\.message.answers).map(\.data)
  #expect(
    Set(all) == [
      .ptr(MatterServiceNames.commissionable), .ptr(MatterServiceNames.operational),
      .ptr(DNSName("_I2906C908D115D362._sub._matter._tcp.local")),
    ])
  #expect(all.count == 3)
  responder.withdraw(.node(1), at: later + .seconds(5))
  responder.withdraw(.lamp(1), at: later + .seconds(5))
  responder.withdraw(.lamp(2), at: later + .seconds(5))
  let rest = try sendQuery(&responder, query, at: later + .seconds(10)).flatMap(\.message.answers).filter { $0.ttl > 0 }
  #expect(rest.count == 2 && !rest.map(\.data).contains(.ptr(MatterServiceNames.commissionable)))
}

@Test func answersNSECForMissingTypes() throws {
  var responder = responder([.lamp()])
  let instance = MatterService.lamp().kind.instanceName
  let replies = try sendQuery(&responder, DNSMessage(questions: [DNSQuestion(instance, .aaaa)]))
  #expect(replies.first?.message.answers.first?.data == .nsec(next: instance, types: [.txt, .srv]))
  responder.setInterfaces([on: [.v4(1)]], at: later + .seconds(1))
  _ = drain(&responder, from: later + .seconds(1))
  let host = DNSName(MatterService.lamp().hostName)
  let denied = try sendQuery(&responder, DNSMessage(questions: [DNSQuestion(host, .aaaa)]), at: later + .seconds(9))
  #expect(denied.first?.message.answers.first?.data == .nsec(next: host, types: [.a]))
}

@Test func suppressesKnownAnswers() throws {
  let type = MatterServiceNames.commissionable
  let known = { (number: UInt64, ttl: UInt32) in
    DNSRecord(type, .ptr(MatterService.lamp(number).kind.instanceName), ttl: ttl)
  }
  var responder = responder([.lamp(1), .lamp(2)])
  let replies = try sendQuery(
    &responder, DNSMessage(questions: [DNSQuestion(type, .ptr)], answers: [known(1, 2250), known(2, 2249)]))
  #expect(replies.flatMap(\.message.answers).map(\.data) == [known(2, 0).data])

  // The list of known answers may continue in another packet.
  let first = DNSMessage(
    flags: DNSMessage.truncatedFlag, questions: [DNSQuestion(type, .ptr)], answers: [known(1, 4000)])
  let now = later + .seconds(10)
  responder.handle(packet: first.encoded(), from: peer, on: on, at: now)
  #expect(responder.nextOutput() == nil)
  let rest = try sendQuery(&responder, DNSMessage(answers: [known(2, 4000)]), at: now + .milliseconds(5))
  #expect(rest.isEmpty)
  // Without the second packet, the delay is 400 to 500 ms.
  let alone = try sendQuery(&responder, first, at: now + .seconds(5))
  #expect(alone.flatMap(\.message.answers).map(\.data) == [known(2, 0).data])
  #expect(alone.allSatisfy { $0.at - now >= .milliseconds(5400) && $0.at - now <= .milliseconds(5500) })
}

@Test func answersByUnicastOnRequest() throws {
  var responder = responder([.lamp()])
  let type = MatterServiceNames.commissionable
  let query = DNSMessage(id: 99, questions: [DNSQuestion(type, .ptr, wantsUnicast: true)])
  let replies = try sendQuery(&responder, query)
  #expect(replies.map(\.output.destination) == [.unicast(peer, interface: on)])
  #expect(replies.first?.message.questions.isEmpty == true)
  #expect(replies.first?.message.additionals.contains { $0.cacheFlush } == true)

  let plain = SocketAddress(.v4(0x0A00_0002), port: 40_000)
  let legacy = try sendQuery(&responder, query, from: plain)
  try #require(legacy.count == 1)
  let message = legacy[0].message
  #expect(legacy[0].output.destination == .unicast(plain, interface: on) && legacy[0].at == later)
  #expect(message.id == 99 && message.questions == query.questions)
  #expect((message.answers + message.additionals).allSatisfy { $0.ttl <= 10 && !$0.cacheFlush })
  // The target in the SRV data is not compressed for plain DNS resolvers.
  let target = DNSName(MatterService.lamp().hostName).wire + [0]
  #expect(legacy[0].output.bytes.indices.contains { legacy[0].output.bytes[$0...].starts(with: target) })
}

/// Browsers of other processes query from ports of their own, and would otherwise query again every eight seconds.
@Test func answersOtherProcessesWithTheTTLOfHosts() throws {
  var responder = responder([.lamp()])
  responder.setInterfaces([.direct: [.v4(0x7F00_0001)]], at: later)
  let query = DNSMessage(questions: [DNSQuestion(MatterServiceNames.commissionable, .ptr)])
  let process = SocketAddress(.v4(0x7F00_0001), port: 40_000)
  // After the announcements on the new interface.
  let now = later + .seconds(10)
  _ = drain(&responder, from: later)
  responder.handle(packet: query.encoded(), from: process, on: .direct, at: now)
  let answers = try drain(&responder, from: now).map { try DNSMessage($0.output.bytes) }
  #expect(answers.count == 1)
  #expect(answers.flatMap { $0.answers + $0.additionals }.allSatisfy { $0.ttl == 120 && !$0.cacheFlush })
  // An answer with more than half of that left is known.
  var again = query
  again.answers = (answers.first?.answers ?? []).map { record in DNSRecord(record.name, record.data, ttl: 70) }
  responder.handle(packet: again.encoded(), from: process, on: .direct, at: now + .seconds(5))
  #expect(drain(&responder, from: now + .seconds(5)).isEmpty)
  again.answers = again.answers.map { record in DNSRecord(record.name, record.data, ttl: 50) }
  responder.handle(packet: again.encoded(), from: process, on: .direct, at: now + .seconds(6))
  #expect(drain(&responder, from: now + .seconds(6)).count == 1)
}

/// A query for a unicast response gets one only if the record was multicast recently. RFC 6762 § 5.4.
@Test func multicastsRecordsNotSentRecently() throws {
  let instance = MatterService.lamp().kind.instanceName
  let service = DNSMessage(questions: [DNSQuestion(instance, .srv, wantsUnicast: true)])
  let all = DNSOutput.Destination.multicast(interface: on, isIPv6: false)
  let one = DNSOutput.Destination.unicast(peer, interface: on)
  func destinations(_ query: DNSMessage, after seconds: Int64, _ responder: inout DNSResponder) throws
    -> [DNSOutput.Destination]
  {
    try sendQuery(&responder, query, at: later + .seconds(seconds)).map(\.output.destination)
  }
  // The TTL is 120 s, and the record was announced 99 s before.
  var responder = responder([.lamp()])
  #expect(try destinations(service, after: 0, &responder) == [all])
  #expect(try destinations(service, after: 30, &responder) == [one])
  // A unicast response does not count as multicast.
  #expect(try destinations(service, after: 31, &responder) == [all])
  #expect(try destinations(service, after: 32, &responder) == [one])
  // Each address family counts separately.
  let v6 = SocketAddress(.v6(high: 0xFE80 << 48, low: 9, scope: 3), port: 5353)
  responder.handle(packet: service.encoded(), from: v6, on: on, at: later + .seconds(33))
  #expect(
    drain(&responder, from: later + .seconds(33)).map(\.output.destination) == [.multicast(interface: on, isIPv6: true)]
  )

  // The TTL of a pointer is 75 minutes.
  let type = DNSMessage(questions: [DNSQuestion(MatterServiceNames.commissionable, .ptr, wantsUnicast: true)])
  #expect(try destinations(type, after: 1000, &responder) == [one])
  #expect(try destinations(type, after: 1100, &responder) == [all])
  #expect(try destinations(type, after: 1101, &responder) == [one])

  // Probes and plain DNS resolvers always get a unicast response.
  var probe = service
  probe.authorities = [DNSRecord(instance, .txt([]), ttl: 1)]
  #expect(try destinations(probe, after: 5000, &responder) == [one])
  let plain = SocketAddress(.v4(0x0A00_0002), port: 40_000)
  let legacy = try sendQuery(&responder, service, from: plain, at: later + .seconds(6000))
  #expect(legacy.map(\.output.destination) == [.unicast(plain, interface: on)])
}

@Test func limitsMulticastToOncePerSecond() throws {
  var responder = responder([.lamp()])
  let query = DNSMessage(questions: [DNSQuestion(MatterService.lamp().kind.instanceName, .srv)])
  #expect(try sendQuery(&responder, query).count == 1)
  // Several queriers get one common answer, as soon as the rate limit permits.
  for wait in [60, 500, 900] as [Int64] {
    responder.handle(packet: query.encoded(), from: peer, on: on, at: later + .milliseconds(wait))
    #expect(responder.nextOutput() == nil)
  }
  #expect(drain(&responder, from: later + .milliseconds(900)).map(\.at) == [later + .seconds(1)])
  // A record that is multicast between the query and the time of its answer answers the query.
  let pointer = DNSMessage(questions: [DNSQuestion(MatterServiceNames.commissionable, .ptr)])
  responder.handle(packet: query.encoded(), from: peer, on: on, at: later + .milliseconds(1500))
  responder.handle(packet: pointer.encoded(), from: peer, on: on, at: later + .milliseconds(1501))
  let once = try drain(&responder, from: later + .milliseconds(1501)).map { try DNSMessage($0.output.bytes) }
  #expect(once.count == 1 && once.first?.additionals.map(\.type).contains(.srv) == true)
  // A probe is always answered.
  var probe = query
  probe.authorities = [DNSRecord(query.questions[0].name, .txt([]), ttl: 1)]
  #expect(try sendQuery(&responder, probe, at: later + .milliseconds(1700)).count == 1)
}

@Test func announcesTwiceAndSendsGoodbye() throws {
  var responder = DNSResponder(random: SeededRandomSource(seed: 1))
  responder.setInterfaces([on: [.v4(0x0A00_0001)]], at: .zero)
  responder.publish(.lamp(), at: .zero)
  responder.publish(.node(1), at: .zero)
  let packets = drain(&responder, from: .zero)
  let announced = try packets.filter { try DNSMessage($0.output.bytes).isResponse }
  #expect(packets.count == announced.count)
  let times = announced.map(\.at.nanoseconds).map { $0 / 1_000_000 }
  #expect(times == [0, 10, 1000, 1010])
  let first = try DNSMessage(announced[0].output.bytes)
  #expect(first.answers.filter { $0.type == .ptr }.count == 6)
  #expect(Set((first.answers + first.additionals).map(\.type)) == [.ptr, .srv, .txt, .a])

  // The addresses of the host remain while another service runs on it.
  responder.withdraw(.lamp(), at: later)
  let goodbye = drain(&responder, from: later)
  try #require(goodbye.count == 1)
  let gone = try DNSMessage(goodbye[0].output.bytes).answers
  #expect(gone.allSatisfy { $0.ttl == 0 } && gone.filter { $0.type == .ptr }.count == 6)
  #expect(!gone.contains { $0.type == .a })
  responder.withdraw(.node(1), at: later)
  #expect(
    try drain(&responder, from: later).flatMap { try DNSMessage($0.output.bytes).answers }.contains { $0.type == .a })
  #expect(responder.index.isEmpty && responder.services.isEmpty && responder.nextDeadline == nil)
}

@Test func withdrawsOnlyRemovedPointersOnUpdate() throws {
  var responder = responder([.lamp()])
  var closed = MatterService.lamp()
  closed.commissioningMode = 0
  responder.publish(closed, at: later)
  let messages = try drain(&responder, from: later).map { try DNSMessage($0.output.bytes) }
  let gone = messages.flatMap(\.answers).filter { $0.ttl == 0 }
  // Once per address family.
  #expect(gone.map(\.name.description) == ["_CM._sub._matterc._udp.local", "_CM._sub._matterc._udp.local"])
  #expect(messages.flatMap { $0.answers + $0.additionals }.contains { $0.data == .txt(closed.textStrings) })
  #expect(responder.published == [closed])
}

@Test func limitsPacketsForThousandServices() throws {
  let services = (1...1000).map { MatterService.lamp($0, discriminator: UInt16($0)) }
  var responder = responder(services)
  let query = DNSMessage(questions: [DNSQuestion(MatterServiceNames.commissionable, .ptr)])
  // Simultaneous queries get one common answer.
  for number in 0..<50 as Range<UInt32> {
    let from = SocketAddress(.v4(0x0A00_0100 + number), port: 5353)
    responder.handle(packet: query.encoded(), from: from, on: on, at: later)
  }
  let outputs = drain(&responder, from: later)
  let messages = try outputs.map { try DNSMessage($0.output.bytes) }
  let named = messages.flatMap(\.answers).map(\.data)
  #expect(named.count == 1000 && Set(named).count == 1000)
  #expect(outputs.allSatisfy { $0.output.bytes.count <= 1400 })
  #expect(outputs.count == 1000)
  for (_, burst) in Dictionary(grouping: outputs, by: \.at) { #expect(burst.count <= 16) }
  // The answer for a single service takes one packet.
  let one = DNSMessage(questions: [DNSQuestion(DNSName("_L77._sub._matterc._udp.local"), .ptr)])
  let answer = try sendQuery(&responder, one, at: later + .seconds(60))
  #expect(answer.map(\.message.answers.count) == [1])
}

@Suite("Packets of the responder") struct DNSResponderPacketTests {
  /// Devices with the same short discriminator, each on its own host.
  private let lamps = (1...8).map { MatterService.lamp($0, discriminator: 0xF00 + UInt16($0)) }

  /// Expects that each message describes one service with all of its records.
  private func expectWhole(_ messages: [DNSMessage], _ services: [MatterService]) {
    var found: [DNSName] = []
    for message in messages {
      let records = message.answers + message.additionals
      let instances = Set(
        records.compactMap { record in
          if case .ptr(let target) = record.data { target } else { record.type == .srv ? record.name : nil }
        })
      #expect(instances.count == 1)
      #expect(Set(records.map(\.type)).isSuperset(of: [.ptr, .srv, .txt, .a, .aaaa]))
      #expect(records.count == Set(records.map(\.identity)).count)
      found += instances
    }
    #expect(Set(found) == Set(services.map(\.kind.instanceName)))
  }

  /// Many services take several bursts. With a driver that is busy at first, their first announcement is less than a second ago
  /// when the second is due.
  @Test("announces one service per packet, with its addresses", arguments: [8, 200] as [UInt64])
  func announcement(count: UInt64) throws {
    let lamps = (1...count).map { MatterService.lamp($0, discriminator: 0xF00) }
    var responder = responder([])
    for lamp in lamps { responder.publish(lamp, at: later) }
    let messages = try drain(&responder, from: later, busyUntil: later + .seconds(1))
      .map { try DNSMessage($0.output.bytes) }.filter(\.isResponse)
    // Twice per address family.
    #expect(messages.count == 4 * lamps.count)
    expectWhole(messages, lamps)
  }

  @Test("repeats the addresses of a recently announced host in announcements")
  func announcementOnKnownHost() throws {
    var node = MatterService.node(1)
    node.hostName = lamps[0].hostName
    var responder = responder([])
    responder.publish(lamps[0], at: later)
    while responder.nextOutput() != nil {}
    responder.publish(node, at: later + .milliseconds(300))
    let messages = try drain(&responder, from: later + .milliseconds(300)).map { try DNSMessage($0.output.bytes) }
    let announced = messages.filter { $0.answers.contains { $0.name == node.kind.instanceName } }
    #expect(announced.count == 4)
    expectWhole(announced, [node])
  }

  @Test("answers a query for many services with one packet per service", arguments: [false, true])
  func answer(isUnicast: Bool) throws {
    var responder = responder(lamps)
    let name = DNSName("_S15._sub._matterc._udp.local")
    let query = DNSMessage(questions: [DNSQuestion(name, .ptr, wantsUnicast: isUnicast)])
    let replies = try sendQuery(&responder, query)
    #expect(replies.count == lamps.count)
    expectWhole(replies.map(\.message), lamps)
    #expect(replies.allSatisfy { $0.message.answers.map(\.name) == [name] })
    let plain = SocketAddress(.v4(0x0A00_0002), port: 40_000)
    let legacy = try sendQuery(&responder, query, from: plain, at: later + .seconds(5))
    #expect(legacy.count == lamps.count)
    #expect(legacy.allSatisfy { $0.message.answers.map(\.name) == [name] })
  }

  @Test("repeats the addresses of a recently queried host in answers")
  func answerOnKnownHost() throws {
    var responder = responder([lamps[0]])
    let host = DNSMessage(questions: [DNSQuestion(DNSName(lamps[0].hostName), .aaaa)])
    #expect(try sendQuery(&responder, host).count == 1)
    let service = DNSMessage(questions: [DNSQuestion(lamps[0].kind.instanceName, .srv)])
    let reply = try #require(try sendQuery(&responder, service, at: later + .milliseconds(300)).first)
    #expect(Set(reply.message.additionals.map(\.type)) == [.a, .aaaa])
  }
}
