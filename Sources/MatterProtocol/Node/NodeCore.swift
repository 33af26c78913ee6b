public import MatterCrypto
public import MatterModel

/// The messaging layer of a node: fabrics, sessions, exchanges, reliable messages and handshakes.
///
/// Sans-IO: the owner passes in datagrams and the time, and drains the outputs after each call. The core owns the
/// tables of sessions and exchanges; an exchange refers to its session by id.
public struct NodeCore: Sendable {
  /// The maximum size of a received datagram, in bytes. Matter Core § 4.4.4 limits messages over UDP to the minimum MTU
  /// of IPv6.
  static let largestDatagram = 1280

  @Boxed private(set) var configuration: NodeConfiguration
  var random: any RandomSource
  /// The source of retransmission jitter, which need not be cryptographically secure.
  var jitterSource: SeededRandomSource
  let signatures: any SignatureScheme

  var fabricsByIndex: [FabricIndex: Fabric] = [:]
  var secured: SessionTable
  var unsecured: UnsecuredSessionTable
  var exchanges: ExchangeTable
  var handshakes: HandshakeTable
  var resumption: ResumptionRecords
  var groups: GroupMessaging

  private var outputs = OutputQueue<NodeOutput>(keptCapacity: 2)

  /// The trusted time at ``Instant/zero``, in seconds since 2000-01-01 00:00 UTC; nil if the time is unknown, so that
  /// the validity of certificates is not checked. Matter Core § 3.5.6.
  package var trustedEpoch: Int64?
  /// 2025-01-01 in seconds since 2000-01-01 00:00 UTC. A host clock that shows an earlier time was never set.
  package static let earliestHostTime: Int64 = 788_918_400

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
    self.resumption = ResumptionRecords(resumption, capacity: configuration.maximumResumptionRecords)
    var random = random
    secured = SessionTable(
      capacity: configuration.maximumSessions, lastNumber: UInt16(truncatingIfNeeded: random.next()))
    exchanges = ExchangeTable(
      maximumInbound: configuration.maximumInboundExchanges, lastNumber: UInt16(truncatingIfNeeded: random.next()))
    unsecured = UnsecuredSessionTable(
      capacity: configuration.maximumUnsecuredSessions, counter: random.initialMessageCounter())
    jitterSource = SeededRandomSource(seed: random.next())
    var keySource = jitterSource
    handshakes = HandshakeTable(configuration, key: keySource.next())
    self.random = random
    for fabric in fabrics { fabricsByIndex[fabric.index] = fabric }
  }

  /// The replaced decisions, which may change at any time.
  package var hooks: NodeHooks {
    get { configuration.hooks }
    set { configuration.hooks = newValue }
  }

  // MARK: Outputs

  mutating func emit(_ output: NodeOutput) { outputs.append(output) }

  /// Returns the next output, or nil if there is none. The owner must drain the outputs after every other call.
  public mutating func nextOutput() -> NodeOutput? { outputs.next() }

  /// The time at which ``advance(to:)`` is due; nil if no timer is running.
  public var nextDeadline: Instant? { .earlier(exchanges.earliestDeadline, handshakes.earliestDeadline) }

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
    resumption.remove(fabric: fabric.index)
    abandonHandshakes(of: fabric.index)
  }

  /// Removes a fabric with its groups, resumption records, handshakes and sessions. A session with open exchanges
  /// closes when those end, so that the request that removed the fabric can be answered.
  public mutating func removeFabric(_ index: FabricIndex, at now: Instant) {
    fabricsByIndex[index] = nil
    groups.forget(index)
    resumption.remove(fabric: index)
    // The index may be reused: a handshake of the old fabric must not result in a session of the new one.
    abandonHandshakes(of: index)
    closeSessions(of: index, reason: .fabricRemoved, at: now)
  }

  // MARK: Commissioning

  /// Accepts PASE handshakes.
  public mutating func openPASE(_ parameters: PASEParameters) { handshakes.openPASE(parameters) }

  /// Stops accepting PASE handshakes and ends those in progress.
  public mutating func closePASE(at now: Instant) {
    for id in handshakes.closePASE() { abandonHandshake(id) }
  }
}
