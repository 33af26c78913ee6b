internal import Glibc
public import Home
public import Logging
internal import MatterCrypto
internal import MatterModel
internal import MatterProtocol
public import NIOCore
internal import NIOPosix
internal import Runtime

/// Serves a home to other processes: sends them all changes, and performs their requests within the permissions of
/// their roles. An actor on the event loop of the home's controller. See the article “The home model”, “Routes”.
public actor Hub {
  /// The addresses of a hub, and its limits for slow or disconnected clients.
  public struct Options: Sendable {
    /// Addresses to listen at, besides the socket in the state directory.
    public var addresses: [HubAddress] = []
    /// The number of updates kept for slow or disconnected clients. A client that missed more reloads the home.
    public var journal = 4096
    /// The maximum number of bytes queued for a slow client. Further updates are sent once the queue is drained.
    public var backlog = 1 << 19
    /// The interval of heartbeats to clients.
    public var heartbeat: Duration = .seconds(5)
    /// The time without progress in sending to a client after which its connection is closed.
    public var timeout: Duration = .seconds(60)
    public var logger: Logger

    public init(logger: Logger) { self.logger = logger }
  }

  public nonisolated let eventLoop: any EventLoop
  public nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }

  let controller: HomeController
  let options: Options
  let since: Int64
  /// The right to serve the home, until it is closed.
  private var lock: FollowerLock?
  private let path: String
  private var listeners: [any Channel] = []
  var addresses: [String] = []
  var connections: [Int: HubConnection] = [:]
  private var nextConnection = 0
  private var journal: HubJournal
  private var random: any RandomSource
  private var heartbeat: RepeatedTask?
  /// When nodes were heard, as clients were told last.
  private var toldContacts: [NodeID: Contact] = [:]
  /// The grace time, as clients were told last.
  private var toldGrace: Duration = .zero
  private var isClosed = false
  /// Who waits to be looked up among the clients that were invited.
  var lookups: [CheckedContinuation<Result<[InvitedClient], HomeError>, Never>] = []
  var isLookingUp = false
  /// How often clients were checked because an invitation was revoked.
  var looksAgain = 0
  /// How often the invitations were read.
  var lookupCount = 0

  private init(_ controller: HomeController, _ options: Options, _ lock: FollowerLock, _ path: String) {
    self.controller = controller
    self.options = options
    self.lock = lock
    self.path = path
    eventLoop = controller.eventLoop
    since = controller.options.machine.unixMicroseconds()
    random = controller.options.machine.makeRandom()
    journal = HubJournal(hub: random.next(), limit: options.journal)
  }

  /// Keeps a home up to date, and serves it. Must be closed with ``close()`` before the home.
  /// - Throws: `HomeError` if another hub serves the home, or an address is not available.
  public static func open(_ home: Home, _ options: Options) async throws(HomeError) -> Hub {
    let controller = try home.controller
    let state = controller.options.state
    try Files.makeDirectory(state.run)
    guard let lock = try FollowerLock.acquire(state.run + "/hub.lock") else {
      throw HomeError(.badArguments, "another hub serves the home in \(state.root); see `hearth hub status`")
    }
    try await home.follow()
    let hub = Hub(controller, options, lock, state.hubSocket)
    do throws(HomeError) {
      try await hub.begin()
    } catch {
      await hub.close()
      throw error
    }
    return hub
  }

  private func begin() async throws(HomeError) {
    let view = controller.view
    toldContacts = view.reducer.contacts
    toldGrace = view.reducer.grace
    view.stream.addListener { [weak self] event in
      guard let self else { return false }
      return assumeIsolated { $0.receive(event) }
    }
    let pause = TimeAmount.nanoseconds(options.heartbeat.nanoseconds)
    heartbeat = eventLoop.scheduleRepeatedTask(initialDelay: pause, delay: pause) { [weak self] _ in
      guard let self else { return }
      assumeIsolated { $0.beat() }
    }
    try await listen(.socket(path), mode: 0o600)
    for address in options.addresses { try await listen(address, mode: 0o666) }
  }

  /// Closes all connections and stops listening.
  public func close() async {
    guard !isClosed else { return }
    isClosed = true
    heartbeat?.cancel()
    for listener in listeners { try? await listener.close().get() }
    for connection in connections.values { try? await connection.channel.close().get() }
    for case .socket(let path) in [.socket(path)] + options.addresses where addresses.contains(path) { unlink(path) }
    // Not when the last who knows of this hub lets go of it: another one may begin now.
    lock = nil
  }

  // MARK: Listening

  /// - Parameter mode: who may knock at a socket of this machine; all but its owner need a token.
  private func listen(_ address: HubAddress, mode: mode_t) async throws(HomeError) {
    let isLocal = if case .socket = address { true } else { false }
    var bootstrap = ServerBootstrap(group: eventLoop.forSockets)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(
        .writeBufferWaterMark, value: .init(low: options.backlog / 8, high: max(options.backlog, 8))
      )
      .childChannelInitializer { [self] channel in
        channel.eventLoop.makeCompletedFuture {
          try assumeIsolated { try $0.accept(channel, isLocal: isLocal) }
        }
      }
    if !isLocal {
      // What is sent and not acknowledged for so long ends a connection whose other end is gone without a word.
      let timeout = Int(clamping: options.timeout.milliseconds)
      bootstrap = bootstrap.childChannelOption(
        ChannelOptions.Types.SocketOption(level: .tcp, name: .init(rawValue: CInt(TCP_USER_TIMEOUT))), value: timeout)
    }
    do {
      switch address {
      case .socket(let path):
        try Self.makeRoom(at: path)
        let descriptor = try SocketPath.listen(at: path, mode: mode)
        addresses.append(path)
        listeners.append(try await bootstrap.withBoundSocket(descriptor).get())
      case .host(let host, let port):
        let listener = try await bootstrap.bind(host: host, port: port).get()
        listeners.append(listener)
        addresses.append(HubAddress.host(host, port: listener.localAddress?.port ?? port).description)
      }
    } catch {
      if let known = error as? HomeError { throw known }
      let reason =
        switch error {
        case let error as IOError: String(cString: strerror(error.errnoCode))
        case is SocketAddressError.UnknownHost: "no host is called so"
        default: "\(error)"
        }
      let expected = isLocal ? "a path for a socket" : "an address of this host and a free port"
      throw HomeError(
        .badArguments, "can't listen on \(address): \(reason); expected \(expected)", cause: error)
    }
  }

  /// Takes away a socket that a hub left which was killed, and nothing else.
  private static func makeRoom(at path: String) throws(HomeError) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFSOCK else {
      throw HomeError(.badArguments, "\(path) exists and is not a socket; choose another path")
    }
    unlink(path)
  }

  private func accept(_ channel: any Channel, isLocal: Bool) throws {
    nextConnection += 1
    let number = nextConnection
    let machine = controller.options.machine
    let connection = HubConnection(
      channel, isLocal: isLocal, address: isLocal ? "local" : channel.remoteAddress?.ipAddress ?? "?",
      at: machine.unixMicroseconds())
    makeRoom(for: connection)
    let pipeline = channel.pipeline.syncOperations
    if !isLocal {
      let secure = SecureHandler(random: machine.makeRandom()) { [self] id in
        let promise = eventLoop.makePromise(of: InvitedClient?.self)
        machine.task { promise.succeed(await self.client(withTokenID: id)) }
        return promise.futureResult
      } isReady: { [self] client in
        assumeIsolated { $0.connections[number]?.invited = client }
      }
      try pipeline.addHandler(secure)
    }
    try pipeline.addHandler(ByteToMessageHandler(FrameDecoder(connection.frameLimit)))
    try pipeline.addHandler(HubHandler(self, number))
    connections[number] = connection
    eventLoop.scheduleTask(in: Self.greetingTime) { [weak self] in
      guard let self else { return }
      assumeIsolated { hub in
        if let connection = hub.connections[number], connection.isStranger { connection.channel.close(promise: nil) }
      }
    }
  }

  /// Hangs up on the stranger that was here first where there are too many: who knocks and says nothing keeps nobody out.
  /// Those on the network take no room from those of this machine.
  private func makeRoom(for new: HubConnection) {
    let strangers = connections.filter { $1.isStranger && $1.isLocal == new.isLocal }.sorted { $0.key < $1.key }
      .map(\.value)
    let neighbours = strangers.filter { $0.address == new.address }
    if !new.isLocal, neighbours.count >= Self.mostNeighbours {
      neighbours[0].channel.close(promise: nil)
    } else if strangers.count >= Self.mostStrangers {
      strangers[0].channel.close(promise: nil)
    }
  }

  /// Connections that have not said who they are, at a time: of all, of one address, and for how long.
  static let mostStrangers = 64, mostNeighbours = 16
  private static let greetingTime = TimeAmount.seconds(30)
  /// Connections with one invitation, and with any, at a time.
  static let mostWithOneToken = 32, mostInvited = 256

  func closed(_ number: Int) {
    guard let connection = connections.removeValue(forKey: number) else { return }
    if let role = connection.role {
      options.logger.info("client gone", metadata: ["name": "\(connection.name)", "role": "\(role)"])
    }
    connection.state = .closed
  }

  // MARK: Telling

  /// - Returns: whether the hub still listens.
  private func receive(_ event: HomeStream.Event) -> Bool {
    guard !isClosed else { return false }
    switch event {
    case .update(let update, let reducer): tell(update, reducer)
    case .reloaded(let reducer, _, _): startOver(reducer)
    case .hub, .contacts: break
    case .ended: return false
    }
    return true
  }

  /// Nobody knows what happened, but what has come of it: everybody is given the whole, and told so by that.
  private func startOver(_ reducer: HomeReducer) {
    journal.restart(as: random.next())
    toldContacts = reducer.contacts
    for (_, connection) in connections.sorted(by: { $0.key < $1.key }) {
      guard let role = connection.role else { continue }
      connection.isBehind = true
      catchUp(connection, role)
    }
  }

  private func tell(_ update: HomeUpdate, _ reducer: HomeReducer) {
    guard !update.changes.isEmpty else { return }
    let nodes = Set(update.changes.compactMap(\.node))
    let contacts = reducer.contacts.filter { nodes.contains($0.key) }
    toldContacts.merge(contacts) { $1 }
    journal.append(.init(update: update, contacts: contacts))
    let position = journal.position
    // Made once for all who may see the same.
    var frames: [HomeRole: ByteBuffer?] = [:]
    for connection in connections.values {
      guard let role = connection.role else { continue }
      guard !connection.isBehind, connection.channel.isWritable else {
        connection.isBehind = true
        continue
      }
      let frame =
        frames[role] ?? Self.news(update, contacts, position, role).map { Frame.buffer($0.bytes, .init()) }
      frames[role] = frame
      connection.position = position
      if let frame { connection.send(frame) }
    }
  }

  /// What a role gets to see of an update; nil: nothing.
  private static func news(
    _ update: HomeUpdate, _ contacts: [NodeID: Contact], _ position: HubPosition, _ role: HomeRole
  ) -> HubNews? {
    let visibility = HubVisibility.of(role)
    let changes = update.changes.filter { visibility.contains($0) }
    guard !changes.isEmpty else { return nil }
    return .update(HomeUpdate(changes, at: update.time, origin: update.origin), contacts, position)
  }

  private func beat() {
    let reducer = controller.view.reducer
    let contacts = reducer.contacts
    let news = contacts.filter { toldContacts[$0.key] != $0.value }
    toldContacts = contacts
    let frame = Frame.buffer(HubNews.contacts(news).bytes, .init())
    if reducer.grace != toldGrace {
      toldGrace = reducer.grace
      for connection in connections.values where connection.role != nil && !connection.isBehind {
        connection.send(settling)
      }
    }
    for connection in connections.values where connection.role != nil {
      if connection.channel.isWritable {
        connection.stalled = nil
        connection.send(frame)
      } else {
        let now = eventLoop.now
        let since = connection.stalled ?? now
        connection.stalled = since
        if now - since >= .nanoseconds(options.timeout.nanoseconds) { connection.channel.close(promise: nil) }
      }
    }
  }

  /// A client that could not follow can again.
  func canTakeMore(_ number: Int) {
    guard let connection = connections[number], let role = connection.role else { return }
    connection.stalled = nil
    if connection.isBehind { catchUp(connection, role) }
  }

  /// Tells a client what it missed, one update after another, for as long as it takes them: its place in the journal is all that
  /// is kept for it. Where the journal does not go back so far any more, it is given the whole, and told so by that.
  private func catchUp(_ connection: HubConnection, _ role: HomeRole) {
    // That it takes more may be noticed while it is being told.
    guard !connection.isCatchingUp, connection.channel.isWritable else { return }
    connection.isCatchingUp = true
    defer { connection.isCatchingUp = false }
    guard let missed = connection.position.flatMap({ journal.entries(after: $0) }) else {
      options.logger.info("a client loads the home again", metadata: ["name": "\(connection.name)"])
      return tellAll(connection, role)
    }
    for (entry, position) in missed {
      guard connection.channel.isWritable else { return }
      connection.position = position
      if let news = Self.news(entry.update, entry.contacts, position, role) { connection.send(news) }
    }
    tellPlace(connection)
  }

  private func tellAll(_ connection: HubConnection, _ role: HomeRole) {
    connection.send(.reset)
    var rest = HubVisibility.of(role).changes(of: controller.view.reducer.state)[...]
    while !rest.isEmpty {
      connection.send(.part(Array(rest.prefix(512))))
      rest = rest.dropFirst(512)
    }
    tellPlace(connection)
  }

  /// A client has been told all changes: what is told beside them, and where in the journal it is now.
  private func tellPlace(_ connection: HubConnection) {
    connection.send(.contacts(controller.view.reducer.contacts))
    connection.send(settling)
    connection.send(.synchronized(journal.position))
    (connection.position, connection.isBehind) = (journal.position, false)
  }

  private var settling: HubNews { .settling(controller.settling) }

  /// Lets a client in: tells what it missed where that is known, else everything.
  func welcome(_ connection: HubConnection, _ role: HomeRole, from position: HubPosition?) {
    let invited = connections.values.filter { $0.role != nil && $0.tokenHash != nil }
    if let token = connection.tokenHash,
      invited.count >= Self.mostInvited
        || invited.count(where: { $0.tokenHash == token }) >= Self.mostWithOneToken
    {
      return connection.refuse(HomeError(.refused, "the hub has too many clients; try again later"))
    }
    connection.state = .open(role)
    connection.frameLimit.longest = Frame.longestMessage
    let isResumed = position.map { journal.entries(after: $0) != nil } ?? false
    connection.send(.welcome(role, client: connection.id, isResumed: isResumed))
    options.logger.info("client", metadata: ["name": "\(connection.name)", "role": "\(role)"])
    guard isResumed else { return tellAll(connection, role) }
    (connection.position, connection.isBehind) = (position, true)
    catchUp(connection, role)
  }
}
