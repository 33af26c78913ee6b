public import MatterCrypto
internal import MatterClusters
internal import MatterModel
public import MatterProtocol

/// A Matter device: everything between datagrams and what its cluster servers do. A value without I/O, see ``Engine``.
///
/// It is made of the messaging core, the node's state with its servers, and the interactions under way between the two.
public struct DeviceEngine: Engine {
  public typealias Event = DeviceEvent

  public internal(set) var configuration: DeviceConfiguration
  let endpoints: [EndpointDefinition]
  var core: NodeCore
  /// Owns the node's state.
  var context: ServerContext
  var interactions: [ExchangeID: Interaction] = [:]
  /// By age.
  var subscriptions: [Subscription] = []
  var nextSubscription: UInt32
  /// Events below this number were seen by the subscriptions.
  var distributedEvents: UInt64 = 0
  var bound = BoundCommands()
  /// What subscribers of an earlier run wait for.
  var resumptions: [PendingResumption] = []
  var published: [MatterService] = []
  /// The host's name in DNS-SD: that of the configuration, or one drawn since.
  var hostName: String
  /// The multicast addresses that messages to our groups come to.
  var joined: [IPAddress] = []
  var pase: PASEParameters?
  /// The keys of what is stored.
  var storedKeys: Set<String>
  /// Whether it has said goodbye; from then on it does nothing any more.
  public private(set) var isShutDown = false

  var effects: [Effect<DeviceEvent>] = []
  var effectsTaken = 0

  var now: Instant { context.node.now }

  /// Starts a device.
  /// - Parameters:
  ///   - endpoints: the application endpoints, with ids from 1. Endpoint 0, and a Descriptor on each, are added; what is
  ///     given for endpoint 0 takes precedence.
  ///   - stored: what earlier runs stored.
  ///   - random: where all randomness of the device comes from.
  public init(
    _ configuration: DeviceConfiguration, endpoints: [EndpointDefinition], stored: StoredState = [:],
    random: any RandomSource, signatures: any SignatureScheme = OpenSSLSignatures(), at now: Instant
  ) {
    self.configuration = configuration
    hostName = configuration.hostName
    self.endpoints = RootNode.complete(endpoints, configuration)
    var random = random
    let coreRandom = random.fork()
    nextSubscription = UInt32(truncatingIfNeeded: random.next())
    storedKeys = Set(stored.keys.filter { key in StoreKey.prefixes.contains { key.hasPrefix($0) } })
    var commissioning = CommissioningState()
    for (key, value) in stored.sorted(by: { $0.key < $1.key }) where key.hasPrefix("fabric/") {
      if let fabric = try? Fabric(tlv: value) { commissioning.put(fabric) }
    }
    commissioning.lastIndex =
      stored[StoreKey.lastFabricIndex].flatMap { try? UInt8(tlv: $0) }
      ?? commissioning.fabrics.last?.index.rawValue ?? 0
    context = ServerContext(
      NodeState(
        endpoints: self.endpoints, stored: stored, commissioning: commissioning, random: random, signatures: signatures,
        at: now))
    context.node.utc = configuration.epoch.flatMap { UTCClock(epoch: $0, at: now) }
    if stored[StoreKey.shutDown] != nil {
      // It ended by itself: what starts it again is no loss of power.
      context.node.bootReason = .softwareReset
      context.node.changes.append(StoreChange(StoreKey.shutDown, nil))
    }
    var limits = configuration.limits
    limits.parameters = configuration.parameters
    core = NodeCore(
      limits, random: coreRandom, signatures: signatures, fabrics: commissioning.fabrics,
      resumption: StoredResumption.records(in: stored, of: commissioning.fabrics),
      groupCounter: stored[StoreKey.groupCounter].flatMap { try? UInt32(tlv: $0) })
    distributedEvents = context.node.events.next
    noteComposition(stored[StoreKey.composition])
    start(stored[StoreKey.failSafe])
    resumeSubscriptions(stored)
    settle()
  }

  // MARK: Engine

  public mutating func handle(_ input: consuming Input, at now: Instant) {
    guard !isShutDown else { return }
    advance(to: now)
    switch consume input {
    case .datagram(let bytes, let address):
      context.node.traffic.received &+= 1
      core.receive(bytes, from: address, at: now)
    case .serviceConflict(.instance(let kind)): rename(kind)
    case .serviceConflict(.host(let name)): renameHost(name)
    case .serviceFound(let service): found(service)
    case .serviceLost: return
    }
    settle()
  }

