import MatterCrypto
import Testing

@testable import MatterProtocol

/// The response of a lamp, written by hand from RFC 1035 and RFC 6762.
private let capture: [UInt8] =
  [0, 0, 0x84, 0, 0, 1, 0, 2, 0, 0, 0, 4]  // response, AA; 1 question, 2 answers, 4 additionals
  // 12: question _matterc._udp.local PTR, QU
  + [8] + Array("_matterc".utf8) + [4] + Array("_udp".utf8) + [5] + Array("local".utf8) + [0, 0, 12, 0x80, 1]
  // 37: PTR, TTL 4500, to "AB" under the same name (its label at 49)
  + [0xC0, 12, 0, 12, 0, 1, 0, 0, 0x11, 0x94, 0, 5, 2] + Array("AB".utf8) + [0xC0, 12]
  // its TXT record, cache flush
  + [0xC0, 49, 0, 16, 0x80, 1, 0, 0, 0x11, 0x94, 0, 12, 6] + Array("D=3840".utf8) + [4] + Array("CM=1".utf8)
  // SRV, TTL 120, port 5540, target H.local (its label at 96)
  + [0xC0, 49, 0, 33, 0x80, 1, 0, 0, 0, 120, 0, 10, 0, 0, 0, 0, 0x15, 0xA4, 1] + Array("H".utf8) + [0xC0, 26]
  // A 10.0.0.5, AAAA fe80::5, NSEC with A and AAAA
  + [0xC0, 96, 0, 1, 0x80, 1, 0, 0, 0, 120, 0, 4, 10, 0, 0, 5]
  + [0xC0, 96, 0, 28, 0x80, 1, 0, 0, 0, 120, 0, 16, 0xFE, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5]
  + [0xC0, 96, 0, 47, 0x80, 1, 0, 0, 0, 120, 0, 8, 0xC0, 96, 0, 4, 0x40, 0, 0, 8]

private let type = DNSName("_matterc._udp.local")
private let instance = DNSName("AB._matterc._udp.local")
private let host = DNSName("H.local")
private let captured = DNSMessage(
  flags: 0x8400, questions: [DNSQuestion(type, .ptr, wantsUnicast: true)],
  answers: [
    DNSRecord(type, .ptr(instance), ttl: 4500),
    DNSRecord(instance, .txt([Array("D=3840".utf8), Array("CM=1".utf8)]), ttl: 4500, cacheFlush: true),
  ],
  additionals: [
    DNSRecord(instance, .srv(priority: 0, weight: 0, port: 5540, target: host), ttl: 120, cacheFlush: true),
    DNSRecord(host, .a(0x0A00_0005), ttl: 120, cacheFlush: true),
    DNSRecord(host, .aaaa(high: 0xFE80_0000_0000_0000, low: 5), ttl: 120, cacheFlush: true),
    DNSRecord(host, .nsec(next: host, types: [.a, .aaaa]), ttl: 120, cacheFlush: true),
  ])

/// Returns a message with one question.
private func question(_ name: [UInt8]) -> [UInt8] { [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0] + name + [0, 12, 0, 1] }

@Test func roundTripsCapture() throws {
  let message = try DNSMessage(capture)
  #expect(message == captured)
  #expect(message.isResponse && message.isOrdinary && !message.isTruncated)
  #expect(captured.encoded() == capture)
}

@Test func comparesNamesIgnoringCase() {
  #expect(DNSName("_Matter._TCP.local") == DNSName("_matter._tcp.LOCAL"))
  #expect(DNSName("a.local").hashValue == DNSName("A.local").hashValue)
  #expect(DNSName("a.b") != DNSName("ab"))
  #expect(DNSName("A.b").description == "A.b")
  #expect(DNSName([String(repeating: "x", count: 100)]).labels.map(\.count) == [63])
  #expect(DNSName([String](repeating: String(repeating: "x", count: 60), count: 9)).wire.count <= 254)
}

@Test func rejectsEndlessPointers() {
  #expect(throws: DNSError.badPointer) { try DNSMessage(question([0xC0, 12])) }
  #expect(throws: DNSError.badPointer) { try DNSMessage(question([1, 0x61, 0xC0, 12])) }
  #expect(throws: DNSError.badPointer) { try DNSMessage(question([0xC0, 14, 0xC0, 12])) }
  #expect(throws: DNSError.badPointer) { try DNSMessage(question([0xFF, 0xFF])) }
  #expect(throws: DNSError.badLabel) { try DNSMessage(question([0x40, 0])) }
  #expect(throws: DNSError.badLabel) { try DNSMessage(question([0x80, 0])) }
}

