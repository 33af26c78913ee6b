import MatterCrypto
import Testing

@testable import MatterProtocol

@Suite struct AcknowledgmentTests {
  @Test func piggybacksAcknowledgmentOnResponse() throws {
    var (pair, session, _) = try CorePair.connected()
    let begin = pair.packets.count
    _ = pair.request([1], on: session)
    try pair.settle()
    // Request, response with piggybacked acknowledgment, acknowledgment of the response.
    #expect(pair.packets[begin...].map(\.sender) == [0, 1, 0])
    #expect(pair.cores.allSatisfy { $0.exchanges.isEmpty && $0.nextDeadline == nil })
  }

  @Test func sendsStandaloneAckAfter200Milliseconds() throws {
    var (pair, session, _) = try CorePair.connected()
    pair.serve = { _, _, _ in }
    let begin = pair.packets.count
    _ = pair.request([1], on: session)
    try pair.run(for: .milliseconds(300))
    let packets = Array(pair.packets[begin...])
    #expect(packets.map(\.sender) == [0, 1])
    let arrival = packets[0].sentAt + pair.latency
    #expect(packets[1].sentAt == arrival + .milliseconds(200))
    #expect(packets[1].bytes.count == 8 + 10 + 16)
    #expect(pair.messages(1).count == 1)
  }

  @Test func acknowledgesWhenExchangeCloses() throws {
    var (pair, session, _) = try CorePair.connected()
    pair.serve = { core, message, now in core.close(message.exchange, at: now) }
    let begin = pair.packets.count
    _ = pair.request([1], on: session, then: .close)
    try pair.settle()
    let packets = Array(pair.packets[begin...])
    #expect(packets.map(\.sender) == [0, 1])
    #expect(packets[1].sentAt == packets[0].sentAt + pair.latency)
    #expect(pair.cores.allSatisfy { $0.exchanges.isEmpty })
  }

  @Test func acknowledgesDuplicateWithoutDelivering() throws {
    var (pair, session, _) = try CorePair.connected()
    _ = pair.request([1], on: session)
    try pair.settle()
    let request = try #require(pair.packets.last { $0.sender == 0 && $0.bytes.count == 8 + 6 + 1 + 16 })
    for time in [Duration.zero, .seconds(30)] {
      try pair.run(for: time)
      let before = pair.packets.count
      let duplicates = pair.cores[1].drops[.duplicate]
      pair.on(1) { core, now in core.receive(request.bytes, from: CorePair.addresses[0], at: now) }
      #expect(pair.packets.count == before + 1)
      #expect(pair.packets.last?.bytes.count == 8 + 10 + 16)
      #expect(pair.cores[1].drops[.duplicate] == duplicates + 1)
      #expect(pair.messages(1).count == 1)
    }
    try pair.settle()
    #expect(pair.messages(0).count == 1)
  }

  @Test func dropsUnreliableDuplicate() throws {
    var (pair, session, _) = try CorePair.connected()
    _ = pair.request([1], on: session, isReliable: false, then: .close)
    let request = try #require(pair.packets.last)
    try pair.settle()
    let before = pair.packets.count
    pair.on(1) { core, now in core.receive(request.bytes, from: CorePair.addresses[0], at: now) }
    #expect(pair.packets.count == before)
    #expect(pair.cores[1].drops[.duplicate] == 1)
  }

  /// A lost response is retransmitted together with its acknowledgment; the request is handled once.
  @Test func survivesLossOfOnePacket() throws {
    for lost in 0..<3 {
      var (pair, session, _) = try CorePair.connected()
      pair.losses = [pair.packets.count + lost]
      _ = pair.request([1, 2], on: session)
      try pair.settle()
      #expect(pair.messages(1).map(\.content) == [[1, 2]], "packet \(lost)")
      #expect(pair.messages(0).map(\.content) == [[2, 1]], "packet \(lost)")
      #expect(pair.failures(0).isEmpty && pair.failures(1).isEmpty, "packet \(lost)")
      #expect(pair.cores.allSatisfy { $0.exchanges.isEmpty }, "packet \(lost)")
    }
  }

  /// With a third of the messages lost at random, each request is answered at most once.
  @Test(arguments: 1...10) func survivesHeavyLoss(seed: UInt64) throws {
    var (pair, session, _) = try CorePair.connected()
    let begin = pair.packets.count
    for number in 0..<20 {
      var random = SeededRandomSource(seed: seed &* 1000 &+ UInt64(number))
      pair.losses.formUnion((0..<10).filter { _ in random.next() % 3 == 0 }.map { pair.packets.count + $0 })
      _ = pair.request([UInt8(number), 0], on: session, then: .expectResponse(within: .seconds(20)))
      try pair.settle()
    }
    #expect(pair.packets.count > begin + 60)
    let delivered = pair.messages(1).map { $0.content[0] }
    #expect(delivered == Array(Set(delivered)).sorted(), "no duplicates, in order")
    let answered = pair.messages(0).map { $0.content[1] }
    #expect(answered.count + pair.failures(0).count == 20)
    #expect(answered.count >= 16, "a request fails only after five consecutive losses")
    #expect(pair.cores.allSatisfy { $0.exchanges.isEmpty })
  }

  @Test func handlesRequestsInBothDirections() throws {
    var (pair, session, peerSession) = try CorePair.connected()
    let left = pair.request([1, 2], on: session)
    let right = pair.request([3, 4], on: peerSession, from: 1)
    #expect(left != nil && right != nil)
    pair.serve = { core, message, now in
      if message.isFirst { CorePair.echo(&core, message, now) } else { core.close(message.exchange, at: now) }
    }
    try pair.run(for: .milliseconds(20))
    // The harness has no server for core 0, so respond here.
    let question = try #require(pair.messages(0).first { $0.isFirst })
    pair.on(0) { core, now in
      _ = core.send(9, payload: [5], on: question.exchange, then: .close, at: now)
    }
    try pair.settle()
    #expect(Set(pair.messages(0).map(\.content)) == [[2, 1], [3, 4]])
    #expect(pair.messages(0).count == 2)
    #expect(pair.messages(1).map(\.content) == [[1, 2], [5]])
  }
}
