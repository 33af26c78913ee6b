internal import MatterModel
internal import MatterProtocol

/// A subscription as it is stored, to be resumed after a restart. Matter Core § 8.5.
struct StoredSubscription: Sendable {
  let id: UInt32
  let fabric: FabricIndex
  /// The subscriber.
  let node: NodeID
  /// Paths and intervals. The event filter has the first event that was not reported; data versions are left out.
  let request: SubscribeRequest
  /// Where the subscriber was last.
  let address: SocketAddress

  /// All entries of a fabric begin so.
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

  /// - Returns: nil if the bytes are not what ``stored`` gives.
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
    /// Of a link-local address.
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

/// The subscriptions of an earlier run that one subscriber has from one address: they are resumed over one session.
struct PendingResumption: Sendable {
  let fabric: FabricIndex
  let node: NodeID
  /// Where the subscriber was last. Several processes of one controller have an address each.
  let address: SocketAddress
  var subscriptions: [StoredSubscription]
  /// Sessions that are being opened, and where.
  var attempts: [HandshakeID: SocketAddress] = [:]
  /// Attempts in a row that came to nothing.
  var failures = 0
  /// When to try again; nil while attempts are under way.
  var retryAt: Instant?

  /// After so many failures, about half an hour, the subscriber is taken to be gone.
  static let maximumFailures = 12
  /// The back-off ends growing here.
  static let maximumDelay: Duration = .seconds(300)

  /// The back-off after the last failure, without its random part.
  var delay: Duration { min(.seconds(Int64(1) << Int64(min(max(failures, 1) - 1, 16))), Self.maximumDelay) }
}
