internal import MatterModel
internal import MatterTLV

/// The context of unencrypted messages, which are handshake messages only. Matter Core § 4.13.2.1.
struct UnsecuredSession: Sendable {
  let id: SessionID
  /// The random node id that the initiator chose.
  let ephemeralID: NodeID
  /// Whether this node is the initiator.
  let isInitiator: Bool
  let peerAddress: SocketAddress
  var parameters: SessionParameters
  var window = ReceptionWindow(mode: .unsecured)
  /// Whether a handshake is in progress.
  var hasHandshake = false
  var lastHeard: Instant?
  var lastUsed: Instant

  func peer(at now: Instant) -> PeerState {
    PeerState(
      address: peerAddress, parameters: parameters,
      isActive: lastHeard.map { now - $0 < parameters.activeThreshold } ?? false)
  }
}

/// The unsecured sessions of a node, and the message counter that they share. Matter Core § 4.6.1.1.
struct UnsecuredSessionTable: Sendable {
  private var contexts: [SessionID: UnsecuredSession] = [:]
  /// The contexts of inbound handshakes, by the ephemeral node id of the initiator.
  private var inbound: [NodeID: SessionID] = [:]
  private let capacity: Int
  private var lastNumber: UInt32 = 0
  /// The counter of the next message.
  private var counter: UInt32

  init(capacity: Int, counter: UInt32) {
    self.capacity = capacity
    self.counter = counter
  }

  // MARK: Finding

  var count: Int { contexts.count }

  subscript(id: SessionID) -> UnsecuredSession? { contexts[id] }

  /// Returns the context of a received message, or nil if there is none.
  func context(of header: MessageHeader) -> SessionID? {
    if let source = header.source { return inbound[source] }
    guard case .node(let destination) = header.destination else { return nil }
    return contexts.values.first { $0.isInitiator && $0.ephemeralID == destination }?.id
  }

  func peer(of id: SessionID, at now: Instant) -> PeerState? { contexts[id]?.peer(at: now) }

  // MARK: Changing

  /// Adds a context, evicting another one if the table is full.
  mutating func add(
    ephemeralID: NodeID, isInitiator: Bool, peer: SocketAddress, parameters: SessionParameters, at now: Instant
  ) -> (id: SessionID, evicted: SessionID?) {
    let evicted = contexts.count >= capacity ? evictionCandidate() : nil
    if let evicted { remove(evicted) }
    lastNumber = (lastNumber + 1) & 0x7FFF_FFFF
    let id = SessionID(0x1_0000 + lastNumber)
    contexts[id] = UnsecuredSession(
      id: id, ephemeralID: ephemeralID, isInitiator: isInitiator, peerAddress: peer, parameters: parameters,
      lastUsed: now)
    if !isInitiator { inbound[ephemeralID] = id }
    return (id, evicted)
  }

  mutating func remove(_ id: SessionID) {
    guard let context = contexts.removeValue(forKey: id) else { return }
    if !context.isInitiator { inbound[context.ephemeralID] = nil }
  }

  /// How long a context is kept after its last message, so that late retransmissions are recognized.
  private static let idleTime = Duration.seconds(30)

  /// Removes the contexts whose handshakes ended a while ago.
  /// - Parameter exchanges: The exchanges of the node; a context with an exchange is kept.
  mutating func removeIdle(at now: Instant, except exchanges: ExchangeTable) {
    guard !contexts.isEmpty else { return }
    for context in contexts.values
    where !context.hasHandshake && now - context.lastUsed >= Self.idleTime && !exchanges.contains(on: context.id) {
      remove(context.id)
    }
    // Empty dictionaries would keep their capacity.
    if contexts.isEmpty { (contexts, inbound) = ([:], [:]) }
  }

  /// Returns the least recently used context, preferring one without a handshake. This runs for each message of a
  /// flood, so it is a plain loop.
  private func evictionCandidate() -> SessionID? {
    var oldest: UnsecuredSession?
    for context in contexts.values {
      guard let other = oldest else {
        oldest = context
        continue
      }
      let isOlder = (context.lastUsed, context.id) < (other.lastUsed, other.id)
      if context.hasHandshake == other.hasHandshake ? isOlder : other.hasHandshake { oldest = context }
    }
    return oldest?.id
  }

  /// Records whether a context has a handshake in progress.
  mutating func setHandshake(_ isInProgress: Bool, on id: SessionID) { contexts[id]?.hasHandshake = isInProgress }

  /// Sets the parameters that the peer declared.
  mutating func setParameters(_ parameters: SessionParameters, of id: SessionID) {
    contexts[id]?.parameters = parameters
  }

  // MARK: Messages

  /// Encodes a message with the payload written by `body`.
  /// - Parameter capacity: The expected size of the payload in bytes.
  mutating func encode(
    _ payload: PayloadHeader, on id: SessionID, at now: Instant, capacity: Int, _ body: (inout TLVWriter) -> Void
  ) throws(TransmissionError) -> Transmission {
    guard var context = contexts[id] else { throw .unknownSession }
    let header = MessageHeader(
      sessionID: 0, counter: counter, source: context.isInitiator ? context.ephemeralID : nil,
      destination: context.isInitiator ? .none : .node(context.ephemeralID))
    counter &+= 1
    let bytes = header.datagram(payload, capacity: capacity, body).bytes
    context.lastUsed = now
    contexts[id] = context
    return Transmission(counter: header.counter, bytes: bytes, peer: context.peer(at: now))
  }

  /// Records a received message.
  /// - Returns: false if the message is a duplicate, or the context does not exist.
  mutating func accept(_ counter: UInt32, on id: SessionID, at now: Instant) -> Bool {
    guard var context = contexts[id], context.window.accept(counter) else { return false }
    context.lastHeard = now
    context.lastUsed = now
    contexts[id] = context
    return true
  }
}
