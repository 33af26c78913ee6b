internal import MatterModel
internal import MatterProtocol

/// A node of the fabric, or a device being commissioned.
struct Peer: Sendable {
  struct CachedValue: Sendable {
    var value: [UInt8]
    var dataVersion: UInt32
  }

  var record: PeerRecord
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
  var cache: [ConcreteAttributePath: CachedValue] = [:]

  /// Limits the memory that a peer can use.
  static let maximumCachedValues = 16_384

  init(_ record: PeerRecord) { self.record = record }
}

/// State of opening a session with a peer.
struct Connecting: Sendable {
  struct Attempt: Sendable {
    let handshake: HandshakeID
    let address: SocketAddress
    /// Whether it tries to resume an earlier session.
    let isResumption: Bool
    /// When to restart unless something was received; nil if retransmissions suffice.
    var restartAt: Instant?
  }

  let query: DiscoveryQuery
  /// End of the search for further addresses over DNS-SD.
  let timeoutEnd: Instant
  var parameters: SessionParameters
  /// Whether the node is likely to restart soon, so that unanswered attempts are restarted early.
  var isEager = false
  var untried: [SocketAddress] = []
  var attempts: [Attempt] = []
  /// Addresses to retry later.
  var retries: [(address: SocketAddress, at: Instant)] = []
  var failures: [SocketAddress: Int] = [:]
  /// When to try a further address in parallel to the attempts in progress.
  var nextAttemptAt: Instant?
  var lastError: HandshakeError?

  static let maximumAttempts = 3
  static let maximumFailures = 3
  static let stagger: Duration = .seconds(1)

  func isKnown(_ address: SocketAddress) -> Bool {
    untried.contains(address) || attempts.contains { $0.address == address }
      || retries.contains { $0.address == address }
  }

  /// The next deadline. ``timeoutEnd`` applies only if nothing else is pending: a busy device may ask for a longer
  /// wait.
  var wakeUp: Instant? {
    var result: Instant? = retries.map(\.at).min()
    // At the maximum number of attempts, one of them has to end first.
    if !untried.isEmpty, attempts.count < Self.maximumAttempts { result = .earlier(result, nextAttemptAt) }
    for attempt in attempts { result = .earlier(result, attempt.restartAt) }
    return attempts.isEmpty && result == nil ? timeoutEnd : result
  }
}

/// The initiator of a handshake.
enum HandshakeOwner: Sendable {
  case peer(NodeID)
  case commissioning(OperationID)
}
