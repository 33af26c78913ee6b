internal import MatterModel
internal import MatterProtocol

/// A node of the fabric, or a device being commissioned.
struct Peer: Sendable {
  struct CachedValue: Sendable {
    var value: [UInt8]
    var dataVersion: UInt32
  }

  private(set) var record: PeerRecord
  /// Whether it is in the store: false while it is being commissioned.
  var isStored = true
  var session: SessionID?
  /// An unverified address that was set from outside.
  var suggestedAddress: SocketAddress?
  /// The resumption record of the last handshake, kept here until the node is stored.
  var resumption: ResumptionRecord?
  /// Operations that need a session, in order.
  var waiting: [OperationID] = []
  var connecting: Connecting?
  /// Operations that wait until the node is active, in order.
  var held: [OperationID] = []
  /// When the node must be active at the latest, while operations wait for it.
  var expectedBy: Instant?
  /// Until when the node receives requests, if that does not follow from its session.
  var reachableUntil: Instant?
  /// Whether the node is asleep most likely, although the time of its last message is unknown.
  var isPresumedAsleep = false
  /// Whether the latest Check-In message, if it arrives again, is a reason to try to reach the node.
  var mayProbe = true
  /// Whether the node reported that it operates with a short idle time.
  var isShortIdle = false
  private(set) var cache: [ConcreteAttributePath: CachedValue] = [:]

  /// Limits the memory that a peer can use.
  static let maximumCachedValues = 16_384

  init(_ record: PeerRecord) { self.record = record }

  /// Whether a search for a session is in progress that no operation waits for.
  var hasIdleSearch: Bool { connecting != nil && waiting.isEmpty }

  /// Whether an operation waits for a session, or until the node is active.
  func isWaiting(_ operation: OperationID) -> Bool { waiting.contains(operation) || held.contains(operation) }

  mutating func removeWaiting(_ operation: OperationID) {
    waiting.removeAll { $0 == operation }
    held.removeAll { $0 == operation }
  }

  /// Returns the operations that need a session, and removes them.
  mutating func takeWaiting() -> [OperationID] {
    defer { waiting = [] }
    return waiting
  }

  /// Records the address, and the timing of a new session.
  /// - Returns: the changes of the store.
  mutating func setAddress(_ address: SocketAddress, _ parameters: SessionParameters? = nil) -> [StoreChange] {
    let old = record.tlv
    record.address = address
    if let parameters {
      // Stores only the timing: the node sends the other parameters with each new session.
      record.parameters = SessionParameters(
        idleInterval: parameters.idleInterval, activeInterval: parameters.activeInterval,
        activeThreshold: parameters.activeThreshold)
    }
    let new = record.tlv
    return isStored && new != old ? [StoreChange(PeerRecord.key(record.nodeID), new)] : []
  }

  /// Sets the time for which a node with a long idle time stays active.
  mutating func setActiveThreshold(_ threshold: Duration) { record.longIdle?.activeThreshold = threshold }

  /// Adds a commissioned device to the nodes of the fabric.
  /// - Returns: the changes of the store.
  mutating func confirm() -> [StoreChange] {
    isStored = true
    let change = StoreChange(PeerRecord.key(record.nodeID), record.tlv, isDurable: true)
    return [change] + (resumption.map { [StoreChange(PeerRecord.resumptionKey(record.nodeID), $0.stored)] } ?? [])
  }

  /// Caches reported values.
  mutating func store(_ attributes: [AttributeData]) {
    for attribute in attributes where cache.count < Self.maximumCachedValues || cache[attribute.path] != nil {
      cache[attribute.path] = .init(value: attribute.value, dataVersion: attribute.dataVersion)
    }
  }
}

/// The initiator of a handshake.
enum HandshakeOwner: Sendable {
  case peer(NodeID)
  case commissioning(OperationID)
}
