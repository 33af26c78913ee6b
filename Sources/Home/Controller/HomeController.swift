internal import MatterCertificates
public import MatterController
public import Logging
public import MatterModel
public import MatterProtocol
public import NIOCore
public import Runtime

/// The controller of a home for async callers: an actor on the event loop that drives the engine.
public actor HomeController {
  /// The access of a controller to the stored state.
  public enum Access: Hashable, Sendable {
    /// Reads the state and stores nothing; for any number of processes.
    case readOnly
    /// Exclusive access to the store, required for commissioning and removal.
    case exclusive
  }

  /// The options for opening a home: its state, the access to it, and the network.
  public struct Options: Sendable {
    /// The directory of the persistent state.
    public var state: StateDirectory
    public var access = Access.readOnly
    /// The network interfaces to use, and no others.
    public var interfaces = InterfaceSelection.loopback
    /// The address of the addressed device, which is then not resolved by DNS-SD.
    public var address: MatterProtocol.SocketAddress?
    /// Additional attestation roots and declaration signers for new devices, besides the public test roots.
    public var trust: TrustStore?
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

    public init(state: StateDirectory, logger: Logger) {
      self.state = state
      self.logger = logger
    }
  }

  public nonisolated let eventLoop: any EventLoop
  public nonisolated let options: Options
  nonisolated let edge: NIOLoopBound<HomeEdge>
  private nonisolated let discovery: (any NodeDiscovery)?
  /// The right to follow the devices, while we have it.
  var follower: FollowerLock?
  /// The right to wake observers that last, while we have it. Whoever follows the devices need not be the one.
  var waker: FollowerLock?
  var isTakingOver = false
  /// Rings for observers, and notices what other processes write; while the home is followed.
  var center: ObserverCenter?
  /// Looks whether the right to follow is free.
  var polling: RepeatedTask?
  /// Has it stored when devices were heard.
  var contactKeeping: RepeatedTask?
  /// How often it was looked by ``polling``.
  var looks = 0
  /// When it looked last, since the machine was started.
  var lookedAt = HostClock.sinceBoot()
  /// Whether nodes may be in the fabric that we have not taken over.
  var isAdoptionDue = false
  /// When it was read last what another process knows of that.
  var contactsRead: NIODeadline?
  /// Whether another process may know more by now.
  var isContactReadingDue = false
  /// Nodes that sessions began with, which may have missed that a group was deleted.
  var newSessions: Set<NodeID> = []
  /// When nodes with an older session are next looked at for deleted groups, since the machine was started.
  var nextLeaving = HostClock.sinceBoot()
  /// Readings of the grace time: how many were begun, and the last one that came into force.
  var graceReadings = (begun: 0, inForce: 0)
  /// The accounts at makers' clouds that were needed yet, by name; where we follow the devices, all.
  var clouds: [String: CloudLink] = [:]
  /// The nodes that requests are under way to.
  var permits: [NodeID: SessionPermit] = [:]
  /// How often it was begun to read the accounts, and which reading is the one in force.
  var cloudReadings = (begun: 0, inForce: 0)

  public nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }

  private init(_ options: Options, _ edge: NIOLoopBound<HomeEdge>, _ discovery: (any NodeDiscovery)?) {
    self.options = options
    self.edge = edge
    self.discovery = discovery
    eventLoop = edge.eventLoop
  }

  /// Opens sockets and the store, and starts the engine. Must be closed with ``close()``.
  public static func open(_ options: Options) async throws(HomeError) -> HomeController {
    let machine = options.machine
    let loop = machine.nextEventLoop()
    do {
      if machine.sharesFiles { try options.state.check(options.logger) }
      var discovery: (any NodeDiscovery)?
      if options.address == nil, options.discovery != .off {
        discovery = try machine.openDiscovery(
          options.discovery, options.interfaces, registry: options.state.responders, on: loop, logger: options.logger)
      }
      let database = try HomeDatabase.open(
        options.state.database, isPassing: !machine.sharesFiles, random: machine.makeRandom())
      // Before the home is loaded: a node that is not a device in there is one of which that has what was asked for it.
      let nodes = options.access == .readOnly ? try machine.storedState(of: options.state.controller) : [:]
      let stored = try database.load()
      var following = options.following
      following.grace = try following.grace ?? database.grace()
      let trustsTestDevices = try database.trustsTestDevices()
      let isFollowed = FollowerLock.isAlive(options.state, at: HostClock.unixMicroseconds())
      let edge = try await loop.submit { [discovery, following] in
        let store: any NodeStore
        switch options.access {
        case .readOnly: store = MemoryStore(nodes)
        case .exclusive: store = try machine.openStore(options.state.controller)
        }
        let whole = SessionCache(
          over: store, isReadOnly: options.access == .readOnly, in: options.state, on: machine, loop)
        // Valid from the beginning of time: devices have clocks that are behind by years, and so may this host.
        var configuration = ControllerConfiguration(
          notBefore: ControllerConfiguration.earliestNotBefore, attestation: try TestAttestation.verifier(),
          signatures: machine.signatures)
        options.trust?.extend(&configuration.attestation)
        configuration.attestation.acceptsTestKeys = trustsTestDevices
        configuration.mayStore = options.access == .exclusive
        configuration.discoveryTime = min(configuration.discoveryTime, options.timeout)
        var following = following
        options.configure(&following, &configuration)
        let controller = try ControllerEngine(configuration, state: try whole.load(), random: machine.makeRandom())
        let now = Instant(nanoseconds: Int64(clamping: loop.now.uptimeNanoseconds))
        var engine = HomeEngine(
          controller, following, state: stored.state, contacts: stored.contacts, versions: stored.versions,
          trials: stored.trials, wishes: stored.wishes, epoch: machine.unixMicroseconds() - now.nanoseconds / 1000,
          at: now)
        engine.setPassive(isFollowed, at: now)
        let transport = try machine.openTransport(options.interfaces, port: nil, on: loop)
        let host = EngineHost(
          engine, transport: transport, store: whole, discovery: discovery, logger: options.logger)
        let keeper = HomeKeeper(
          database, anchor: stored.anchor, contacts: stored.contacts, on: loop, machine.makeWorker())
        keeper.onNews = { $0.log(to: options.logger) }
        return NIOLoopBound(HomeEdge(host, keeper), eventLoop: loop)
      }.get()
      let home = HomeController(options, edge, discovery)
      await home.begin()
      return home
    } catch {
      throw HomeError(opening: error)
    }
  }

  private func begin() {
    edge.value.observers.wake = { [machine = options.machine] body in _ = machine.task { body() } }
    edge.value.observers.make = { [unowned self] entry, reducer in value(of: entry, reducer) }
    noteClock()
    edge.value.onSession = { [unowned self] node in _ = newSessions.insert(node) }
    watchFollower()
  }

  /// Stores pending changes and closes the sockets and the store.
  public func close() async {
    polling?.cancel()
    // Where devices are followed, it was done as each came back.
    if center == nil { await leaveMissedGroups() }
    contactKeeping?.cancel()
    endClouds()
    // Whoever is about to take over finds that there is nobody to do so.
    let ending = center.take()
    await ending?.end()
    let drops = drops
    if !drops.isEmpty {
      let text = drops.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
      options.logger.debug("messages that were not taken in: \(text)")
    }
    let contacts = edge.value.ownContacts
    edge.value.keepOverheard()
    edge.value.stop()
    _ = try? await edge.value.keeper.close(contacts).get()
    // The next process begins with what is stored: not before everything is.
    (follower, waker) = (nil, nil)
    if let discovery { _ = try? await discovery.stop().get() }
  }

  /// Lets go of everything as it is, as a loss of power does: nobody is told, and nothing more is stored. To be called on the
  /// event loop.
  package nonisolated func abandon() {
    assumeIsolated { controller in
      controller.polling?.cancel()
      controller.contactKeeping?.cancel()
      controller.endClouds()
      controller.center?.assumeIsolated { $0.stop(recording: false) }
      controller.center = nil
      (controller.follower, controller.waker) = (nil, nil)
      controller.edge.value.abandon()
    }
  }

  /// Counts of dropped messages, by reason.
  public var drops: [String: Int] {
    var drops: [String: Int] = [:]
    for (reason, count) in edge.value.perform({ engine, _ in engine.drops.all }) { drops[reason.rawValue] = count }
    return drops.merging(edge.value.host.transport.counters.drops) { $0 + $1 }
  }

  /// The nodes of the fabric.
  public var nodes: [PeerRecord] { edge.value.perform { engine, _ in engine.nodes } }

  /// The controller's own membership in its fabric: (fabric id, compressed fabric id, node id).
  public var fabric: (id: FabricID, compressedID: UInt64, nodeID: NodeID) {
    edge.value.perform { engine, _ in
      (engine.fabric.fabricID, engine.fabric.compressedFabricID, engine.fabric.nodeID)
    }
  }

  /// The public key of the fabric's root certificate, 65 bytes, which identifies the fabric.
  public var rootPublicKey: [UInt8] { edge.value.perform { engine, _ in engine.fabric.rootPublicKey } }

  // MARK: Operations

  /// Begins an operation and waits for its end. Cancelling the task cancels the operation.
  /// - Parameter what: as somebody is told who asks what is waited for: “a reading”.
  func run(
    _ what: @autoclosure () -> String, _ node: NodeID? = nil, onEvent: ((ControllerEvent) -> Void)? = nil,
    _ start: (inout ControllerEngine, Instant) -> OperationID
  ) async throws(HomeError) -> OperationOutcome {
    if let node {
      try checkFabric(node)
      point(node)
    }
    lookForFollower()
    noteClock()
    let hasPermit = await enter(node)
    defer { if hasPermit { leave(node) } }
    let wait = PendingWork.begin("\(name(of: node)) to answer \(what())")
    defer { wait?.end() }
    let id = edge.value.begin(node, onEvent: onEvent, start)
    let outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        edge.value.wait(for: id) { continuation.resume(returning: $0) }
      }
    } onCancel: {
      eventLoop.execute { [edge] in edge.value.cancel(id) }
    }
    switch outcome {
    case .success(let success): return success
    case .failure(let error):
      if let failure = edge.value.storeFailure { throw HomeError(.internalError, "\(failure)", cause: failure) }
      // A request that never got through did not time out: nobody was there.
      if error == .timedOut, let node, !isConnected(node) {
        throw HomeError(ControllerError.unreachable, searched: searched)
      }
      throw HomeError(error, searched: searched)
    }
  }

  /// The interfaces on which devices are looked for; nil: they are not.
  private var searched: InterfaceSelection? { discovery == nil ? nil : options.interfaces }

  /// How the home calls a device, or the bridge that devices are behind.
  func name(of node: NodeID?) -> String {
    guard let node else { return "a device" }
    let state = edge.value.reducer.state
    let known = state.orderedDevices.first { $0.sources.contains { $0.id.node == node && !$0.id.isBridged } }
    return known?.name ?? "node \(node)"
  }

  /// The clock may have been set, or may not have run for a while, as that of a machine that slept.
  func noteClock() {
    let machine = options.machine
    // A host without a clock of its own begins in 1970: that is no time to judge a certificate by.
    let seconds = Int64(machine.matterSeconds())
    edge.value.host.perform { engine, now in
      let isRight = seconds > NodeCore.earliestHostTime || !engine.configuration.hooks.rejectsUnsetClock
      engine.noteClock(machine.unixMicroseconds(), at: now)
      engine.perform(at: now) { controller, now in controller.setCurrentTime(isRight ? seconds : nil, at: now) }
    }
  }

  /// What clients need to say the same of how devices have been lately. To be asked on the home's own loop.
  package nonisolated var settling: DebouncerState {
    edge.value.host.perform { engine, now in engine.settlingState(at: now) }
  }

  /// The numbers that devices gave the subscriptions that stand now. To be asked on the home's own loop.
  package nonisolated var establishedSubscriptions: [UInt32] {
    edge.value.perform { engine, _ in engine.establishedSubscriptions }
  }

  func isConnected(_ node: NodeID) -> Bool { edge.value.perform { engine, _ in engine.isConnected(node) } }

  /// Tells the engine where the node is, if we were told.
  func point(_ node: NodeID) {
    guard let address = options.address ?? options.addresses[node] else { return }
    edge.value.perform { engine, _ in engine.setAddress(address, of: node) }
  }
}
