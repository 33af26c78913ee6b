internal import Home
internal import MatterModel
internal import MatterProtocol
internal import NIOCore
internal import NIOPosix
internal import Runtime

/// A connection to a hub, made again whenever it breaks.
actor HubLink: RouteLink {
  private enum Phase {
    case stopped
    case waiting
    case connecting
    /// Connected, and not welcome yet.
    case greeting
    /// The home comes, part by part.
    case loading
    case up
  }

  nonisolated let eventLoop: any EventLoop
  nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }

  private let address: HubAddress
  private let options: HubClient.Options
  private let tell: RouteListener
  private var phase = Phase.stopped
  private var channel: (any Channel)?
  /// Counts attempts: what is heard of an earlier one is void.
  private var attempt = 0
  private var pause: Duration
  private var timer: Scheduled<Void>?
  private var watch: RepeatedTask?
  private var lastHeard: NIODeadline
  private var failure: HomeError?

  /// The home as far as it came.
  private var told = ToldHome()
  private var position: HubPosition?
  /// Whether it has told the home before, to a client that goes by it.
  private var wasLoaded = false
  /// The origins of our own changes, on this connection and those before it.
  private var ownIDs: [String] = []
  /// What was done on older ones has long been told.
  private static let mostOwnIDs = 64
  private var nextRequest: UInt64 = 0
  private var pending: [UInt64: Pending] = [:]

  /// A request that is not answered yet.
  private struct Pending {
    let continuation: CheckedContinuation<Result<HubReply, HomeError>, Never>
    let timer: Scheduled<Void>
  }

  /// - Parameter tell: is called on the event loop.
  init(_ address: HubAddress, _ options: HubClient.Options, on eventLoop: any EventLoop, tell: @escaping RouteListener)
  {
    self.address = address
    self.options = options
    self.eventLoop = eventLoop
    self.tell = tell
    pause = options.firstPause
    lastHeard = eventLoop.now
  }

  // MARK: Coming and going

  func start() {
    guard case .stopped = phase else { return }
    pause = options.firstPause
    connect()
  }

  func stop() {
    guard !isStopped else { return }
    phase = .stopped
    forget()
    hangUp(HomeError(.interrupted, "the route to the hub is no longer used"))
  }

  func forget() { (position, wasLoaded) = (nil, false) }

  /// Whether the connection proves who we are by itself.
  private var isSecure: Bool { if case .socket = address { false } else { true } }
  private var isStopped: Bool { if case .stopped = phase { true } else { false } }

  private func connect() {
    phase = .connecting
    failure = nil
    attempt += 1
    let number = attempt
    let link = self
    let secret = isSecure ? options.token.map { InvitedClient.hash($0) } : nil
    guard !isSecure || secret != nil else {
      // Not before whoever starts this has returned.
      eventLoop.execute { link.assumeIsolated { $0.lacksToken(number) } }
      return
    }
    options.machine.task { await self.dial(secret, number) }
  }

  private func dial(_ secret: [UInt8]?, _ number: Int) async {
    guard number == attempt, case .connecting = phase else { return }
    let (link, machine) = (self, options.machine)
    let bootstrap = ClientBootstrap(group: eventLoop.forSockets)
      .connectTimeout(.nanoseconds(options.connectTimeout.nanoseconds))
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let pipeline = channel.pipeline.syncOperations
          if let secret {
            try pipeline.addHandler(SecureHandler(tokenHash: secret, random: machine.makeRandom()))
          }
          try pipeline.addHandler(ByteToMessageHandler(FrameDecoder(longest: Frame.longestNews)))
          try pipeline.addHandler(LinkHandler(link, number))
        }
      }
    do {
      let channel = try await open(bootstrap)
      guard number == attempt, case .connecting = phase else {
        channel.close(promise: nil)
        return
      }
      greet(channel)
    } catch {
      guard number == attempt else { return }
      broke(unreachable(error))
    }
  }

  private func lacksToken(_ number: Int) {
    guard number == attempt else { return }
    failure = HomeError(.accessDenied, "a hub on the network requires a token; use --token or set HEARTH_TOKEN")
    broke(HomeError(.accessDenied, "no token"))
  }

  func tokenIsUnknown(_ number: Int) {
    guard number == attempt else { return }
    failure = HomeError(.accessDenied, "the hub at \(address) does not know this token; it may have been revoked")
    broke(HomeError(.accessDenied, "unknown token"))
  }

  private func open(_ bootstrap: ClientBootstrap) async throws -> any Channel {
    switch address {
    case .socket(let path):
      try await SocketPath.withShort(path) { try await bootstrap.connect(unixDomainSocketPath: $0).get() }
    case .host(let host, let port), .web(let host, let port, _):
      try await bootstrap.connect(host: host, port: port).get()
    }
  }

  private func unreachable(_ error: any Error) -> HomeError {
    switch address {
    case .socket(let path):
      HomeError(.notRunning, "no hub listens at \(path); start one with `hearth hub run`", cause: error)
    case .host, .web: HomeError(.unreachable, "no hub answers at \(address)", cause: error)
    }
  }

  private func greet(_ channel: any Channel) {
    self.channel = channel
    phase = .greeting
    lastHeard = eventLoop.now
    send(.hello(HubHello(name: options.name, token: isSecure ? nil : options.token, position: position)))
    let silence = TimeAmount.nanoseconds(options.silence.nanoseconds)
    watch = eventLoop.scheduleRepeatedTask(initialDelay: silence, delay: .nanoseconds(silence.nanoseconds / 2)) {
      [weak self] _ in
      guard let self else { return }
      assumeIsolated { link in
        if link.eventLoop.now - link.lastHeard >= silence {
          link.broke(HomeError(.unreachable, "the hub at \(link.address) no longer answers"))
        }
      }
    }
  }

  private func hangUp(_ error: HomeError) {
    attempt += 1
    timer?.cancel()
    watch?.cancel()
    channel?.close(promise: nil)
    (timer, watch, channel) = (nil, nil, nil)
    for id in pending.keys.sorted() { answer(id, .failure(error)) }
  }

  /// The connection is gone, or never came about: tries again later.
  private func broke(_ error: HomeError) {
    guard !isStopped else { return }
    let error = failure ?? error
    if case .up = phase { pause = options.firstPause }
    phase = .waiting
    // Half a home is none.
    hangUp(
      HomeError(.unreachable, "the connection to the hub was lost; the request may or may not have been carried out"))
    tell(.down(error))
    // Who is not let in need not knock so often.
    if failure != nil { pause = options.longestPause }
    let number = attempt
    timer = eventLoop.scheduleTask(in: .nanoseconds(pause.nanoseconds)) { [weak self] in
      guard let self else { return }
      assumeIsolated { if number == $0.attempt, !$0.isStopped { $0.connect() } }
    }
    pause = min(pause * 2, options.longestPause)
  }

  func disconnected(_ number: Int) {
    if number == attempt { broke(HomeError(.unreachable, "the hub at \(address) closed the connection")) }
  }

  // MARK: Hearing

  func received(_ bytes: [UInt8], _ number: Int) {
    guard number == attempt, channel != nil else { return }
    lastHeard = eventLoop.now
    do throws(DamagedBlob) {
      take(try HubNews(bytes))
    } catch {
      broke(HomeError(.internalError, "the hub at \(address) sent an unreadable message"))
    }
  }

  private func take(_ news: HubNews) {
    switch (news, phase) {
    case (.welcome(_, let client, let isResumed), .greeting):
      ownIDs = ownIDs.suffix(Self.mostOwnIDs - 1) + [client]
      phase = .up
      // What comes next is what was missed, or `reset`.
      if isResumed { tell(.resumed) } else { position = nil }
    case (.refused(let error), _):
      failure = error
      position = nil
      broke(error)
    case (.reset, _):
      phase = .loading
      told = ToldHome()
    case (.part(let changes), .loading): for change in changes { told.state.apply(change) }
    case (.contacts(let news), .loading): told.contacts.merge(news) { $1 }
    case (.contacts(let news), _): tell(.contacts(news))
    case (.settling(let settling), .loading): told.settling = settling
    case (.settling(let settling), .up): tell(.settling(settling))
    case (.synchronized(let position), .loading):
      self.position = position
      phase = .up
      tell(wasLoaded ? .reloaded(told) : .loaded(told))
      wasLoaded = true
      told = ToldHome()
    case (.synchronized(let position), _): self.position = position
    case (.update(var update, let contacts, let position), .up):
      self.position = position
      update.origin = update.origin.flatMap { own($0) }
      tell(.update(update, contacts))
    case (.reply(let id, let result), _): answer(id, result)
    // The home as it was before a reset is of no use.
    case (.update, _), (.part, _), (.welcome, _), (.settling, _): break
    }
  }

  /// An origin as this process knows it: of our own changes, which of our clients it was.
  private func own(_ origin: String) -> String? {
    for id in ownIDs {
      if origin == id { return nil }
      if origin.hasPrefix(id + "/") { return String(origin.dropFirst(id.count + 1)) }
    }
    return origin
  }

  // MARK: Asking

  private func send(_ message: HubMessage) {
    guard let channel else { return }
    channel.writeAndFlush(Frame.buffer(message.bytes, channel.allocator), promise: nil)
  }

  private func answer(_ id: UInt64, _ result: Result<HubReply, HomeError>) {
    guard let asked = pending.removeValue(forKey: id) else { return }
    asked.timer.cancel()
    asked.continuation.resume(returning: result)
  }

  /// A hub that hears and never answers is waited for no longer than this.
  private func giveUp(_ id: UInt64, after limit: Duration) -> Scheduled<Void> {
    eventLoop.scheduleTask(in: .nanoseconds(min(limit, .seconds(86_400)).nanoseconds)) { [weak self] in
      guard let self else { return }
      assumeIsolated {
        $0.answer(
          id,
          .failure(
            HomeError(.timedOut, "the hub did not answer in time; the request may or may not have been carried out")))
      }
    }
  }

  func send(
    _ request: HubRequest, origin: String?, within limit: Duration
  ) async -> Result<HubReply, HomeError> {
    nextRequest += 1
    let id = nextRequest
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        switch phase {
        case .up, .loading:
          guard !Task.isCancelled else {
            return continuation.resume(returning: .failure(HomeError(.interrupted, "cancelled")))
          }
          let message = HubMessage.request(id, request, origin: origin)
          guard message.bytes.count <= Frame.longestMessage else {
            return continuation.resume(
              returning: .failure(HomeError(.badArguments, "the request is too large for the hub")))
          }
          pending[id] = Pending(continuation: continuation, timer: giveUp(id, after: limit))
          send(message)
        default:
          continuation.resume(returning: .failure(HomeError(.unreachable, "the hub can't be reached now")))
        }
      }
    } onCancel: {
      eventLoop.execute { [self] in
        assumeIsolated { $0.answer(id, .failure(HomeError(.interrupted, "cancelled"))) }
      }
    }
  }
}

/// Carries what comes on a connection to its link.
private final class LinkHandler: ChannelInboundHandler {
  typealias InboundIn = [UInt8]

  private let link: HubLink
  private let attempt: Int

  init(_ link: HubLink, _ attempt: Int) { (self.link, self.attempt) = (link, attempt) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let (bytes, attempt) = (unwrapInboundIn(data), attempt)
    link.assumeIsolated { $0.received(bytes, attempt) }
  }

  func channelInactive(context: ChannelHandlerContext) {
    let attempt = attempt
    link.assumeIsolated { $0.disconnected(attempt) }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    let attempt = attempt
    if case SecureHandler.Failure.unknownToken = error { link.assumeIsolated { $0.tokenIsUnknown(attempt) } }
    context.close(promise: nil)
  }
}
