import MatterCrypto
import MatterModel
import Testing

@testable import MatterProtocol

/// During a flood of handshakes, a legitimate peer is admitted within a bounded time.
@Suite struct HandshakeSlotsTests {
  /// Returns distinct Sigma1 payloads of a member of core 1's fabric.
  static func sigma1s(_ count: Int, _ pair: CorePair) throws -> [[UInt8]] {
    var member = NodeCore(random: SeededRandomSource(seed: 4711), fabrics: [pair.cores[0].fabrics[0]])
    return try (0..<count).map { _ in
      try FirstMessage.payload(&member) {
        _ = $0.establishCASE(fabric: 1, peer: 2, to: CorePair.addresses[1], parameters: .init(), at: .zero)
      }
    }
  }

  /// Floods core 1 from a number of addresses, while core 0 starts a handshake and retries when core 1 is busy.
  /// - Returns: The time from the first attempt of core 0 to its session; nil if there is none within the limit.
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

  /// With floods from at most as many addresses as there are slots, and from many more.
  @Test(arguments: [(4, 1000), (4, 4), (16, 250), (64, 250), (1000, 4000)])
  func admitsCommissionerDuringFlood(addresses: Int, milliseconds: Int) throws {
    var pair = CorePair()
    let parameters = try TestPasscode.parameters()
    pair.on(1) { core, _ in core.openPASE(parameters) }
    var attacker = NodeCore(random: SeededRandomSource(seed: 9))
    let start = try FirstMessage.payload(&attacker) {
      _ = $0.establishPASE(passcode: 1, to: CorePair.addresses[1], parameters: .init(), at: .zero)
    }
    let time = try flood(
      &pair, from: addresses, each: .milliseconds(milliseconds), SecureChannelOpcode.pbkdfParamRequest, [start]
    ) { try $0.beginPASE() }
    #expect(time.map { $0 < .seconds(60) } == true, "\(String(describing: time))")
    #expect(pair.established(1).count == 1)
    #expect(pair.attempts == 0, "the flood uses up no attempts")
    // The flood occupies all slots, or one per address.
    #expect(pair.cores[1].handshakes.admission.passcode.slots.count >= min(addresses, 15))
  }

