public import CloudLink
package import HomeAutomation
public import HomeModel
public import HomeStore
public import Logging
internal import MatterCertificates
package import MatterController
public import MatterProtocol
public import NIOCore
public import Runtime

/// The controller of a home for async callers: an actor on the event loop that drives the engine.
public actor HomeController {
  /// The options for opening a home: its state and the network.
  public struct Options: Sendable {
    /// The directory of the persistent state.
    public var state: StateDirectory
    /// The network interfaces to use, and no others. If another process owns the home, its interfaces are used; see
    /// ``HubStatus/interfaces``.
    public var interfaces = InterfaceSelection.loopback
    /// The address of the addressed device, which is then not resolved by DNS-SD.
    public var address: MatterProtocol.SocketAddress?
    /// Known addresses of further devices; results of DNS-SD take precedence.
    public var addresses: [NodeID: MatterProtocol.SocketAddress] = [:]
    /// The implementation of DNS-SD, if any.
    public var discovery = ServiceDiscovery.Mode.auto
    /// The options for following devices.
    public var following = HomeConfiguration()
    /// The timeout of a request.
    public var timeout: Duration = .seconds(10)
    /// Changes the configurations before the home opens, for tests only.
    package var configure: @Sendable (inout HomeConfiguration, inout ControllerConfiguration) -> Void = { _, _ in }
    /// The machine that the controller runs on.
    public var machine: any Machine = HostMachine()
    /// The options for requests to clouds.
    public var clouds = CloudOptions()
    public var logger: Logger
    /// The virtual devices of this machine, for clients that are owners of the home; nil: none.
    package var simulation: (any SimulationControl)?
    /// The membership of an invited client in the fabric of the home. Then the home is in memory, and no lock is acquired.
    package var membership: FabricMembership?
    /// The home of an invited client, as known from its hub.
    package var known: HomeState?
    /// The time for DNS-SD to find a device; nil: ``timeout``, at most the default of the controller.
    package var discoveryTime: Duration?
    /// Distinguishes the homes in memory of this process.
    package var memberNumber: UInt64 = 0

    public init(state: StateDirectory, logger: Logger) {
      self.state = state
      self.logger = logger
    }

    var memberDirectory: String { "\(state.root)/member-\(memberNumber)" }
    var databasePath: String { membership == nil ? state.database : memberDirectory + "/home.sqlite" }
  }

  public nonisolated let eventLoop: any EventLoop
  public nonisolated let options: Options
  /// The time of opening, in microseconds since 1970.
  package let since: Int64
  package nonisolated let dispatcher: NIOLoopBound<HomeDispatcher>
  nonisolated let discovery: (any NodeDiscovery)?
  /// The lock on the files of the home; nil after closing.
  private var lock: OwnerLock?
  /// The observer queries and background deliveries; nil if the devices are not followed.
  package var center: ObserverCenter?
  /// Whether a call of ``follow()`` is in progress, and the calls that wait for it.
  var isStartingToFollow = false
  var followWaiters: [CheckedContinuation<Void, Never>] = []
  /// The number of revocations of invitations in progress.
  var revocations = 0
  /// Whether a server serves the home.
  private var isServed = false
  package private(set) var server: (any HomeServer)?
  /// Checks the clock periodically.
  var clockCheck: RepeatedTask?
  /// Stores the times of the last contacts periodically.
  var contactKeeping: RepeatedTask?
  /// Reports changes of the host's addresses.
  var interfaceMonitor: InterfaceMonitor?
  /// The time of the last run of ``clockCheck``, since boot.
  var clockCheckedAt = HostClock.sinceBoot()
  /// Nodes with a new session, which may have missed the deletion of a group.
  var newSessions: Set<NodeID> = []
  /// The cloud accounts in use, by name; all accounts if the devices are followed.
  package var clouds: [String: CloudConnection] = [:]

  public nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }

  private init(
    _ options: Options, _ lock: OwnerLock, _ dispatcher: NIOLoopBound<HomeDispatcher>, _ discovery: (any NodeDiscovery)?
  ) {
    self.options = options
    self.lock = lock
    self.dispatcher = dispatcher
    self.discovery = discovery
    since = options.machine.unixMicroseconds()
    eventLoop = dispatcher.eventLoop
  }

  /// Opens sockets and the store, and starts the engine. Must be closed with ``close()``.
  /// - Throws: ``HomeError`` `unreachable` if another owner holds the lock of the home.
  public static func open(_ options: Options) async throws(HomeError) -> HomeController {
    guard let lock = try lock(options) else { throw OwnerLock.held(options.state) }
    return try await open(options, lock)
  }

  /// Acquires the lock of the home; nil if another owner holds it.
  package static func lock(_ options: Options) throws(HomeError) -> OwnerLock? {
    guard options.machine.sharesFiles, options.membership == nil else { return .unshared }
    try options.state.check(options.logger)
    options.state.loadClusters(options.logger)
    return try OwnerLock.acquire(options.state)
  }

  package static func open(_ options: Options, _ lock: OwnerLock) async throws(HomeError) -> HomeController {
    let machine = options.machine
    let loop = machine.nextEventLoop()
    var discovery: (any NodeDiscovery)?
    do {
      if options.address == nil, options.discovery != .off {
        discovery = try machine.openDiscovery(
          options.discovery, options.interfaces, registry: options.state.responders, on: loop, logger: options.logger)
      }
      let database = try HomeDatabase.open(
        options.databasePath, isInMemory: !machine.sharesFiles || options.membership != nil,
        random: machine.makeRandom())
      if let known = options.known {
        try database.commit([HomeUpdate(HomeState().changes(to: known), at: machine.unixMicroseconds())])
      }
      let (stored, state) = (try database.load(), try database.controllerState())
      var following = options.following
      following.grace = try following.grace ?? database.settings().graceTime
      let dispatcher = try await loop.submit { [discovery, following] in
        // Certificates are valid from the earliest time, because the clocks of devices and of this host may be years
        // behind.
        var configuration = ControllerConfiguration(
          notBefore: ControllerConfiguration.earliestNotBefore, attestation: try TestAttestation.verifier(),
          signatures: machine.signatures)
        configuration.discoveryTime = min(configuration.discoveryTime, options.discoveryTime ?? options.timeout)
        configuration.membership = options.membership
        var following = following
        options.configure(&following, &configuration)
        var controller = try ControllerEngine(configuration, state: state, random: machine.makeRandom())
        let now = Instant(nanoseconds: Int64(clamping: loop.now.uptimeNanoseconds))
        let transport = try machine.openTransport(options.interfaces, port: nil, on: loop)
        if options.membership == nil {
          controller.announce(port: transport.addresses.first?.port ?? transport.port)
        }
        let engine = HomeEngine(
          controller, following, state: stored.state, contacts: stored.contacts, versions: stored.versions,
          trials: stored.trials, epoch: machine.unixMicroseconds() - now.nanoseconds / 1000, at: now)
        let writer = HomeWriter(database, contacts: stored.contacts, on: loop, machine.makeWorker())
        writer.onEvent = { $0.log(to: options.logger) }
        let store = ControllerStore(writer, state: state)
        let host = EngineHost(
          engine, transport: transport, store: store, discovery: discovery, logger: options.logger)
        return NIOLoopBound(HomeDispatcher(host, writer, store), eventLoop: loop)
      }.get()
      let home = HomeController(options, lock, dispatcher, discovery)
      await home.begin()
      return home
    } catch {
      // The event loop retains the sockets of discovery until it is stopped; the database closes when it is released.
      _ = try? await discovery?.stop().get()
      if options.membership != nil { InMemoryHomes.remove(below: options.memberDirectory) }
      if options.membership == nil, case .certificate(let text)? = error as? ControllerError {
        throw HomeError(.internalError, "\(options.databasePath): \(text); restore a copy", cause: error)
      }
      throw HomeError(opening: error)
    }
  }

  private func begin() {
    dispatcher.value.stream.observers.wake = { [machine = options.machine] body in _ = machine.task { body() } }
    // These closures retain the controller until it is closed.
    dispatcher.value.stream.observers.access = { [self] in self }
    noteClock()
    followInterfaces()
    dispatcher.value.onSession = { [self] node in _ = newSessions.insert(node) }
    dispatcher.value.onFullAccessList = { [self] node in noteFullAccessList(node) }
    checkClock()
  }

  /// Closes the server of the home, stores pending changes, and closes the sockets and the store.
  public func close() async {
    await server?.close()
    // A controller that follows the devices removes missed groups when a device becomes reachable.
    if center == nil { await leaveMissedGroups() }
    stopWatching()
    let ending = center.take()
    await ending?.end()
    endClouds()
    let drops = drops
    if !drops.isEmpty {
      let text = drops.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
      options.logger.debug("dropped messages: \(text)")
    }
    let contacts = dispatcher.value.reducer.contacts
    dispatcher.value.stop()
    _ = try? await dispatcher.value.writer.close(contacts).get()
    if let discovery { _ = try? await discovery.stop().get() }
    if options.membership != nil { InMemoryHomes.remove(below: options.memberDirectory) }
    // Released after everything is stored, because the next owner loads the stored state.
    lock = nil
  }

  private func stopWatching() {
    clockCheck?.cancel()
    contactKeeping?.cancel()
    interfaceMonitor?.stop()
  }

  /// Closes the home as a power failure does: sends no messages and stores nothing. Must be called on the event loop.
  package nonisolated func abandon() {
    assumeIsolated { controller in
      controller.stopWatching()
      controller.endClouds()
      controller.center?.assumeIsolated { $0.stop(recording: false) }
      controller.center = nil
      controller.dispatcher.value.abandon()
      controller.lock = nil
    }
  }

  /// Reserves the home for a server.
  /// - Returns: false if there already is one.
  package func beginServing() -> Bool {
    defer { isServed = true }
    return !isServed
  }

  /// Registers the server that begins to accept clients.
  package func register(_ server: any HomeServer) { self.server = server }

  package func endServing() { (isServed, server) = (false, nil) }

  /// Counts of dropped messages, by reason.
  package var drops: [String: Int] {
    var drops: [String: Int] = [:]
    for (reason, count) in dispatcher.value.perform({ engine, _ in engine.drops.all }) {
      drops[reason.rawValue] = count
    }
    return drops.merging(dispatcher.value.host.transport.counters.drops) { $0 + $1 }
  }

  /// The counters of the controller since its start, and its present sessions and subscriptions.
  package var metrics: NodeMetrics {
    var metrics = dispatcher.value.perform { engine, _ in engine.metrics }
    metrics.drops.merge(dispatcher.value.host.transport.counters.drops) { $0.saturatingAdd($1) }
    return metrics
  }

  package var nodes: [PeerRecord] { dispatcher.value.perform { engine, _ in engine.nodes } }

  /// The fabric, and the controller's own node in it.
  public var fabric: HomeFabric {
    dispatcher.value.perform { engine, _ in
      HomeFabric(
        id: engine.fabric.fabricID, compressedID: engine.fabric.compressedFabricID, nodeID: engine.fabric.nodeID,
        rootPublicKey: engine.fabric.rootPublicKey)
    }
  }

  // MARK: Operations

  /// Starts an operation with the timeout of the request.
  typealias NodeOperation = (inout ControllerEngine, _ timeout: Duration, Instant) -> OperationID

  /// Starts an operation of a node and waits for its outcome. Canceling the task cancels the operation.
  /// - Parameter what: the name of the operation in the list of pending work, such as “a read request”.
  func run(_ what: String, _ node: NodeID, _ start: NodeOperation) async throws(HomeError) -> OperationOutcome {
    try checkFabric(node)
    setAddress(of: node)
    let timeout = timeout
    return try await run(what, node, onEvent: nil) { (engine: inout HomeEngine, now) in
      engine.begin(node, at: now) { start(&$0, timeout, $1) }
    }
  }

  func run(
    _ what: String, _ node: NodeID? = nil, onEvent: ((ControllerEvent) -> Void)?,
    _ start: (inout HomeEngine, Instant) -> OperationID
  ) async throws(HomeError) -> OperationOutcome {
    noteClock()
    let wait = PendingWork.begin("\(name(of: node)) to answer \(what)")
    defer { wait?.end() }
    let id = dispatcher.value.begin(onEvent: onEvent, start)
    switch await outcome(of: id) {
    case .success(let success): return success
    case .failure(let error):
      if let failure = dispatcher.value.storeFailure { throw HomeError(.internalError, "\(failure)", cause: failure) }
      // Without a session the request was not sent: the device is unreachable.
      if error == .timedOut, let node, !isConnected(node) {
        throw HomeError(ControllerError.unreachable, searched: searched)
      }
      throw HomeError(error, searched: searched)
    }
  }

  /// Waits for the end of an operation, which is canceled with the task.
  func outcome(of id: OperationID) async -> HomeDispatcher.Outcome {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        dispatcher.value.wait(for: id) { continuation.resume(returning: $0) }
      }
    } onCancel: {
      eventLoop.execute { [dispatcher] in dispatcher.value.cancel(id) }
    }
  }

  /// The interfaces that discovery uses; nil without discovery.
  private var searched: InterfaceSelection? { discovery == nil ? nil : options.interfaces }

  /// Returns the name of a node's device; of a bridge, not of a device behind it.
  package func name(of node: NodeID?) -> String {
    guard let node else { return "a device" }
    return dispatcher.value.reducer.state.device(of: SourceID(node))?.name ?? "node \(node)"
  }

  /// Passes the time of the host to the engine, because the clock may have been set, or the host suspended.
  package func noteClock() {
    let machine = options.machine
    // A host without a battery-backed clock starts in 1970, which must not be used to validate certificates.
    let seconds = Int64(machine.matterSeconds())
    dispatcher.value.host.perform { engine, now in
      let isRight = seconds > NodeCore.earliestHostTime || !engine.configuration.hooks.rejectsUnsetClock
      engine.noteClock(machine.unixMicroseconds(), at: now)
      let time: Duration? = isRight ? .seconds(seconds) : nil
      engine.perform(at: now) { controller, now in controller.setCurrentTime(time, at: now) }
    }
  }

  /// The state of the connectivity debouncer, for clients. Must be called on the event loop.
  package nonisolated var debouncerState: DebouncerState {
    dispatcher.value.host.perform { engine, now in engine.debouncerState(at: now) }
  }

  /// The ids of the established subscriptions. Must be called on the event loop.
  package nonisolated var establishedSubscriptions: [UInt32] {
    dispatcher.value.perform { engine, _ in engine.establishedSubscriptions }
  }

  func isConnected(_ node: NodeID) -> Bool { dispatcher.value.perform { engine, _ in engine.isConnected(node) } }

  /// The timeout of a request: that of its caller, or of this process.
  var timeout: Duration { RequestOptions.current.timeout ?? options.timeout }

  /// Passes the address of a node, if the caller of the request or this process is configured with one, to the engine.
  package func setAddress(of node: NodeID) {
    let caller = RequestOptions.current
    guard
      let address = caller.address ?? caller.addresses?[node] ?? options.address ?? options.addresses[node]
    else { return }
    dispatcher.value.perform { engine, _ in engine.setAddress(address, of: node) }
  }
}
