public import Home
public import Logging
internal import MatterController
internal import MatterModel
internal import MatterProtocol
package import NIOCore
public import Runtime

extension Home {
  /// Opens a home of which another process, or another machine, has the devices. It is used as any other, as far as the role
  /// allows that the hub gives: what is not allowed throws ``HomeError`` `accessDenied`.
  /// - Throws: ``HomeError`` `notRunning`, `unreachable`, `timedOut` or `accessDenied` where no route leads there.
  public convenience init(through options: HubClient.Options) async throws(HomeError) {
    let client = HubClient(options)
    do throws(HomeError) {
      try await client.open()
    } catch {
      await client.close()
      throw error
    }
    self.init(client)
  }

  /// How the hub is doing that the home is seen through; for its owner.
  /// - Throws: ``HomeError`` `notRunning` where it is seen through none.
  public var hubStatus: HubStatus {
    get async throws(HomeError) {
      guard case .status(let status) = try await hub.ask(.status) else { throw HubClient.surprise() }
      return status
    }
  }

  /// Tells the hub that clients were invited or revoked.
  public func tellHubOfClients() async throws(HomeError) { _ = try await hub.ask(.lookAgain) }

  private var hub: HubClient {
    get throws(HomeError) {
      guard let client = backend as? HubClient else {
        throw HomeError(.notRunning, "the home is not seen through a hub")
      }
      return client
    }
  }
}

