package import HomeAutomation
package import HomeControl
package import HomeModel
internal import HomeStore
public import Logging
internal import MatterController
internal import MatterModel
internal import MatterProtocol
package import NIOCore
public import Runtime
internal import Synchronization

/// A home used through the nearest route that works. An actor on its own event loop.
public actor HubClient {
  /// The routes of a client, and their timeouts.
  public struct Options: Sendable {
    /// The routes, the nearest first.
    public var routes: [HubRoute]
    /// The name of this client in the hub's list of clients; clients with a token have the name of their invitation.
    public var name: String
    /// The token of the invitation; nil for processes of the hub's own user.
    public var token: String?
    /// How hubs on the network are recognized.
    public var trust = HubTrust()
    /// The identity of the home, from an invitation; nil: that of the first working route. Routes to other homes are refused.
    public var home: String?
    /// The timeout of requests and of the first synchronization. Requests to a device have a slightly longer one.
    public var timeout: Duration = .seconds(10)
    /// The delay of the first reconnection attempt, doubled for each further one.
    public var firstPause: Duration = .milliseconds(100)
    /// The maximum delay between reconnection attempts.
    public var longestPause: Duration = .seconds(5)
    /// The timeout of a connection attempt, after which its route counts as failed.
    public var connectTimeout: Duration = .seconds(5)
    /// The time without a message after which the connection to a hub is closed; it sends one every five seconds.
    public var silence: Duration = .seconds(20)
    /// The time without an answer after which another route is used, if one works. Eight times as long if answers were
    /// late on both routes shortly before.
    public var routeTimeout: Duration = .milliseconds(1200)
    /// The time for which a nearer route must work without a delay before it is used again. Doubled with each further
    /// failure of the route within 10 minutes, at most to 32 times. An invited client that uses its own sessions uses a
    /// hub again at once, unless the hub was late shortly before.
    public var stableTime: Duration = .seconds(5)
    /// The limits of observer queries, except the period: timeout and retries of their handlers.
    package var delivery = DeliverySchedule.Limits()
    public var logger: Logger
    /// The own sessions of an invited client with the devices; nil: all requests use the routes.
    package var direct: DirectAccess?
    /// The machine that the client runs on, except its network.
    public var machine: any Machine = HostMachine()

    public init(routes: [HubRoute], name: String, logger: Logger) {
      (self.routes, self.name, self.logger) = (routes, name, logger)
    }

    /// The interval at which a hub is probed while it sends nothing; nil with a single route.
    var probeInterval: Duration? { routeCount > 1 ? selectionTimes.timeout / 6 : nil }

    var routeCount: Int { routes.count + (direct == nil ? 0 : 1) }

    /// Whether the client uses the files of the home through their owner, on this machine.
    var usesOwner: Bool { routes.contains { if case .peer = $0 { true } else { false } } }

    /// The time to wait for a working route. An owner has more time than its devices: its failure is reported after the
    /// timeout of a connection attempt.
    var reachTimeout: Duration { usesOwner ? max(timeout, connectTimeout * 2) : timeout }

    var selectionTimes: RouteSelection.Times {
      .init(timeout: min(max(routeTimeout, .milliseconds(60)), .seconds(86_400)), stable: stableTime)
    }
  }

  /// The received home. Confined to the event loop.
  final class View: HomeView {
    var reducer = HomeReducer()
    let stream = HomeStream()
  }

  struct Route {
    var link: any RouteLink
    var locality: DataSourceLocality
    var isStarted = false
    /// The home as received from the route while another one is used.
    var standby: StandbyHome?
  }

  package nonisolated let eventLoop: any EventLoop
  public nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }

  nonisolated let options: Options
  nonisolated let box: NIOLoopBoundBox<View>
  var routes: [Route] = []
  private let sharedLink = Mutex<SharedLink?>(nil)
  /// The own sessions with the devices, the last of the routes.
  var member: MemberLink?
  var renewal: Task<Void, Never>?
  private(set) var selection: RouteSelection
  /// The index of the route that is used.
  var active: Int?
  private var selecting: Scheduled<Void>?
  /// Reports changes of this host's addresses.
  var interfaceMonitor: InterfaceMonitor?
  var addresses: Set<IPAddress> = []
  /// The index of the route from which the state was received.
  var source: Int?
  /// The role that a hub has given this client; nil: none yet.
  package private(set) var role: HomeRole?
  private var failure: HomeError?
  private(set) var isClosed = false
  /// Callers that wait for a working route or for the first synchronization.
  private let waiters: Waiters
  private var debounceTimer: Scheduled<Void>?
  private var clock: HomeClock
  var queries: ObserverQueries
  /// The queries whose execution waits for the status of the owner.
  var startingQueries: Set<ObjectIdentifier> = []
  /// Whether the owner of the home follows the devices for this process.
  var isFollowing = false
  /// The identity of the home that all routes lead to; nil until the first one has reported it.
  private var identity: String?
  /// The logs of the received anchors; each route may have its own.
  var logs: Set<UInt32> = []

  package init(_ options: Options) {
    self.options = options
    identity = options.home
    // The own sessions follow no device.
    selection = RouteSelection(
      count: options.routeCount, options.selectionTimes, fallback: options.direct.map { _ in options.routes.count })
    let loop = options.machine.nextEventLoop()
    eventLoop = loop
    waiters = Waiters(on: loop)
    queries = ObserverQueries(options.delivery, on: loop, options.machine)
    clock = HomeClock(
      options.machine.unixMicroseconds(), at: Instant(nanoseconds: Int64(clamping: loop.now.uptimeNanoseconds)))
    box = NIOLoopBoundBox.makeBoxSendingValue(View(), eventLoop: loop)
  }

  package nonisolated var view: any HomeView { box.value }
  package nonisolated var machine: any Machine { options.machine }
  package nonisolated var usesOwner: Bool { options.usesOwner }

  // MARK: Opening and closing

  /// Returns a client with a working route.
  package static func connected(_ options: Options) async throws(HomeError) -> HubClient {
    let client = HubClient(options)
    do throws(HomeError) {
      try await client.open()
    } catch {
      await client.close()
      throw error
    }
    return client
  }

  /// Starts the routes, and waits until one works or all fail.
  package func open() async throws(HomeError) {
    box.value.stream.observers.access = { [unowned self] in self }
    for (index, route) in options.routes.enumerated() {
      let report: RouteListener = { [weak self] event in
        guard let self else { return }
        assumeIsolated { $0.handle(event, from: index) }
      }
      let check = { @Sendable [weak self] (found: String) throws(HomeError) -> Void in
        try self?.check(found, at: route.place)
      }
      let link: any RouteLink =
        switch route {
        case .peer(let shared): SharedLink(shared, of: options, on: eventLoop, check: check, report: report)
        case .local(let address), .remote(let address):
          HubLink(address, options, on: eventLoop, check: check, report: report)
        }
      if let shared = link as? SharedLink { sharedLink.withLock { $0 = shared } }
      routes.append(Route(link: link, locality: route.locality))
    }
    openMember()
    selection.advance(to: now)
    applySelection()
    followInterfaces()
    try await reach(within: options.reachTimeout)
  }

  package func close() async {
    guard !isClosed else { return }
    isClosed = true
    debounceTimer?.cancel()
    selecting?.cancel()
    interfaceMonitor?.stop()
    queries.stopAll()
    await keepMembership()
    for route in routes { await route.link.end() }
    active = nil
    waiters.wakeUp()
    box.value.stream.end()
  }

  /// The controller of the home if this process owns it.
  package nonisolated var owner: HomeController? { sharedLink.withLock { $0 }?.owner }

  /// Checks the identity of the home that a route leads to. For a link, which is on the event loop.
  /// - Throws: `HomeError` `badArguments` if it is another home.
  private nonisolated func check(_ found: String, at route: String) throws(HomeError) {
    let expected = assumeIsolated { client in
      let expected = client.identity ?? found
      client.identity = expected
      return expected
    }
    guard found == expected else {
      throw HomeError(
        .badArguments,
        "\(route) leads to another home (\(found.prefix(8))…, expected \(expected.prefix(8))…); "
          + "remove this route, or join the other home with an invitation")
    }
  }

  /// Starts and stops routes as selected, and schedules the next selection.
  private func applySelection() {
    guard !isClosed else { return }
    for index in routes.indices where routes[index].isStarted != selection.isStarted(index) {
      routes[index].isStarted.toggle()
      if routes[index].isStarted {
        routes[index].link.startNow()
      } else {
        routes[index].standby = nil
        routes[index].link.retireNow()
      }
    }
    if active != selection.active { use(selection.active) }
    if selection.isLost(at: now), source != nil, !box.value.reducer.isCutOff {
      reduce(.lost)
      box.value.stream.publish(.notAvailable)
    }
    waiters.wakeUp()
    selecting?.cancel()
    selecting = selection.nextDeadline(after: now).map { deadline in
      schedule(in: deadline - now) {
        $0.selection.advance(to: $0.now)
        $0.applySelection()
      }
    }
  }

  /// Waits until a route works.
  /// - Throws: the last error, as soon as all routes fail.
  private func reach(within timeout: Duration) async throws(HomeError) {
    try await wait(timeout) { client throws(HomeError) in
      if client.active != nil { return true }
      guard !client.isClosed else { return false }
      if client.selection.haveAllFailed {
        throw client.failure ?? HomeError(.badArguments, "no route to the home")
      }
      return false
    }
  }

  /// Waits for the first state of the home.
  package func synchronize(within timeout: Duration) async throws(HomeError) {
    try await wait(timeout) { $0.source != nil }
  }

  /// The process that a request waits for.
  private var server: String { options.usesOwner ? "the process that owns the home" : "the hub" }

  func wait(
    _ timeout: Duration, until isTrue: (isolated HubClient) throws(HomeError) -> Bool
  ) async throws(HomeError) {
    if try isTrue(self) { return }
    let wait = PendingWork.begin("\(server) to answer")
    defer { wait?.end() }
    let deadline = eventLoop.now + TimeAmount(timeout)
    while try !isTrue(self) {
      guard !Task.isCancelled else { throw .canceled }
      guard !isClosed else { throw HomeError(.interrupted, "the home was closed") }
      guard eventLoop.now < deadline else { throw HomeError(.timedOut, "the home did not answer in time") }
      await waiters.waitUnlessCanceled(until: deadline)
    }
  }

  package func refusal() async -> HomeError? {
    while !isClosed, !Task.isCancelled {
      if let failure, failure.code == .accessDenied, selection.haveAllFailed { return failure }
      await waiters.waitUnlessCanceled()
    }
    return nil
  }

  // MARK: Events of routes

  func handle(_ event: RouteEvent, from index: Int) {
    guard !isClosed, routes[index].isStarted else { return }
    let locality = routes[index].locality
    switch event {
    case .loaded(let home): add(home, isReload: false, from: index)
    case .reloaded(let home): add(home, isReload: true, from: index)
    case .resumed:
      // The state of another route was used in the meantime.
      guard source == index else { return routes[index].link.reloadNow() }
      selection.succeeded(index, at: now)
      noteAcceptance(by: index)
      guard selection.active == index else { return applySelection() }
      active = index
      box.value.stream.publish(.connected)
      reduce(.resumed)
      // No update was missed, but a read that was interrupted must be repeated.
      queries.signalAll()
      applySelection()
    case .update(let update, let contacts):
      if index == active {
        apply(update, contacts, by: locality)
      } else {
        routes[index].standby?.apply(update, contacts, at: time)
      }
    case .contacts(let contacts):
      if index == active { apply(contacts) } else { routes[index].standby?.apply(contacts) }
    case .debouncer(let debouncer):
      if index == active {
        reduce(.debouncer(debouncer, by: locality))
      } else {
        routes[index].standby?.apply(debouncer, at: time)
      }
    case .hub(let state):
      if index == active { box.value.stream.publish(state) } else { routes[index].standby?.hub = state }
    case .silent(let silence):
      selection.noteSilence(silence, of: index, at: now)
      applySelection()
    case .accepted(let role): self.role = role
    case .refused(let error): noteRefusal(error, by: index)
    case .down(let error):
      options.logger.info("route down", metadata: ["route": "\(locality)", "reason": "\(error)"])
      failure = error
      if source != index { routes[index].link.reloadNow() }
      routes[index].standby = nil
      selection.failed(index, at: now)
      applySelection()
    }
  }

  /// Uses a home that was loaded if its route is selected, otherwise stores it.
  /// - Parameter isReload: whether changes since the last event of the route are unknown.
  private func add(_ home: ReceivedHome, isReload: Bool, from index: Int) {
    let locality = routes[index].locality
    selection.succeeded(index, at: now)
    noteAcceptance(by: index)
    guard selection.active == index else {
      routes[index].standby = StandbyHome(home, by: locality, at: time)
      return applySelection()
    }
    let isCutOff = box.value.reducer.isCutOff
    // The missed changes may have been received over another route; after a time without a route only a controller of
    // this process knows them.
    let isKnown = isReload ? source != index && !isCutOff : !isCutOff || locality == .peer
    begin(index, home.hub)
    if isKnown { move(to: home, by: locality) } else { reload(home, by: locality) }
    applySelection()
  }

  /// Changes the route. The home of the new one is known unless it is being loaded.
  private func use(_ index: Int?) {
    if let active { noteHome(from: active) }
    active = nil
    guard let index, let standby = routes[index].standby else { return }
    let home = standby.home(at: time)
    begin(index, home.hub)
    move(to: home, by: routes[index].locality)
  }

  private func begin(_ index: Int, _ hub: HubState) {
    if let source, source != index { routes[source].link.reloadNow() }
    (active, source) = (index, index)
    routes[index].standby = nil
    box.value.stream.publish(hub)
  }

  /// Replaces the home, and notifies the observers of the differences.
  private func move(to home: ReceivedHome, by locality: DataSourceLocality) {
    apply(home.contacts)
    reduce(.home(home.state, home.debouncer, by: locality))
    // The differences don't include changes that were reverted.
    queries.signalAll()
    waiters.wakeUp()
  }

  /// Replaces the home, and notifies the observers of a reload, because the changes are unknown.
  private func reload(_ home: ReceivedHome, by locality: DataSourceLocality) {
    let (view, time) = (box.value, time)
    let old = view.reducer
    view.reducer.reload(home.state, contacts: home.contacts, home.debouncer, by: locality, at: time)
    view.stream.reload(view.reducer, from: old, at: time)
    queries.signalAll()
    settle()
    waiters.wakeUp()
  }

  private func apply(_ contacts: [NodeID: Contact]) {
    box.value.reducer.merge(contacts)
    box.value.stream.publish(contacts)
  }

  /// Applies an update, and notifies the observer queries that match it.
  private func apply(_ update: HomeUpdate, _ contacts: [NodeID: Contact], by locality: DataSourceLocality) {
    apply(contacts)
    if let update = reduce(.update(update, by: locality)) { queries.note(update, box.value.reducer.state) }
  }

  /// The time in microseconds since 1970, by the monotonic clock: a change of the wall clock does not affect pending changes of
  /// connectivity.
  private var time: Int64 {
    if let step = clock.note(options.machine.unixMicroseconds(), at: now) {
      box.value.reducer.moveClock(by: step)
      for index in routes.indices { routes[index].standby?.moveClock(by: step) }
    }
    return clock.time(of: now)
  }

  private var now: Instant { Instant(nanoseconds: Int64(clamping: eventLoop.now.uptimeNanoseconds)) }

  /// - Returns: the published update; nil if nothing changed.
  @discardableResult
  private func reduce(_ input: RouteInput) -> HomeUpdate? {
    let (view, time) = (box.value, time)
    let update = view.reducer.reduce(.route(input), at: time)
    if let update { view.stream.publish(update, view.reducer) }
    settle()
    return update
  }

  /// Schedules the next change of settled connectivity.
  private func settle() {
    debounceTimer?.cancel()
    debounceTimer = nil
    // Reads the clock first, because its adjustment moves the deadlines.
    _ = time
    guard let next = box.value.reducer.debouncer.nextDeadline, !isClosed else { return }
    debounceTimer = schedule(in: .microseconds(clock.remaining(until: next, at: now))) { client in
      let (view, time) = (client.box.value, client.time)
      if let update = view.reducer.advance(to: time) {
        view.stream.publish(update, view.reducer)
      }
      client.settle()
    }
  }

  // MARK: Requests

  /// Sends a request over the active route, or over a hub if that does not perform it. A request that may have been carried
  /// out is not sent over another route, unless it only reads.
  /// - Returns: the reply, and the locality of its route.
  func send(
    _ request: HomeRequest, origin: String? = nil, progress: @escaping HomeProgress.Handler = { _ in }
  ) async throws(HomeError) -> (reply: HomeReply, locality: DataSourceLocality) {
    let limit = request.limit(options.timeout)
    if let reply = try await sendDirectly(request) { return (reply, .peer) }
    var attempts = options.routeCount
    while true {
      try await reach(within: options.reachTimeout)
      guard let index = try await route(for: request) else {
        throw HomeError(.unreachable, "no route to the home works now")
      }
      let route = routes[index]
      let answer = request.isForDevice ? "the device to answer through \(server)" : "\(server) to answer"
      let wait = request.isLong ? nil : PendingWork.begin(answer)
      defer { wait?.end() }
      options.logger.debug("\(request.summary)…")
      let result = await route.link.send(request, origin: origin, within: limit, progress: progress)
      if case .failure(let error) = result { options.logger.debug("\(request.summary): \(error)") }
      attempts -= 1
      if case .failure(let error) = result, attempts > 0, HubLink.mayRepeat(request, after: error) { continue }
      if case .success = result { await renewMembership(after: request, on: index) }
      return (try result.get(), route.locality)
    }
  }
}
