public import MatterCrypto
internal import MatterClusters
internal import MatterModel
public import MatterProtocol

/// A Matter device: everything between datagrams and the cluster servers. A value without I/O, see `Engine`.
///
/// It consists of the messaging core, the node's state with its servers, and the interactions in progress between them.
public struct DeviceEngine: Engine {
  public typealias Event = DeviceEvent

  public internal(set) var configuration: DeviceConfiguration {
    get { context.node.configuration }
    set { context.node.configuration = newValue }
  }
  var core: NodeCore
  /// Owns the node's state.
  var context: ServerContext
  var interactions: [ExchangeID: Interaction] = [:]
  /// Sorted by age, oldest first.
  var subscriptions: [Subscription] = []
  var nextSubscription: UInt32
  /// Events below this number have been passed to the subscriptions.
  var distributedEvents: UInt64 = 0
  var bound = BoundCommands()
  /// The Check-In messages of the current active mode.
  var checkIns: [PendingCheckIn] = []
  /// Subscriptions of an earlier run that wait for a session.
  var resumptions: [PendingResumption] = []
  /// Requests that a hook delays, in the order of their arrival.
  var delayed: [DelayedRequest] = []
  /// When a hook drops the sessions.
  var nextSessionDrop: Instant?
  var published: [MatterService] = []
  /// The DNS-SD host name: that of the configuration, or a new one after a conflict.
  var hostName: String
  /// The multicast addresses of the node's groups.
  var joined: [IPAddress] = []
  var pase: PASEParameters?
  /// The keys of the engine's entries in the store.
  var storedKeys: Set<String>
  /// Whether the device was shut down. It ignores all further input.
  public private(set) var isShutDown = false

  /// An idle device keeps no memory for the effects of its start.
  var effects = OutputQueue<Effect<DeviceEvent>>(keptCapacity: 4)

  var now: Instant { context.node.now }

