import MatterCrypto
import MatterModel
import Testing

@testable import MatterProtocol

@Suite struct ExchangeTableTests {
  private static let session = SessionID(local: 1), other = SessionID(local: 2)
  private static let unsecured = SessionID(0x1_0001)

  private static func time(_ milliseconds: Int) -> Instant { .zero + .milliseconds(milliseconds) }

  private static func payload(
    _ opcode: UInt8 = 8, exchange: UInt16 = 1, isFromInitiator: Bool = true, needsAck: Bool = true,
    protocolID: ProtocolID = .interactionModel, acknowledged: UInt32? = nil
  ) -> PayloadHeader {
    PayloadHeader(
      isFromInitiator: isFromInitiator, needsAck: needsAck, opcode: opcode, exchange: exchange,
      protocolID: protocolID, acknowledged: acknowledged)
  }

  private static func standaloneAck(of counter: UInt32) -> PayloadHeader {
    payload(
      SecureChannelOpcode.standaloneAck, needsAck: false, protocolID: .secureChannel, acknowledged: counter)
  }

  /// Returns the id of an exchange that the peer opened.
  private static func inbound(_ number: UInt16 = 1, on session: SessionID = session) -> ExchangeID {
    ExchangeID(session: session, number: number, isInitiator: false)
  }

  private static func sent(_ counter: UInt32) -> Transmission {
    let peer = PeerState(address: CorePair.addresses[1], parameters: .init(), isActive: true)
    return Transmission(counter: counter, bytes: [1, 2, 3], peer: peer)
  }

  /// Returns an exchange with an unacknowledged message.
  private static func awaitingAck(of counter: UInt32, then next: AfterSending = .keepOpen) -> Exchange {
    var exchange = Exchange()
    var jitter = SeededRandomSource(seed: 1)
    exchange.recordSending(sent(counter), isReliable: true, then: next, at: .zero, jitter: &jitter)
    return exchange
  }

  private func table(maximumInbound: Int = 8, lastNumber: UInt16 = 0) -> ExchangeTable {
    ExchangeTable(maximumInbound: maximumInbound, lastNumber: lastNumber)
  }

  // MARK: Opening

  @Test func assignsUnusedNumbers() {
    var table = table(lastNumber: .max - 2)
    let taken = ExchangeID(session: Self.session, number: .max, isInitiator: true)
    _ = table.store(Exchange(), taken)
    _ = table.store(Exchange(), Self.inbound(0))
    let ids = (0..<3).map { _ in table.open(on: Self.session) }
    #expect(ids.map { $0?.number } == [.max - 1, 0, 1], "wraps, and skips the number in use by this node only")
    #expect(ids.allSatisfy { $0?.isInitiator == true && $0?.session == Self.session })
    let number = table.takeNumber()
    #expect(number == 2)
    #expect(table.open(on: Self.other)?.number == 3)
  }

  @Test func exhaustsNumbersOfSession() {
    var table = table()
    for _ in 0...UInt16.max { _ = table.open(on: Self.session) }
    #expect(table.count == 0x1_0000)
    var id = table.open(on: Self.session)
    #expect(id == nil)
    #expect(table.open(on: Self.other) != nil, "other sessions have their own numbers")
    let free = ExchangeID(session: Self.session, number: 500, isInitiator: true)
    table.remove(free)
    id = table.open(on: Self.session)
    #expect(id == free)
  }

  // MARK: Closing

  @Test func removesExchangesOfSession() {
    var table = table()
    let closing = Self.awaitingAck(of: 1, then: .close)
    for number in [3, 1] as [UInt16] { _ = table.store(Exchange(), Self.inbound(number)) }
    _ = table.store(closing, Self.inbound(2))
    _ = table.store(closing, Self.inbound(2, on: Self.other))
    #expect(table.ids(on: Self.session) == [1, 2, 3].map { Self.inbound($0) })
    #expect(table.sessions == [Self.session, Self.other])
    #expect(table.containsOpen(on: Self.session) && !table.containsOpen(on: Self.other))
    let removed = table.removeAll(on: Self.session)
    #expect(removed == [1, 3].map { Self.inbound($0) }, "closing exchanges don't fail")
    #expect(table.count == 1 && !table.contains(on: Self.session) && table.contains(on: Self.other))
  }

  @Test func closesExchange() {
    var table = table()
    var result = table.close(Self.inbound())
    #expect(result == nil)
    _ = table.receive(Self.payload(), counter: 10, on: Self.inbound(), isExpiring: false, at: .zero)
    result = table.close(Self.inbound())
    #expect(result?.owedAck == 10 && result?.isFinished == true && table.isEmpty)
    // An unacknowledged message keeps the exchange, but no response is expected.
    _ = table.store(Self.awaitingAck(of: 5, then: .expectResponse(within: .seconds(1))), Self.inbound())
    for _ in 0..<2 {
      result = table.close(Self.inbound())
      #expect(result?.owedAck == nil && result?.isFinished == false)
      #expect(table[Self.inbound()]?.isClosing == true && table[Self.inbound()]?.responseDeadline == nil)
    }
  }

