internal import MatterCrypto
internal import MatterModel
internal import MatterTLV

/// The secured sessions of a node.
///
/// The sessions are stored in an array, so that a session can be changed in place for each message; changing one in a
/// dictionary would copy the session or allocate.
struct SessionTable: Sendable {
  /// The position of a session in the row.
  private struct Place: Comparable {
    let id: SessionID
    var position = 0
    static func < (left: Self, right: Self) -> Bool { left.id < right.id }
  }

  /// Sorted, because a binary search is faster than the hash of an id.
  private var places: [Place] = []
  /// The CASE sessions with each node.
  private var peers = SortedGroups<NodeID, SessionID>()
  /// The sessions in no particular order. Adding or removing a session invalidates positions.
  var row: [SecureSession] = []
  private let capacity: Int
  /// The most recently reserved number.
  private var lastNumber: UInt16
  private var lastSender: NodeID?

  /// - Parameter lastNumber: The number before the first one to reserve.
  init(capacity: Int, lastNumber: UInt16) {
    self.capacity = capacity
    self.lastNumber = lastNumber
  }

  // MARK: Finding

  var count: Int { row.count }
  var isFull: Bool { row.count >= capacity }

  func position(of id: SessionID) -> Int? {
    let index = places.insertionIndex(of: Place(id: id))
    return index < places.count && places[index].id == id ? places[index].position : nil
  }

  /// Returns the properties of a session, or nil if there is none with this id.
  func info(of id: SessionID) -> SessionInfo? { position(of: id).map { row[$0].info } }

  /// The properties of all sessions, sorted by id.
  var infos: [SessionInfo] { row.map(\.info).sorted { $0.id < $1.id } }

  func fabric(of id: SessionID) -> FabricIndex? { position(of: id).map { row[$0].info.fabric } }

  func peerNodeID(of id: SessionID) -> NodeID? { position(of: id).map { row[$0].info.peerNodeID } }

  func peerAddress(of id: SessionID) -> SocketAddress? { position(of: id).map { row[$0].info.peerAddress } }

  func isExpiring(_ id: SessionID) -> Bool { position(of: id).map { row[$0].info.isExpiring } ?? false }

  func peer(of id: SessionID, at now: Instant) -> PeerState? { position(of: id).map { row[$0].peer(at: now) } }

  /// Returns the CASE sessions with a node on any fabric, sorted by id.
  func sessions(with peer: NodeID) -> [SessionID] { peers[peer] }

  /// Returns the CASE session with a node that received a message most recently.
  func newest(fabric: FabricIndex, peer: NodeID) -> SessionID? {
    peers[peer].lazy.compactMap { position(of: $0).map { row[$0].info } }
      .filter { $0.fabric == fabric && !$0.isExpiring }
      .max { ($0.lastHeard, $0.id) < ($1.lastHeard, $1.id) }?.id
  }

  /// Returns the sender of the latest authenticated CASE message since the previous call, or nil if there was none.
  mutating func takeLastSender() -> NodeID? { lastSender.take() }

  // MARK: Changing

  /// Returns a session number that is used neither by a session nor by a handshake, or nil if all are in use.
  /// - Parameter offered: The numbers that handshakes in progress offer to their peers.
  mutating func reserveNumber(except offered: some Sequence<UInt16>) -> UInt16? {
    for _ in 0..<UInt16.max {
      lastNumber = lastNumber == .max ? 1 : lastNumber + 1
      if position(of: SessionID(local: lastNumber)) == nil && !offered.contains(lastNumber) { return lastNumber }
    }
    return nil
  }

  /// Adds the session of a finished handshake, replacing one with the same number.
  /// - Parameter counter: The counter of the first message to send.
  mutating func add(
    _ keys: EstablishedKeys, number: UInt16, kind: SessionKind, isInitiator: Bool, localNodeID: NodeID,
    peer: SocketAddress, counter: UInt32, at now: Instant
  ) throws(CryptoError) -> SessionID {
    let id = SessionID(local: number)
    let info = SessionInfo(
      id: id, kind: kind, isInitiator: isInitiator, fabric: keys.fabric, localNodeID: localNodeID,
      peerNodeID: keys.peerNodeID, tags: keys.tags, attestationChallenge: keys.attestationChallenge,
      peerAddress: peer, parameters: keys.parameters, establishedAt: now, lastHeard: now, lastUsed: now)
    let session = try SecureSession(info: info, keys: keys, counter: counter)
    _ = remove(id)
    let place = Place(id: id, position: row.count)
    places.insert(place, at: places.insertionIndex(of: place))
    row.append(session)
    if kind == .case { peers.move(id, from: nil, to: info.peerNodeID) }
    return id
  }

