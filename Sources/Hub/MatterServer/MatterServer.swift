internal import Glibc
public import Home
public import Logging
internal import MatterModel
internal import MatterProtocol
public import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOWebSocket
internal import Runtime

/// Serves a home with the published WebSocket API of the Matter server that Home Assistant uses: schema 13, minimum 11.
/// An actor on the event loop of the home's controller. See <doc:SharingAHome>, “Serve other clients”.
///
/// The server has no access control yet, so it listens on loopback only.
public actor MatterServer {
  /// The address and the log of a server.
  public struct Options: Sendable {
    /// A loopback address; nil: both loopback addresses of this machine.
    public var host: String?
    /// The port; 0: a free one.
    public var port: Int
    /// The version of the program, as clients show it.
    public var version = "0"
    public var logger: Logger

    public init(host: String? = nil, port: Int, logger: Logger) {
      (self.host, self.port, self.logger) = (host, port, logger)
    }
  }

  /// The bounds of what clients can occupy.
  enum Limits {
    /// The size of a message in bytes. The longest one is a dump for `import_test_node`.
    static let messageSize = 1 << 21
    /// The number of frames of a message.
    static let fragments = 256
    /// The number of connections, including connections before their upgrade.
    static let connections = 128
    /// The number of requests of a client without a result.
    static let requests = 256
    /// The number of bytes queued for a client, at which it is disconnected.
    static let queuedBytes = 1 << 23
    /// The number of node events that `diagnostics` lists.
    static let recentEvents = 25
    /// The number of imported test nodes.
    static let testNodes = 1000
    /// The time for the upgrade of a connection.
    static let upgradeTime = TimeAmount.seconds(10)
    /// The time without progress in sending to a client, after which it is disconnected.
    static let stallTime = TimeAmount.seconds(60)
    /// The time for which a new node may be incompletely described before it is announced as it is.
    static let descriptionTime = TimeAmount.seconds(10)
  }

  static let path = "/ws"

  public nonisolated let eventLoop: any EventLoop
  public nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }

  let controller: HomeController
  let version: String
  var logger: Logger
  /// The addresses of the server, as URLs.
  public private(set) var addresses: [String] = []
  var projection: NodeProjection
  var settings: MatterServerSettings
  var testNodes = TestNodes()
  /// The times when all attributes of nodes were read last, in microseconds since 1970.
  var interviews: [NodeID: Int64] = [:]
  /// The last events of nodes.
  private(set) var recentEvents: [(node: NodeID, data: EventData)] = []
  private var listeners: [any Channel] = []
  private var connections: [Int: MatterServerConnection] = [:]
  private var openChannels = 0
  private var nextConnection = 0
  private var stallTimer: RepeatedTask?
  private var isClosed = false
  /// The end of the last operation with exclusive access to the fabric.
  private var lastExclusive: EventLoopFuture<Void>?
  /// Callers that wait until a node is announced or removed.
  private var waiters: [(node: NodeID, isPresent: Bool, continuation: CheckedContinuation<Void, Never>)] = []

  private init(_ controller: HomeController, _ options: Options, _ settings: MatterServerSettings, _ state: HomeState) {
    self.controller = controller
    self.settings = settings
    version = options.version
    logger = options.logger
    eventLoop = controller.eventLoop
    projection = NodeProjection(state)
  }

  /// Starts a server. Must be closed with ``close()`` before the home. The home must be followed.
  /// - Throws: `HomeError` if the address is not a loopback address, or not available.
  public static func open(_ home: Home, _ options: Options) async throws(HomeError) -> MatterServer {
    let controller = try home.controller
    let settings = try await controller.withDatabase { try MatterServerSettings.load(from: $0) }
    let server = MatterServer(controller, options, settings, await controller.state)
    do throws(HomeError) {
      try await server.begin(options)
    } catch {
      await server.close()
      throw error
    }
    return server
  }

  private func begin(_ options: Options) async throws(HomeError) {
    let view = controller.view
    projection = NodeProjection(view.reducer.state)
    noteCommissioned(projection.sortedIDs)
    view.stream.addListener { [weak self] event in
      guard let self else { return false }
      return assumeIsolated { $0.receive(event) }
    }
    let interval = TimeAmount.seconds(5)
    stallTimer = eventLoop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { [weak self] _ in
      self?.assumeIsolated { $0.closeStalled() }
    }
    try await listen(options)
  }

  /// Sends `server_shutdown`, closes all connections and stops listening.
  public func close() async {
    guard !isClosed else { return }
    isClosed = true
    stallTimer?.cancel()
    for listener in listeners { try? await listener.close().get() }
    broadcast("server_shutdown", [:])
    for connection in connections.values { connection.close(.goingAway) }
    for connection in connections.values { try? await connection.channel.closeFuture.get() }
    let waiting = waiters
    waiters = []
    for waiter in waiting { waiter.continuation.resume() }
  }

  // MARK: Listening

  private func listen(_ options: Options) async throws(HomeError) {
    guard let host = options.host else {
      try await bind("127.0.0.1", options.port)
      let port = listeners.first?.localAddress?.port ?? options.port
      // A machine without IPv6 is served over IPv4.
      do throws(HomeError) { try await bind("::1", port) } catch { logger.debug("no IPv6: \(error)") }
      return
    }
    guard Self.isLoopback(host) else {
      throw HomeError(
        .badArguments,
        "can't serve WebSocket clients on \(host): they have full access without authentication; "
          + "expected a loopback address, such as 127.0.0.1")
    }
    try await bind(host == "localhost" ? "127.0.0.1" : host, options.port)
  }

  private func bind(_ host: String, _ port: Int) async throws(HomeError) {
    let bootstrap = ServerBootstrap(group: eventLoop.forSockets)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.writeBufferWaterMark, value: .init(low: 1 << 16, high: 1 << 18))
      .childChannelInitializer { [self] channel in
        channel.eventLoop.makeCompletedFuture { try assumeIsolated { try $0.accept(channel) } }
      }
    do {
      let listener = try await bootstrap.bind(host: host, port: port).get()
      listeners.append(listener)
      let address = HubAddress.host(host, port: listener.localAddress?.port ?? port)
      addresses.append("ws://\(address)\(Self.path)")
    } catch {
      let reason = (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
      throw HomeError(
        .badArguments, "can't listen on \(HubAddress.host(host, port: port)): \(reason); expected a free port",
        cause: error)
    }
  }

  private func accept(_ channel: any Channel) throws {
    guard !isClosed, openChannels < Limits.connections else { throw ChannelError.ioOnClosedChannel }
    openChannels += 1
    channel.closeFuture.assumeIsolated().whenComplete { [weak self] _ in
      self?.assumeIsolated { $0.openChannels -= 1 }
    }
    let upgrader = NIOTypedWebSocketServerUpgrader<Bool>(
      maxFrameSize: Limits.messageSize,
      shouldUpgrade: { channel, head in
        let isAllowed = Self.path(of: head) == Self.path && Self.isAllowed(head)
        // The upgrade handler does not forward a request whose upgrade it refused.
        if !isAllowed { MatterHTTPHandler.refuse(head, on: channel) }
        return channel.eventLoop.makeSucceededFuture(isAllowed ? [:] : nil)
      },
      upgradePipelineHandler: { channel, _ in
        channel.eventLoop.makeCompletedFuture {
          try self.assumeIsolated { try $0.upgraded(channel) }
          return true
        }
      })
    let configuration = NIOTypedHTTPServerUpgradeConfiguration<Bool>(upgraders: [upgrader]) { channel in
      channel.eventLoop.makeCompletedFuture {
        try channel.pipeline.syncOperations.addHandler(MatterHTTPHandler(self))
        return false
      }
    }
    let result = try channel.pipeline.syncOperations.configureUpgradableHTTPServerPipeline(
      configuration: .init(upgradeConfiguration: configuration))
    let timer = eventLoop.scheduleTask(in: Limits.upgradeTime) { channel.close(promise: nil) }
    result.whenComplete { result in
      if case .success(true) = result { timer.cancel() }
      if case .failure = result { channel.close(promise: nil) }
    }
  }

  private func upgraded(_ channel: any Channel) throws {
    nextConnection += 1
    let number = nextConnection
    let pipeline = channel.pipeline.syncOperations
    try pipeline.addHandler(
      NIOWebSocketFrameAggregator(
        minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: Limits.fragments,
        maxAccumulatedFrameSize: Limits.messageSize))
    try pipeline.addHandler(MatterSocketHandler(self, number))
    let connection = MatterServerConnection(channel)
    guard !isClosed else { return connection.close(.goingAway) }
    connections[number] = connection
    connection.send(serverInfo)
  }

  static func path(of request: HTTPRequestHead) -> String {
    String(request.uri.prefix { $0 != "?" })
  }

  /// Whether the request comes from a program, or from a page of this server. A page of another origin, also one whose
  /// name resolves to a loopback address, is refused.
  static func isAllowed(_ request: HTTPRequestHead) -> Bool {
    let origins = request.headers["Origin"]
    guard let origin = origins.first else { return true }
    guard origins.count == 1, let host = request.headers.first(name: "Host"),
      origin == "http://\(host)" || origin == "https://\(host)"
    else { return false }
    return isLoopback(HubAddress.hostName(host))
  }

  private static func isLoopback(_ host: String) -> Bool { host == "localhost" || IPAddress(host)?.isLoopback == true }

  // MARK: Connections

  func connection(_ number: Int) -> MatterServerConnection? { connections[number] }

  func close(_ number: Int, _ code: WebSocketErrorCode) { connections[number]?.close(code) }

  func closed(_ number: Int) { connections[number] = nil }

  func writabilityChanged(of number: Int, to isWritable: Bool) {
    connections[number]?.stalled = isWritable ? nil : eventLoop.now
  }

  private func closeStalled() {
    let now = eventLoop.now
    for connection in connections.values {
      if let since = connection.stalled, now - since >= Limits.stallTime { connection.close(.policyViolation) }
    }
  }

  /// Sends an event to all listening clients.
  func broadcast(_ event: String, _ data: @autoclosure () -> JSONValue) {
    enqueue(event, data())
    flush()
  }

  /// Queues an event for all listening clients, until ``flush()``. The text is made once, if there is such a client.
  private func enqueue(_ event: String, _ data: @autoclosure () -> JSONValue) {
    var text: ByteBuffer?
    for connection in connections.values where connection.isListening {
      let encoded = text ?? JSONValue.object([.init("event", .string(event)), .init("data", data())]).bytes
      text = encoded
      connection.write(encoded)
    }
  }

  private func flush() {
    for connection in connections.values where connection.isListening { connection.channel.flush() }
  }

  // MARK: Following the home

  /// - Returns: whether the observer stays registered.
  private func receive(_ event: HomeStream.Event) -> Bool {
    guard !isClosed else { return false }
    switch event {
    case .update(let update, let reducer):
      let pending = projection.pending
      let events = projection.take(update, reducer.state)
      for node in projection.pending.subtracting(pending) { scheduleAnnouncement(of: node) }
      send(events, reducer.state)
    case .reloaded(let reducer, _, _): send(projection.reload(reducer.state), reducer.state)
    case .hub, .contacts: break
    case .ended: return false
    }
    return true
  }

  private func scheduleAnnouncement(of node: NodeID) {
    eventLoop.scheduleTask(in: Limits.descriptionTime) { [weak self] in
      self?.assumeIsolated { server in
        let state = server.controller.view.reducer.state
        server.send(server.projection.announce(node, state), state)
      }
    }
  }

  private func send(_ events: [NodeEvent], _ state: HomeState) {
    for event in events {
      switch event {
      case .added(let node):
        interviews[node] = now
        noteCommissioned([node])
        enqueue("node_added", nodeObject(node, state) ?? .null)
      case .updated(let node): enqueue("node_updated", nodeObject(node, state) ?? .null)
      case .removed(let node):
        interviews[node] = nil
        enqueue("node_removed", .int(node.rawValue))
      case .endpointAdded(let node, let endpoint), .endpointRemoved(let node, let endpoint):
        let name = if case .endpointAdded = event { "endpoint_added" } else { "endpoint_removed" }
        enqueue(name, ["node_id": .int(node.rawValue), "endpoint_id": .int(endpoint.rawValue)])
      case .attribute(let node, let path, let value):
        guard let value = ValueEncoder.attribute(path, value) else { continue }
        enqueue("attribute_updated", [.int(node.rawValue), .string(AttributeKey.text(path)), value])
      case .event(let node, let data):
        recentEvents.append((node, data))
        if recentEvents.count > Limits.recentEvents { recentEvents.removeFirst() }
        enqueue("node_event", NodeEventObject.make(node, data))
      }
    }
    // One write to the socket for all events of an update.
    flush()
    if !waiters.isEmpty { resumeWaiters() }
  }

  // MARK: Waiting for nodes

  /// Waits until a node is announced or removed, for a limited time.
  func wait(for node: NodeID, isPresent: Bool, within time: TimeAmount) async {
    if (projection.nodes[node] != nil) == isPresent || isClosed { return }
    await withCheckedContinuation { continuation in
      waiters.append((node, isPresent, continuation))
      eventLoop.scheduleTask(in: time) { [weak self] in
        self?.assumeIsolated { $0.resumeWaiters(for: node) }
      }
    }
  }

  /// - Parameter node: the node whose waiters have waited long enough.
  private func resumeWaiters(for node: NodeID? = nil) {
    let ready = waiters.filter { $0.node == node || (projection.nodes[$0.node] != nil) == $0.isPresent }
    waiters.removeAll { $0.node == node || (projection.nodes[$0.node] != nil) == $0.isPresent }
    for waiter in ready { waiter.continuation.resume() }
  }

  // MARK: One at a time

  /// Performs an operation that needs exclusive access to the fabric, after all earlier ones.
  func exclusively<R: Sendable>(
    _ body: () async throws(HomeError) -> R
  ) async throws(HomeError) -> R {
    let before = lastExclusive
    let end = eventLoop.makePromise(of: Void.self)
    lastExclusive = end.futureResult
    defer { end.succeed() }
    try? await before?.get()
    return try await body()
  }

  // MARK: Values

  /// The time in microseconds since 1970.
  var now: Int64 { controller.options.machine.unixMicroseconds() }

  var state: HomeState { controller.view.reducer.state }

  func nodeObject(_ node: NodeID, _ state: HomeState) -> JSONValue? {
    projection.nodes[node].map { known in
      let commissioned = settings.commissioned[node.rawValue] ?? now
      return NodeObject.make(
        node, known, state, commissioned: commissioned, interviewed: interviews[node] ?? commissioned)
    }
  }

  var health: JSONValue {
    ["version": .string(version), "node_count": .int(projection.nodes.count + testNodes.all.count)]
  }
}
