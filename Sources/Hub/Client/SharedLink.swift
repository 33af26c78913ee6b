internal import HomeControl
internal import HomeModel
internal import HomeStore
internal import Logging
internal import MatterModel
internal import MatterProtocol
internal import NIOCore
internal import Runtime

/// The route to a home whose files other processes of this user may own: a connection to the owner or, if there is none, this
/// process as the owner.
actor SharedLink: RouteLink {
  nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }

  private let options: HomeController.Options
  private let client: HubClient.Options
  private nonisolated let eventLoop: any EventLoop
  private let tell: RouteListener
  /// The connection to the owner.
  private let link: HubLink
  /// The home if this process owns it.
  private var owner: HomeOwner?
  /// The number of starts and stops; results of earlier ones are ignored.
  private var turn = 0
  private var isStarted = false
  /// Whether requests can be sent.
  private var isUp = false
  /// The number of times that requests could be sent again.
  private var upCount = 0
  /// Whether the devices are to be followed, also by this process if it becomes the owner.
  private var isFollowing = false
  private var isElecting = false
  /// The last error of an attempt to own the home.
  private var failure: HomeError?
  /// Reports that the owner does not answer.
  private var deadline: Scheduled<Void>?
  /// The callers that wait until requests can be sent.
  private var waiters: [CheckedContinuation<Void, Never>] = []
  private var work: [Int: Task<Void, Never>] = [:]
  private var lastWork = 0

  /// - Parameters:
  ///   - check: checks the identity of the home; called on the event loop.
  ///   - tell: called on the event loop.
  init(
    _ options: HomeController.Options, of client: HubClient.Options, on eventLoop: any EventLoop,
    check: @escaping @Sendable (String) throws(HomeError) -> Void, tell: @escaping RouteListener
  ) {
    (self.options, self.client, self.eventLoop, self.tell) = (options, client, eventLoop, tell)
    let relay = Relay()
    link = HubLink(.socket(options.state.hubSocket), client, on: eventLoop, check: check) { relay.link?.receiveNow($0) }
    eventLoop.execute { relay.link = self }
  }

  /// Passes the events of the connection. Confined to the event loop.
  private final class Relay: @unchecked Sendable {
    weak var link: SharedLink?
  }

  private nonisolated func receiveNow(_ news: RouteNews) { assumeIsolated { $0.receive(news) } }

  /// The controller of the home if this process owns it.
  var ownController: HomeController? { owner?.controller }

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
      perform { await owner.close() }
    }
    wakeUp()
  }

  func end() async {
    stop()
    while let task = work.values.first { await task.value }
  }

  func forget() { link.forgetNow() }

  private func perform(_ body: @escaping @Sendable () async -> Void) {
    lastWork += 1
    let number = lastWork
    work[number] = options.machine.task {
      await body()
      await self.ended(number)
    }
  }

  private func ended(_ number: Int) { work[number] = nil }

  /// Limits the time without an owner that answers.
  private func setDeadline() {
    guard deadline == nil else { return }
    deadline = eventLoop.scheduleTask(in: .nanoseconds(client.connectTimeout.nanoseconds)) { [weak self] in
      self?.assumeIsolated { link in
        link.deadline = nil
        guard link.isStarted, !link.isUp else { return }
        link.tell(.down(link.failure ?? OwnerLock.held(link.options.state)))
        link.setDeadline()
      }
    }
  }

  // MARK: The connection

  private func receive(_ news: RouteNews) {
    guard isStarted, owner == nil else { return }
    switch news {
    case .down:
      isUp = false
      setDeadline()
      elect()
    case .loaded, .reloaded, .resumed:
      up()
      tell(news)
      continueFollowing()
    default: tell(news)
    }
  }

  private func up() {
    isUp = true
    upCount += 1
    failure = nil
    deadline?.cancel()
    deadline = nil
    wakeUp()
  }

  /// Asks a new owner to follow the devices.
  private func continueFollowing() {
    guard isFollowing else { return }
    perform { [link, client] in
      _ = await link.send(.follow, origin: nil, within: client.timeout, progress: { _ in })
    }
  }

  // MARK: Ownership

  /// Becomes the owner if there is none. Otherwise the connection is established again after a pause.
  private func elect() {
    guard !isElecting else { return }
    let lock: OwnerLock
    do throws(HomeError) {
      guard let free = try HomeController.lock(options) else { return }
      lock = free
    } catch {
      failure = error
      return
    }
    isElecting = true
    // Otherwise it could connect to the server of this process.
    link.stopNow()
    let turn = turn
    perform { await self.becomeOwner(lock, turn) }
  }

  private func becomeOwner(_ lock: OwnerLock, _ turn: Int) async {
    var found: HomeOwner?
    do throws(HomeError) {
      let owner = try await HomeOwner.open(options, lock)
      found = owner
      if isFollowing { try await owner.controller.follow() }
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
    guard let found else {
      eventLoop.scheduleTask(in: .nanoseconds(client.longestPause.nanoseconds)) { [weak self] in
        self?.assumeIsolated { if $0.isStarted, turn == $0.turn, $0.owner == nil { $0.link.startNow() } }
      }
      return
    }
    owner = found
    options.logger.info("this process owns the home now", metadata: ["state": "\(options.state.root)"])
    let (loop, controller) = (eventLoop, found.controller)
    PeerWatch.begin(controller, needsDevice: false, heartbeat: client.heartbeat) { [weak self] news in
      guard let self else { return }
      loop.execute { self.assumeIsolated { $0.receive(news, ofOwner: turn) } }
    }
  }

  private func receive(_ news: RouteNews, ofOwner turn: Int) {
    guard turn == self.turn, owner != nil else { return }
    tell(news)
    if !isUp { up() }
  }

  // MARK: Requests

  func send(
    _ request: HomeRequest, origin: String?, within limit: Duration, progress: @escaping HomeProgress.Handler
  ) async -> Result<HomeReply, HomeError> {
    if case .follow = request { isFollowing = true }
    let deadline = eventLoop.now + .nanoseconds(min(limit, .seconds(86_400)).nanoseconds)
    while true {
      guard await waitUntilUp(before: deadline) else { return .failure(failure ?? OwnerLock.held(options.state)) }
      if let owner {
        do throws(HomeError) {
          return .success(try await owner.controller.perform(request, origin: origin, progress: progress))
        } catch { return .failure(error) }
      }
      let count = upCount
      let result = await link.send(request, origin: origin, within: limit, progress: progress)
      guard case .failure(let error) = result, isStarted, !Task.isCancelled else { return result }
      // The owner is ending and has not started it, or it can be repeated.
      guard HubLink.isNotStarted(error) || HubLink.isLost(error) && request.isRepeatable else { return result }
      // The connection is about to be lost, if it isn't a new one.
      if count == upCount { isUp = false }
    }
  }

  private func waitUntilUp(before deadline: NIODeadline) async -> Bool {
    var timer: Scheduled<Void>?
    defer { timer?.cancel() }
    while !isUp, isStarted, !Task.isCancelled, eventLoop.now < deadline {
      timer =
        timer ?? eventLoop.scheduleTask(deadline: deadline) { [weak self] in self?.assumeIsolated { $0.wakeUp() } }
      await withCheckedContinuation { waiters.append($0) }
    }
    return isUp
  }

  private func wakeUp() {
    let all = waiters
    waiters = []
    for waiter in all { waiter.resume() }
  }
}

extension HomeRequest {
  /// Whether the request can be sent again if its result is unknown.
  fileprivate var isRepeatable: Bool {
    switch self {
    case .read, .anchor, .samples, .fabric, .attestation, .discover, .groups, .cloudAccounts, .settings, .deliveries,
      .clients, .status, .follow:
      true
    default: false
    }
  }
}
