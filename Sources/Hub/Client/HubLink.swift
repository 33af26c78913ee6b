internal import Glibc
internal import HomeControl
internal import HomeModel
internal import MatterModel
internal import MatterProtocol
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOWebSocket
internal import Runtime

/// A WebSocket connection to a hub, which is established again after each loss.
actor HubLink: RouteLink {
  private enum Phase: Equatable {
    case stopped
    case waiting
    case connecting
    /// Upgraded, before the welcome.
    case greeting
    /// Receiving the parts of the home.
    case loading
    case up
  }

  private struct Connection {
    let channel: any Channel
    let watch: RepeatedTask
    /// The number of checks for silence since a message was received.
    var silentChecks = 0
  }

  nonisolated let eventLoop: any EventLoop
  nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }

  private let address: HubAddress
  private let options: HubClient.Options
  /// The options of all requests.
  private let requestOptions: RequestOptions
  private let check: @Sendable (String) throws(HomeError) -> Void
  private let report: RouteListener
  private var phase = Phase.stopped
  /// The number of attempts.
  private var attempt = 0
  /// The open connections by attempt: the current one, and former ones, which are closed when their requests are answered.
  private var connections: [Int: Connection] = [:]
  private var pause: Duration
  private var timer: Scheduled<Void>?
  private var failure: HomeError?

  /// The received parts of the home.
  private var home = ReceivedHome()
  private var position: HubPosition?
  /// Whether the client has the home of an earlier connection.
  private var wasLoaded = false
  /// The prefixes of the origins of own changes, of this connection and the last ones before it.
  private var ownIDs: [String] = []
  private static let mostOwnIDs = 64
  /// The size of a message of a hub: a whole home as the reply to a reader of the log.
  private static let longestMessage = 1 << 26
  private var nextRequest: UInt64 = 0
  private var pending: [String: Pending] = [:]

  /// A request without a reply.
  private struct Pending {
    let attempt: Int
    let continuation: CheckedContinuation<Result<HomeReply, HomeError>, Never>
    let progress: HomeProgress.Handler
    let timer: Scheduled<Void>
  }

  /// - Parameters:
  ///   - requestOptions: the options of all requests; nil: the timeout of the client.
  ///   - check: checks the identity of the home; called on the event loop.
  ///   - report: called on the event loop.
  init(
    _ address: HubAddress, _ options: HubClient.Options, _ requestOptions: RequestOptions? = nil,
    on eventLoop: any EventLoop,
    check: @escaping @Sendable (String) throws(HomeError) -> Void, report: @escaping RouteListener
  ) {
    self.address = address
    self.check = check
    self.options = options
    self.requestOptions = requestOptions ?? RequestOptions(timeout: options.timeout)
    self.eventLoop = eventLoop
    self.report = report
    pause = options.firstPause
  }

  // MARK: Connecting

  func start() {
    guard phase == .stopped else { return }
    pause = options.firstPause
    connect()
  }

  func stop() {
    retire()
    for number in connections.keys.sorted() {
      close(number, HomeError(.interrupted, "the route to the hub was left"))
    }
  }

  func retire() {
    (position, wasLoaded, phase) = (nil, false, .stopped)
    leave()
  }

  func reload() {
    (position, wasLoaded) = (nil, false)
    guard phase == .greeting || isConnected else { return }
    retire()
    start()
  }

  /// Ends the attempt. Its connection is closed when its requests are answered.
  private func leave() {
    timer?.cancel()
    attempt += 1
    closeIfAnswered(attempt - 1)
  }

  private func connect() {
    phase = .connecting
    failure = nil
    attempt += 1
    let number = attempt
    options.machine.task { await self.dial(number) }
  }

  private func dial(_ number: Int) async {
    guard number == attempt, case .connecting = phase else { return }
    var tls: ClientTLS?
    do {
      tls = try security()
      let connection = try await open(tls, number)
      guard number == attempt else { return connection.channel.close(promise: nil) }
      add(connection.channel, number)
      try await connection.upgrade.get()
    } catch {
      guard number == attempt, case .connecting = phase else { return }
      let known = (error as? HomeError) ?? tls?.meaning(of: error)
      if let known, known.code == .accessDenied { failure = known }
      fail(known ?? unreachable(error))
    }
  }

  /// Returns the TLS of a connection on the network; nil for a local socket.
  private func security() throws(HomeError) -> ClientTLS? {
    if case .socket = address { return nil }
    guard options.token != nil else {
      throw HomeError(.accessDenied, "a hub on the network requires a token; use --token or set HEARTH_TOKEN")
    }
    do throws(HomeError) {
      return try ClientTLS(address, options.trust)
    } catch {
      // Another attempt would fail in the same way.
      failure = error
      throw error
    }
  }

  private struct Connecting {
    var channel: any Channel
    /// Completes when the connection is upgraded, or the upgrade refused.
    var upgrade: EventLoopFuture<Void>
  }

  private func open(_ tls: ClientTLS?, _ number: Int) async throws -> Connecting {
    let bootstrap = ClientBootstrap(group: eventLoop.forSockets)
      .connectTimeout(.nanoseconds(options.connectTimeout.nanoseconds))
    let configure: @Sendable (any Channel) -> EventLoopFuture<Connecting> = { [self] channel in
      channel.eventLoop.makeCompletedFuture {
        Connecting(channel: channel, upgrade: try assumeIsolated { try $0.configure(channel, tls, number) })
      }
    }
    switch address {
    case .socket(let path):
      return try await SocketPath.withShort(path) {
        try await bootstrap.connect(unixDomainSocketPath: $0, channelInitializer: configure)
      }
    case .host(let host, let port), .web(let host, let port, _):
      return try await bootstrap.connect(host: host, port: port, channelInitializer: configure)
    }
  }

  private func configure(_ channel: any Channel, _ tls: ClientTLS?, _ number: Int) throws -> EventLoopFuture<Void> {
    let pipeline = channel.pipeline.syncOperations
    if let tls { try pipeline.addHandler(tls.makeHandler()) }
    let link = self
    let upgrader = NIOTypedWebSocketClientUpgrader<Void>(maxFrameSize: Self.longestMessage) { channel, _ in
      channel.eventLoop.makeCompletedFuture {
        try channel.pipeline.syncOperations.addHandler(LinkHandler(link, number))
        link.assumeIsolated { $0.upgraded(number) }
        link.followEnd(of: channel, number)
      }
    }
    var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: address.path)
    head.headers.add(name: "Host", value: address.authority)
    if let token = options.token { head.headers.add(name: BearerToken.header, value: BearerToken.value(token)) }
    let configuration = NIOTypedHTTPClientUpgradeConfiguration<Void>(
      upgradeRequestHead: head, upgraders: [upgrader],
      notUpgradingCompletionHandler: { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(RefusalHandler(link, number))
          link.followEnd(of: channel, number)
        }
      })
    return try pipeline.configureUpgradableHTTPClientPipeline(
      configuration: .init(upgradeConfiguration: configuration))
  }

  /// Ends the attempt when the connection is closed. The hub may have closed it during the upgrade, before the handler of the
  /// messages was added, so that no handler is notified.
  private nonisolated func followEnd(of channel: any Channel, _ number: Int) {
    channel.closeFuture.whenComplete { [self] _ in assumeIsolated { $0.disconnected(number) } }
  }

  /// The hub refused the upgrade.
  func refused(_ error: HomeError, _ number: Int) {
    guard number == attempt else { return }
    failure = error
    report(.refused(error))
    fail(error)
  }

  private func unreachable(_ error: any Error) -> HomeError {
    switch address {
    case .socket(let path) where (error as? IOError)?.errnoCode == EACCES:
      HomeError(.accessDenied, "\(path): permission denied; ask the user of the hub for an invitation", cause: error)
    case .socket(let path):
      HomeError(.notRunning, "no hub listens at \(path); start one with `hearth hub run`", cause: error)
    case .host, .web: HomeError(.unreachable, "no hub answers at \(address)", cause: error)
    }
  }

  /// Registers an open connection. Checks periodically whether anything is received; the hub sends pings. If the client has
  /// other routes, it also sends pings, and is notified of silence. Silence is measured in checks, so that time in which
  /// this process was stopped does not count.
  private func add(_ channel: any Channel, _ number: Int) {
    guard connections[number] == nil else { return }
    let interval = options.probeInterval ?? max(options.silence, .milliseconds(20)) / 2
    let watch = schedule(each: interval) { $0.checkSilence(of: number, interval) }
    connections[number] = Connection(channel: channel, watch: watch)
  }

  private func checkSilence(of number: Int, _ interval: Duration) {
    guard let connection = connections[number] else { return }
    let silence = interval * connection.silentChecks
    connections[number]?.silentChecks += 1
    if silence >= options.silence {
      return lose(number, HomeError(.unreachable, "the hub at \(address) no longer answers"))
    }
    guard options.probeInterval != nil, number == attempt, case .up = phase else { return }
    if silence > .zero { report(.silent(silence)) }
    let ping = WebSocketFrame(fin: true, opcode: .ping, maskKey: .random(), data: ByteBuffer())
    connection.channel.writeAndFlush(ping, promise: nil)
  }

  /// Ends a connection whose local address was removed, and connects at once if the next attempt is scheduled.
  func addressesChanged(removed: Set<IPAddress>) {
    if case .waiting = phase {
      timer?.cancel()
      pause = options.firstPause
      return connect()
    }
    for (number, connection) in connections.sorted(by: { $0.key < $1.key }) {
      // The scope of a link-local address is not part of its bytes.
      let local = connection.channel.localAddress?.ipAddress
        .flatMap { IPAddress(String($0.prefix { $0 != "%" }))?.bytes }
      guard let local, removed.contains(where: { $0.bytes == local }) else { continue }
      lose(
        number, HomeError(.unreachable, "the connection to the hub at \(address) used an address that was removed"))
    }
  }

  /// Closes a connection, and ends its requests.
  private func close(_ number: Int, _ error: HomeError) {
    guard let connection = connections.removeValue(forKey: number) else { return }
    connection.watch.cancel()
    connection.channel.close(promise: nil)
    for id in requests(of: number) { answer(id, .failure(error)) }
  }

  /// A connection was lost.
  private func lose(_ number: Int, _ error: HomeError) {
    if number == attempt { fail(error) } else { close(number, Self.lost) }
  }

  /// Ends an attempt or a connection, and schedules the next attempt.
  private func fail(_ error: HomeError) {
    let error = failure ?? error
    if case .up = phase { pause = options.firstPause }
    phase = .waiting
    close(attempt, Self.lost)
    attempt += 1
    report(.down(error))
    if failure != nil { pause = options.longestPause }
    let number = attempt
    timer = schedule(in: pause) { if number == $0.attempt, $0.phase == .waiting { $0.connect() } }
    pause = min(pause * 2, options.longestPause)
  }

  /// The hub has ended. It has replied to all requests that it started.
  func ended(_ number: Int) {
    for id in requests(of: number) { answer(id, .failure(HubServer.ending)) }
    lose(number, HubServer.ending)
  }

  private func disconnected(_ number: Int) {
    lose(number, HomeError(.unreachable, "the hub at \(address) closed the connection"))
  }

  // MARK: Receiving

  private func upgraded(_ number: Int) {
    guard number == attempt, case .connecting = phase else { return }
    phase = .greeting
    connections[number]?.silentChecks = 0
  }

  /// The connection is open for messages.
  func opened(_ channel: any Channel, _ number: Int) {
    guard number == attempt, case .greeting = phase else { return }
    add(channel, number)
    send(.start(HubStart(name: options.name, position: position)), number)
  }

  /// Anything was received, such as a ping.
  func noteActivity(_ number: Int) {
    guard let connection = connections[number] else { return }
    connections[number]?.silentChecks = 0
    if connection.silentChecks > 1, number == attempt, options.probeInterval != nil, case .up = phase {
      report(.silent(.zero))
    }
  }

  func received(_ text: [UInt8], _ number: Int) {
    guard connections[number] != nil else { return }
    do {
      switch try HubNews(text) {
      case .progress(let value): pending[value.id]?.progress(value.progress)
      case .reply(let id, let result):
        answer(id, result)
        // An ending hub still replies to the requests that it has started.
        guard case .failure(let error) = result, Self.isSame(error, HubServer.ending), number == attempt else { return }
        leave()
        fail(error)
      case let news: if number == attempt { handle(news) }
      }
    } catch {
      lose(number, HomeError(.internalError, "the hub at \(address) sent a malformed message", cause: error))
    }
  }

  private func handle(_ news: HubNews) {
    switch (news, phase) {
    case (.welcome(let welcome), .greeting):
      do throws(HomeError) {
        try check(welcome.home)
      } catch {
        failure = error
        return fail(error)
      }
      ownIDs = ownIDs.suffix(Self.mostOwnIDs - 1) + [welcome.client]
      phase = .up
      report(.accepted(welcome.role))
      // The missed updates follow, or `reset`.
      if welcome.isResumed { report(.resumed) } else { position = nil }
    case (.refused(let error), _):
      position = nil
      refused(error, attempt)
    case (.reset, _):
      phase = .loading
      home = ReceivedHome()
    case (.part(let changes), .loading): for change in changes { home.state.apply(change) }
    case (.contacts(let news), .loading): home.contacts.merge(news) { $1 }
    case (.contacts(let news), _): report(.contacts(news))
    case (.debouncer(let debouncer), .loading): home.debouncer = debouncer
    case (.debouncer(let debouncer), .up): report(.debouncer(debouncer))
    case (.synchronized(let position), .loading):
      self.position = position
      phase = .up
      report(wasLoaded ? .reloaded(home) : .loaded(home))
      wasLoaded = true
      home = ReceivedHome()
    case (.synchronized(let position), _): self.position = position
    case (.update(let update), .up):
      position = update.position
      var changes = update.update
      changes.origin = changes.origin.flatMap { ownOrigin($0) }
      report(.update(changes, update.contacts))
    // Updates of the home before a reset are void.
    case (.update, _), (.part, _), (.welcome, _), (.debouncer, _), (.other, _), (.progress, _), (.reply, _): break
    }
  }

  /// Returns an origin as the callers of this process know it: for changes of this client, the caller within it.
  private func ownOrigin(_ origin: String) -> String? {
    for id in ownIDs {
      if origin == id { return nil }
      if origin.hasPrefix(id + "/") { return String(origin.dropFirst(id.count + 1)) }
    }
    return origin
  }

  // MARK: Requests

  /// The error of a request whose connection was lost, so that its result is unknown.
  private static let lost = HomeError(
    .unreachable, "the connection to the home was lost; the request may or may not have been carried out")

  private static let timedOut = HomeError(
    .timedOut, "the home did not answer in time; the request may or may not have been carried out")

  /// The error of a request that was not sent.
  private static let notSent = HomeError(.unreachable, "the home can't be reached now")

  /// Compares the errors without their causes.
  private static func isSame(_ error: HomeError, _ other: HomeError) -> Bool {
    error.code == other.code && error.message == other.message
  }

  /// Whether a request that failed may be sent again: it was not carried out, or does no harm if carried out twice.
  static func mayRepeat(_ request: HomeRequest, after error: HomeError) -> Bool {
    isSame(error, notSent) || isSame(error, HubServer.ending) || isSame(error, lost) && request.isRepeatable
  }

  /// Whether requests can be sent.
  private var isConnected: Bool { phase == .loading || phase == .up }

  private func send(_ message: HubMessage, _ number: Int) {
    guard let text = try? message.text else { return }
    send(text, number)
  }

  private func send(_ text: ByteBuffer, _ number: Int) {
    let frame = WebSocketFrame(fin: true, opcode: .text, maskKey: .random(), data: text)
    connections[number]?.channel.writeAndFlush(frame, promise: nil)
  }

  /// The ids of the requests of a connection.
  private func requests(of number: Int) -> [String] {
    pending.filter { $0.value.attempt == number }.keys.sorted()
  }

  private func answer(_ id: String, _ result: Result<HomeReply, HomeError>) {
    guard let asked = pending.removeValue(forKey: id) else { return }
    asked.timer.cancel()
    asked.continuation.resume(returning: result)
    closeIfAnswered(asked.attempt)
  }

  /// Closes a former connection if none of its requests is outstanding.
  private func closeIfAnswered(_ number: Int) {
    if number != attempt, requests(of: number).isEmpty { close(number, Self.lost) }
  }

  func send(
    _ request: HomeRequest, origin: String?, within limit: Duration, progress: @escaping HomeProgress.Handler
  ) async -> Result<HomeReply, HomeError> {
    guard isConnected else { return .failure(Self.notSent) }
    nextRequest += 1
    let id = String(nextRequest)
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        guard !Task.isCancelled else {
          return continuation.resume(returning: .failure(.canceled))
        }
        guard let text = try? HubMessage.request(id: id, request, origin: origin, options: requestOptions).text,
          text.readableBytes <= HubServer.Limits.messageSize
        else {
          return continuation.resume(
            returning: .failure(HomeError(.badArguments, "the request is too large for the hub")))
        }
        let timer = schedule(in: min(limit, .seconds(86_400))) { $0.answer(id, .failure(Self.timedOut)) }
        pending[id] = Pending(attempt: attempt, continuation: continuation, progress: progress, timer: timer)
        send(text, attempt)
      }
    } onCancel: {
      eventLoop.execute { [self] in
        assumeIsolated { link in
          if let asked = link.pending[id] { link.send(.cancel(id: id), asked.attempt) }
          link.answer(id, .failure(.canceled))
        }
      }
    }
  }
}
