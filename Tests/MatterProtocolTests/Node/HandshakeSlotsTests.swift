import MatterCrypto
import MatterModel
import Testing

@testable import MatterProtocol

/// Strangers begin handshakes without end: whoever means it gets in all the same, within a bounded time.
@Suite struct HandshakeSlotsTests {
  /// Sigma1s, all different, of a member of the fabric that core 1 is in.
  static func sigma1s(_ count: Int, _ pair: CorePair) throws -> [[UInt8]] {
    var member = NodeCore(random: SeededRandomSource(seed: 4711), fabrics: [pair.cores[0].fabrics[0]])
    return try (0..<count).map { _ in
      try FirstMessage.payload(&member) {
        _ = $0.establishCASE(fabric: 1, peer: 2, to: CorePair.addresses[1], parameters: .init(), at: .zero)
      }
    }
  }

  /// Lets strangers send in turn, and has core 0 begin after a while, and again whenever it is told to wait.
  /// - Returns: how long it took from when core 0 began first until its session was there; nil: it never was.
  private func flood(
    _ pair: inout CorePair, from addresses: Int, each interval: Duration, _ opcode: UInt8, _ payloads: [[UInt8]],
    before: Duration = .seconds(10), limit: Duration = .seconds(60), _ begin: (inout CorePair) throws -> Void
  ) throws -> Duration? {
    let sessions = pair.established(0).count
    let start = pair.now + before
    var errors = pair.handshakeErrors(0).count
    var reports = pair.reports.count
    var next: Instant? = start
    var number = 0
    while pair.now < start + limit {
      let address = SocketAddress(.v4(0x0A00_0000 + UInt32(number % addresses)), port: 5540)
      pair.cores[1].receive(
        FirstMessage.datagram(opcode, number, payloads[number % payloads.count]), from: address, at: pair.now)
      pair.drain(1)
      number += 1
      try pair.run(for: interval / addresses)
      if let due = next, due <= pair.now {
        next = nil
        try begin(&pair)
      }
      guard pair.reports.count > reports else { continue }
      reports = pair.reports.count
      if pair.established(0).count > sessions { return pair.now - start }
      let all = pair.handshakeErrors(0)
      guard all.count > errors else { continue }
      errors = all.count
      if case .busy(let wait)? = all.last { next = pair.now + wait } else { next = pair.now }
    }
    return nil
  }

  /// As many strangers begin as often: from as many addresses as there are slots or fewer, and from many more.
  @Test(arguments: [(4, 1000), (4, 1), (16, 250), (64, 250), (1000, 1000)])
  func aCommissionerGetsIn(addresses: Int, milliseconds: Int) throws {
    var pair = CorePair()
    let parameters = try TestPasscode.parameters()
    pair.on(1) { core, _ in core.openPASE(parameters) }
    var stranger = NodeCore(random: SeededRandomSource(seed: 9))
    let start = try FirstMessage.payload(&stranger) {
      _ = $0.establishPASE(passcode: 1, to: CorePair.addresses[1], parameters: .init(), at: .zero)
    }
    let time = try flood(
      &pair, from: addresses, each: .milliseconds(milliseconds), SecureChannelOpcode.pbkdfParamRequest, [start]
    ) { try $0.beginPASE() }
    #expect(time.map { $0 < .seconds(60) } == true, "\(String(describing: time))")
    #expect(pair.established(1).count == 1)
    #expect(pair.attempts == 0, "the strangers tried no passcode")
    // They took all there was, or all that there are of them.
    #expect(pair.cores[1].admission.passcode.slots.count >= min(addresses, 15))
  }

  /// Overheard first messages are known again, from wherever they come: they cost next to nothing and take no slot.
  @Test func replaysTakeNoPlace() throws {
    var (pair, _, _) = try CorePair.connected()
    let overheard = try clearHeaders(pair.packets[0].bytes).content
    pair.on(0) { core, _ in core.forgetResumption(fabric: 1, peer: 2) }
    let time = try flood(
      &pair, from: 1000, each: .seconds(1), SecureChannelOpcode.sigma1, [overheard], before: .seconds(1)
    ) { $0.beginCASE() }
    #expect(time.map { $0 < .seconds(1) } == true, "\(String(describing: time))")
    #expect(pair.cores[1].drops[.duplicate] >= 1000)
    #expect(pair.cores[1].admission.certificates.slots.isEmpty && pair.cores[1].admission.resumption.slots.isEmpty)
  }

