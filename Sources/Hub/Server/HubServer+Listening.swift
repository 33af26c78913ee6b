internal import Glibc
internal import HomeControl
internal import HomeModel
internal import Logging
internal import MatterProtocol
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOWebSocket
internal import Runtime
internal import WebClient

// Listeners, and connections until their upgrade to WebSocket.
extension HubServer {
  /// The transport of a listener, which determines how its clients are identified.
  enum ListenerKind: Sendable {
    /// A Unix domain socket: processes of the same user are owners, others need a token.
    case socket
    /// TCP on a loopback address: all clients are owners.
    case loopback
    /// TCP with TLS: clients need a token.
    case network(HubIdentity)

    var isNetwork: Bool { if case .network = self { true } else { false } }
  }

  /// - Parameter mode: the permissions of a socket.
  func listen(_ address: HubAddress, mode: mode_t) async throws(HomeError) {
    switch address {
    case .socket(let path):
      // The lock of the home protects its own socket.
      if path != self.path { try await checkUnused(path) }
      try Self.removeStaleSocket(path)
      try await listen(.socket, "\(address)", "a path for a socket") { bootstrap in
        let descriptor = try SocketPath.listen(at: path, mode: mode)
        addresses.append(path)
        return try await bootstrap.withBoundSocket(descriptor).get()
      }
    case .host(let host, let port):
      let identity: HubIdentity
      if let known = self.identity {
        identity = known
      } else {
        identity = try HubIdentity(controller.options.state, options.certificate)
        self.identity = identity
      }
      let listener = try await listen(.network(identity), "\(address)", "an address of this host and a free port") {
        bootstrap in
        try await bootstrap.bind(host: host, port: port).get()
      }
      addresses.append(HubAddress.host(host, port: listener.localAddress?.port ?? port).description)
    case .web: throw HomeError(.badArguments, "can't listen on the URL \(address); expected HOST:PORT or a socket")
    }
  }

  func listen(_ loopback: Loopback) async throws(HomeError) {
    guard let host = loopback.host else {
      let port = try await bind("127.0.0.1", loopback.port)
      // A machine without IPv6 is served over IPv4.
      do throws(HomeError) { _ = try await bind("::1", port) } catch { logger.debug("no IPv6: \(error)") }
      return
    }
    guard Self.isLoopback(host) else {
      throw HomeError(
        .badArguments,
        "can't serve WebSocket clients on \(host): they have full access without authentication; "
          + "expected a loopback address, such as 127.0.0.1")
    }
    _ = try await bind(host == "localhost" ? "127.0.0.1" : host, loopback.port)
  }

  /// Listens on a loopback address and returns the port.
  private func bind(_ host: String, _ port: Int) async throws(HomeError) -> Int {
    let listener = try await listen(.loopback, "\(HubAddress.host(host, port: port))", "a free port") { bootstrap in
      try await bootstrap.bind(host: host, port: port).get()
    }
    let bound = listener.localAddress?.port ?? port
    addresses.append("ws://\(HubAddress.host(host, port: bound))\(HubAddress.path)")
    return bound
  }

  @discardableResult
  private func listen(
    _ kind: ListenerKind, _ address: String, _ expected: String,
    _ bind: (ServerBootstrap) async throws -> any Channel
  ) async throws(HomeError) -> any Channel {
    var bootstrap = ServerBootstrap(group: eventLoop.forSockets)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(
        .writeBufferWaterMark, value: .init(low: options.backlog / 8, high: max(options.backlog, 8))
      )
      .childChannelInitializer { [self] channel in
        channel.eventLoop.makeCompletedFuture { try assumeIsolated { try $0.accept(channel, kind) } }
      }
    if kind.isNetwork {
      // Ends a connection whose peer acknowledges nothing.
      let timeout = Int(clamping: options.timeout.milliseconds)
      bootstrap = bootstrap.childChannelOption(
        ChannelOptions.Types.SocketOption(level: .tcp, name: .init(rawValue: CInt(TCP_USER_TIMEOUT))), value: timeout)
    }
    do {
      let listener = try await bind(bootstrap)
      listeners.append(listener)
      return listener
    } catch {
      let reason =
        switch error {
        case let error as IOError: String(cString: strerror(error.errnoCode))
        case is SocketAddressError.UnknownHost: "unknown host"
        default: "\(error)"
        }
      throw HomeError(.badArguments, "can't listen on \(address): \(reason); expected \(expected)", cause: error)
    }
  }

