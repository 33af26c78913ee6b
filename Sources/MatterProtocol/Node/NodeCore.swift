public import MatterCrypto
public import MatterModel

/// Limits of a node, and what it says of itself in handshakes.
public struct NodeConfiguration: Sendable {
  /// Secured sessions at one time; the one unused for longest makes room.
  public var maximumSessions = 64
  /// Contexts of handshakes in the clear at one time.
  public var maximumUnsecuredSessions = 40
  /// Exchanges at one time that peers may have open with us.
  public var maximumInboundExchanges = 128
  /// How often in a second handshakes may be begun from one address. 65,535 at most.
  public var maximumStartsPerSecond = 32
  /// Handshakes by certificate at one time that peers may have begun.
  public var maximumInboundHandshakes = 8
  /// More such handshakes, of peers that have proved with their first message that they had a session with us before.
  public var maximumInboundResumptions = 4
  /// Handshakes by passcode at one time that peers may have begun. Several, so that peers that went away in the middle, or
  /// never meant it, keep nobody out; every failed one counts as an attempt all the same.
  public var maximumInboundPASEHandshakes = 16
  /// Resumption records that are kept.
  public var maximumResumptionRecords = 64
  public var parameters = SessionParameters.own
  /// For tests alone.
  public var defect: SeededDefect?

  public init() {}
}

/// One handshake that we began.
public struct HandshakeID: Hashable, Comparable, Sendable {
  let rawValue: UInt32
  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// Why a session is gone.
public enum SessionCloseReason: Hashable, Sendable {
  case byPeer, byUs, evicted, fabricRemoved
}

/// A message for the layer above.
public struct InboundMessage: Sendable {
  public let exchange: ExchangeID
  /// Of the protocol.
  public let opcode: UInt8
  public let protocolID: ProtocolID
  /// The whole decrypted datagram.
  public let bytes: [UInt8]
  /// Where in `bytes` the application payload lies.
  public let payload: Range<Int>
  /// Whether it opened the exchange.
  public let isFirst: Bool
}

/// What a ``NodeCore`` has to say to the engine that owns it.
public enum NodeOutput: Sendable {
  /// A datagram.
  case send([UInt8], to: SocketAddress)
  /// For the protocols above; secure channel messages are dealt with here.
  case message(InboundMessage)
  /// Nobody waits for an answer.
  case groupMessage(GroupMessage)
  /// To be stored before anything else goes out: where the counter of our own group messages goes on after a restart.
  case groupCounterReserved(UInt32)
  /// The handshake is named if it was ours.
  case sessionEstablished(SessionID, HandshakeID?)
  /// One that we had begun.
  case handshakeFailed(HandshakeID, HandshakeError)
  /// A peer that wanted to commission us did not know the passcode.
  case paseAttemptFailed
  /// A session that was established is over, and what was known of it last.
  case sessionClosed(SessionID, SessionInfo, SessionCloseReason)
  /// An exchange of the layer above is over before it was closed.
  case exchangeFailed(ExchangeID, ExchangeFailure)
  /// To be stored, in the place of what there was for the same fabric and peer.
  case resumptionChanged(ResumptionRecord)
}

/// The messaging half of a node: fabrics, sessions, exchanges, reliable messages, handshakes.
///
/// It does no I/O: it is told of datagrams and of time, and asked for outputs until there are none. Sessions know nothing
/// of exchanges, exchanges name their session by id, and both tables live here.
public struct NodeCore: Sendable {
  /// The longest datagram that is read, in bytes. Matter Core § 4.4.4 has messages over UDP fit into IPv6's least MTU.
  static let largestDatagram = 1280

  let configuration: NodeConfiguration
  var random: any RandomSource
  /// Spreads retransmissions. Nothing hangs from its being guessed, so it need not cost what secrets cost.
  var jitterSource: SeededRandomSource
  let signatures: any SignatureScheme

  var fabricsByIndex: [FabricIndex: Fabric] = [:]
  var secured = SessionTable()
  var unsecured: [SessionID: UnsecuredSession] = [:]
  var exchanges: [ExchangeID: Exchange] = [:]
  var handshakes: [ExchangeID: Handshake] = [:]
  var rooms = HandshakeSlotTables()
  var starts: StartLimiter
  /// The contexts of peers that began, by the number they made up for themselves.
  var inboundContexts: [NodeID: SessionID] = [:]
  var resumption: [ResumptionRecord]
  var pase: PASEParameters?

  var groupKeys: [FabricGroupKeys] = []
  var groupPeers = GroupPeerTable()
  var groupCounter: GroupDataCounter

  var nextSessionNumber: UInt16
  var nextUnsecuredNumber: UInt32 = 0
  var nextExchangeNumber: UInt16
  var nextHandshakeNumber: UInt32 = 0
  var unsecuredCounter: UInt32

  /// No deadline lies before this; it may be too early, never too late.
  var earliestDeadline: Instant?

  private var outputs: [NodeOutput?] = []
  private var outputsTaken = 0