  /// Removes a session and returns its last properties; the last session of the row moves to its position.
  mutating func remove(_ id: SessionID) -> SessionInfo? {
    guard let position = position(of: id) else { return nil }
    places.remove(at: places.insertionIndex(of: Place(id: id)))
    let info = row[position].info
    peers.move(id, from: info.peerNodeID, to: nil)
    row.swapAt(position, row.count - 1)
    row.removeLast()
    if position < row.count {
      places[places.insertionIndex(of: Place(id: row[position].info.id))].position = position
    }
    return info
  }

  /// Returns the session to evict for a new one: the least recently used one, preferring one without exchanges.
  ///
  /// Fabrics with at least their share of sessions come first, so that a fabric can't displace others by opening
  /// sessions.
  /// - Parameters:
  ///   - busy: The sessions with exchanges.
  ///   - hasFairShares: Whether to respect the shares of the fabrics.
  func evictionCandidate(busy: Set<SessionID>, hasFairShares: Bool = true) -> SessionID? {
    let counts: [FabricIndex: Int] = row.reduce(into: [:]) { $0[$1.info.fabric, default: 0] += 1 }
    let share = max(3, capacity / max(1, counts.count))
    let order = { (info: SessionInfo) in
      (
        (counts[info.fabric] ?? 0) >= share || !hasFairShares ? 0 : 1, busy.contains(info.id) ? 1 : 0, info.lastUsed,
        info.id
      )
    }
    return row.min { order($0.info) < order($1.info) }?.info.id
  }

  /// Marks a session to be closed with its last exchange.
  mutating func expire(_ id: SessionID) { if let position = position(of: id) { row[position].info.isExpiring = true } }

  mutating func setFabric(_ fabric: FabricIndex, of id: SessionID) {
    if let position = position(of: id) { row[position].info.fabric = fabric }
  }

  mutating func redirect(_ id: SessionID, to address: SocketAddress) {
    if let position = position(of: id) { row[position].info.peerAddress = address }
  }

  // MARK: Messages

  /// Encodes and encrypts a message with the payload written by `body`.
  /// - Parameter capacity: The expected size of the payload in bytes.
  mutating func seal(
    _ payload: PayloadHeader, on id: SessionID, at now: Instant, capacity: Int, _ body: (inout TLVWriter) -> Void
  ) throws(TransmissionError) -> Transmission {
    guard let position = position(of: id) else { throw .unknownSession }
    return try row[position].seal(payload, at: now, capacity: capacity, body)
  }

  /// Decrypts a datagram in place.
  /// - Parameter end: The offset of the end of its header.
  /// - Returns: The position of its session.
  func open(_ bytes: inout [UInt8], _ header: MessageHeader, from end: Int) throws(DropReason) -> Int {
    guard let position = position(of: SessionID(local: header.sessionID)) else { throw .unknownSession }
    let nonce = Nonce(
      securityFlags: header.securityFlags, messageCounter: header.counter,
      sourceNodeID: row[position].info.peerNodeID.rawValue)
    guard bytes.count >= end + AESCCM.tagByteCount,
      (try? row[position].decryption.open(&bytes, from: end, nonce: nonce, aad: 0..<end)) != nil
    else { throw .decryptionFailed }
    return position
  }

  /// Records an authenticated message.
  /// - Parameter position: The result of ``open(_:_:from:)``.
  /// - Returns: false if the message is a duplicate.
  mutating func accept(_ counter: UInt32, at position: Int, from address: SocketAddress, at now: Instant) -> Bool {
    guard row[position].accept(counter, from: address, at: now) else { return false }
    if row[position].info.kind == .case { lastSender = row[position].info.peerNodeID }
    return true
  }
}
