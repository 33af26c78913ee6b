public import MatterCrypto
public import MatterModel

/// The limits of a node, and the parameters that it declares in handshakes.
public struct NodeConfiguration: Sendable {
  /// The maximum number of secured sessions; the least recently used one is evicted.
  public var maximumSessions = 64
  /// The maximum number of unsecured sessions, the contexts of handshakes.
  public var maximumUnsecuredSessions = 40
  /// The maximum number of open exchanges that peers initiated.
  public var maximumInboundExchanges = 128
  /// The maximum number of handshake starts per second from one address, at most 65,535.
  public var maximumStartsPerSecond = 32
  /// The maximum number of concurrent inbound CASE handshakes.
  public var maximumInboundHandshakes = 8
  /// The number of additional CASE handshakes for peers that prove an earlier session with their first message.
  public var maximumInboundResumptions = 4
  /// The maximum number of concurrent inbound PASE handshakes. More than one, so that peers that abandon their
  /// handshake don't block others; each failed handshake counts as an attempt nevertheless.
  public var maximumInboundPASEHandshakes = 16
  /// The maximum number of stored resumption records.
  public var maximumResumptionRecords = 64
  public var parameters = SessionParameters.own
  /// The injected fault, for tests only.
  public var defect: SeededDefect?

  public init() {}
}

/// Identifies an outbound handshake.
public struct HandshakeID: Hashable, Comparable, Sendable {
  let rawValue: UInt32
  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// The reason why a session was closed.
public enum SessionCloseReason: Hashable, Sendable {
  case byPeer, byUs, evicted, fabricRemoved
}

/// A received message for the layer above.
public struct InboundMessage: Sendable {
  public let exchange: ExchangeID
  /// The message type within the protocol.
  public let opcode: UInt8
  public let protocolID: ProtocolID
  /// The whole decrypted datagram.
  public let bytes: [UInt8]
  /// The range of the application payload in `bytes`.
  public let payload: Range<Int>
  /// Whether the message opened the exchange.
  public let isFirst: Bool
}

/// An output of a ``NodeCore`` for the engine that owns it.
public enum NodeOutput: Sendable {
  /// Send a datagram.
  case send([UInt8], to: SocketAddress)
  /// A message for the protocols above; the core handles secure channel messages itself.
  case message(InboundMessage)
  /// A group message, which must not be answered.
  case groupMessage(GroupMessage)
  /// Store the group message counter to continue with after a restart, before any further output is sent.
  case groupCounterReserved(UInt32)
  /// A session was established; the handshake id is set for an outbound handshake.
  case sessionEstablished(SessionID, HandshakeID?)
  /// An outbound handshake failed.
  case handshakeFailed(HandshakeID, HandshakeError)
  /// A peer did not prove knowledge of the passcode.
  case paseAttemptFailed
  /// An established session was closed; its last properties are included.
  case sessionClosed(SessionID, SessionInfo, SessionCloseReason)
  /// An exchange of the layer above failed before it was closed.
  case exchangeFailed(ExchangeID, ExchangeFailure)
  /// Store the resumption record, replacing the one for the same fabric and peer.
  case resumptionChanged(ResumptionRecord)
}

/// The messaging layer of a node: fabrics, sessions, exchanges, reliable messages and handshakes.
///
/// Sans-IO: the owner passes in datagrams and the time, and drains the outputs after each call. The core owns the
/// tables of sessions and exchanges; an exchange refers to its session by id.
public struct NodeCore: Sendable {
  /// The maximum size of a received datagram, in bytes. Matter Core § 4.4.4 limits messages over UDP to the minimum MTU
  /// of IPv6.
  static let largestDatagram = 1280

  let configuration: NodeConfiguration
  var random: any RandomSource
  /// The source of retransmission jitter, which need not be cryptographically secure.
  var jitterSource: SeededRandomSource
  let signatures: any SignatureScheme

  var fabricsByIndex: [FabricIndex: Fabric] = [:]
  var secured: SessionTable
  var unsecured: UnsecuredSessionTable
  var exchanges: ExchangeTable
  var handshakes: [ExchangeID: Handshake] = [:]
  var admission = HandshakeAdmission()
  var starts: StartLimiter
  var resumption: [ResumptionRecord]
  var pase: PASEParameters?

  var groups: GroupMessaging

  var nextHandshakeNumber: UInt32 = 0

  /// A lower bound of the deadlines of handshakes.
  var handshakeDeadline: Instant?

  private var outputs: [NodeOutput?] = []
  private var outputsTaken = 0

  /// The trusted time at ``Instant/zero``, in seconds since 2000-01-01 00:00 UTC; nil if the time is unknown, so that
  /// the validity of certificates is not checked. Matter Core § 3.5.6.
  public var trustedEpoch: Int64?
  /// 2025-01-01 in seconds since 2000-01-01 00:00 UTC. A host clock that shows an earlier time was never set.
  public static let earliestHostTime: Int64 = 788_918_400