  /// What a clock that can be trusted shows at the zero of the node's own, in seconds since 2000-01-01 00:00 UTC; nil: the time is
  /// not known, and the validity of certificates is not checked. Matter Core § 3.5.6.
  public var trustedEpoch: Int64?
  /// Before 2025-01-01, in seconds since 2000-01-01 00:00 UTC, a host's clock is wrong: it was never set.
  public static let earliestHostTime: Int64 = 788_918_400

  /// The time to judge certificates by.
  func certificateTime(at now: Instant) -> UInt32? {
    trustedEpoch.map { epoch in
      let (time, overflow) = epoch.addingReportingOverflow(now.nanoseconds / 1_000_000_000)
      return overflow ? .max : UInt32(clamping: time)
    }
  }

  /// Messages that were not taken in, by reason.
  public internal(set) var drops = DropCounts()
  /// The node whose authenticated message came last, until somebody takes it.
  var heard: NodeID?

  /// The node whose authenticated message came since this was asked last, whatever it said; of several, the last one.
  public mutating func takeHeard() -> NodeID? {
    defer { heard = nil }
    return heard
  }

  /// Counts a message that the layer above did not take in, without an answer to it.
  public mutating func countDrop(_ reason: DropReason) { drops.count(reason) }

  /// Called with a line for each packet, if set.
  public var tracer: (@Sendable (PacketTrace) -> Void)?

  /// - Parameter groupCounter: what ``NodeOutput/groupCounterReserved(_:)`` said last, in an earlier life too.
  public init(
    _ configuration: NodeConfiguration = .init(), random: any RandomSource,
    signatures: any SignatureScheme = OpenSSLSignatures(), fabrics: [Fabric] = [], resumption: [ResumptionRecord] = [],
    groupCounter: UInt32? = nil
  ) {
    self.groupCounter = GroupDataCounter(stored: groupCounter)
    self.configuration = configuration
    self.signatures = signatures
    self.resumption = resumption
    var random = random
    nextSessionNumber = UInt16(truncatingIfNeeded: random.next())
    nextExchangeNumber = UInt16(truncatingIfNeeded: random.next())
    unsecuredCounter = Self.initialCounter(&random)
    jitterSource = SeededRandomSource(seed: random.next())
    var keySource = jitterSource
    starts = StartLimiter(key: keySource.next())
    self.random = random
    for fabric in fabrics { fabricsByIndex[fabric.index] = fabric }
  }

  /// Counters begin in the lower 28 bits, so that they last. Matter Core § 4.6.1.1.
  static func initialCounter(_ random: inout any RandomSource) -> UInt32 { UInt32(random.next() & 0x0FFF_FFFF) + 1 }

  // MARK: Outputs

  mutating func emit(_ output: NodeOutput) { outputs.append(output) }

  /// The next thing to do, nil when all is done. Ask after every call of anything else.
  public mutating func nextOutput() -> NodeOutput? {
    guard outputsTaken < outputs.count else {
      if outputsTaken > 0 {
        outputs.removeAll(keepingCapacity: true)
        outputsTaken = 0
      }
      return nil
    }
    defer { outputsTaken += 1 }
    // Moved out, so that whoever gets a datagram may change it in place.
    return outputs[outputsTaken].take()
  }

  /// When ``advance(to:)`` is due.
  public var nextDeadline: Instant? { earliestDeadline }

  mutating func schedule(_ deadline: Instant?) { earliestDeadline = .earlier(earliestDeadline, deadline) }

  // MARK: Fabrics

  /// The fabrics of this node, by index.
  public var fabrics: [Fabric] { fabricsByIndex.values.sorted { $0.index < $1.index } }

  /// The fabric with this index, nil if there is none.
  public func fabric(_ index: FabricIndex) -> Fabric? { fabricsByIndex[index] }

  /// Adds a fabric, or replaces the one of the same index. Sessions stay as they are; what is known for resuming them, and
  /// handshakes under way, go if the node has another certificate now: they belong to who it was before.
  public mutating func install(_ fabric: Fabric) {
    let old = fabricsByIndex.updateValue(fabric, forKey: fabric.index)
    guard let old, old.operationalCertificate != fabric.operationalCertificate else { return }
    resumption.removeAll { $0.fabric == fabric.index }
    abandonHandshakes(of: fabric.index)
  }

  /// Forgets a fabric and all that hangs from it. A session with an exchange under way is closed when that is done, so
  /// that the request that removed the fabric can be answered.
  public mutating func removeFabric(_ index: FabricIndex, at now: Instant) {
    fabricsByIndex[index] = nil
    forgetGroups(of: index)
    resumption.removeAll { $0.fabric == index }
    // The index may soon stand for another fabric: nothing begun under the old one may end in a session of the new one.
    abandonHandshakes(of: index)
    closeSessions(of: index, reason: .fabricRemoved, at: now)
  }

  // MARK: Being commissioned

  /// Lets peers in that know the passcode.
  public mutating func openPASE(_ parameters: PASEParameters) { pase = parameters }

  /// Lets nobody in any more; attempts under way come to nothing.
  public mutating func closePASE(at now: Instant) {
    pase = nil
    for id in handshakes.keys.sorted() {
      if case .paseResponder? = handshakes[id]?.kind { abandonHandshake(id, at: now) }
    }
  }
}
