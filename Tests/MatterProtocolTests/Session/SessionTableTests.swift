import MatterCrypto
import MatterModel
import Testing

@testable import MatterProtocol

@Suite struct SessionTableTests {
  private static let address = CorePair.addresses[0]

  private static func time(_ seconds: Int) -> Instant { .zero + .seconds(seconds) }

  private static func keys(fabric: FabricIndex = 1, peer: NodeID = 2, peerSessionID: UInt16 = 9) -> EstablishedKeys {
    var keys = EstablishedKeys(
      keys: [UInt8](0..<48), peerSessionID: peerSessionID, parameters: SessionParameters(activeThreshold: .seconds(4)))
    (keys.fabric, keys.peerNodeID) = (fabric, peer)
    return keys
  }

  /// Adds a CASE session that is established and last used at `seconds`.
  @discardableResult
  private func add(
    _ number: UInt16, to table: inout SessionTable, fabric: FabricIndex = 1, peer: NodeID = 2,
    kind: SessionKind = .case, counter: UInt32 = 1, at seconds: Int = 0
  ) throws -> SessionID {
    try table.add(
      Self.keys(fabric: fabric, peer: peer), number: number, kind: kind, isInitiator: true, localNodeID: 1,
      peer: Self.address, counter: counter, at: Self.time(seconds))
  }

  /// Returns the two ends of a session: number 8 of node 1, which is the initiator, and number 9 of node 2.
  private func ends() throws -> [SessionTable] {
    var tables = [SessionTable(capacity: 4, lastNumber: 0), SessionTable(capacity: 4, lastNumber: 0)]
    _ = try tables[0].add(
      Self.keys(peer: 2, peerSessionID: 9), number: 8, kind: .case, isInitiator: true, localNodeID: 1,
      peer: CorePair.addresses[1], counter: 100, at: .zero)
    _ = try tables[1].add(
      Self.keys(peer: 1, peerSessionID: 8), number: 9, kind: .case, isInitiator: false, localNodeID: 2,
      peer: CorePair.addresses[0], counter: 200, at: .zero)
    return tables
  }

  private static let payload = PayloadHeader(
    isFromInitiator: true, needsAck: false, opcode: 8, exchange: 5, protocolID: .interactionModel)

  private func seal(_ content: [UInt8], in table: inout SessionTable, _ number: UInt16) throws -> Transmission {
    try table.seal(Self.payload, on: SessionID(local: number), at: Self.time(1), capacity: 8) {
      $0.append(raw: content)
    }
  }

  // MARK: Nodes

  @Test func findsSessionsOfNode() throws {
    var table = SessionTable(capacity: 8, lastNumber: 0)
    try add(1, to: &table, peer: 2, at: 3)
    try add(2, to: &table, peer: 2, at: 5)
    try add(3, to: &table, peer: 2, kind: .pase, at: 9)
    try add(4, to: &table, fabric: 2, peer: 2, at: 9)
    try add(5, to: &table, peer: 6, at: 9)
    #expect(table.sessions(with: 2).map(\.rawValue) == [1, 2, 4])
    #expect(table.newest(fabric: 1, peer: 2)?.rawValue == 2 && table.newest(fabric: 2, peer: 2)?.rawValue == 4)
    // The session at the end of the row moves.
    let removed = table.remove(SessionID(local: 1))
    #expect(removed != nil && table.sessions(with: 2).map(\.rawValue) == [2, 4])
    try add(2, to: &table, peer: 6)
    #expect(table.sessions(with: 2).map(\.rawValue) == [4] && table.sessions(with: 6).map(\.rawValue) == [2, 5])
    #expect(table.newest(fabric: 1, peer: 6)?.rawValue == 5 && table.newest(fabric: 1, peer: 2) == nil)
  }

  // MARK: Numbers

  @Test func reservesUnusedNumbers() throws {
    var table = SessionTable(capacity: 4, lastNumber: .max - 2)
    try add(.max, to: &table)
    try add(2, to: &table)
    // Number 0 denotes the unsecured session.
    let numbers = (0..<4).map { _ in table.reserveNumber(except: [1, 4]) }
    #expect(numbers == [.max - 1, 3, 5, 6])
  }