  /// First messages that the device has not seen yet, from one who knows the fabric: from few addresses they leave room at
  /// once, from many as soon as each of them was answered, or had its turn.
  @Test(arguments: [(4, 100, 4000, 1), (1000, 1000, 64, 60)])
  func aControllerGetsIn(addresses: Int, milliseconds: Int, messages: Int, limit: Int) throws {
    var (pair, _, _) = try CorePair.connected()
    let payloads = try Self.sigma1s(messages, pair)
    pair.on(0) { core, _ in core.forgetResumption(fabric: 1, peer: 2) }
    let time = try flood(
      &pair, from: addresses, each: .milliseconds(milliseconds), SecureChannelOpcode.sigma1, payloads,
      before: .seconds(1)
    ) { $0.beginCASE() }
    #expect(time.map { $0 < .seconds(limit) } == true, "\(String(describing: time))")
    #expect(pair.established(1).count == 2)
  }

  /// Who had a session before has slots of its own: it need not wait at all.
  @Test func aControllerThatResumesGetsInAtOnce() throws {
    var (pair, _, _) = try CorePair.connected()
    let time = try flood(
      &pair, from: 1000, each: .seconds(1), SecureChannelOpcode.sigma1, try Self.sigma1s(2000, pair),
      before: .seconds(1)
    ) { $0.beginCASE() }
    #expect(time.map { $0 < .milliseconds(100) } == true, "\(String(describing: time))")
    #expect(pair.cores[1].admission.certificates.slots.count == 8, "all the others were taken")
  }

  /// A first message that comes to nothing takes nobody's slot.
  @Test func whatMakesNoSenseTakesNoPlace() throws {
    var configuration = NodeConfiguration()
    (configuration.maximumInboundHandshakes, configuration.maximumInboundPASEHandshakes) = (1, 1)
    var pair = try TestFabrics.pair([.init(), configuration])
    // The opcode stands behind a header with a source: core 0 begins, and goes on with neither.
    pair.isLost = { core, bytes in
      core == 0 && bytes.count > 17
        && (bytes[17] == SecureChannelOpcode.sigma3 || bytes[17] == SecureChannelOpcode.pake1)
    }
    pair.beginCASE()
    try pair.beginPASE()
    try pair.run(for: .seconds(6))
    let before = pair.cores[1].handshakes.keys.sorted()
    #expect(before.count == 2)
    var stranger = NodeCore(random: SeededRandomSource(seed: 9), fabrics: try TestFabrics.make(seed: 5))
    let forNobody = try FirstMessage.payload(&stranger) {
      _ = $0.establishCASE(fabric: 1, peer: 2, to: CorePair.addresses[1], parameters: .init(), at: .zero)
    }
    let other = PBKDFParamRequest(passcodeID: 1).tlv
    let senseless: [(UInt8, [UInt8])] = [(0x30, forNobody), (0x30, [0x15, 0x18]), (0x20, other), (0x20, [0x15])]
    for (number, (opcode, payload)) in senseless.enumerated() {
      // From the very address that has the slots, too.
      for address in [SocketAddress(.loopback4, port: 1), CorePair.addresses[0]] {
        pair.cores[1].receive(
          FirstMessage.datagram(opcode, number + (address == CorePair.addresses[0] ? 100 : 200), payload),
          from: address,
          at: pair.now)
        pair.drain(1)
      }
      #expect(pair.cores[1].handshakes.keys.sorted() == before, "\(number)")
    }
  }

  @Test func notesAreBounded() {
    var keys = RecentKeys<Int>(limit: 4)
    for number in 0..<100 {
      keys.insert(number % 6, at: Instant(nanoseconds: Int64(number)))
      #expect(keys.count <= 4)
    }
    #expect((0..<6).filter { keys[$0] != nil } == [0, 1, 2, 3])
    // What is noted again is the newer for it.
    keys = RecentKeys(limit: 2)
    for (time, key) in [7, 8, 7].enumerated() { keys.insert(key, at: Instant(nanoseconds: Int64(time))) }
    #expect(keys[7] == Instant(nanoseconds: 2) && keys[8] != nil)
  }
}

@Suite struct StartLimiterTests {
  /// Addresses share counters: nobody who shares one with a flood is kept out for longer than a few seconds.
  @Test func whoIsMistakenForAFloodGetsInSoonAfter() {
    var limiter = StartLimiter(key: 0x0123_4567_89AB_CDEF)
    let flood = SocketAddress(.loopback4, port: 1)
    var waiting = Array(UInt16(1000)..<5000)
    for second in 0..<5 {
      let now = Instant.zero + .seconds(second)
      for _ in 0..<1000 { _ = limiter.allows(flood, limit: 50, at: now) }
      let isFloodLetIn = limiter.allows(flood, limit: 50, at: now)
      #expect(!isFloodLetIn)
      waiting.removeAll { port in
        // Each is asked for by itself: it is what the flood took that counts.
        var copy = limiter
        return copy.allows(SocketAddress(.loopback4, port: port), limit: 50, at: now)
      }
      // One in 256 is, and of those one in 256 is again.
      if second == 0 { #expect((1...60).contains(waiting.count)) }
    }
    #expect(waiting.isEmpty)
  }
}
