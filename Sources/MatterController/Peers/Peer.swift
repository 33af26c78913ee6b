internal import MatterModel
internal import MatterProtocol

/// A node of the fabric, or one that is on its way in.
struct Peer: Sendable {
  struct CachedValue: Sendable {
    var value: [UInt8]
    var dataVersion: UInt32
  }

  var record: PeerRecord
  /// Whether it is in the store: false while it is being commissioned.
  var isStored = true
  var session: SessionID?
  /// Where somebody said that it is, which need not be so.
  var toldAddress: SocketAddress?
  /// What the last handshake left for the next one; here until it can be stored.
  var resumption: ResumptionRecord?
  /// Operations that need a session, in order.
  var waiting: [OperationID] = []
  var connecting: Connecting?
  var cache: [ConcreteAttributePath: CachedValue] = [:]

  /// A peer can't make us keep more values than this.
  static let maximumCachedValues = 16_384

  init(_ record: PeerRecord) { self.record = record }
}

/// The search for an address at which a peer opens a session.
struct Connecting: Sendable {
  struct Attempt: Sendable {
    let handshake: HandshakeID
    let address: SocketAddress
    /// Whether it asked to go on from an earlier session.
    let isResumption: Bool
    /// When to begin anew unless something was heard by then; nil: its retransmissions are enough.
    var restartAt: Instant?
  }

  let query: DiscoveryQuery
  /// Until when DNS-SD may come up with another address.
  let timeoutEnd: Instant
  var parameters: SessionParameters
  /// Whether the node is likely to come up any moment, so that silence is met with another attempt soon.
  var isEager = false
  var untried: [SocketAddress] = []
  var attempts: [Attempt] = []
  /// Addresses to try again later.
  var retries: [(address: SocketAddress, at: Instant)] = []
  var failures: [SocketAddress: Int] = [:]
  /// When to try a further address although an attempt is still under way.
  var impatientAt: Instant?
  var lastError: HandshakeError?

  static let maximumAttempts = 3
  static let maximumFailures = 3
  static let stagger: Duration = .seconds(1)

  func isKnown(_ address: SocketAddress) -> Bool {
    untried.contains(address) || attempts.contains { $0.address == address }
      || retries.contains { $0.address == address }
  }

  /// When there is something to do next. The end of timeout counts only where nothing else is to come: a busy device may
  /// ask for more time than that.
  var wakeUp: Instant? {
    var result: Instant? = retries.map(\.at).min()
    // Where as many are under way as may be, the end of one of them comes first.
    if !untried.isEmpty, attempts.count < Self.maximumAttempts { result = .earlier(result, impatientAt) }
    for attempt in attempts { result = .earlier(result, attempt.restartAt) }
    return attempts.isEmpty && result == nil ? timeoutEnd : result
  }
}

/// Who began a handshake.
enum HandshakeOwner: Sendable {
  case peer(NodeID)
  case commissioning(OperationID)
}
