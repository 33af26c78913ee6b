import MatterCrypto
import Testing

@testable import MatterProtocol

@Suite struct RetransmissionTests {
  /// § 4.12.2.1: the interval times 1.1, times 1.6 for each try after the second, times 1 to 1.25.
  @Test(arguments: [
    (300, 0, 0, 330), (300, 1, 0, 330), (300, 2, 0, 528), (300, 3, 0, 844), (300, 4, 0, 1350),
    (500, 0, 0, 550), (500, 1, 0, 550), (500, 2, 0, 880), (500, 3, 0, 1408), (500, 4, 0, 2252),
    (500, 0, 1023, 687), (500, 2, 512, 990), (300, 4, 1023, 1687), (5000, 4, 1023, 28154),
    (3_600_000, 4, 0, 16_220_160),
  ])
  func computesBackoff(interval: Int, attempt: Int, jitter: Int64, expected: Int) {
    #expect(
      Retransmission.backoff(.milliseconds(interval), attempt: attempt, jitter: jitter) == .milliseconds(expected))
  }

  @Test func keepsBackoffWithinSpecifiedBounds() {
    for interval in [100, 300, 500, 4000] {
      for attempt in 0..<5 {
        var exact = Double(interval) * 1.1
        for _ in 0..<max(0, attempt - 1) { exact *= 1.6 }
        let least = Retransmission.backoff(.milliseconds(interval), attempt: attempt, jitter: 0).milliseconds
        let most = Retransmission.backoff(.milliseconds(interval), attempt: attempt, jitter: 1023).milliseconds
        #expect(abs(Double(least) - exact) <= 4, "interval \(interval), attempt \(attempt)")
        #expect(
          Double(most) <= exact * 1.25 && Double(most) > exact * 1.24 - 5, "interval \(interval), attempt \(attempt)")
      }
    }
  }

  @Test func retransmitsFourTimesOnSchedule() throws {
    var (pair, session, _) = try CorePair.connected()
    pair.isLost = { _, _ in true }
    let begin = pair.packets.count, start = pair.now
    var random = pair.cores[0].jitterSource
    _ = pair.request(on: session, then: .close)
    let exchange = pair.request(on: session, then: .expectResponse(within: .seconds(60)))
    _ = exchange
    try pair.settle()
    let packets = Array(pair.packets[begin...])
    let first = packets.filter { $0.bytes == packets[0].bytes }
    let second = packets.filter { $0.bytes == packets[1].bytes }
    #expect(packets.count == 10)
    #expect(first.count == 5 && second.count == 5)

    // Jitter is drawn once per message when it is sent, then in the order of the deadlines.
    func draw() -> Int64 { Int64(random.next() & 1023) }
    var due = [start, start]
    var attempts = [1, 1]
    var expected: [[Instant]] = [[start], [start]]
    for index in 0...1 { due[index] = start + Retransmission.backoff(.milliseconds(300), attempt: 0, jitter: draw()) }
    while attempts != [5, 5] {
      let open = (0...1).filter { attempts[$0] < 5 }
      let index = try #require(open.min { due[$0] < due[$1] })
      expected[index].append(due[index])
      // Four seconds after its last message, the peer counts as idle.
      let heard = try #require(pair.cores[0].session(session)).lastHeard
      let interval: Duration = due[index] - heard < .seconds(4) ? .milliseconds(300) : .milliseconds(500)
      due[index] = due[index] + Retransmission.backoff(interval, attempt: attempts[index], jitter: draw())
      attempts[index] += 1
    }
    #expect(first.map(\.sentAt) == expected[0])
    #expect(second.map(\.sentAt) == expected[1])
    // No failure is reported for the first exchange, which its owner has closed.
    #expect(pair.failures(0).map(\.failure) == [.noAcknowledgment])
    #expect(pair.failures(0).map(\.at) == [due[1]])
    #expect(pair.cores[0].exchanges.isEmpty)
    #expect(pair.cores[0].nextDeadline == nil)
  }

  /// A sleepy peer declares its intervals in the handshake, and they take precedence over the defaults.
  @Test func usesIntervalsOfPeer() throws {
    var sleepy = NodeConfiguration()
    sleepy.parameters.idleInterval = .milliseconds(5000)
    sleepy.parameters.activeInterval = .milliseconds(2000)
    sleepy.parameters.activeThreshold = .milliseconds(10_000)
    var (pair, session, peerSession) = try CorePair.connected([.init(), sleepy])
    #expect(pair.cores[0].session(session)?.parameters == sleepy.parameters)
    #expect(pair.cores[1].session(peerSession)?.parameters == .own)
    pair.isLost = { _, _ in true }

    // Active: the last message is less than 10 seconds old.
    try pair.run(for: .seconds(8))
    #expect(try gap(&pair, session, 0) == 2000)
    // Idle: the last message is older.
    try pair.settle()
    #expect(try gap(&pair, session, 0) == 5000)
    // The defaults apply in the other direction.
    #expect(try gap(&pair, peerSession, 1) == 500)
  }

  /// Returns the interval that explains the time from a message to its first retransmission, in milliseconds.
  private func gap(_ pair: inout CorePair, _ session: SessionID, _ core: Int) throws -> Int64 {
    let begin = pair.packets.count
    var random = pair.cores[core].jitterSource
    let jitter = Int64(random.next() & 1023)
    _ = pair.request(on: session, from: core, then: .close)
    try pair.settle()
    let packets = pair.packets[begin...].filter { $0.sender == core }
    #expect(packets.count == 5)
    let waited = (packets[packets.startIndex + 1].sentAt - packets[packets.startIndex].sentAt).milliseconds
    return try #require(
      [300, 500, 2000, 5000].first {
        Retransmission.backoff(.milliseconds($0), attempt: 0, jitter: jitter).milliseconds == waited
      })
  }

  /// The intervals that the peer declares in its first handshake message apply from then on.
  @Test func usesIntervalsOfPeerDuringHandshake() throws {
    var slow = NodeConfiguration()
    slow.parameters.activeInterval = .milliseconds(1000)
    var pair = try TestFabrics.pair([slow, .init()])
    pair.beginCASE()
    pair.isLost = { sender, _ in sender == 1 }
    try pair.settle()
    let sent = pair.sent(by: 1).filter { $0.bytes.count > 200 }
    #expect(sent.count == 5 && Set(sent.map(\.bytes)).count == 1)
    #expect((sent[1].sentAt - sent[0].sentAt).milliseconds >= 1100)
  }

  @Test func reportsMissingResponse() throws {
    var (pair, session, _) = try CorePair.connected()
    pair.serve = { _, _, _ in }
    let start = pair.now
    _ = pair.request(on: session, then: .expectResponse(within: .seconds(7)))
    try pair.settle()
    #expect(pair.failures(0).map(\.failure) == [.noResponse])
    let longest = Retransmission.longest(.own, isActive: true)
    #expect(pair.failures(0).map(\.at) == [start + .seconds(7) + longest])
  }

  @Test func sendsUnreliableMessageOnce() throws {
    var (pair, session, _) = try CorePair.connected()
    let begin = pair.packets.count
    pair.isLost = { _, _ in true }
    _ = pair.request(on: session, isReliable: false, then: .close)
    try pair.settle()
    #expect(pair.packets.count == begin + 1)
    #expect(pair.cores[0].exchanges.isEmpty)
  }
}
