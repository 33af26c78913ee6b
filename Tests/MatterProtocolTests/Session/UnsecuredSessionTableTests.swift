import MatterModel
import Testing

@testable import MatterProtocol

@Suite struct UnsecuredSessionTableTests {
  private static let address = CorePair.addresses[0]

  private static func time(_ seconds: Int) -> Instant { .zero + .seconds(seconds) }

  /// Adds a context that is last used at `seconds`.
  @discardableResult
  private func add(
    _ ephemeralID: NodeID, to table: inout UnsecuredSessionTable, isInitiator: Bool = false, at seconds: Int = 0
  ) -> (id: SessionID, evicted: SessionID?) {
    table.add(
      ephemeralID: ephemeralID, isInitiator: isInitiator, peer: Self.address, parameters: .init(),
      at: Self.time(seconds))
  }

  private func encode(
    in table: inout UnsecuredSessionTable, _ id: SessionID, at seconds: Int = 0
  ) throws -> (header: MessageHeader, content: [UInt8]) {
    let payload = PayloadHeader(
      isFromInitiator: true, needsAck: true, opcode: SecureChannelOpcode.sigma1, exchange: 1,
      protocolID: .secureChannel)
    let sent = try table.encode(payload, on: id, at: Self.time(seconds), capacity: 8) { $0.append(raw: [1, 2, 3]) }
    let headers = try clearHeaders(sent.bytes)
    #expect(headers.payload == payload && headers.message.counter == sent.counter)
    #expect(sent.peer.address == Self.address)
    return (headers.message, headers.content)
  }

  @Test func findsContextByEphemeralID() {
    var table = UnsecuredSessionTable(capacity: 4, counter: 1)
    let inbound = add(10, to: &table).id
    let outbound = add(20, to: &table, isInitiator: true).id
    #expect(inbound != outbound && inbound.isUnsecured && outbound.isUnsecured)
    func header(source: NodeID? = nil, to destination: MessageHeader.Destination = .none) -> MessageHeader {
      MessageHeader(sessionID: 0, counter: 1, source: source, destination: destination)
    }
    #expect(table.context(of: header(source: 10)) == inbound)
    #expect(table.context(of: header(to: .node(20))) == outbound)
    // An initiator is addressed by its id, and a responder by the id of the source.
    #expect(table.context(of: header(source: 20)) == nil)
    #expect(table.context(of: header(to: .node(10))) == nil)
    #expect(table.context(of: header(source: 30, to: .node(20))) == nil, "a source takes precedence")
    #expect(table.context(of: header()) == nil)
    table.remove(inbound)
    table.remove(outbound)
    #expect(table.context(of: header(source: 10)) == nil && table.context(of: header(to: .node(20))) == nil)
    #expect(table.count == 0)
  }

  @Test func removesIdleContexts() {
    var table = UnsecuredSessionTable(capacity: 4, counter: 1)
    let ids = (1...3).map { add(NodeID($0), to: &table).id }
    table.setHandshake(true, on: ids[0])
    var exchanges = ExchangeTable(maximumInbound: 4, lastNumber: 0)
    let exchange = exchanges.open(on: ids[1])
    #expect(exchange != nil)
    table.removeIdle(at: Self.time(29), except: exchanges)
    #expect(table.count == 3)
    table.removeIdle(at: Self.time(30), except: exchanges)
    #expect(table.count == 2 && table[ids[2]] == nil)
    if let exchange { exchanges.remove(exchange) }
    table.setHandshake(false, on: ids[0])
    table.removeIdle(at: Self.time(30), except: exchanges)
    #expect(table.count == 0)
  }

