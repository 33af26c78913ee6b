import MatterCrypto
import Testing

@testable import MatterProtocol

@Suite struct ExchangeTests {
  private static let peer = PeerState(address: CorePair.addresses[1], parameters: .init(), isActive: true)
  private static let message = Transmission(counter: 5, bytes: [1, 2, 3], peer: peer)
  private static let start = Instant.zero + .seconds(1)

  private var jitter = SeededRandomSource(seed: 1)
  private var exchange = Exchange()

  private mutating func send(isReliable: Bool = true, then next: AfterSending = .keepOpen) {
    exchange.recordSending(Self.message, isReliable: isReliable, then: next, at: Self.start, jitter: &jitter)
  }

  private mutating func advance(to now: Instant, peer: PeerState? = peer) -> Exchange.Due {
    exchange.advance(to: now, peer: peer, jitter: &jitter)
  }

  @Test mutating func acknowledgesWhenDue() {
    let deadline = Self.start
    exchange.owedAck = (7, deadline)
    #expect(exchange.deadline == deadline)
    var due = advance(to: deadline + .nanoseconds(-1))
    #expect(due.acknowledgment == nil && exchange.owedAck != nil)
    due = advance(to: deadline)
    #expect(due.acknowledgment == 7 && due.retransmission == nil && due.failure == nil)
    due = advance(to: deadline)
    #expect(due.acknowledgment == nil && exchange.deadline == nil)
  }

  @Test mutating func retransmitsWithBackoff() throws {
    var random = jitter
    func backoff(_ attempt: Int) -> Duration {
      Retransmission.backoff(Self.peer.interval, attempt: attempt, jitter: Retransmission.jitter(&random))
    }
    exchange.owedAck = (7, Self.start)
    send()
    #expect(exchange.owedAck == nil, "the message carries the acknowledgment")
    var expected = Self.start + backoff(0)
    for attempt in 1..<Retransmission.maximumTransmissions {
      #expect(exchange.deadline == expected)
      var due = advance(to: expected + .nanoseconds(-1))
      #expect(due.retransmission == nil && due.failure == nil)
      due = advance(to: expected)
      #expect(due.retransmission?.counter == 5 && due.retransmission?.bytes == [1, 2, 3] && due.failure == nil)
      expected += backoff(attempt)
    }
    let due = advance(to: try #require(exchange.deadline))
    #expect(due.retransmission == nil && due.failure == .noAcknowledgment)
    #expect(jitter.next() == random.next(), "a failure draws no jitter")
  }

  @Test mutating func limitsTransmissions() throws {
    send()
    let due = exchange.advance(
      to: try #require(exchange.deadline), peer: Self.peer, maximumTransmissions: 1, jitter: &jitter)
    #expect(due.retransmission == nil && due.failure == .noAcknowledgment)
  }

  @Test mutating func failsWithoutPeer() throws {
    send()
    let due = advance(to: try #require(exchange.deadline), peer: nil)
    #expect(due.retransmission == nil && due.failure == .noAcknowledgment)
  }

  @Test mutating func failsWithoutResponse() throws {
    send(then: .expectResponse(within: .seconds(2)))
    let deadline = try #require(exchange.responseDeadline)
    #expect(deadline == Self.start + .seconds(2) + Retransmission.longest(.init(), isActive: true))
    // A message whose retransmission is due is sent again nevertheless.
    var due = advance(to: deadline)
    #expect(due.retransmission?.counter == 5 && due.failure == .noResponse)
    exchange.unacknowledged = nil
    due = advance(to: deadline + .nanoseconds(-1))
    #expect(due.failure == nil && exchange.deadline == deadline)
    due = advance(to: deadline)
    #expect(due.failure == .noResponse)
  }

  @Test mutating func sendsUnreliableMessageOnce() {
    exchange.responseDeadline = Self.start
    send(isReliable: false)
    #expect(exchange.deadline == nil && !exchange.isFinished, "without a response timeout")
    send(isReliable: false, then: .close)
    #expect(exchange.isFinished)
    #expect(jitter.next() == SeededRandomSource(seed: 1).first, "no jitter was drawn")
  }
}