  /// The time for checking the validity of certificates.
  func certificateTime(at now: Instant) -> UInt32? {
    trustedEpoch.map { epoch in
      let (time, overflow) = epoch.addingReportingOverflow(now.nanoseconds / 1_000_000_000)
      return overflow ? .max : UInt32(clamping: time)
    }
  }

  /// The dropped messages by reason.
  public internal(set) var drops = DropCounts()

  /// Returns the sender of the latest authenticated CASE message since the previous call, or nil if there was none.
  public mutating func takeLastSender() -> NodeID? { secured.takeLastSender() }

  /// Counts a message that the layer above dropped without answering it.
  public mutating func countDrop(_ reason: DropReason) { drops.count(reason) }

  /// A closure called for each packet.
  public var tracer: (@Sendable (PacketTrace) -> Void)?

  /// Creates a node.
  /// - Parameter groupCounter: The last value of ``NodeOutput/groupCounterReserved(_:)``, also from before a restart.
  public init(
    _ configuration: NodeConfiguration = .init(), random: any RandomSource,
    signatures: any SignatureScheme = OpenSSLSignatures(), fabrics: [Fabric] = [], resumption: [ResumptionRecord] = [],
    groupCounter: UInt32? = nil
  ) {
    groups = GroupMessaging(counter: groupCounter)
    self.configuration = configuration
    self.signatures = signatures
    self.resumption = resumption
    var random = random
    secured = SessionTable(
      capacity: configuration.maximumSessions, lastNumber: UInt16(truncatingIfNeeded: random.next()))
    exchanges = ExchangeTable(
      maximumInbound: configuration.maximumInboundExchanges, lastNumber: UInt16(truncatingIfNeeded: random.next()))
    unsecured = UnsecuredSessionTable(
      capacity: configuration.maximumUnsecuredSessions, counter: random.initialMessageCounter())
    jitterSource = SeededRandomSource(seed: random.next())
    var keySource = jitterSource
    starts = StartLimiter(key: keySource.next())
    self.random = random
    for fabric in fabrics { fabricsByIndex[fabric.index] = fabric }
  }

  // MARK: Outputs

  mutating func emit(_ output: NodeOutput) { outputs.append(output) }

  /// Returns the next output, or nil if there is none. The owner must drain the outputs after every other call.
  public mutating func nextOutput() -> NodeOutput? {
    guard outputsTaken < outputs.count else {
      if outputsTaken > 0 {
        outputs.removeAll(keepingCapacity: true)
        outputsTaken = 0
      }
      return nil
    }
    defer { outputsTaken += 1 }
    // Moved out, so that the receiver can change a datagram in place.
    return outputs[outputsTaken].take()
  }

  /// The time at which ``advance(to:)`` is due; nil if no timer is running.
  public var nextDeadline: Instant? { .earlier(exchanges.earliestDeadline, handshakeDeadline) }

  mutating func schedule(_ deadline: Instant?) { handshakeDeadline = .earlier(handshakeDeadline, deadline) }

  // MARK: Fabrics

  /// The fabrics of this node, sorted by index.
  public var fabrics: [Fabric] { fabricsByIndex.values.sorted { $0.index < $1.index } }

  /// Returns the fabric with an index, or nil if there is none.
  public func fabric(_ index: FabricIndex) -> Fabric? { fabricsByIndex[index] }

  /// Adds a fabric, or replaces the one with the same index. Sessions are kept. If the operational certificate changed,
  /// resumption records and handshakes in progress are removed, because they belong to the previous identity.
  public mutating func install(_ fabric: Fabric) {
    let old = fabricsByIndex.updateValue(fabric, forKey: fabric.index)
    guard let old, old.operationalCertificate != fabric.operationalCertificate else { return }
    resumption.removeAll { $0.fabric == fabric.index }
    abandonHandshakes(of: fabric.index)
  }

  /// Removes a fabric with its groups, resumption records, handshakes and sessions. A session with open exchanges
  /// closes when those end, so that the request that removed the fabric can be answered.
  public mutating func removeFabric(_ index: FabricIndex, at now: Instant) {
    fabricsByIndex[index] = nil
    groups.forget(index)
    resumption.removeAll { $0.fabric == index }
    // The index may be reused: a handshake of the old fabric must not result in a session of the new one.
    abandonHandshakes(of: index)
    closeSessions(of: index, reason: .fabricRemoved, at: now)
  }

  // MARK: Commissioning

  /// Accepts PASE handshakes.
  public mutating func openPASE(_ parameters: PASEParameters) { pase = parameters }

  /// Stops accepting PASE handshakes and ends those in progress.
  public mutating func closePASE(at now: Instant) {
    pase = nil
    for id in handshakes.keys.sorted() {
      if case .paseResponder? = handshakes[id]?.kind { abandonHandshake(id, at: now) }
    }
  }
}
