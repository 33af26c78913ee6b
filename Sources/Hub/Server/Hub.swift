internal import Glibc
public import Home
public import Logging
internal import MatterCrypto
internal import MatterModel
internal import MatterProtocol
public import NIOCore
internal import NIOPosix
internal import Runtime

/// A home that other processes use through this one: it tells them of every change, and does what they ask, as far as their
/// roles allow. An actor on the event loop of the home's controller. HOME.md, “Routes”.
public actor Hub {
  public struct Options: Sendable {
    /// Where to listen besides the socket in the state directory.
    public var addresses: [HubAddress] = []
    /// How many updates are kept for clients that were away.
    public var journal = 4096
    /// What may wait for a client that is slow before it has to load the home again, in bytes.
    public var backlog = 1 << 19
    /// How often a client is told that the hub is there.
    public var heartbeat: Duration = .seconds(5)
    public var logger: Logger

    public init(logger: Logger) { self.logger = logger }
  }

  public nonisolated let eventLoop: any EventLoop
  public nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }

  let controller: HomeController
  let options: Options
  let since: Int64
  private let lock: FollowerLock
  private let path: String
  private var listeners: [any Channel] = []
  var addresses: [String] = []
  var connections: [Int: HubConnection] = [:]
  private var nextConnection = 0
  private var journal: HubJournal
  private var heartbeat: RepeatedTask?
  /// When nodes were heard, as clients were told last.
  private var toldContacts: [NodeID: Contact] = [:]
  private var isClosed = false

  private init(_ controller: HomeController, _ options: Options, _ lock: FollowerLock, _ path: String) {
    self.controller = controller
    self.options = options
    self.lock = lock
    self.path = path
    eventLoop = controller.eventLoop
    since = HostClock.unixMicroseconds()
    var random = SystemRandomSource()
    journal = HubJournal(hub: random.next(), limit: options.journal)
  }

  /// Keeps a home up to date, and serves it. To be ended with ``close()``, before the home is.
  /// - Throws: ``HomeError`` where another hub serves the home, or an address can't be had.
  public static func open(_ home: Home, _ options: Options) async throws(HomeError) -> Hub {
    let controller = try home.controller
    let state = controller.options.state
    try Files.makeDirectory(state.run)
    guard let lock = try FollowerLock.acquire(state.run + "/hub.lock") else {
      throw HomeError(.internalError, "another hub serves the home in \(state.root); see `hearth hub status`")
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
    view.observers.addEar { [weak self] news in
      guard let self else { return false }
      return assumeIsolated { $0.hear(news) }
    }
    let pause = TimeAmount.nanoseconds(options.heartbeat.nanoseconds)
    heartbeat = eventLoop.scheduleRepeatedTask(initialDelay: pause, delay: pause) { [weak self] _ in
      guard let self else { return }
      assumeIsolated { $0.beat() }
    }
    try await listen(.socket(path), mode: 0o600)
    for address in options.addresses { try await listen(address, mode: 0o666) }
  }

  /// Hangs up, and listens no more.
  public func close() async {
    guard !isClosed else { return }
    isClosed = true
    heartbeat?.cancel()
    for listener in listeners { try? await listener.close().get() }
    for connection in connections.values { try? await connection.channel.close().get() }
    for case .socket(let path) in [.socket(path)] + options.addresses where addresses.contains(path) { unlink(path) }
  }

  // MARK: Listening

  /// - Parameter mode: who may knock at a socket of this machine; all but its owner need a token.
  private func listen(_ address: HubAddress, mode: mode_t) async throws(HomeError) {
    let isLocal = if case .socket = address { true } else { false }
    let bootstrap = ServerBootstrap(group: eventLoop)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(
        .writeBufferWaterMark, value: .init(low: options.backlog / 8, high: max(options.backlog, 8))
      )
      .childChannelInitializer { [self] channel in
        channel.eventLoop.makeCompletedFuture {
          try assumeIsolated { try $0.accept(channel, isLocal: isLocal) }
        }
      }
    do {
      switch address {
      case .socket(let path):
        unlink(path)
        let listener = try await SocketPath.withShort(path) { short in
          try await bootstrap.bind(unixDomainSocketPath: short).get()
        }
        listeners.append(listener)
        chmod(path, mode)
        addresses.append(path)
      case .host(let host, let port):
        let listener = try await bootstrap.bind(host: host, port: port).get()
        listeners.append(listener)
        addresses.append(HubAddress.host(host, port: listener.localAddress?.port ?? port).description)
      }
    } catch {
      throw HomeError(.internalError, "nothing can listen at \(address): \(error)", cause: error)
    }
  }

  private func accept(_ channel: any Channel, isLocal: Bool) throws {
    nextConnection += 1
    let number = nextConnection
    let strangers = connections.values.count { $0.role == nil }
    guard strangers < Self.mostStrangers else { throw ChannelError.operationUnsupported }
    let pipeline = channel.pipeline.syncOperations
    if !isLocal {
      let secure = SecureHandler { [self] id in
        let promise = eventLoop.makePromise(of: InvitedClient?.self)
        Task { promise.succeed(await client(withTokenID: id)) }
        return promise.futureResult
      } isReady: { [self] client in
        assumeIsolated { $0.connections[number]?.invited = client }
      }
      try pipeline.addHandler(secure)
    }
    try pipeline.addHandler(ByteToMessageHandler(FrameDecoder(longest: Frame.longestMessage)))
    try pipeline.addHandler(HubHandler(self, number))
    let address = isLocal ? "local" : channel.remoteAddress?.ipAddress ?? "?"
    connections[number] = HubConnection(
      channel, isLocal: isLocal, address: address, at: HostClock.unixMicroseconds())
    eventLoop.scheduleTask(in: Self.greetingTime) { [weak self] in
      guard let self else { return }
      assumeIsolated { hub in
        if let connection = hub.connections[number], connection.role == nil { connection.channel.close(promise: nil) }
      }
    }
  }

  /// Connections that have not said who they are, at a time, and for how long.
  private static let mostStrangers = 64
  private static let greetingTime = TimeAmount.seconds(30)

  func closed(_ number: Int) {
    guard let connection = connections.removeValue(forKey: number) else { return }
    if let role = connection.role {
      options.logger.info("client gone", metadata: ["name": "\(connection.name)", "role": "\(role)"])
    }
    connection.state = .closed
  }

  // MARK: Telling

  /// - Returns: whether there is more to be heard.
  private func hear(_ news: HomeObservers.News) -> Bool {
    guard !isClosed else { return false }
    switch news {
    case .update(let update, let reducer): tell(update, reducer)
    case .reloaded(let reducer, let old, let time):
      // Nobody knows what happened, but what has come of it.
      tell(HomeUpdate(old.state.changes(to: reducer.state), at: time), reducer)
    case .hub: break
    case .ended: return false
    }
    return true
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
    let contacts = controller.view.reducer.contacts
    let news = contacts.filter { toldContacts[$0.key] != $0.value }
    toldContacts = contacts
    let frame = Frame.buffer(HubNews.contacts(news).bytes, .init())
    for connection in connections.values where connection.role != nil && connection.channel.isWritable {
      connection.send(frame)
    }
  }

  /// A client that could not follow can again.
  func canTakeMore(_ number: Int) {
    guard let connection = connections[number], let role = connection.role, connection.isBehind else { return }
    connection.isBehind = false
    options.logger.info("a slow client loads the home again", metadata: ["name": "\(connection.name)"])
    tellAll(connection, role)
  }

  private func tellAll(_ connection: HubConnection, _ role: HomeRole) {
    let reducer = controller.view.reducer
    connection.send(.reset)
    var rest = HubVisibility.of(role).changes(of: reducer.state)[...]
    while !rest.isEmpty {
      connection.send(.part(Array(rest.prefix(512))))
      rest = rest.dropFirst(512)
    }
    connection.send(.contacts(reducer.contacts))
    connection.send(.synchronized(journal.position))
  }

  /// Lets a client in: tells what it missed where that is known, else everything.
  func welcome(_ connection: HubConnection, _ role: HomeRole, from position: HubPosition?) {
    connection.state = .open(role)
    connection.send(.welcome(role, client: connection.id))
    options.logger.info("client", metadata: ["name": "\(connection.name)", "role": "\(role)"])
    guard let position, let missed = journal.entries(after: position) else { return tellAll(connection, role) }
    for (entry, position) in missed {
      if let news = Self.news(entry.update, entry.contacts, position, role) { connection.send(news) }
    }
    connection.send(.contacts(controller.view.reducer.contacts))
    connection.send(.synchronized(journal.position))
  }
}