  public mutating func advance(to now: Instant) {
    guard !isShutDown else { return }
    context.node.now = max(now, context.node.now)
    guard let deadline = nextDeadline, deadline <= now else { return }
    core.advance(to: now)
    runTimers()
    advanceBoundCommands()
    advanceResumptions()
    if let failSafe = context.node.commissioning.failSafe, failSafe.deadline <= now { context.expireFailSafe() }
    if let deadline = context.node.commissioning.window?.deadline, deadline <= now { context.closeWindow() }
    settle()
  }

  public var nextDeadline: Instant? {
    guard !isShutDown else { return nil }
    var result = Instant?.earlier(core.nextDeadline, context.node.commissioning.failSafe?.deadline)
    result = .earlier(result, .earlier(bound.deadline, resumptionDeadline))
    result = .earlier(result, context.node.commissioning.window?.deadline)
    for timer in context.node.timers { result = .earlier(result, timer.deadline) }
    for subscription in subscriptions { result = .earlier(result, subscription.deadline) }
    return result
  }

  public mutating func nextEffect() -> Effect<DeviceEvent>? {
    guard effectsTaken < effects.count else {
      effects.removeAll(keepingCapacity: true)
      effectsTaken = 0
      return nil
    }
    defer { effectsTaken += 1 }
    return effects[effectsTaken]
  }

  // MARK: Steps

  private mutating func start(_ failSafe: [UInt8]?) {
    // A crash in the middle of commissioning: what was done is undone now, as if the time had run out.
    if let failSafe, configuration.limits.defect != .keepsHalfCommissioning {
      context.node.commissioning.failSafe = FailSafe(undoing: failSafe, at: now)
      context.expireFailSafe()
      context.storeFailSafe()
    }
    start(Array(context.node.clusters.indices))
    context.node.wantsWindow = configuration.isCommissionable
  }

  /// What clusters do when what they are of gets its power.
  mutating func start(_ clusters: [Int]) {
    for cluster in clusters {
      let id = context.node.clusters[cluster].path.cluster
      if configuration.limits.defect == .ignoresStartUp, id == OnOff.id { continue }
      for start in context.node.clusters[cluster].server.starts { context.enterQuietly(cluster, start) }
    }
  }

  private mutating func runTimers() {
    // Timers that handlers set for now run in the next turn, so that none can keep us here.
    let now = now
    let due = context.node.timers.filter { $0.deadline <= now }.sorted { $0.deadline < $1.deadline }
    guard !due.isEmpty else { return }
    context.node.timers.removeAll { $0.deadline <= now }
    for timer in due {
      guard let body = context.node.clusters[timer.cluster].server.timers[timer.name] else { continue }
      context.enterQuietly(timer.cluster, as: .device, body)
    }
  }

  /// Carries out what follows from the last step, until nothing does.
  mutating func settle() {
    while true {
      core.trustedEpoch = trustedEpoch
      applyRequests(current: nil)
      commit()
      if let output = core.nextOutput() {
        react(to: output)
      } else {
        distributeChanges()
        reportToSubscribers()
        guard let output = core.nextOutput() else { break }
        react(to: output)
      }
    }
  }

  /// A clock that an administrator set, or a host's that was set by somebody.
  private var trustedEpoch: Int64? {
    guard let utc = context.node.utc else { return nil }
    let isPlausible = utc.microseconds(at: now) / 1_000_000 >= UInt64(NodeCore.earliestHostTime)
    return context.node.isTimeSet || isPlausible ? utc.epoch : nil
  }

