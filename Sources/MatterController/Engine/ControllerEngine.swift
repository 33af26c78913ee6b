internal import MatterCertificates
public import MatterCrypto
public import MatterModel
public import MatterProtocol

/// A Matter controller: owns a fabric, commissions devices into it, and exchanges messages with its nodes.
///
/// The engine is a value without I/O. A command returns an ``OperationID`` at once; its result is reported by events,
/// the last of which is ``ControllerEvent/completed(_:_:)``. Drain the effects and ask for ``nextDeadline`` after each
/// call.
///
/// Requests to a node share one session, which is opened on demand, at the last known address and at those from DNS-SD
/// in parallel. When a peer does not acknowledge a message on an existing session, the session is closed and the
/// request is sent once more over a new one. Reads and subscriptions are safe to repeat. A write or invoke is repeated
/// only if nothing was received on the session after it was sent: a node that received it, but whose acknowledgments
/// and answers were all lost, carries it out twice; a node that was restarted, which is far more likely, carries it out
/// once.
public struct ControllerEngine: Engine {
  public typealias Event = ControllerEvent

  public private(set) var configuration: ControllerConfiguration

  var core: NodeCore
  var random: any RandomSource
  var authority: FabricAuthority

  var peers = KeyedRow<NodeID, Peer>()
  /// The deadlines of the searches for sessions; see ``Connecting/wakeUp``.
  var connecting = Deadlines<NodeID>()
  var handshakes: [HandshakeID: HandshakeOwner] = [:]
  var operations = OperationTable()
  var transactions = TransactionTable()
  var subscriptions = SubscriptionTable()
  var commissionings: [OperationID: Commissioning] = [:]
  var unconfirmed: UnconfirmedTable
  var groupTable: GroupTable
  var tagTable: TagTable
  var browser = ServiceBrowser()
  /// The nodes whose Check-In messages the controller receives.
  var registrations: [NodeID: CheckInRegistration]
  /// The nodes that operations wait for.
  var holding: Set<NodeID> = []
  /// The UDP port of the controller; nil if it announces no service.
  var port: UInt16?
  /// The announced service of the controller itself.
  var ownService: MatterService?

  /// A lower bound of the engine's deadlines.
  var earliestDeadline: Instant?

  /// The numbers of received and sent datagrams.
  private var traffic = (received: UInt64(0), sent: UInt64(0))
  /// The number of commands in all invoke operations.
  var invokes: UInt64 = 0
  private var effects = OutputQueue<Effect<ControllerEvent>>()

  /// - Parameter state: the contents of the store; without a stored fabric, a new one is created.
  /// - Throws: ``ControllerError/certificate(_:)`` if the stored fabric is invalid, or a certificate cannot be issued.
  public init(
    _ configuration: ControllerConfiguration, state: StoredState, random: any RandomSource
  ) throws(ControllerError) {
    self.configuration = configuration
    var random = random
    let changes: [StoreChange]
    (authority, changes) = try FabricAuthority.open(configuration, state, random: &random)
    for record in PeerRecord.records(in: state).values { peers[record.nodeID] = Peer(record) }
    for node in configuration.membership?.nodes ?? [] { peers[node] = Peer(PeerRecord(node)) }
    groupTable = GroupTable(state)
    tagTable = TagTable(state)
    unconfirmed = UnconfirmedTable(state)
    registrations = CheckInRegistration.registrations(in: state)
    let resumption = peers.keys.sorted().compactMap { node in
      state[PeerRecord.resumptionKey(node)].flatMap {
        ResumptionRecord(stored: $0, fabric: FabricAuthority.fabricIndex)
      }
    }
    core = NodeCore(
      configuration.node, random: random.fork(), signatures: configuration.signatures, fabrics: [authority.fabric],
      resumption: resumption, groupCounter: state[GroupRecord.counterKey].flatMap { try? UInt32(tlv: $0) })
    self.random = random
    installGroupKeys()
    store(changes)
    // A registered node sends a Check-In message if it is active; until then it sleeps most likely.
    for node in registrations.keys { peers[node]?.isPresumedAsleep = true }
  }

  // MARK: State

  /// The controller's membership in its fabric.
  public var fabric: Fabric { authority.fabric }

  /// The nodes of the fabric, by id.
  public var nodes: [PeerRecord] {
    peers.values.filter(\.isStored).map(\.record).sorted { $0.nodeID < $1.nodeID }
  }

  /// Returns the stored record of a node.
  public func node(_ id: NodeID) -> PeerRecord? { peers[id].flatMap { $0.isStored ? $0.record : nil } }

  /// Whether a session with the node is established.
  public func isConnected(_ node: NodeID) -> Bool { peers[node]?.session != nil }

  /// Returns the last value that was read or reported, one element with an anonymous tag.
  public func cachedValue(_ path: ConcreteAttributePath, of node: NodeID) -> (value: [UInt8], dataVersion: UInt32)? {
    peers[node]?.cache[path].map { ($0.value, $0.dataVersion) }
  }

  /// Sets an address of a node to try first. It is stored once the node has answered from it.
  public mutating func setAddress(_ address: SocketAddress, of node: NodeID) { peers[node]?.suggestedAddress = address }

  /// Sets the time for checking certificates of new devices and of nodes; see ``ControllerConfiguration/currentTime``.
  public mutating func setCurrentTime(_ time: Duration?, at now: Instant) {
    configuration.currentTime = time
    core.trustedEpoch = time.map { $0.components.seconds &- now.nanoseconds / 1_000_000_000 }
  }

