internal import Glibc
package import HomeControl
package import HomeModel
internal import HomeStore
public import Logging
internal import MatterCrypto
internal import MatterModel
internal import MatterProtocol
package import NIOCore
internal import NIOWebSocket
public import Runtime
internal import WebClient

/// Serves a home over WebSocket: with the published API of the Matter server that Home Assistant uses, schema 13,
/// minimum 11, and with additions of this package, whose commands and events have the prefix `hearth_`.
///
/// An actor on the event loop of the home's controller. See <doc:SharingAHome>.
public actor HubServer: LoopActor {
  /// The addresses of a hub, and its limits for slow or disconnected clients.
  public struct Options: Sendable {
    /// Addresses to listen at, besides the socket in the state directory. Their clients need a token, except processes
    /// of the same user on a socket.
    public var addresses: [HubAddress] = []
    /// The user's own certificate and key for connections on the network; nil: those in the state directory.
    public var certificate: HubIdentity.CertificateFiles?
    /// A loopback address whose clients are owners without a token.
    public var loopback: Loopback?
    /// The number of updates kept for slow or disconnected clients. A client that missed more reloads the home.
    public var journal = 4096
    /// The maximum number of bytes queued for a slow client. Further updates are sent once the queue is drained.
    public var backlog = 1 << 19
    /// The interval of heartbeats to clients.
    public var heartbeat: Duration = .seconds(5)
    /// The time without progress in sending to a client, or without an answer to pings, after which its connection is
    /// closed.
    public var timeout: Duration = .seconds(60)
    /// The software images that clients can install; nil: none.
    package var updates: SoftwareUpdates?
    /// The maximum number of clients.
    package var clients = 1024
    /// The time for the upgrade of a connection.
    package var handshakeTime: Duration = .seconds(30)
    /// The version of the program, as clients show it.
    public var version = "0"
    public var logger: Logger
    /// Sets the log level of the process for `set_loglevel`; nil: only the level of the server's own logger is set.
    public var setLogLevel: (@Sendable (Logger.Level) -> Void)?
    /// Whether the server is a hub, and not that of a process which uses the home itself.
    var isHub = true

    public init(logger: Logger) { self.logger = logger }
  }

  /// A loopback address.
  public struct Loopback: Hashable, Sendable {
    /// Nil: both loopback addresses of this machine.
    public var host: String?
    /// The port; 0: a free one.
    public var port: Int

    public init(host: String? = nil, port: Int) { (self.host, self.port) = (host, port) }
  }

  /// The limits of the resources that clients can occupy.
  enum Limits {
    /// The size of a message in bytes. The longest one is a dump for `import_test_node`.
    static let messageSize = 1 << 21
    /// The number of frames of a message.
    static let fragments = 256
    /// The number of connections before their upgrade: of all clients on this machine or on the network, and of one
    /// address on the network.
    static let handshakes = 64, handshakesOfAddress = 16
    /// The number of clients: those with an invitation, and those with the same invitation.
    static let invitedClients = 256, clientsOfInvitation = 32
    /// The number of requests of a client without a result.
    static let requests = 256
    /// The number of requests with the prefix `hearth_` of a client without a result, of items in one of them, and of
    /// bytes in its origin.
    static let ownRequests = 64, items = 10_000, originSize = 64
    /// The number of bytes queued for a client of the standard API, at which it is disconnected; one more message may
    /// be queued.
    static let queuedBytes = 1 << 23
    /// The number of node events that `diagnostics` lists.
    static let recentEvents = 25
    /// The number of imported test nodes.
    static let testNodes = 1000
    /// The time for which a new node may be incompletely described before it is announced as it is.
    static let descriptionTime = Duration.seconds(10)
    /// The number of changes in a part of the home.
    static let changesInPart = 512
  }

  package nonisolated let eventLoop: any EventLoop
  public nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }

  let controller: HomeController
  let options: Options
  /// Its level can be changed by clients.
  var logger: Logger
  let since: Int64
  /// The identity of the home.
  private let home: String
  let path: String
  var listeners: [any Channel] = []
  /// Loaded at the start from the user's files, if there are any; otherwise for the first listener on the network.
  package var identity: HubIdentity?
  var addresses: [String] = []
  var handshakes: [Int: HubHandshake] = [:]
  var connections: [Int: HubConnection] = [:]
  var nextConnection = 0
  /// The invitations, as last loaded; nil if that failed.
  var invitations: [InvitedClient]?
  private(set) var isClosed = false
  /// Whether no more requests are started.
  var isEnding = false
  /// Callers that wait until a node is announced or removed, or until no request is running.
  let waiters: Waiters
  private var heartbeat: RepeatedTask?
  /// The number of updates and events that were sent to clients.
  var eventsDelivered: UInt64 = 0

  // The additions.
  private var journal: HubJournal
  private var random: any RandomSource
  /// The encoded parts of the home at the current position, for clients that load it at the same time.
  private var encodedHome: [HomeRole: [ByteBuffer]] = [:]
  /// The times of contact that were last sent to the clients.
  private var sentContacts: [NodeID: Contact] = [:]
  /// The grace time that was last sent to the clients; nil if its trials may also have changed since.
  private var sentGrace: Duration?

  // The standard API.
  var projection: NodeProjection
  var settings: MatterServerSettings
  var testNodes = TestNodes()
  /// The connection of the client that has set the label of the fabric.
  var labelOwner: Int?
  /// The times when the nodes were added to the home, in microseconds since 1970.
  var additionTimes: [NodeID: Int64] = [:]
  /// The times when all attributes of nodes were read last, in microseconds since 1970.
  var interviews: [NodeID: Int64] = [:]
  /// The addresses of nodes that a search found last.
  var foundAddresses: [NodeID: [IPAddress]] = [:]
  /// The last events of nodes.
  var recentEvents: [(node: NodeID, data: EventData)] = []
  /// The ends of the last exclusive operations.
  var lastExclusive: [ExclusiveResource: EventLoopFuture<Void>] = [:]
  /// The nodes that are updated or wait for it.
  var updatingNodes: Set<NodeID> = []
  /// The running software update.
  var updateTask: Task<HomeError?, Never>?
  /// The graph of the network that each client which has requested it received last, by connection.
  var topologies: [Int: NetworkTopology] = [:]
  var isTopologyScheduled = false
  /// The end of the running reads for the graph.
  var topologyRefresh: EventLoopFuture<Void>?
  /// Stores the settings, in the order of their changes.
  var settingsWork: SerialWork

  private init(
    _ controller: HomeController, _ options: Options, _ home: String, _ settings: MatterServerSettings
  ) {
    self.home = home
    self.controller = controller
    self.options = options
    self.settings = settings
    logger = options.logger
    path = controller.options.state.hubSocket
    eventLoop = controller.eventLoop
    waiters = Waiters(on: controller.eventLoop)
    since = controller.options.machine.unixMicroseconds()
    random = controller.options.machine.makeRandom()
    journal = HubJournal(hub: random.next(), limit: options.journal)
    projection = NodeProjection(HomeState())
    settingsWork = SerialWork(controller.options.machine)
  }

  /// Serves a home. Must be closed with ``close()`` before the home.
  /// - Throws: `HomeError` if the home is served already, or an address is not available.
  package static func open(
    _ controller: HomeController, _ options: Options
  ) async throws(HomeError) -> HubServer {
    guard await controller.beginServing() else {
      throw HomeError(.badArguments, "the home is served already; close its other server first")
    }
    let server: HubServer
    do throws(HomeError) {
      try Files.makeDirectory(controller.options.state.run)
      let (identity, settings) = try await controller.withDatabase { [logger = options.logger] in
        ($0.identity, try MatterServerSettings.load(from: $0, logger))
      }
      server = HubServer(controller, options, identity, settings)
    } catch {
      await controller.endServing()
      throw error
    }
    do throws(HomeError) {
      try await server.begin()
    } catch {
      await server.close()
      throw error
    }
    return server
  }

  private func begin() async throws(HomeError) {
    await controller.register(self)
    try await loadInvitations()
    let view = controller.view
    sentContacts = view.reducer.contacts
    sentGrace = view.reducer.debouncer.grace
    projection = NodeProjection(state)
    view.stream.addListener { [weak self] event in
      guard let self else { return false }
      return assumeIsolated { $0.handle(event) }
    }
    additionTimes.merge(try await controller.withDatabase { try $0.additionTimes() }) { later, _ in later }
    heartbeat = schedule(each: options.heartbeat) { $0.sendHeartbeat() }
    // The user's files are checked also if the hub does not listen on the network.
    if let files = options.certificate { identity = try HubIdentity(controller.options.state, files) }
    try await listen(.socket(path), mode: 0o600)
    for address in options.addresses { try await listen(address, mode: 0o666) }
    if let loopback = options.loopback { try await listen(loopback) }
  }

  /// Stops listening, waits for running requests, sends `server_shutdown` and closes all connections.
  public func close() async {
    guard !isEnding else { return }
    isEnding = true
    updateTask?.cancel()
    for case .socket(let path) in [.socket(path)] + options.addresses where addresses.contains(path) { unlink(path) }
    for listener in listeners { try? await listener.close().get() }
    await waitForRequests()
    isClosed = true
    heartbeat?.cancel()
    broadcast("server_shutdown") { _ in [:] }
    for handshake in handshakes.values { handshake.abort() }
    // Tells clients that the requests without a reply were not started, if this is so.
    let code: WebSocketErrorCode = isBusy ? .unexpectedServerError : .goingAway
    for connection in connections.values { connection.close(code) }
    for connection in connections.values { try? await connection.channel.closeFuture.get() }
    waiters.wakeUp()
    while let task = settingsWork.takeLast() { await task.value }
    await controller.endServing()
  }

  /// The error of a request that was not started.
  package static let ending = HomeError(.unreachable, "the process that owned the home is ending")

  /// The time to wait for running requests of clients when the server is closed.
  private static let endingTime = TimeAmount.seconds(10)

  private func waitForRequests() async {
    for running in connections.values.flatMap(\.running.values) where running.isEndless { running.task.cancel() }
    let deadline = eventLoop.now + Self.endingTime
    while isBusy, eventLoop.now < deadline { await waiters.wait(until: deadline) }
  }

  private var isBusy: Bool { connections.values.contains { $0.outstanding + $0.ownOutstanding > 0 } }

  /// A request of a client has ended.
  func noteEnd() { if isEnding, !isBusy { waiters.wakeUp() } }

  // MARK: The home

  /// - Returns: whether the observer stays registered.
  private func handle(_ event: HomeStream.Event) -> Bool {
    guard !isClosed else { return false }
    switch event {
    case .update(let update, let reducer):
      let update = reducer.shown(update)
      // A removed device affects all nodes, because the change does not name its own.
      let isRemoval = update.changes.contains { if case .deviceRemoved = $0 { true } else { false } }
      let nodes = isRemoval ? nil : Set(update.changes.lazy.compactMap(\.node))
      let state = reducer.shown(reducer.state, of: nodes)
      sendUpdate(update, reducer)
      noteAdditions(update)
      sendNodeEvents(update, state)
    case .reloaded(let reducer, _, _):
      let state = reducer.shown(reducer.state)
      reload(reducer)
      sendNodeEvents(projection.reload(state), state)
    case .hub, .contacts: break
    case .ended: return false
    }
    return true
  }

  private func noteAdditions(_ update: HomeUpdate) {
    for change in update.changes {
      switch change {
      // A source that moves to another device is added again.
      case .sourceAdded(let source, _) where !source.isBridged:
        additionTimes[source.node] = additionTimes[source.node] ?? update.time
      case .sourceRemoved(let source) where !source.isBridged:
        (additionTimes[source.node], foundAddresses[source.node]) = (nil, nil)
      default: break
      }
    }
  }

  /// Sends the whole home to all clients, because the changes are unknown.
  private func reload(_ reducer: HomeReducer) {
    journal.restart(as: random.next())
    encodedHome = [:]
    sentContacts = reducer.contacts
    for (_, connection) in connections.sorted(by: { $0.key < $1.key }) where connection.isFollowing {
      connection.isBehind = true
      catchUp(connection)
    }
  }

  private func sendUpdate(_ update: HomeUpdate, _ reducer: HomeReducer) {
    if reducer.isRestored, !update.settled.isEmpty { sentGrace = nil }
    guard !update.changes.isEmpty else { return }
    // Not a filter of all contacts, of which a large home has many.
    var contacts: [NodeID: Contact] = [:]
    for case let node? in update.changes.lazy.map(\.node) { contacts[node] = reducer.contacts[node] }
    sentContacts.merge(contacts) { $1 }
    journal.append(.init(update: update, contacts: contacts))
    encodedHome = [:]
    let position = journal.position
    // Encoded once for all clients with the same role.
    var texts: [HomeRole: ByteBuffer?] = [:]
    for connection in connections.values where connection.isFollowing {
      guard !connection.isBehind, connection.channel.isWritable else {
        connection.isBehind = true
        continue
      }
      let text = texts[connection.role] ?? news(update, contacts, position, connection.role).flatMap { encode($0) }
      texts[connection.role] = text
      connection.position = position
      if let text {
        eventsDelivered &+= 1
        connection.send(text)
      }
    }
  }

  /// Returns the visible part of an update; nil if nothing is visible.
  private func news(
    _ update: HomeUpdate, _ contacts: [NodeID: Contact], _ position: HubPosition, _ role: HomeRole
  ) -> HubNews? {
    let visibility = RoleVisibility.of(role)
    let changes = update.changes.filter { visibility.contains($0) }
    guard !changes.isEmpty else { return nil }
    return .update(HubUpdate(HomeUpdate(changes, at: update.time, origin: update.origin), contacts, position))
  }

  func send(_ news: HubNews, to connection: HubConnection) {
    if let text = encode(news) { connection.send(text) }
  }

  func encode(_ news: HubNews) -> ByteBuffer? {
    do { return try news.text } catch {
      logger.error("a message can't be encoded", metadata: ["reason": "\(error)"])
      return nil
    }
  }

  /// Sends pings, so that clients detect a lost connection, and the changes that are not part of an update.
  private func sendHeartbeat() {
    let reducer = controller.view.reducer
    let changed = reducer.contacts.filter { sentContacts[$0.key] != $0.value }
    sentContacts = reducer.contacts
    let contacts = changed.isEmpty ? nil : encode(.contacts(changed))
    let debouncer = reducer.debouncer.grace == sentGrace ? nil : encode(.debouncer(controller.debouncerState))
    sentGrace = reducer.debouncer.grace
    encodedHome = [:]
    let now = eventLoop.now
    for connection in connections.values {
      if connection.isFollowing, !connection.isBehind, let debouncer { connection.send(debouncer) }
      if connection.channel.isWritable {
        if connection.isFollowing, let contacts { connection.send(contacts) }
        if options.heartbeat * connection.unansweredPings < options.timeout {
          connection.ping()
        } else {
          connection.close(.policyViolation)
        }
      } else if let since = connection.stalled, now - since >= .nanoseconds(options.timeout.nanoseconds) {
        connection.close(.policyViolation)
      } else if connection.isFollowing, contacts != nil {
        // All contacts are sent when the client reads again.
        connection.isBehind = true
      }
    }
  }

  // MARK: Clients of the additions

  /// Sends the missed updates to a client while it accepts them, or the whole home if the journal is too short.
  func catchUp(_ connection: HubConnection) {
    // Sending may change the writability, which calls this method.
    guard !connection.isCatchingUp, connection.channel.isWritable else { return }
    connection.isCatchingUp = true
    defer { connection.isCatchingUp = false }
    guard let missed = connection.position.flatMap({ journal.entries(after: $0) }) else {
      logger.info("a client loads the home again", metadata: ["name": "\(connection.client.name)"])
      return sendHome(to: connection)
    }
    for (entry, position) in missed {
      guard connection.channel.isWritable else { return }
      connection.position = position
      if let news = news(entry.update, entry.contacts, position, connection.role) {
        eventsDelivered &+= 1
        send(news, to: connection)
      }
    }
    synchronize(connection)
  }

  private func sendHome(to connection: HubConnection) {
    let parts = encodedHome[connection.role] ?? encodeHome(for: connection.role)
    encodedHome[connection.role] = parts
    for part in parts { connection.send(part) }
    synchronize(connection)
  }

  private func encodeHome(for role: HomeRole) -> [ByteBuffer] {
    let changes = RoleVisibility.of(role).changes(of: state)
    let parts = stride(from: 0, to: changes.count, by: Limits.changesInPart)
      .map { HubNews.part(Array(changes[$0...].prefix(Limits.changesInPart))) }
    return ([.reset] + parts).compactMap { encode($0) }
  }

  /// Sends contacts and settings, which are not changes, and the position of the client, which has received all
  /// changes.
  private func synchronize(_ connection: HubConnection) {
    send(.contacts(controller.view.reducer.contacts), to: connection)
    send(.debouncer(controller.debouncerState), to: connection)
    send(.synchronized(journal.position), to: connection)
    (connection.position, connection.isBehind) = (journal.position, false)
  }

  /// Begins to send the home and its changes to a client.
  func follow(_ connection: HubConnection, from position: HubPosition?) {
    let isResumed = position.map { journal.entries(after: $0) != nil } ?? false
    connection.isFollowing = true
    send(
      .welcome(HubWelcome(connection.role, home: home, client: connection.id, isResumed: isResumed)), to: connection)
    guard isResumed else { return sendHome(to: connection) }
    (connection.position, connection.isBehind) = (position, true)
    catchUp(connection)
  }
}