/// A home that is seen through routes to it, the nearest that works. An actor on an event loop of its own choice.
public actor HubClient {
  /// Which routes a client tries, in which order, and how patient it is with them.
  public struct Options: Sendable {
    /// The nearest first.
    public var routes: [HubRoute]
    /// What the owner sees of this client among those that are connected; who has a token is called as it was invited.
    public var name: String
    /// As the owner gave it; nil: for processes of the hub's own user.
    public var token: String?
    /// For each request, and for the first synchronisation.
    public var timeout: Duration = .seconds(10)
    /// How long a device must be away before its settled connectivity says so.
    public var grace: Duration = .zero
    /// Between attempts to reach a hub: from this…
    public var firstPause: Duration = .milliseconds(100)
    /// … twice as long each time, up to this.
    public var longestPause: Duration = .seconds(5)
    /// How long a connection may take to come about before its route counts as failed.
    public var connectTimeout: Duration = .seconds(5)
    /// A hub that says nothing for so long is gone; it says something every five seconds.
    public var silence: Duration = .seconds(20)
    /// For observer queries, all but the period: how long their handlers may take, and how often they may fail.
    public var delivery = DeliverySchedule.Limits()
    public var logger: Logger
    /// What it runs on; the network is this process's all the same.
    public var machine: any Machine = HostMachine()

    public init(routes: [HubRoute], name: String, logger: Logger) {
      (self.routes, self.name, self.logger) = (routes, name, logger)
    }
  }

  /// The home as it is told, on the event loop.
  private final class View: HomeView {
    var reducer: HomeReducer
    let observers = HomeObservers()

    init(_ reducer: HomeReducer) { self.reducer = reducer }
  }

  private struct Route {
    var link: any RouteLink
    var locality: DataSourceLocality
    var isStarted = false
    /// Whether it does not work now: further routes are tried then.
    var isFailing = false
  }

  package nonisolated let eventLoop: any EventLoop
  public nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }

  nonisolated let options: Options
  private nonisolated let box: NIOLoopBoundBox<View>
  private var routes: [Route] = []
  /// Which route is used.
  private var active: Int?
  /// Which route the state came by.
  private var source: Int?
  /// The state before its devices could not be reached any more.
  private var lastGood: HomeState?
  private var failure: HomeError?
  private var isClosed = false
  private var waiters: [CheckedContinuation<Void, Never>] = []
  private var settling: Scheduled<Void>?
  private var queries: [ObjectIdentifier: HubDoorbell] = [:]

  init(_ options: Options) {
    self.options = options
    let loop = options.machine.nextEventLoop()
    eventLoop = loop
    var reducer = HomeReducer()
    reducer.grace = options.grace
    box = NIOLoopBoundBox.makeBoxSendingValue(View(reducer), eventLoop: loop)
  }

  package nonisolated var view: any HomeView { box.value }

  static func surprise() -> HomeError { HomeError(.internalError, "the hub answered something else than was asked") }

  // MARK: Coming and going

  /// Begins, and waits until the home was loaded or no route leads there.
  func open() async throws(HomeError) {
    box.value.observers.make = { [unowned self] entry, reducer in value(of: entry, reducer) }
    for (index, route) in options.routes.enumerated() {
      let tell: RouteEar = { [weak self] news in
        guard let self else { return }
        assumeIsolated { $0.take(news, from: index) }
      }
      let link: any RouteLink =
        switch route {
        case .peer(let peer): PeerLink(peer, patience: options.connectTimeout, on: eventLoop, tell: tell)
        case .local(let address), .remote(let address): HubLink(address, options, on: eventLoop, tell: tell)
        }
      routes.append(Route(link: link, locality: route.locality))
    }
    arrange()
    try await reach(within: options.timeout)
  }

  package func close() async {
    guard !isClosed else { return }
    isClosed = true
    settling?.cancel()
    for bell in queries.values { bell.stop() }
    queries = [:]
    for route in routes { await route.link.stop() }
    active = nil
    wakeUp()
    box.value.observers.end()
  }

  /// Starts the routes that are needed, and stops the others: one is needed while no nearer one works.
  private func arrange() {
    guard !isClosed else { return }
    var isNeeded = true
    for index in routes.indices {
      let link = routes[index].link
      if isNeeded, !routes[index].isStarted {
        (routes[index].isStarted, routes[index].isFailing) = (true, false)
        link.startNow()
      } else if !isNeeded, routes[index].isStarted {
        routes[index].isStarted = false
        link.stopNow()
      }
      isNeeded = isNeeded && routes[index].isFailing
    }
  }

  /// Waits until a route works.
  /// - Throws: why none does, as soon as none does.
  private func reach(within timeout: Duration) async throws(HomeError) {
    let deadline = eventLoop.now + .nanoseconds(timeout.nanoseconds)
    let timer = eventLoop.scheduleTask(deadline: deadline) { [weak self] in
      guard let self else { return }
      assumeIsolated { $0.wakeUp() }
    }
    defer { timer.cancel() }
    while active == nil {
      guard !isClosed else { throw HomeError(.interrupted, "the home was closed") }
      if routes.allSatisfy({ $0.isStarted && $0.isFailing }) {
        throw failure ?? HomeError(.badArguments, "there is no way to the home")
      }
      guard eventLoop.now < deadline else { throw HomeError(.timedOut, "the hub does not answer in time") }
      await withCheckedContinuation { waiters.append($0) }
    }
  }

  private func wakeUp() {
    let all = waiters
    waiters = []
    for waiter in all { waiter.resume() }
  }

  // MARK: Hearing

  private func take(_ news: RouteNews, from index: Int) {
    guard !isClosed, routes[index].isStarted else { return }
    switch news {
    case .loaded(let state, let contacts):
      // Only a controller of our own knows what happened while no route worked.
      let isKnown = lastGood == nil || routes[index].locality == .peer
      guard use(index) else { return }
      let seen = state.seen(by: routes[index].locality)
      if isKnown { move(to: seen, contacts) } else { reload(seen, contacts) }
    case .reloaded(let state, let contacts):
      // Another route may have told what was missed on this one.
      let isKnown = source != index && lastGood == nil
      guard use(index) else { return }
      let seen = state.seen(by: routes[index].locality)
      if isKnown { move(to: seen, contacts) } else { reload(seen, contacts) }
    case .resumed:
      guard use(index) else { return }
      move(to: lastGood ?? box.value.reducer.state, [:])
    case .update(let update, let contacts):
      guard index == active else { return }
      var seen = update
      seen.changes = update.changes.map { $0.seen(by: routes[index].locality) }
      apply(seen, contacts)
    case .contacts(let contacts): if index == active { box.value.reducer.take(contacts) }
    case .down(let error):
      options.logger.info("route down", metadata: ["route": "\(options.routes[index].locality)", "why": "\(error)"])
      routes[index].isFailing = true
      failure = error
      if active == index { active = nil }
      arrange()
      if routes.allSatisfy(\.isFailing) { loseAll() }
      wakeUp()
    }
  }

  /// A route works: it is used unless a nearer one is.
  private func use(_ index: Int) -> Bool {
    routes[index].isFailing = false
    if let active, active < index { return false }
    if let source, source != index {
      routes[source].link.forgetNow()
    }
    (active, source) = (index, index)
    arrange()
    box.value.observers.tell(.connected)
    return true
  }

  /// The home is as it is told now: what is another than before is told on.
  private func move(to state: HomeState, _ contacts: [NodeID: Contact]) {
    lastGood = nil
    let changes = box.value.reducer.state.changes(to: state)
    apply(HomeUpdate(changes, at: options.machine.unixMicroseconds()), contacts)
    wakeUp()
  }

  /// Nobody knows what happened, but what has come of it: everybody is told to look again.
  private func reload(_ state: HomeState, _ contacts: [NodeID: Contact]) {
    lastGood = nil
    let view = box.value
    let old = view.reducer
    let time = options.machine.unixMicroseconds()
    view.reducer.reload(state, contacts: contacts, at: time)
    view.observers.reload(view.reducer, from: old, at: time)
    for bell in queries.values { bell.ring() }
    settle()
    wakeUp()
  }

  /// No route works: nobody knows how the devices are.
  private func loseAll() {
    guard lastGood == nil, source != nil else { return }
    let state = box.value.reducer.state
    lastGood = state
    let changes = state.orderedDevices.flatMap(\.sources).compactMap { source -> HomeChange? in
      let connectivity = source.status.connectivity
      guard [.online, .partiallyOnline].contains(connectivity.connectivityState) else { return nil }
      let away = SourceConnectivity(.offline, connectivity.dataSourceLocality)
      return .connectivity(source.id, SourceStatus(away, reason: .hubUnreachable))
    }
    apply(HomeUpdate(changes, at: options.machine.unixMicroseconds()), [:])
    box.value.observers.tell(.notAvailable)
  }

  private func apply(_ update: HomeUpdate, _ contacts: [NodeID: Contact]) {
    let view = box.value
    view.reducer.take(contacts)
    guard let told = view.reducer.reduce(.update(update), at: options.machine.unixMicroseconds()) else { return }
    view.observers.tell(told, view.reducer)
    for bell in queries.values { bell.ring(told) }
    settle()
  }

  /// Sees to it that connectivity that lasts is said to be settled.
  private func settle() {
    settling?.cancel()
    settling = nil
    guard let next = box.value.reducer.nextDeadline, !isClosed else { return }
    let delay = max(0, next - options.machine.unixMicroseconds())
    settling = eventLoop.scheduleTask(in: .microseconds(delay)) { [weak self] in
      guard let self else { return }
      assumeIsolated { client in
        let view = client.box.value
        if let update = view.reducer.advance(to: options.machine.unixMicroseconds()) {
          view.observers.tell(update, view.reducer)
        }
        client.settle()
      }
    }
  }

  // MARK: Asking

  func ask(_ request: HubRequest, origin: String? = nil) async throws(HomeError) -> HubReply {
    try await reach(within: options.timeout)
    guard let active else { throw HomeError(.unreachable, "no way leads to the home now") }
    return try await routes[active].link.send(request, origin: origin).get()
  }

  func bell(_ query: ObserverQuery, _ bell: HubDoorbell?) {
    queries[ObjectIdentifier(query)]?.stop()
    queries[ObjectIdentifier(query)] = bell
  }
}