  @Test func exhaustsNumbers() throws {
    var table = SessionTable(capacity: 4, lastNumber: 500)
    try add(499, to: &table)
    var number = table.reserveNumber(except: Set((1...UInt16.max).filter { $0 != 498 && $0 != 499 }))
    #expect(number == 498, "the last free number is found")
    number = table.reserveNumber(except: 1...UInt16.max)
    #expect(number == nil)
    number = table.reserveNumber(except: [])
    #expect(number == 500, "the search ended where it began, and continues there")
  }

  // MARK: Finding

  @Test func findsNewestSessionOfPeer() throws {
    var table = SessionTable(capacity: 9, lastNumber: 0)
    #expect(table.newest(fabric: 1, peer: 2) == nil)
    let first = try add(1, to: &table, at: 5)
    let second = try add(2, to: &table, at: 6)
    try add(3, to: &table, peer: 3, at: 7)
    try add(4, to: &table, fabric: 2, at: 7)
    try add(5, to: &table, kind: .pase, at: 7)
    #expect(table.newest(fabric: 1, peer: 2) == second)
    // The time of the last received message counts.
    let position = try #require(table.position(of: first))
    let isNew = table.accept(1, at: position, from: Self.address, at: Self.time(6))
    #expect(isNew)
    #expect(table.newest(fabric: 1, peer: 2) == second, "equal times: the larger id")
    _ = table.accept(2, at: position, from: Self.address, at: Self.time(7))
    #expect(table.newest(fabric: 1, peer: 2) == first)
    table.expire(first)
    #expect(table.isExpiring(first) && !table.isExpiring(second))
    #expect(table.newest(fabric: 1, peer: 2) == second)
  }

