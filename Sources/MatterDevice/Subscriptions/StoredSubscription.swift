internal import MatterModel
internal import MatterProtocol

/// A stored subscription, to be resumed after a restart. Matter Core § 8.5.
struct StoredSubscription: Sendable {
  let id: UInt32
  let fabric: FabricIndex
  /// The node id of the subscriber.
  let node: NodeID
  /// Paths and intervals. The event filter contains the first unreported event; data version filters are omitted.
  let request: SubscribeRequest
  /// The last known address of the subscriber.
  let address: SocketAddress

  /// Returns the key prefix of a fabric's entries.
  static func prefix(_ fabric: FabricIndex) -> String { StoreKey.subscriptions + "\(fabric.rawValue)/" }
  static func key(_ id: UInt32, of fabric: FabricIndex) -> String { prefix(fabric) + String(id, radix: 16) }

  var key: String { Self.key(id, of: fabric) }

  init(_ subscription: Subscription, at address: SocketAddress) {
    (id, self.address) = (subscription.id, address)
    (fabric, node) = (subscription.subject.fabric, subscription.subject.node)
    request = SubscribeRequest(
      minIntervalFloor: UInt16(clamping: subscription.minimum.components.seconds),
      maxIntervalCeiling: subscription.maximumSeconds, attributePaths: subscription.attributePaths,
      eventPaths: subscription.eventPaths, eventFilters: [EventFilter(eventMin: subscription.nextEvent)],
      isFabricFiltered: subscription.isFabricFiltered)
  }

  /// Returns nil if the bytes were not encoded by ``stored``.
  init?(stored bytes: [UInt8], fabric: FabricIndex) {
    guard let entry = try? Entry(tlv: bytes), entry.port != 0,
      let ip = IPAddress(bytes: entry.ip.bytes, scope: entry.scope),
      let request = try? SubscribeRequest(decoding: entry.request.bytes[...])
    else { return nil }
    (id, node, self.request, self.fabric) = (entry.id, entry.node, request, fabric)
    address = SocketAddress(ip, port: entry.port)
  }

  var stored: [UInt8] { Entry(self).tlv }

  private struct Entry: ModelStruct {
    var id: UInt32 = 0
    var node: NodeID = 0
    var request: OctetString = []
    var ip: OctetString = []
    /// The scope of a link-local address.
    var scope: UInt32 = 0
    var port: UInt16 = 0
    static let fields: [Field<Self>] = [
      .init(0, "ID", \.id), .init(1, "Node", \.node), .init(2, "Request", \.request), .init(3, "IP", \.ip),
      .init(4, "Scope", \.scope), .init(5, "Port", \.port),
    ]

    init() {}

    init(_ subscription: StoredSubscription) {
      (id, node, port) = (subscription.id, subscription.node, subscription.address.port)
      request = OctetString(subscription.request.encoded)
      ip = OctetString(subscription.address.ip.bytes)
      if case .v6(_, _, let scope) = subscription.address.ip { self.scope = scope }
    }
  }
}

/// Subscriptions of an earlier run with the same subscriber and address, which are resumed over one session.
struct PendingResumption: Sendable {
  let fabric: FabricIndex
  let node: NodeID
  /// The last known address of the subscriber. Several processes of one controller have different addresses.
  let address: SocketAddress
  var subscriptions: [StoredSubscription]
  /// The handshakes in progress, with their addresses.
  var attempts: [HandshakeID: SocketAddress] = [:]
  /// The number of consecutive failed attempts.
  var failures = 0
  /// The time of the next attempt; nil while attempts are in progress.
  var retryAt: Instant?

  /// The number of failures, after about half an hour, at which the subscriptions are dropped.
  static let maximumFailures = 12
  /// The maximum back-off.
  static let maximumDelay: Duration = .seconds(300)

  /// The back-off after the last failure, without jitter.
  var delay: Duration { min(.seconds(Int64(1) << Int64(min(max(failures, 1) - 1, 16))), Self.maximumDelay) }
}
