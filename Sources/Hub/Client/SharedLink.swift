internal import HomeControl
internal import HomeModel
internal import HomeStore
internal import Logging
internal import MatterModel
internal import MatterProtocol
internal import NIOCore
internal import Runtime
internal import Synchronization

/// The route to a home that another process of this user may own: a connection to the owner. If there is none, this process
/// becomes the owner, and is connected with itself like any other client.
actor SharedLink: RouteLink {
  nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }

  private let options: HomeController.Options
  private let client: HubClient.Options
  nonisolated let eventLoop: any EventLoop
  private let check: @Sendable (String) throws(HomeError) -> Void
  private let report: RouteListener
  /// The connection to the owner.
  private let link: HubLink
  private let owned = Mutex<HomeController?>(nil)
  /// The controller of the home if this process owns it.
  private(set) nonisolated var owner: HomeController? {
    get { owned.withLock { $0 } }
    set { owned.withLock { $0 = newValue } }
  }
  /// The number of starts and stops; results of earlier ones are ignored.
  private var turn = 0
  private var isStarted = false
  /// Whether requests can be sent.
  private var isUp = false
  /// The number of times that requests could be sent again.
  private var upCount = 0
  /// Whether the owner follows the devices, also if this process becomes the owner.
  private var isFollowing = false
  private var isElecting = false
  /// The last error of an attempt to own the home.
  private var failure: HomeError?
  /// Reports periodically that the owner does not answer.
  private var deadline: Scheduled<Void>?
  /// The callers that wait until requests can be sent.
  private let waiters: Waiters
  private var work: SerialWork

  /// - Parameters:
  ///   - check: checks the identity of the home; called on the event loop.
  ///   - report: called on the event loop.
  init(
    _ options: HomeController.Options, of client: HubClient.Options, on eventLoop: any EventLoop,
    check: @escaping @Sendable (String) throws(HomeError) -> Void, report: @escaping RouteListener
  ) {
    (self.options, self.client, self.eventLoop) = (options, client, eventLoop)
    (self.check, self.report) = (check, report)
    waiters = Waiters(on: eventLoop)
    work = SerialWork(options.machine)
    let relay = Relay()
    let requestOptions = RequestOptions(
      timeout: client.timeout, address: options.address,
      addresses: options.addresses.isEmpty ? nil : options.addresses)
    link = HubLink(.socket(options.state.hubSocket), client, requestOptions, on: eventLoop, check: check) {
      relay.link?.handleNow($0)
    }
    eventLoop.execute { relay.link = self }
  }

  /// Passes the events of the connection. Confined to the event loop.
  private final class Relay: @unchecked Sendable {
    weak var link: SharedLink?
  }

  private nonisolated func handleNow(_ event: RouteEvent) { assumeIsolated { $0.handle(event) } }

  // MARK: Starting and stopping

  func start() {
    guard !isStarted else { return }
    isStarted = true
    turn += 1
    setDeadline()
    link.startNow()
  }

  func stop() {
    guard isStarted else { return }
    isStarted = false
    turn += 1
    isUp = false
    deadline?.cancel()
    link.stopNow()
    if let owner {
      self.owner = nil
      work.add { await owner.close() }
    }
    waiters.wakeUp()
  }

  func end() async {
    stop()
    while let task = work.takeLast() { await task.value }
  }

  func reload() { link.reloadNow() }

  /// Limits the time without an owner that answers.
  private func setDeadline() {
    guard deadline == nil else { return }
    deadline = schedule(in: client.connectTimeout) { link in
      link.deadline = nil
      guard link.isStarted, !link.isUp else { return }
      link.report(.down(link.failure ?? OwnerLock.held(link.options.state)))
      link.setDeadline()
    }
  }

  // MARK: The connection

  private func handle(_ event: RouteEvent) {
    guard isStarted else { return }
    switch event {
    case .down(let error):
      isUp = false
      setDeadline()
      // The owner does not accept this client, or has another home.
      if error.code == .refused || error.code == .badArguments { fail(error) }
      if owner == nil { elect() }
    case .loaded, .reloaded, .resumed:
      setUp()
      report(event)
      if owner == nil { continueFollowing() } else if isFollowing { report(.hub(.thisProcess)) }
    default: report(event)
    }
  }

  private func setUp() {
    isUp = true
    upCount += 1
    failure = nil
    deadline?.cancel()
    deadline = nil
    waiters.wakeUp()
  }

  /// Asks a new owner to follow the devices.
  private func continueFollowing() {
    guard isFollowing else { return }
    work.add { [link, client] in
      _ = await link.send(.follow, origin: nil, within: client.timeout, progress: { _ in })
    }
  }

  // MARK: Ownership

  /// Starts to become the owner if there is none. Otherwise the connection is established again after a pause.
  private func elect() {
    guard !isElecting else { return }
    let lock: OwnerLock
    do throws(HomeError) {
      guard let free = try HomeController.lock(options) else { return }
      lock = free
    } catch {
      return fail(error)
    }
    isElecting = true
    link.retireNow()
    let turn = turn
    work.add { await self.becomeOwner(lock, turn) }
  }

  private func becomeOwner(_ lock: OwnerLock, _ turn: Int) async {
    var found: HomeController?
    do throws(HomeError) {
      let owner = try await HomeController.openOwned(options, lock)
      found = owner
      try check(try await owner.withDatabase { $0.identity })
      if isFollowing { try await owner.follow() }
    } catch {
      failure = error
      await found?.close()
      found = nil
    }
    isElecting = false
    guard isStarted, turn == self.turn else {
      await found?.close()
      if isStarted { link.startNow() }
      return
    }
    owner = found
    guard found != nil else {
      if let failure { report(.down(failure)) }
      schedule(in: client.longestPause) { if $0.isStarted, turn == $0.turn, $0.owner == nil { $0.link.startNow() } }
      return
    }
    options.logger.info("this process owns the home now", metadata: ["state": "\(options.state.root)"])
    link.startNow()
  }

  /// The home can't be used. Further attempts follow.
  private func fail(_ error: HomeError) {
    failure = error
    report(.down(error))
  }

  // MARK: Requests

  func send(
    _ request: HomeRequest, origin: String?, within limit: Duration, progress: @escaping HomeProgress.Handler
  ) async -> Result<HomeReply, HomeError> {
    if case .follow = request {
      isFollowing = true
      if owner != nil { report(.hub(.thisProcess)) }
    }
    let deadline = eventLoop.now + .nanoseconds(min(max(limit, client.reachTimeout), .seconds(86_400)).nanoseconds)
    while true {
      guard await waitUntilUp(before: deadline) else {
        return .failure(Task.isCancelled ? .canceled : failure ?? OwnerLock.held(options.state))
      }
      let count = upCount
      let result = await link.send(request, origin: origin, within: limit, progress: progress)
      guard case .failure(let error) = result, isStarted, !Task.isCancelled else { return result }
      guard HubLink.mayRepeat(request, after: error) else { return result }
      // The connection is about to be lost, unless it is a new one.
      if count == upCount { isUp = false }
    }
  }

  private func waitUntilUp(before deadline: NIODeadline) async -> Bool {
    while !isUp, isStarted, !Task.isCancelled, eventLoop.now < deadline {
      await waiters.waitUnlessCanceled(until: deadline)
    }
    return isUp
  }
}

extension HomeRequest {
  /// Whether the request can be sent again if its result is unknown.
  var isRepeatable: Bool {
    switch self {
    case .read, .anchor, .samples, .fabric, .attestation, .discover, .groups, .cloudAccounts, .settings, .deliveries,
      .clients, .status, .follow, .simulatedDevices:
      true
    default: false
    }
  }
}
