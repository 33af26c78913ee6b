internal import HomeControl
internal import HomeModel
internal import HomeStore
internal import MatterModel
internal import MatterProtocol
internal import NIOCore
internal import Runtime

/// The route through a controller of this process. It works as long as the controller reaches any device.
actor PeerLink: RouteLink {
  nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }

  private let options: HomeController.Options
  private let client: HubClient.Options
  nonisolated let eventLoop: any EventLoop
  private let check: @Sendable (String) throws(HomeError) -> Void
  private let report: RouteListener
  private(set) var controller: HomeController?
  /// The reporter of the controller's home; completes on the event loop of the controller.
  private var watch: EventLoopFuture<NIOLoopBound<PeerWatch>>?
  /// The number of attempts; events of earlier ones are ignored.
  private var attempt = 0
  private var isStarted = false
  /// The delay of the next attempt.
  private var pause: Duration
  private var timer: Scheduled<Void>?
  private var work: SerialWork

  /// - Parameters:
  ///   - client: the timeouts of the client.
  ///   - eventLoop: the event loop of the client, on which events are reported.
  ///   - check: checks the identity of the home; called on the event loop.
  init(
    _ options: HomeController.Options, of client: HubClient.Options, on eventLoop: any EventLoop,
    check: @escaping @Sendable (String) throws(HomeError) -> Void, report: @escaping RouteListener
  ) {
    self.options = options
    self.client = client
    self.eventLoop = eventLoop
    self.check = check
    self.report = report
    pause = client.firstPause
    work = SerialWork(options.machine)
  }

  func start() {
    guard !isStarted else { return }
    isStarted = true
    pause = client.firstPause
    connect()
  }

  private func connect() {
    attempt += 1
    let number = attempt
    work.add { await self.open(number) }
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
      // The stored states of the devices may be out of date.
      try await controller.follow()
      guard number == attempt else { return }
      startWatch(controller, number)
    } catch {
      if number == attempt { retry(after: error) }
    }
  }

  private func startWatch(_ controller: HomeController, _ number: Int) {
    let watch = PeerWatch.Options(
      heartbeat: client.heartbeat, deviceTimeout: client.connectTimeout, probeInterval: client.probeInterval)
    let loop = eventLoop
    self.watch = PeerWatch.start(controller, watch) { [weak self] event in
      guard let self else { return }
      loop.execute { self.assumeIsolated { if number == $0.attempt { $0.report(event) } } }
    }
  }

  /// Reports that the home can't be opened or followed, and schedules the next attempt.
  private func retry(after error: HomeError) {
    close()
    let number = attempt
    timer = schedule(in: pause) { if number == $0.attempt, $0.isStarted { $0.connect() } }
    pause = min(pause * 2, client.longestPause)
    // After the caller that started the route has returned.
    eventLoop.execute { [report] in report(.down(error)) }
  }

  func stop() {
    isStarted = false
    timer?.cancel()
    close()
  }

  func end() async {
    stop()
    while let task = work.takeLast() { await task.value }
  }

  private func close() {
    attempt += 1
    watch = nil
    guard let controller else { return }
    self.controller = nil
    work.add { await controller.close() }
  }

  func reload() { watch?.whenSuccess { $0.value.reload() } }

  /// The timeouts of the controller apply.
  func send(
    _ request: HomeRequest, origin: String?, within limit: Duration, progress: @escaping HomeProgress.Handler
  ) async -> Result<HomeReply, HomeError> {
    guard let controller else { return .failure(HomeError(.unreachable, "the home is not open")) }
    do throws(HomeError) {
      return .success(try await controller.perform(request, origin: origin, progress: progress))
    } catch { return .failure(error) }
  }
}

/// Tasks that run one after another.
struct SerialWork {
  private let machine: any Machine
  private var last: Task<Void, Never>?

  init(_ machine: any Machine) { self.machine = machine }

  mutating func add(_ body: @escaping @Sendable () async -> Void) {
    let previous = last
    last = machine.task {
      await previous?.value
      await body()
    }
  }

  /// Returns the last task, for a caller that waits for it; nil if none was added since.
  mutating func takeLast() -> Task<Void, Never>? { last.take() }
}