  @Test func evictsLeastRecentlyUsedContext() throws {
    var table = UnsecuredSessionTable(capacity: 3, counter: 1)
    let ids = [3, 1, 2].map { seconds in add(NodeID(UInt64(seconds)), to: &table, at: seconds).id }
    #expect(Set(ids).count == 3)
    // Sending and receiving use a context.
    _ = try encode(in: &table, ids[1], at: 4)
    let isNew = table.accept(1, on: ids[2], at: Self.time(5))
    #expect(isNew)
    var evicted = (6..<9).map { seconds in add(NodeID(UInt64(seconds)), to: &table, at: seconds).evicted }
    #expect(evicted == [ids[0], ids[1], ids[2]])
    #expect(table.count == 3)
    #expect(ids.allSatisfy { table[$0] == nil })
    #expect(table.context(of: MessageHeader(sessionID: 0, counter: 1, source: 3)) == nil)
    // With equal times, the oldest context is evicted.
    evicted = (10..<13).map { source in add(NodeID(source), to: &table, at: 9).evicted }
    let remaining = (10..<13).map { table.context(of: MessageHeader(sessionID: 0, counter: 1, source: NodeID($0))) }
    evicted = (20..<23).map { source in add(NodeID(source), to: &table, at: 9).evicted }
    #expect(evicted == remaining && !remaining.contains(nil))
  }

  @Test func evictsContextsWithHandshakeLast() {
    var table = UnsecuredSessionTable(capacity: 3, counter: 1)
    let ids = (1...3).map { seconds in add(NodeID(UInt64(seconds)), to: &table, at: seconds).id }
    table.setHandshake(true, on: ids[0])
    table.setHandshake(true, on: ids[1])
    let next = add(4, to: &table, at: 4)
    #expect(next.evicted == ids[2])
    table.setHandshake(true, on: next.id)
    #expect(add(5, to: &table, at: 5).evicted == ids[0], "if all have one, the least recently used is evicted")
    table.setHandshake(false, on: next.id)
    let last = add(6, to: &table, at: 6)
    #expect(last.evicted == next.id, "an ended handshake does not protect its context")
  }

  @Test func encodesMessagesOfBothSides() throws {
    var table = UnsecuredSessionTable(capacity: 4, counter: .max)
    let inbound = add(10, to: &table).id
    let outbound = add(20, to: &table, isInitiator: true).id
    let response = try encode(in: &table, inbound)
    #expect(response.header == MessageHeader(sessionID: 0, counter: .max, destination: .node(10)))
    // All contexts share one counter, which wraps.
    let request = try encode(in: &table, outbound)
    #expect(request.header == MessageHeader(sessionID: 0, counter: 0, source: 20))
    #expect(request.content == [1, 2, 3])
    table.remove(outbound)
    let payload = PayloadHeader(
      isFromInitiator: true, needsAck: false, opcode: 1, exchange: 1, protocolID: .secureChannel)
    #expect(throws: TransmissionError.unknownSession) {
      try table.encode(payload, on: outbound, at: .zero, capacity: 0) { _ in }
    }
    #expect(try encode(in: &table, inbound).header.counter == 1, "a message without a context uses no counter")
  }

  @Test func detectsDuplicates() {
    var table = UnsecuredSessionTable(capacity: 4, counter: 1)
    let id = add(10, to: &table).id
    #expect(table[id]?.lastHeard == nil && table.peer(of: id, at: .zero)?.isActive == false)
    let isNew = [50, 50, 49, 49].enumerated().map { index, counter in
      table.accept(counter, on: id, at: Self.time(index + 1))
    }
    #expect(isNew == [true, false, true, false])
    #expect(table[id]?.lastHeard == Self.time(3) && table[id]?.lastUsed == Self.time(3))
    #expect(table.peer(of: id, at: Self.time(6))?.isActive == true)
    #expect(table.peer(of: id, at: Self.time(7))?.isActive == false)
    // A peer that restarts begins with another counter.
    let isNewAfterRestart = table.accept(1, on: id, at: Self.time(8))
    #expect(isNewAfterRestart)
    let isNewWithoutContext = table.accept(1, on: SessionID(0x1_FFFF), at: Self.time(8))
    #expect(!isNewWithoutContext)
  }

  @Test func usesParametersOfPeer() {
    var table = UnsecuredSessionTable(capacity: 4, counter: 1)
    let id = add(10, to: &table).id
    table.setParameters(SessionParameters(idleInterval: .seconds(9)), of: id)
    #expect(table.peer(of: id, at: .zero)?.interval == .seconds(9))
  }
}