  @Test func removesFinishedExchange() {
    var table = table()
    var exchange = Self.awaitingAck(of: 1, then: .close)
    var isFinished = table.store(exchange, Self.inbound())
    #expect(!isFinished && table[Self.inbound()] != nil)
    exchange.unacknowledged = nil
    isFinished = table.store(exchange, Self.inbound())
    #expect(isFinished && table.isEmpty)
  }

  // MARK: Receiving

  @Test func displacesPendingAcknowledgment() throws {
    var table = table()
    func receive(_ counter: UInt32, needsAck: Bool = true, at milliseconds: Int) -> ExchangeTable.Reception {
      table.receive(
        Self.payload(needsAck: needsAck), counter: counter, on: Self.inbound(), isExpiring: false,
        at: Self.time(milliseconds))
    }
    #expect(receive(10, at: 0) == .message(isFirst: true, displacedAck: nil))
    #expect(table[Self.inbound()]?.owedAck?.counter == 10 && table[Self.inbound()]?.deadline == Self.time(200))
    #expect(receive(11, at: 50) == .message(isFirst: false, displacedAck: 10))
    #expect(table[Self.inbound()]?.owedAck?.counter == 11 && table[Self.inbound()]?.deadline == Self.time(250))
    #expect(receive(12, needsAck: false, at: 60) == .message(isFirst: false, displacedAck: nil))
    #expect(table[Self.inbound()]?.owedAck?.counter == 11, "the acknowledgment is still pending")
  }

  @Test func stopsResponseTimeoutOnMessage() {
    var table = table()
    let id = ExchangeID(session: Self.session, number: 1, isInitiator: true)
    _ = table.store(Self.awaitingAck(of: 5, then: .expectResponse(within: .seconds(1))), id)
    let payload = Self.payload(isFromInitiator: false, needsAck: false, acknowledged: 5)
    let result = table.receive(payload, counter: 1, on: id, isExpiring: true, at: .zero)
    #expect(result == .message(isFirst: false, displacedAck: nil), "an expiring session keeps its exchanges")
    #expect(table[id] != nil && table[id]?.deadline == nil)
  }

  @Test func opensOnFirstMessagesOnly() {
    func isOpened(_ payload: PayloadHeader, on session: SessionID = Self.session, isExpiring: Bool = false) -> Bool {
      var table = table()
      let id = ExchangeID(session: session, number: payload.exchange, isInitiator: !payload.isFromInitiator)
      let result = table.receive(payload, counter: 1, on: id, isExpiring: isExpiring, at: .zero)
      #expect(table.isEmpty == (result == .unknownExchange(isFinished: false)))
      return result == .message(isFirst: true, displacedAck: nil)
    }
    #expect(isOpened(Self.payload()))
    #expect(!isOpened(Self.payload(isFromInitiator: false)), "a response")
    #expect(!isOpened(Self.payload(), isExpiring: true))
    #expect(isOpened(Self.payload(0x99, protocolID: .bulkData)))
    for opcode in 0...UInt8.max {
      let payload = Self.payload(opcode, protocolID: .secureChannel)
      #expect(isOpened(payload) == (opcode == SecureChannelOpcode.statusReport))
      let isFirst = [SecureChannelOpcode.pbkdfParamRequest, SecureChannelOpcode.sigma1].contains(opcode)
      #expect(isOpened(payload, on: Self.unsecured) == isFirst)
    }
    #expect(!isOpened(Self.payload(SecureChannelOpcode.sigma1), on: Self.unsecured), "another protocol")
  }

  @Test func recordsStandaloneAcknowledgment() {
    var table = table()
    func receive(_ payload: PayloadHeader) -> ExchangeTable.Reception {
      table.receive(payload, counter: 1, on: Self.inbound(), isExpiring: false, at: .zero)
    }
    #expect(receive(Self.standaloneAck(of: 5)) == .unknownExchange(isFinished: false))
    _ = table.store(Self.awaitingAck(of: 5), Self.inbound())
    #expect(receive(Self.standaloneAck(of: 4)) == .acknowledgment(isFinished: false))
    #expect(table[Self.inbound()]?.unacknowledged?.counter == 5, "another message was acknowledged")
    #expect(receive(Self.standaloneAck(of: 5)) == .acknowledgment(isFinished: false))
    #expect(table[Self.inbound()] != nil && table[Self.inbound()]?.unacknowledged == nil)
    _ = table.store(Self.awaitingAck(of: 6, then: .close), Self.inbound())
    #expect(receive(Self.standaloneAck(of: 6)) == .acknowledgment(isFinished: true))
    #expect(table.isEmpty)
  }