  /// Starts a device.
  /// - Parameters:
  ///   - endpoints: The application endpoints, with ids from 1. Endpoint 0, and a Descriptor on each, are added; a
  ///     definition of endpoint 0 takes precedence.
  ///   - stored: The entries that earlier runs stored.
  ///   - random: The source of all randomness of the device.
  public init(
    _ configuration: DeviceConfiguration, endpoints: [EndpointDefinition], stored: StoredState = [:],
    random: any RandomSource, signatures: any SignatureScheme = OpenSSLSignatures(), at now: Instant
  ) {
    var configuration = configuration
    if let software = stored[StoreKey.software].flatMap({ try? InstalledSoftware(tlv: $0) }) {
      (configuration.softwareVersion, configuration.softwareVersionString) = (software.version, software.text)
    }
    configuration.applySleep()
    hostName = configuration.hostName
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
        configuration, endpoints: RootNode.complete(endpoints, configuration), stored: stored,
        commissioning: commissioning, random: random,
        signatures: signatures,
        at: now))
    // The server has the value.
    context.node.configuration.networkInterfaces = []
    context.node.sleep = configuration.sleep.map { SleepState($0, at: now) }
    nextSessionDrop = configuration.hooks.sessionDropInterval.map { now + $0 }
    context.node.utc = configuration.epoch.flatMap { UTCClock(epoch: $0, at: now) }
    if stored[StoreKey.shutDown] != nil {
      // The last run ended with an orderly shutdown, so this start does not follow a loss of power.
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
    updateConfigurationVersion(stored[StoreKey.composition])
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
      guard !isAsleep(for: bytes, from: address) else { break }
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
    advanceSleep()
    runTimers()
    advanceBoundCommands()
    advanceResumptions()
    advanceHooks()
    if let deadline = context.node.commissioning.failSafeDeadline, deadline <= now { context.expireFailSafe() }
    if let deadline = context.node.commissioning.window?.deadline, deadline <= now { context.closeWindow() }
    settle()
  }

  public var nextDeadline: Instant? {
    guard !isShutDown else { return nil }
    var result = Instant?.earlier(core.nextDeadline, context.node.commissioning.failSafeDeadline)
    result = .earlier(result, .earlier(bound.deadline, resumptionDeadline))
    result = .earlier(result, context.node.commissioning.window?.deadline)
    result = .earlier(result, .earlier(hookDeadline, sleepDeadline))
    // By index, since an iterator copies the elements.
    for index in context.node.timers.indices { result = .earlier(result, context.node.timers[index].deadline) }
    guard context.node.hooks.sendsReports else { return result }
    for index in subscriptions.indices { result = .earlier(result, subscriptions[index].deadline) }
    return result
  }

  public mutating func nextEffect() -> Effect<DeviceEvent>? { effects.next() }

  // MARK: Steps

  private mutating func start(_ failSafe: [UInt8]?) {
    // A crash interrupted commissioning: undo its changes as if the fail-safe had expired.
    if let failSafe, hooks.revertsCommissioningAtStart {
      context.node.commissioning.failSafe = FailSafe(undoing: failSafe, at: now)
      context.expireFailSafe()
      context.storeFailSafe()
    }
    start(Array(context.node.clusters.indices))
    context.node.wantsWindow = configuration.isCommissionable
  }

  /// Runs the start handlers of clusters at power-up.
  mutating func start(_ clusters: [Int]) {
    for cluster in clusters {
      let id = context.node.clusters[cluster].path.cluster
      if id == OnOff.id, !hooks.appliesStartUpOnOff { continue }
      for start in context.node.clusters[cluster].server.starts { context.enterQuietly(cluster, start) }
    }
    for cluster in clusters {
      for body in context.node.clusters[cluster].server.startedHandlers { context.enterQuietly(cluster, body) }
    }
  }

  private mutating func runTimers() {
    // Timers that handlers schedule for the current time run in the next turn, so that this loop ends.
    let now = now
    let due = context.node.timers.filter { $0.deadline <= now }.sorted { $0.deadline < $1.deadline }
    guard !due.isEmpty else { return }
    context.node.timers.removeAll { $0.deadline <= now }
    for timer in due {
      guard let body = context.node.clusters[timer.cluster].server.timers[timer.id] else { continue }
      context.enterQuietly(timer.cluster, as: .device, body)
    }
  }

  /// Processes output and state changes until none are left.
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
        if let output = core.nextOutput() { react(to: output) } else if !updateSleep() { break }
      }
    }
  }

  /// The epoch for certificate validation: from a clock that an administrator set, or a plausible host clock.
  private var trustedEpoch: Int64? {
    guard let utc = context.node.utc else { return nil }
    let isPlausible = utc.microseconds(at: now) / 1_000_000 >= UInt64(NodeCore.earliestHostTime)
    return context.node.isTimeSet || isPlausible ? utc.epoch : nil
  }

  private mutating func react(to output: NodeOutput) {
    switch output {
    case .send(let bytes, let address):
      noteActivity()
      context.node.traffic.sent &+= 1
      effects.append(.send(bytes, to: address))
    case .message(let message):
      noteActivity()
      admit(message)
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
      case .downloading(let download)?: failed(download, failure, on: exchange.session)
      default: break
      }
    case .resumptionChanged(let record):
      let change = StoredResumption.change(record)
      // Store as many records as the core keeps. Any record can be evicted: its peer falls back to a full handshake.
      let keys = storedKeys.filter { $0.hasPrefix("resumption/") }
      if keys.count >= configuration.limits.maximumResumptionRecords, !keys.contains(change.key),
        let first = keys.min()
      {
        context.node.changes.append(StoreChange(first, nil))
      }
      context.node.changes.append(change)
    case .groupMessage(let message): receive(message)
    // A device is not a client of others.
    case .checkIn: break
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
    // A PASE session arms the fail-safe, so that an abandoned commissioning ends. Matter Core § 5.5.
    if context.node.commissioning.failSafe == nil {
      context.node.commissioning.failSafe = FailSafe(
        fabric: .none, session: id, for: .seconds(Int64(FailSafe.recommendedSeconds)), at: now)
    }
  }

  private mutating func sessionClosed(_ id: SessionID, _ session: SessionInfo, _ reason: SessionCloseReason) {
    for subscription in subscriptions where subscription.session == id { end(subscription.id) }
    for exchange in interactions.keys.sorted() where exchange.session == id {
      switch interactions.removeValue(forKey: exchange) {
      case .controlling(let command)?: failed(command, .sessionClosed, on: id)
      case .downloading(let download)?: failed(download)
      default: break
      }
    }
    // The session closed before AddNOC, so commissioning can't continue. The id is compared because a previous session
    // may linger until its last response is acknowledged.
    if session.kind == .pase, !session.isInitiator, let failSafe = context.node.commissioning.failSafe,
      failSafe.fabric == .none, failSafe.session == id, !failSafe.hasNOC
    {
      context.expireFailSafe()
    }
  }

  /// Turns pending store changes and events into effects, before any other effect.
  mutating func commit() {
    context.drainBatteries()
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
      context.node.emitted.removeAll(keepingCapacity: context.node.emitted.count <= 4)
    }
  }

  /// Returns the store changes to perform now. A list that is written in several messages is stored as a whole after
  /// the last message or the end of the exchange, so that a loss of power in between leaves the old list.
  private mutating func takeChanges() -> [StoreChange] {
    let changes = Self.lastOfEach(context.node.changes)
    context.node.changes = []
    var open: Set<String> = []
    for interaction in interactions.values { if case .writing(let job) = interaction { open.formUnion(job.lists) } }
    if open.isEmpty { return changes }
    context.node.changes = changes.filter { open.contains($0.key) }
    return changes.filter { !open.contains($0.key) }
  }

  /// Keeps the last of several changes to the same entry.
  static func lastOfEach(_ changes: [StoreChange]) -> [StoreChange] {
    guard changes.count > 1 else { return changes }
    var last: [String: Int] = [:]
    for (index, change) in changes.enumerated() { last[change.key] = index }
    return changes.enumerated().filter { last[$1.key] == $0 }.map(\.element)
  }

  /// Stops the engine. It ignores all further input.
  mutating func stop() { isShutDown = true }
}