@Test func limitsNamesTo255Bytes() throws {
  let label = [UInt8(63)] + [UInt8](repeating: 0x61, count: 63)
  #expect(throws: DNSError.nameTooLong) { try DNSMessage(question(label + label + label + label + [0])) }
  let longest = label + label + label + [61] + [UInt8](repeating: 0x61, count: 61) + [0]
  #expect(longest.count == 255)
  #expect(try DNSMessage(question(longest)).questions[0].name.wire.count == 254)
}

@Test func rejectsRecordsWithWrongLength() {
  func answer(_ type: UInt8, _ data: [UInt8]) -> [UInt8] {
    [0, 0, 0x84, 0, 0, 0, 0, 1, 0, 0, 0, 0] + [0, 0, type, 0, 1, 0, 0, 0, 1, 0, UInt8(data.count)] + data
  }
  #expect(throws: DNSError.badRecord) { try DNSMessage(answer(1, [1, 2, 3, 4, 5])) }
  #expect(throws: DNSError.truncated) { try DNSMessage(answer(1, [1, 2, 3])) }
  #expect(throws: DNSError.badRecord) { try DNSMessage(answer(16, [3, 0x61])) }
  #expect(throws: DNSError.badRecord) { try DNSMessage(answer(47, [0, 0, 0])) }
  #expect(throws: DNSError.badRecord) { try DNSMessage(answer(47, [0, 0, 33, 1])) }
  #expect(throws: DNSError.tooLong) { try DNSMessage([UInt8](repeating: 0, count: 9001)) }
  #expect((try? DNSMessage(answer(200, [9, 8])))?.answers.first?.data == .unknown(DNSType(rawValue: 200), [9, 8]))
}

@Test func rejectsTruncationsAndSurvivesBitFlips() {
  for count in 0..<capture.count { #expect(throws: DNSError.self) { try DNSMessage(Array(capture[..<count])) } }
  var readable = 0
  for index in capture.indices {
    for bit in 0..<8 {
      var bytes = capture
      bytes[index] ^= 1 << UInt8(bit)
      guard let message = try? DNSMessage(bytes) else { continue }
      readable += 1
      // A decoded message survives a round trip.
      #expect((try? DNSMessage(message.encoded())) == message)
    }
  }
  #expect(readable > 500)
}

@Test func survivesCorruptedPackets() {
  var random = SeededRandomSource(seed: 5)
  var responder = DNSResponder(random: SeededRandomSource(seed: 6))
  var browser = DNSBrowser(random: SeededRandomSource(seed: 7))
  let on = InterfaceID(1)
  responder.setInterfaces([on: [.v4(0x0A00_0001)]], at: .zero)
  responder.publish(.lamp(), at: .zero)
  _ = browser.browse(.commissionable(), at: .zero)
  let from = SocketAddress(.v4(0x0A00_0002), port: 5353)
  for round in 0..<4000 {
    let now = Instant(nanoseconds: Int64(round) * 1_000_000)
    var bytes = capture
    if round % 2 == 0 { bytes[2] = 0 }
    for _ in 0...(round % 7) {
      let word: UInt64 = random.next()
      bytes[Int(word >> 16) % bytes.count] = UInt8(word & 0xFF)
    }
    responder.handle(packet: bytes, from: from, on: on, at: now)
    browser.handle(packet: bytes, from: from, on: on, at: now)
    while responder.nextOutput() != nil {}
    while browser.nextOutput() != nil {}
    while browser.nextEvent() != nil {}
  }
  #expect(responder.counters.malformed > 0 && responder.counters.malformed < 4000)
  #expect(browser.instances.count <= 4096)
}

@Test func omitsRecordsBeyondLimit() throws {
  let records = (0..<100).map { DNSRecord(type, .ptr(DNSName("instance\($0)", type)), ttl: 1) }
  let message = DNSMessage(flags: 0x8400, answers: records)
  let bytes = message.encoded(limit: 500)
  #expect(bytes.count <= 500 && bytes.count > 460)
  let back = try DNSMessage(bytes)
  #expect(back.answers == Array(records[..<back.answers.count]))
  // The size does not depend on the order of the records.
  #expect(message.encoded().count == DNSMessage(flags: 0, answers: records.reversed()).encoded().count)
}