  @Test func rejectsMessageOnClosingExchange() {
    var table = table()
    func receive(acknowledging counter: UInt32?) -> ExchangeTable.Reception {
      table.receive(
        Self.payload(acknowledged: counter), counter: 1, on: Self.inbound(), isExpiring: false, at: .zero)
    }
    _ = table.store(Self.awaitingAck(of: 5, then: .close), Self.inbound())
    #expect(receive(acknowledging: nil) == .unknownExchange(isFinished: false))
    #expect(table[Self.inbound()]?.owedAck == nil && table[Self.inbound()]?.unacknowledged != nil)
    // The acknowledgment on a rejected message counts.
    #expect(receive(acknowledging: 5) == .unknownExchange(isFinished: true))
    #expect(table.isEmpty)
  }

  // MARK: Limits

  private func hasCapacity(
    _ table: ExchangeTable, exchange: UInt16 = 99, isFromInitiator: Bool = true, on session: SessionID = session,
    among secured: SessionTable = SessionTable(capacity: 4, lastNumber: 0)
  ) -> Bool {
    table.hasCapacity(
      for: Self.payload(exchange: exchange, isFromInitiator: isFromInitiator), on: session, among: secured)
  }

  @Test func limitsInboundExchanges() {
    var table = table(maximumInbound: 4)
    for number in 1...4 as ClosedRange<UInt16> {
      #expect(hasCapacity(table))
      _ = table.store(Exchange(), Self.inbound(number))
      // Exchanges of this node and unsecured ones don't count.
      _ = table.open(on: Self.session)
      _ = table.store(Exchange(), Self.inbound(number, on: Self.unsecured))
    }
    #expect(!hasCapacity(table) && !hasCapacity(table, on: Self.other))
    #expect(hasCapacity(table, exchange: 4), "the exchange exists")
    #expect(hasCapacity(table, isFromInitiator: false), "a response")
    table.remove(Self.inbound(2))
    #expect(hasCapacity(table))
  }

  @Test func limitsUnsecuredExchangesPerSession() {
    var table = table(maximumInbound: 0)
    for number in 1...UInt16(ExchangeTable.maximumUnsecuredExchanges) {
      #expect(hasCapacity(table, on: Self.unsecured))
      _ = table.store(Exchange(), Self.inbound(number, on: Self.unsecured))
    }
    #expect(!hasCapacity(table, on: Self.unsecured))
    #expect(hasCapacity(table, exchange: 1, on: Self.unsecured), "the exchange exists")
    #expect(hasCapacity(table, on: SessionID(0x1_0002)))
  }

  /// Beyond half of the limit, a fabric gets its share only.
  @Test func limitsExchangesPerFabric() throws {
    var secured = SessionTable(capacity: 4, lastNumber: 0)
    for (number, fabric) in [(1, 1), (2, 2), (3, 1)] as [(UInt16, FabricIndex)] {
      var keys = EstablishedKeys(keys: [UInt8](0..<48), peerSessionID: 1, parameters: .init())
      keys.fabric = fabric
      _ = try secured.add(
        keys, number: number, kind: .case, isInitiator: false, localNodeID: 1, peer: CorePair.addresses[0],
        counter: 1, at: .zero)
    }
    var table = table(maximumInbound: 8)
    for number in 1...4 as ClosedRange<UInt16> {
      #expect(hasCapacity(table, among: secured))
      _ = table.store(Exchange(), Self.inbound(number, on: SessionID(local: number % 2 == 0 ? 1 : 3)))
    }
    #expect(!hasCapacity(table, among: secured) && !hasCapacity(table, on: SessionID(local: 3), among: secured))
    #expect(hasCapacity(table, on: Self.other, among: secured), "fabric 2 has no exchange")
    // Without another fabric, the whole limit is available.
    _ = secured.remove(Self.other)
    #expect(hasCapacity(table, among: secured))
  }

  // MARK: Time

  @Test func returnsDueExchangesInOrder() {
    var table = table()
    for (number, milliseconds) in [(3, 100), (1, 100), (2, 200), (4, 300)] as [(UInt16, Int)] {
      var exchange = Exchange()
      exchange.responseDeadline = Self.time(milliseconds)
      _ = table.store(exchange, Self.inbound(number))
    }
    _ = table.store(Exchange(), Self.inbound(5))
    #expect(table.earliestDeadline == Self.time(100))
    #expect(table.due(at: Self.time(99)).isEmpty)
    #expect(table.due(at: Self.time(100)) == [1, 3].map { Self.inbound($0) })
    #expect(table.due(at: Self.time(299)) == [1, 2, 3].map { Self.inbound($0) })
    for number in [1, 3] as [UInt16] { table.remove(Self.inbound(number)) }
    #expect(table.earliestDeadline == Self.time(100), "a lower bound")
    table.updateEarliestDeadline()
    #expect(table.earliestDeadline == Self.time(200))
    for number in [2, 4] as [UInt16] { table.remove(Self.inbound(number)) }
    table.updateEarliestDeadline()
    #expect(table.earliestDeadline == nil && table.count == 1)
  }
}