  /// - Throws: `HomeError` `badArguments` if a server accepts connections on the socket.
  private func checkUnused(_ path: String) async throws(HomeError) {
    do {
      try await SocketPath.withShort(path) {
        try await ClientBootstrap(group: eventLoop.forSockets).connect(unixDomainSocketPath: $0).get().close()
      }
    } catch {
      // EAGAIN: the server has not accepted earlier connections yet.
      guard (error as? IOError)?.errnoCode == EAGAIN else { return }
    }
    throw HomeError(.badArguments, "another server listens on \(path); choose another path, or end that server")
  }

  /// Removes the socket of a hub that was killed.
  private static func removeStaleSocket(_ path: String) throws(HomeError) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFSOCK else {
      throw HomeError(.badArguments, "\(path) exists and is not a socket; choose another path")
    }
    unlink(path)
  }

  // MARK: Accepting

  private func accept(_ channel: any Channel, _ kind: ListenerKind) throws {
    guard !isClosed else { throw ChannelError.ioOnClosedChannel }
    nextConnection += 1
    let number = nextConnection
    let handshake = HubHandshake(channel, kind)
    makeRoom(for: handshake)
    handshakes[number] = handshake
    channel.closeFuture.assumeIsolated().whenComplete { [weak self] _ in
      self?.assumeIsolated { $0.handshakes[number] = nil }
    }
    schedule(in: options.handshakeTime) { $0.handshakes[number]?.abort() }
    if case .network(let identity) = kind {
      try channel.pipeline.syncOperations.addHandler(identity.makeHandler())
    }
    let upgrader = NIOTypedWebSocketServerUpgrader<Bool>(
      maxFrameSize: Limits.messageSize,
      shouldUpgrade: { channel, head in self.assumeIsolated { $0.shouldUpgrade(head, number, channel) } },
      upgradePipelineHandler: { channel, _ in
        channel.eventLoop.makeCompletedFuture {
          try self.assumeIsolated { try $0.upgraded(channel, number) }
          return true
        }
      })
    let configuration = NIOTypedHTTPServerUpgradeConfiguration<Bool>(upgraders: [upgrader]) { channel in
      channel.eventLoop.makeCompletedFuture {
        try channel.pipeline.syncOperations.addHandler(HTTPHandler(self, kind))
        return false
      }
    }
    let result = try channel.pipeline.syncOperations.configureUpgradableHTTPServerPipeline(
      configuration: .init(upgradeConfiguration: configuration))
    result.whenFailure { _ in channel.close(promise: nil) }
  }

  /// Closes the oldest handshake if there are too many, so that idle connections lock out no client. Handshakes from the
  /// network and from this machine are counted separately.
  private func makeRoom(for new: HubHandshake) {
    let others = handshakes.filter { $1.kind.isNetwork == new.kind.isNetwork }.sorted { $0.key < $1.key }.map(\.value)
    let neighbors = others.filter { $0.address == new.address }
    if new.kind.isNetwork, neighbors.count >= Limits.handshakesOfAddress {
      neighbors[0].abort()
    } else if others.count >= Limits.handshakes {
      others[0].abort()
    }
  }

  // MARK: Upgrading

  /// Identifies the client of an upgrade request.
  /// - Returns: the additional headers of the response; nil if the client was rejected.
  private func shouldUpgrade(
    _ head: HTTPRequestHead, _ number: Int, _ channel: any Channel
  ) -> EventLoopFuture<HTTPHeaders?> {
    // The upgrade handler does not forward a request whose upgrade it refused. RFC 6455 § 4.1 requires GET.
    guard head.method == .GET else {
      HTTPHandler.send(
        .methodNotAllowed, ["error": "method not allowed"], ["Allow": "GET"], to: head.method, on: channel)
      return channel.eventLoop.makeSucceededFuture(nil)
    }
    guard Self.path(of: head) == HubAddress.path else {
      HTTPHandler.send(.notFound, ["error": "not found"], on: channel)
      return channel.eventLoop.makeSucceededFuture(nil)
    }
    guard Self.isAllowed(head) else {
      HTTPHandler.send(.forbidden, ["error": "origin not allowed"], on: channel)
      return channel.eventLoop.makeSucceededFuture(nil)
    }
    // What the client sends in the meantime would be buffered without a limit.
    try? channel.syncOptions?.setOption(.autoRead, value: false)
    let promise = channel.eventLoop.makePromise(of: HTTPHeaders?.self)
    controller.options.machine.task {
      promise.succeed(
        await self.identify(number, head.headers.first(name: BearerToken.header).flatMap { BearerToken.token(in: $0) }))
    }
    return promise.futureResult
  }

  private func identify(_ number: Int, _ token: String?) async -> HTTPHeaders? {
    guard let handshake = handshakes[number] else { return nil }
    do throws(HomeError) {
      let client = try await identify(handshake, token)
      guard handshakes[number] != nil else { return nil }
      try checkCount(with: client)
      handshake.client = client
      return [:]
    } catch {
      HTTPHandler.refuse(error, on: handshake.channel)
      return nil
    }
  }

  private func checkCount(with client: HubHandshake.Client) throws(HomeError) {
    let clients = connections.values.map(\.client) + handshakes.values.compactMap(\.client)
    let invited = clients.compactMap(\.tokenHash)
    let isFull =
      clients.count >= options.clients
      || client.tokenHash.map { hash in
        invited.count >= Limits.invitedClients || invited.count { $0 == hash } >= Limits.clientsOfInvitation
      } ?? false
    if isFull { throw HomeError(.refused, "the hub has too many clients; try again later") }
  }

  private func upgraded(_ channel: any Channel, _ number: Int) throws {
    guard let handshake = handshakes.removeValue(forKey: number), let client = handshake.client, !isClosed else {
      throw ChannelError.ioOnClosedChannel
    }
    let pipeline = channel.pipeline.syncOperations
    try pipeline.addHandler(
      NIOWebSocketFrameAggregator(
        minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: Limits.fragments,
        maxAccumulatedFrameSize: Limits.messageSize))
    try pipeline.addHandler(WebSocketHandler(self, number))
    let connection = HubConnection(channel, client, address: handshake.address, on: controller.options.machine)
    connections[number] = connection
    logger.info("client connected", metadata: ["name": "\(client.name)", "role": "\(client.role)"])
    connection.send(serverInfo)
    try channel.syncOptions?.setOption(.autoRead, value: true)
  }

  /// Returns the path of a request, whose target may be an absolute URL. RFC 9112 § 3.2.
  static func path(of request: HTTPRequestHead) -> String {
    var target = Substring(request.uri)
    for scheme in ["http://", "https://"] where target.lowercased().hasPrefix(scheme) {
      target = target.dropFirst(scheme.count).drop { !"/?".contains($0) }
    }
    return String(target.prefix { $0 != "?" })
  }

  /// Whether the request comes from a program, or from a page of this server. A page of another origin, also one whose
  /// name resolves to a loopback address, is refused.
  private static func isAllowed(_ request: HTTPRequestHead) -> Bool {
    let origins = request.headers["Origin"]
    guard let origin = origins.first else { return true }
    guard origins.count == 1, let host = request.headers.first(name: "Host"),
      origin == "http://\(host)" || origin == "https://\(host)"
    else { return false }
    return isLoopback(HubAddress.hostName(host))
  }

  private static func isLoopback(_ host: String) -> Bool { host == "localhost" || IPAddress(host)?.isLoopback == true }

  // MARK: Connections

  func close(_ number: Int, _ code: WebSocketErrorCode) { connections[number]?.close(code) }

  func closed(_ number: Int) {
    guard let connection = connections.removeValue(forKey: number) else { return }
    if labelOwner == number { labelOwner = nil }
    connection.close(.normalClosure)
    for running in connection.running.values { running.task.cancel() }
    noteEnd()
    logger.info(
      "client disconnected", metadata: ["name": "\(connection.client.name)", "role": "\(connection.role)"])
  }

  /// Notes a frame of a client. It costs one token, and another one for each 4 KiB.
  func noteFrame(of number: Int, size: Int) {
    guard let connection = connections[number] else { return }
    connection.unansweredPings = 0
    charge(1 + Int64(size >> 12), to: connection, number)
  }

  /// Takes tokens of a client. Nothing is read from a client without tokens.
  func charge(_ cost: Int64, to connection: HubConnection, _ number: Int) {
    connection.tokens.consume(cost, at: eventLoop.now)
    if !connection.isDelayed { delayReading(of: number) }
  }

  private func delayReading(of number: Int) {
    guard let connection = connections[number] else { return }
    let delay = connection.tokens.delay(at: eventLoop.now)
    connection.isDelayed = delay != nil
    if let delay { schedule(in: Duration(delay)) { $0.delayReading(of: number) } }
  }

  func writabilityChanged(of number: Int, to isWritable: Bool) {
    guard let connection = connections[number] else { return }
    connection.stalled = isWritable ? nil : eventLoop.now
    connection.updateReading()
    if isWritable, connection.isFollowing, connection.isBehind { catchUp(connection) }
  }
}