  /// The node id of the next commissioned device.
  public var nextNodeID: NodeID { authority.nextNodeID }

  /// Number of dropped messages by reason.
  public var drops: DropCounts { core.drops }

  /// The counters since the start, and the present sessions and subscriptions.
  public var metrics: NodeMetrics {
    var metrics = NodeMetrics(drops)
    (metrics.received, metrics.sent, metrics.invokes) = (traffic.received, traffic.sent, invokes)
    (metrics.sessions, metrics.subscriptions) = (core.sessionCount, subscriptions.count)
    return metrics
  }

  /// Returns the node of the last authenticated message, acknowledgments included, since the previous call.
  public mutating func takeLastSender() -> NodeID? { core.takeLastSender() }

  /// Called with a line for each packet, if set.
  public var tracer: (@Sendable (PacketTrace) -> Void)? {
    get { core.tracer }
    set { core.tracer = newValue }
  }

  // MARK: Engine

  public mutating func handle(_ input: consuming Input, at now: Instant) {
    switch consume input {
    case .datagram(let bytes, let address):
      traffic.received &+= 1
      core.receive(bytes, from: address, at: now)
      if !commissionings.isEmpty { noteResponses() }
    case .serviceFound(let service): found(service, at: now)
    case .serviceLost(let service): lost(service)
    case .serviceConflict(.host(let name)): renameHost(name)
    // The name of the controller's service is derived from its identity.
    case .serviceConflict(.instance): break
    }
    settle(at: now)
  }

  public mutating func advance(to now: Instant) {
    core.advance(to: now)
    settle(at: now)
    guard let earliest = earliestDeadline, earliest <= now else { return }
    runTimers(at: now)
    settle(at: now)
  }

  public var nextDeadline: Instant? { .earlier(core.nextDeadline, earliestDeadline) }

  public mutating func nextEffect() -> Effect<ControllerEvent>? { effects.next() }

  mutating func emit(_ event: ControllerEvent) { effects.append(.emit(event)) }
  mutating func perform(_ effect: Effect<ControllerEvent>) { effects.append(effect) }
  mutating func schedule(_ deadline: Instant?) { earliestDeadline = .earlier(earliestDeadline, deadline) }

  mutating func store(_ changes: [StoreChange]?) {
    if let changes, !changes.isEmpty { perform(.store(changes)) }
  }

  // MARK: Output of the core

  /// Handles the outputs of the core until there are none left.
  mutating func settle(at now: Instant) {
    repeat {
      handleOutputs(at: now)
    } while !transactions.retiring.isEmpty && closeRetired(at: now)
      || !operations.backlog.isEmpty && runBacklog(at: now) || !holding.isEmpty && releaseHeld(at: now)
  }

  private mutating func handleOutputs(at now: Instant) {
    while let output = core.nextOutput() {
      switch output {
      case .send(let bytes, let address):
        traffic.sent &+= 1
        effects.append(.send(bytes, to: address))
      case .message(let message): receive(message, at: now)
      case .sessionEstablished(let session, let handshake): established(session, handshake, at: now)
      case .handshakeFailed(let handshake, let error): failed(handshake, error, at: now)
      case .sessionClosed(let session, let info, let reason): closed(session, info, reason, at: now)
      case .exchangeFailed(let exchange, let failure): failed(exchange, failure, at: now)
      case .checkIn(let payload, let address): receiveCheckIn(payload, from: address, at: now)
      case .groupCounterReserved(let counter): store([GroupRecord.counterStored(counter)])
      case .resumptionChanged(let record):
        peers[record.peer]?.resumption = record
        if peers[record.peer]?.isStored == true {
          store([StoreChange(PeerRecord.resumptionKey(record.peer), record.stored)])
        }
      // The controller is not a member of any group.
      case .paseAttemptFailed, .groupMessage: break
      }
    }
  }

  private mutating func established(_ session: SessionID, _ handshake: HandshakeID?, at now: Instant) {
    guard let info = core.session(session) else { return }
    switch handshake.flatMap({ handshakes.removeValue(forKey: $0) }) {
    case .commissioning(let operation): establishedPASE(session, for: operation, at: now)
    case .peer, nil:
      // Nodes of the fabric may also open sessions.
      if info.kind == .case { connected(info.peerNodeID, session, info, handshake, at: now) }
    }
  }

  private mutating func failed(_ handshake: HandshakeID, _ error: HandshakeError, at now: Instant) {
    switch handshakes.removeValue(forKey: handshake) {
    case .commissioning(let operation): failedPASE(operation, error, at: now)
    case .peer(let node): failedConnecting(node, handshake, error, at: now)
    case nil: break
    }
  }

  // MARK: Time

  private mutating func runTimers(at now: Instant) {
    earliestDeadline = nil
    // An earlier timer may change a later one.
    for id in operations.due(at: now) where operations[id]?.isDue(at: now) == true { advanceOperation(id, at: now) }
    for node in connecting.due(at: now) { advanceConnecting(node, at: now) }
    for id in commissionings.keys.sorted() { advanceCommissioning(id, at: now) }
    for handle in subscriptions.due(at: now) where subscriptions[handle]?.isDue(at: now) == true {
      advanceSubscription(handle, at: now)
    }
    advanceHeld(at: now)
    schedule(operations.nextDeadline)
    schedule(connecting.first)
    for commissioning in commissionings.values { schedule(commissioning.wakeUp) }
    schedule(subscriptions.nextDeadline)
  }
}