  /// Replayed first messages are detected from any address, and occupy no slot.
  @Test func rejectsReplayedSigma1() throws {
    var (pair, _, _) = try CorePair.connected()
    let overheard = try clearHeaders(pair.packets[0].bytes).content
    pair.on(0) { core, _ in core.forgetResumption(fabric: 1, peer: 2) }
    let time = try flood(
      &pair, from: 1000, each: .seconds(1), SecureChannelOpcode.sigma1, [overheard], before: .seconds(1)
    ) { $0.beginCASE() }
    #expect(time.map { $0 < .seconds(1) } == true, "\(String(describing: time))")
    #expect(pair.cores[1].drops[.duplicate] >= 1000)
    #expect(
      pair.cores[1].handshakes.admission.certificates.slots.isEmpty
        && pair.cores[1].handshakes.admission.resumption.slots.isEmpty)
  }

  /// The flood consists of new first messages of a fabric member. From few addresses, it frees a slot at once; from
  /// many, as soon as each address was answered or its slot timed out.
  @Test(arguments: [(4, 100, 200, 1), (1000, 4000, 64, 60)])
  func admitsControllerDuringFlood(addresses: Int, milliseconds: Int, messages: Int, limit: Int) throws {
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

  /// Resumption has its own slots, so it need not wait.
  @Test func admitsResumptionDuringFlood() throws {
    var (pair, _, _) = try CorePair.connected()
    let time = try flood(
      &pair, from: 250, each: .seconds(1), SecureChannelOpcode.sigma1, try Self.sigma1s(300, pair),
      before: .seconds(1)
    ) { $0.beginCASE() }
    #expect(time.map { $0 < .milliseconds(100) } == true, "\(String(describing: time))")
    #expect(
      pair.cores[1].handshakes.admission.certificates.slots.count == 8, "the flood occupies all slots for certificates")
  }

  /// An invalid first message evicts no handshake.
  @Test func keepsSlotsOnInvalidFirstMessages() throws {
    var configuration = NodeConfiguration()
    (configuration.maximumInboundHandshakes, configuration.maximumInboundPASEHandshakes) = (1, 1)
    var pair = try TestFabrics.pair([.init(), configuration])
    // The opcode follows a header with a source: core 0 starts both handshakes and continues neither.
    pair.isLost = { core, bytes in
      core == 0 && bytes.count > 17
        && (bytes[17] == SecureChannelOpcode.sigma3 || bytes[17] == SecureChannelOpcode.pake1)
    }
    pair.beginCASE()
    try pair.beginPASE()
    try pair.run(for: .seconds(6))
    let before = pair.cores[1].handshakes.exchanges
    #expect(before.count == 2)
    var attacker = NodeCore(random: SeededRandomSource(seed: 9), fabrics: try TestFabrics.make(seed: 5))
    let unknownFabric = try FirstMessage.payload(&attacker) {
      _ = $0.establishCASE(fabric: 1, peer: 2, to: CorePair.addresses[1], parameters: .init(), at: .zero)
    }
    let other = PBKDFParamRequest(passcodeID: 1).tlv
    let invalid: [(UInt8, [UInt8])] = [(0x30, unknownFabric), (0x30, [0x15, 0x18]), (0x20, other), (0x20, [0x15])]
    for (number, (opcode, payload)) in invalid.enumerated() {
      // Also from the address that holds the slots.
      for address in [SocketAddress(.loopback4, port: 1), CorePair.addresses[0]] {
        pair.cores[1].receive(
          FirstMessage.datagram(opcode, number + (address == CorePair.addresses[0] ? 100 : 200), payload),
          from: address,
          at: pair.now)
        pair.drain(1)
      }
      #expect(pair.cores[1].handshakes.exchanges == before, "\(number)")
    }
  }

  /// Requests one of three slots.
  private static func request(
    _ slots: inout HandshakeSlots, _ number: UInt16, port: UInt16, at seconds: Int = 0
  ) -> HandshakeSlots.Admission {
    slots.acquire(
      exchange(number), from: SocketAddress(.loopback4, port: port), capacity: 3, at: .zero + .seconds(seconds))
  }

  private static func exchange(_ number: UInt16) -> ExchangeID {
    ExchangeID(session: SessionID(0x1_0001), number: number, isInitiator: false)
  }

  private static let timeouts = HandshakeSlots.Timeouts(
    unconfirmed: .seconds(1), confirmed: .seconds(5), penalized: .seconds(10))

  @Test func takesSlotFromAddressWithSurplus() {
    var slots = HandshakeSlots(Self.timeouts)
    for (number, port) in [(1, 1), (2, 1), (3, 2)] as [(UInt16, UInt16)] {
      #expect(Self.request(&slots, number, port: port) == .admitted(evicting: nil))
    }
    #expect(Self.request(&slots, 4, port: 3) == .admitted(evicting: Self.exchange(1)), "the oldest of two")
    #expect(Self.request(&slots, 5, port: 3) == .full, "each address has one slot")
    slots.release(Self.exchange(3))
    #expect(Self.request(&slots, 5, port: 3) == .admitted(evicting: nil))
    #expect(slots.slots.map(\.exchange) == [2, 4, 5].map(Self.exchange))
  }

  @Test func penalizesEvictedAddress() {
    var slots = HandshakeSlots(Self.timeouts)
    for number in 1...3 as ClosedRange<UInt16> { _ = Self.request(&slots, number, port: number) }
    slots.confirm(Self.exchange(1))
    #expect(Self.request(&slots, 4, port: 4, at: 1) == .full, "no slot is older than its timeout")
    #expect(Self.request(&slots, 4, port: 4, at: 2) == .admitted(evicting: Self.exchange(2)), "1 is confirmed")
    // The evicted address can only take much older slots, and others can take the next one.
    #expect(Self.request(&slots, 5, port: 2, at: 3) == .full)
    #expect(Self.request(&slots, 5, port: 5, at: 3) == .admitted(evicting: Self.exchange(3)))
    #expect(Self.request(&slots, 6, port: 2, at: 11) == .admitted(evicting: Self.exchange(1)))
    for number in 7...9 as ClosedRange<UInt16> {
      let evicted = Self.exchange(number - 3)
      #expect(Self.request(&slots, number, port: number, at: 31) == .admitted(evicting: evicted))
    }
    #expect(Self.request(&slots, 10, port: 2, at: 33) == .full, "evicted 2 s ago")
    #expect(Self.request(&slots, 10, port: 3, at: 33) == .admitted(evicting: Self.exchange(7)), "evicted 30 s ago")
  }

  @Test func evictsOldestKeys() {
    var keys = RecentKeys<Int>(limit: 4)
    for number in 0..<100 {
      keys.insert(number % 6, at: Instant(nanoseconds: Int64(number)))
      #expect(keys.count <= 4)
    }
    #expect((0..<6).filter { keys[$0] != nil } == [0, 1, 2, 3])
    // Inserting a key again renews it.
    keys = RecentKeys(limit: 2)
    for (time, key) in [7, 8, 7].enumerated() { keys.insert(key, at: Instant(nanoseconds: Int64(time))) }
    #expect(keys[7] == Instant(nanoseconds: 2) && keys[8] != nil)
  }
}

@Suite struct StartLimiterTests {
  /// A peer that shares its counter with a flood is admitted within a few seconds.
  @Test func admitsPeerSharingCounterWithFlood() {
    var limiter = StartLimiter(key: 0x0123_4567_89AB_CDEF)
    let flood = SocketAddress(.loopback4, port: 1)
    var waiting = Array(UInt16(1000)..<5000)
    for second in 0..<5 {
      let now = Instant.zero + .seconds(second)
      for _ in 0..<1000 { _ = limiter.allows(flood, limit: 50, at: now) }
      let isFloodAdmitted = limiter.allows(flood, limit: 50, at: now)
      #expect(!isFloodAdmitted)
      waiting.removeAll { port in
        // A copy for each address, so that only the flood counts against the limit.
        var copy = limiter
        return copy.allows(SocketAddress(.loopback4, port: port), limit: 50, at: now)
      }
      // One address in 256 shares the counter, in each second independently.
      if second == 0 { #expect((1...60).contains(waiting.count)) }
    }
    #expect(waiting.isEmpty)
  }
}