  private mutating func react(to output: NodeOutput) {
    switch output {
    case .send(let bytes, let address):
      context.node.traffic.sent &+= 1
      effects.append(.send(bytes, to: address))
    case .message(let message): receive(message)
    case .sessionEstablished(let id, let handshake):
      sessionEstablished(id)
      if let handshake { connected(handshake) }
      resume(over: id, handshake)
    case .sessionClosed(let id, let session, let reason): sessionClosed(id, session, reason)
    case .paseAttemptFailed: context.countFailedAttempt()
    case .exchangeFailed(let exchange, let failure):
      switch interactions.removeValue(forKey: exchange) {
      case .reporting(let job)?: if let id = job.subscription { end(id) }
      case .controlling(let command)?: failed(command, failure, on: exchange.session)
      default: break
      }
    case .resumptionChanged(let record):
      let change = StoredResumption.change(record)
      // As many as the core keeps; which one goes does not matter, a full handshake is as good.
      let keys = storedKeys.filter { $0.hasPrefix("resumption/") }
      if keys.count >= configuration.limits.maximumResumptionRecords, !keys.contains(change.key),
        let first = keys.min()
      {
        context.node.changes.append(StoreChange(first, nil))
      }
      context.node.changes.append(change)
    case .groupMessage(let message): receive(message)
    case .groupCounterReserved(let counter):
      context.node.changes.append(StoreChange(StoreKey.groupCounter, counter.tlv, isDurable: true))
    case .handshakeFailed(let handshake, let error):
      failedToConnect(handshake)
      failedToResume(handshake, error)
    }
  }

  private mutating func sessionEstablished(_ id: SessionID) {
    guard let session = core.session(id), session.kind == .pase, !session.isInitiator else { return }
    context.node.commissioning.isPASEBusy = true
    // Whoever got in has to get on with it. Matter Core § 5.5.
    if context.node.commissioning.failSafe == nil {
      context.node.commissioning.failSafe = FailSafe(
        fabric: .none, session: id, for: .seconds(Int64(FailSafe.recommendedSeconds)), at: now)
    }
  }

  private mutating func sessionClosed(_ id: SessionID, _ session: SessionInfo, _ reason: SessionCloseReason) {
    for subscription in subscriptions where subscription.session == id { end(subscription.id) }
    for exchange in interactions.keys.sorted() where exchange.session == id {
      if case .controlling(let command)? = interactions.removeValue(forKey: exchange) {
        failed(command, .sessionClosed, on: id)
      }
    }
    // Gone before it came to a certificate: nobody is left to go on with it. A session that was before this one may linger for
    // as long as its last answer is not acknowledged.
    if session.kind == .pase, !session.isInitiator, let failSafe = context.node.commissioning.failSafe,
      failSafe.fabric == .none, failSafe.session == id, !failSafe.hasNOC
    {
      context.expireFailSafe()
    }
  }

  /// Hands over what is to be stored and told, before anything else goes out.
  mutating func commit() {
    for fabric in context.node.forgottenFabrics {
      let keys = storedKeys.filter { $0.hasPrefix(StoredResumption.prefix(fabric)) }.sorted()
      context.node.changes += keys.map { StoreChange($0, nil) }
    }
    context.node.forgottenFabrics.removeAll()
    if !context.node.changes.isEmpty {
      let changes = takeChanges()
      for change in changes {
        if change.value == nil { storedKeys.remove(change.key) } else { storedKeys.insert(change.key) }
      }
      if !changes.isEmpty { effects.append(.store(changes)) }
    }
    if !context.node.emitted.isEmpty {
      for event in context.node.emitted { effects.append(.emit(event)) }
      context.node.emitted.removeAll(keepingCapacity: true)
    }
  }

  /// What is to be stored now. A list that comes in several messages is stored as a whole, when its last message has come or
  /// nobody is left to send it: whoever is killed in between, as by a power cut, has the old list.
  private mutating func takeChanges() -> [StoreChange] {
    let changes = Self.lastOfEach(context.node.changes)
    context.node.changes.removeAll(keepingCapacity: true)
    var open: Set<String> = []
    for interaction in interactions.values { if case .writing(let job) = interaction { open.formUnion(job.lists) } }
    if open.isEmpty { return changes }
    context.node.changes = changes.filter { open.contains($0.key) }
    return changes.filter { !open.contains($0.key) }
  }

  /// Of several changes of one entry the last counts.
  static func lastOfEach(_ changes: [StoreChange]) -> [StoreChange] {
    guard changes.count > 1 else { return changes }
    var last: [String: Int] = [:]
    for (index, change) in changes.enumerated() { last[change.key] = index }
    return changes.enumerated().filter { last[$1.key] == $0 }.map(\.element)
  }

  /// Ends the engine's life: nothing comes in any more.
  mutating func stop() { isShutDown = true }
}