  @Test func keepsPositionsAfterRemoval() throws {
    var table = SessionTable(capacity: 9, lastNumber: 0)
    for number in 1...5 as ClosedRange<UInt16> { try add(number, to: &table, peer: NodeID(UInt64(number))) }
    for removed in [1, 3, 5] as [UInt16] {
      let info = table.remove(SessionID(local: removed))
      #expect(info?.peerNodeID == NodeID(UInt64(removed)))
      #expect(table.position(of: SessionID(local: removed)) == nil)
      for info in table.infos { #expect(table.info(of: info.id)?.peerNodeID == NodeID(UInt64(info.id.rawValue))) }
    }
    #expect(table.infos.map(\.id.rawValue) == [2, 4])
    let unknown = table.remove(SessionID(local: 1))
    #expect(unknown == nil)
    // A session with the number of another one replaces it.
    try add(4, to: &table, peer: 77)
    #expect(table.count == 2 && table.info(of: SessionID(local: 4))?.peerNodeID == 77)
    // Ids of unsecured sessions never match.
    #expect(table.info(of: SessionID(0x1_0004)) == nil)
  }

  @Test func changesProperties() throws {
    var table = SessionTable(capacity: 9, lastNumber: 0)
    let first = try add(1, to: &table)
    let second = try add(2, to: &table)
    table.setFabric(7, of: second)
    table.redirect(second, to: CorePair.addresses[1])
    #expect(table.info(of: second)?.fabric == 7 && table.info(of: second)?.peerAddress == CorePair.addresses[1])
    #expect(table.info(of: first)?.fabric == 1 && table.info(of: first)?.peerAddress == Self.address)
    let unknown = SessionID(local: 3)
    table.setFabric(7, of: unknown)
    table.redirect(unknown, to: CorePair.addresses[1])
    table.expire(unknown)
    #expect(table.count == 2 && !table.isExpiring(unknown))
  }

  // MARK: Eviction

  @Test func evictsLeastRecentlyUsedSession() throws {
    var table = SessionTable(capacity: 4, lastNumber: 0)
    #expect(table.evictionCandidate(busy: []) == nil)
    // No fabric has the minimum share of three sessions.
    for (number, seconds) in [(1, 30), (2, 10), (3, 20), (4, 20)] {
      #expect(!table.isFull)
      try add(UInt16(number), to: &table, fabric: FabricIndex(UInt8(number)), at: seconds)
    }
    #expect(table.isFull)
    var busy: Set<SessionID> = []
    var evicted: [UInt32] = []
    while let candidate = table.evictionCandidate(busy: busy), evicted.count < 4 {
      evicted.append(candidate.rawValue)
      busy.insert(candidate)
    }
    #expect(evicted == [2, 3, 4, 1], "by time, then by id; sessions with exchanges last")
    #expect(table.evictionCandidate(busy: busy) == SessionID(local: 2), "even if all have exchanges")
  }

  /// Fabric 1 has six sessions, more than its share of four; fabric 2 has two older ones.
  @Test func evictsFromFabricsWithTheirShare() throws {
    var table = SessionTable(capacity: 8, lastNumber: 0)
    for number in 1...8 as ClosedRange<UInt16> {
      try add(number, to: &table, fabric: number <= 2 ? 2 : 1, at: Int(number))
    }
    #expect(table.evictionCandidate(busy: []) == SessionID(local: 3))
    #expect(table.evictionCandidate(busy: [SessionID(local: 3)]) == SessionID(local: 4))
    let busy = Set((3...8 as ClosedRange<UInt16>).map(SessionID.init(local:)))
    #expect(table.evictionCandidate(busy: busy) == SessionID(local: 3), "the share precedes open exchanges")
    #expect(table.evictionCandidate(busy: busy, hasFairShares: false) == SessionID(local: 1))
    // With exactly its share, a fabric is still first.
    for number in [3, 4] as [UInt16] { _ = table.remove(SessionID(local: number)) }
    #expect(table.evictionCandidate(busy: []) == SessionID(local: 5))
    _ = table.remove(SessionID(local: 5))
    #expect(table.evictionCandidate(busy: []) == SessionID(local: 1))
  }

  // MARK: Messages

  @Test func opensSealedMessages() throws {
    var tables = try ends()
    for counter in [100, 101] as [UInt32] {
      let sent = try seal([1, 2, 3], in: &tables[0], 8)
      #expect(sent.counter == counter && sent.peer.address == CorePair.addresses[1])
      var bytes = sent.bytes
      let (header, end) = try MessageHeader.decode(bytes)
      #expect(header == MessageHeader(sessionID: 9, counter: counter))
      let position = try tables[1].open(&bytes, header, from: end)
      #expect(tables[1].row[position].info.id == SessionID(local: 9))
      let (payload, offset) = try PayloadHeader.decode(bytes, at: end)
      #expect(payload == Self.payload && Array(bytes[offset...]) == [1, 2, 3])
    }
    #expect(tables[0].infos[0].lastUsed == Self.time(1) && tables[0].infos[0].lastHeard == .zero)
  }

  /// A session whose ends have the same number and node id, so that only the keys of the two directions differ.
  @Test func rejectsReflectedMessage() throws {
    var table = SessionTable(capacity: 4, lastNumber: 0)
    _ = try table.add(
      Self.keys(peer: 1, peerSessionID: 9), number: 9, kind: .case, isInitiator: true, localNodeID: 1,
      peer: Self.address, counter: 1, at: .zero)
    var bytes = try seal([1], in: &table, 9).bytes
    let (header, end) = try MessageHeader.decode(bytes)
    #expect(throws: DropReason.decryptionFailed) { _ = try table.open(&bytes, header, from: end) }
  }

  @Test func rejectsAlteredMessages() throws {
    var tables = try ends()
    let sent = try seal([1, 2, 3], in: &tables[0], 8).bytes
    let (header, end) = try MessageHeader.decode(sent)
    for count in end..<sent.count {
      var bytes = Array(sent.prefix(count))
      #expect(throws: DropReason.decryptionFailed) { _ = try tables[1].open(&bytes, header, from: end) }
    }
    for index in sent.indices {
      var bytes = sent
      bytes[index] ^= 1
      guard let (header, end) = try? MessageHeader.decode(bytes) else { continue }
      // Bytes 1 and 2 are the session id.
      let reason: DropReason = [1, 2].contains(index) ? .unknownSession : .decryptionFailed
      #expect(throws: reason, "byte \(index)") { _ = try tables[1].open(&bytes, header, from: end) }
    }
    #expect(tables[1].infos[0].lastUsed == .zero)
  }

  @Test func detectsDuplicates() throws {
    var table = SessionTable(capacity: 4, lastNumber: 0)
    let id = try add(1, to: &table)
    let position = try #require(table.position(of: id))
    let moved = CorePair.addresses[1]
    func accept(_ counter: UInt32, from address: SocketAddress, at seconds: Int) -> Bool {
      table.accept(counter, at: position, from: address, at: Self.time(seconds))
    }
    var isNew = [accept(50, from: moved, at: 1)]
    #expect(table.info(of: id)?.peerAddress == moved && table.info(of: id)?.lastHeard == Self.time(1))
    // A replay changes nothing.
    isNew.append(accept(50, from: Self.address, at: 2))
    #expect(table.info(of: id)?.peerAddress == moved && table.info(of: id)?.lastHeard == Self.time(1))
    // A late message is new, but does not change the address.
    isNew.append(accept(49, from: Self.address, at: 3))
    #expect(table.info(of: id)?.peerAddress == moved && table.info(of: id)?.lastHeard == Self.time(3))
    #expect(table.info(of: id)?.lastUsed == Self.time(3))
    isNew.append(accept(49, from: Self.address, at: 4))
    // Counters behind the window are rejected, unlike in unsecured sessions.
    isNew.append(accept(50 - ReceptionWindow.size - 1, from: Self.address, at: 4))
    #expect(isNew == [true, false, true, false, false])
    #expect(table.info(of: id)?.lastHeard == Self.time(3))
  }

  @Test func reportsLastSender() throws {
    var table = SessionTable(capacity: 4, lastNumber: 0)
    try add(1, to: &table, peer: 2)
    try add(2, to: &table, peer: 3)
    try add(3, to: &table, peer: 4, kind: .pase)
    var sender = table.takeLastSender()
    #expect(sender == nil, "an established session has not received a message")
    func accept(_ counter: UInt32, _ number: UInt16) throws {
      let position = try #require(table.position(of: SessionID(local: number)))
      _ = table.accept(counter, at: position, from: Self.address, at: .zero)
    }
    try accept(1, 1)
    try accept(1, 2)
    try accept(1, 3)
    sender = table.takeLastSender()
    #expect(sender == 3, "PASE has no node ids")
    sender = table.takeLastSender()
    #expect(sender == nil)
    try accept(1, 1)
    sender = table.takeLastSender()
    #expect(sender == nil, "a duplicate")
  }

  @Test func neverWrapsCounters() throws {
    var table = SessionTable(capacity: 4, lastNumber: 0)
    try add(1, to: &table, counter: .max - 1)
    #expect(try seal([], in: &table, 1).counter == .max - 1)
    for _ in 0..<2 {
      #expect(throws: TransmissionError.countersExhausted) { try seal([], in: &table, 1) }
    }
    #expect(throws: TransmissionError.unknownSession) { try seal([], in: &table, 2) }
  }

  @Test func usesActiveIntervalWithinThreshold() throws {
    var table = SessionTable(capacity: 4, lastNumber: 0)
    let id = try add(1, to: &table)
    let position = try #require(table.position(of: id))
    _ = table.accept(1, at: position, from: Self.address, at: Self.time(10))
    let active = try #require(table.peer(of: id, at: Self.time(14) + .nanoseconds(-1)))
    #expect(active.isActive && active.interval == .milliseconds(300))
    let idle = try #require(table.peer(of: id, at: Self.time(14)))
    #expect(!idle.isActive && idle.interval == .milliseconds(500))
    #expect(table.peer(of: SessionID(local: 2), at: .zero) == nil)
  }
}
