internal import HomeControl
internal import HomeModel
internal import HomeStore
internal import MatterModel
internal import MatterProtocol
internal import NIOCore
internal import Runtime

/// A controller of this process as a way to the home. It works as long as any device can be reached by it.
actor PeerLink: RouteLink {
  nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }

  private let options: HomeController.Options
  private let client: HubClient.Options
  private nonisolated let eventLoop: any EventLoop
  private let check: @Sendable (String) throws(HomeError) -> Void
  private let tell: RouteListener
  private(set) var controller: HomeController?
  /// Counts attempts: what is heard of an earlier one is void.
  private var attempt = 0
  private var isStarted = false
  /// Before the home is opened again that could not be.
  private var pause: Duration
  private var timer: Scheduled<Void>?
  /// What is under way: a home is being opened, or stores what waits before it is closed.
  private var work: [Int: Task<Void, Never>] = [:]
  private var lastWork = 0

  /// - Parameters:
  ///   - client: says how long to wait for the first device, and between attempts to open the home.
  ///   - eventLoop: of the client, which is told there.
  ///   - check: checks the identity of the home; called on the event loop.
  init(
    _ options: HomeController.Options, of client: HubClient.Options, on eventLoop: any EventLoop,
    check: @escaping @Sendable (String) throws(HomeError) -> Void, tell: @escaping RouteListener
  ) {
    self.options = options
    self.client = client
    self.eventLoop = eventLoop
    self.check = check
    self.tell = tell
    pause = client.firstPause
  }

  func start() {
    guard !isStarted else { return }
    isStarted = true
    pause = client.firstPause
    begin()
  }

  private func begin() {
    attempt += 1
    let number = attempt
    perform { await self.open(number) }
  }

  private func open(_ number: Int) async {
    guard number == attempt else { return }
    do throws(HomeError) {
      let controller = try await HomeController.open(options)
      guard number == attempt else { return await controller.close() }
      self.controller = controller
      let identity = try await controller.withDatabase { $0.identity }
      guard number == attempt else { return }
      try check(identity)
      // What is stored is how the devices were when somebody followed them last.
      try await controller.follow()
      guard number == attempt else { return }
      watch(controller, number)
    } catch {
      if number == attempt { failed(error) }
    }
  }

  /// It could not be opened, or not be followed: tries again later.
  private func failed(_ error: HomeError) {
    letGo()
    let number = attempt
    timer = eventLoop.scheduleTask(in: .nanoseconds(pause.nanoseconds)) { [weak self] in
      guard let self else { return }
      assumeIsolated { if number == $0.attempt, $0.isStarted { $0.begin() } }
    }
    pause = min(pause * 2, client.longestPause)
    // Not before whoever started this has returned.
    eventLoop.execute { [tell] in tell(.down(error)) }
  }

  func stop() {
    isStarted = false
    timer?.cancel()
    letGo()
  }

  func end() async {
    stop()
    while let task = work.values.first { await task.value }
  }

  private func letGo() {
    attempt += 1
    guard let controller else { return }
    self.controller = nil
    perform { await controller.close() }
  }

  private func perform(_ body: @escaping @Sendable () async -> Void) {
    lastWork += 1
    let number = lastWork
    work[number] = options.machine.task {
      await body()
      await self.ended(number)
    }
  }

  private func ended(_ number: Int) { work[number] = nil }

  /// It tells the whole each time that it works again.
  func forget() {}

  private func take(_ news: RouteNews, of number: Int) { if number == attempt { tell(news) } }

  private func watch(_ controller: HomeController, _ number: Int) {
    let loop = eventLoop
    PeerWatch.begin(
      controller, needsDevice: true, heartbeat: client.heartbeat, giveUpAfter: client.connectTimeout
    ) { [weak self] news in
      guard let self else { return }
      loop.execute { self.assumeIsolated { $0.take(news, of: number) } }
    }
  }

  /// What the home asks of a device has a limit of its own.
  func send(
    _ request: HomeRequest, origin: String?, within limit: Duration, progress: @escaping HomeProgress.Handler
  ) async -> Result<HomeReply, HomeError> {
    guard let controller else { return .failure(HomeError(.unreachable, "the home is not open")) }
    do throws(HomeError) {
      return .success(try await controller.perform(request, origin: origin, progress: progress))
    } catch { return .failure(error) }
  }
}
