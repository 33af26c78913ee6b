internal import CAvahi
internal import Logging
internal import NIOCore

/// The connection to the Avahi daemon, reestablished after the daemon has stopped. Confined to its event loop.
///
/// The library's calls block until the daemon answers, about 0.1 ms each, so callers do little work at a time. A daemon
/// that hangs without exiting (stopped, or swapped out) blocks the event loop on the next call until it resumes, or
/// until D-Bus times out after 25 s; the library has no option for this timeout. Nodes on other loops are not affected,
/// nor are nodes on this loop that publish, withdraw and browse nothing. The daemon limits the objects
/// of one client (1,024 by default), so another client is opened when the limit is reached.
final class AvahiDaemon {
  /// One client of the daemon.
  final class Connection {
    fileprivate(set) var client: OpaquePointer?
    fileprivate(set) var objects = 0
    fileprivate weak var daemon: AvahiDaemon?
    fileprivate var isRunning = false

    fileprivate init(_ daemon: AvahiDaemon) { self.daemon = daemon }

    /// The text of the last error.
    var error: String { client.map { AvahiDaemon.text(avahi_client_errno($0)) } ?? "not connected" }
  }

  /// An object that the daemon keeps for this process.
  final class Object {
    let pointer: OpaquePointer
    let connection: Connection
    private let free: (OpaquePointer) -> Void

    fileprivate init(_ pointer: OpaquePointer, _ connection: Connection, _ free: @escaping (OpaquePointer) -> Void) {
      (self.pointer, self.connection, self.free) = (pointer, connection, free)
      connection.objects += 1
    }

    /// Frees the object in the daemon. Must not be called from a callback of its own, nor after ``AvahiDaemon/onDown``.
    func remove() {
      guard connection.client != nil else { return }
      connection.objects -= 1
      free(pointer)
    }
  }

  private let eventLoop: any EventLoop
  private let logger: Logger
  private let poll: AvahiEventLoopPoll
  private var connections: [Connection] = []
  private var retry: Scheduled<Void>?
  private var isClosed = false
  private var isResetting = false
  /// Whether the daemon is connected and running.
  private(set) var isUp = false
  private var hasBeenUp = false
  /// Called when the daemon is running: everything has to be registered, the first time or again.
  var onUp: (() -> Void)?
  /// Called when the daemon has stopped. All its objects are void and must be dropped without a call.
  var onDown: (() -> Void)?

  private static let objectLimit = 1000
  private static let connectionLimit = 64
  private static let retryDelay = TimeAmount.seconds(1)

  init(on eventLoop: any EventLoop, logger: Logger) {
    self.eventLoop = eventLoop
    self.logger = logger
    poll = AvahiEventLoopPoll(on: eventLoop)
  }

  static func text(_ error: CInt) -> String { String(cString: avahi_strerror(error)) }

  /// Returns the version of the daemon, or the reason why none answers.
  static func probe() -> Result<String, AvahiFailure> {
    guard let poll = avahi_simple_poll_new() else { return .failure(AvahiFailure(reason: "out of memory")) }
    defer { avahi_simple_poll_free(poll) }
    var error: CInt = 0
    guard let client = avahi_client_new(avahi_simple_poll_get(poll), AvahiClientFlags(0), nil, nil, &error) else {
      return .failure(AvahiFailure(reason: text(error)))
    }
    defer { avahi_client_free(client) }
    return .success(avahi_client_get_version_string(client).map { String(cString: $0) } ?? "unknown")
  }

  func start() {
    if connections.isEmpty, !isClosed, open() == nil { scheduleRetry() }
  }

  /// Creates an object with a client that is below its object limit.
  /// - Parameter make: returns nil if the daemon refused.
  /// - Throws: the reason why the daemon refused.
  func object(
    _ make: (OpaquePointer) -> OpaquePointer?, free: @escaping (OpaquePointer) -> Void
  ) throws(AvahiFailure) -> Object {
    guard isUp else { throw AvahiFailure(reason: Self.text(AvahiNumber.disconnected)) }
    for connection in connections where connection.isRunning && connection.objects < Self.objectLimit {
      guard let client = connection.client else { continue }
      if let pointer = make(client) { return Object(pointer, connection, free) }
      let number = avahi_client_errno(client)
      // The daemon may have a lower limit.
      guard number == AvahiNumber.tooManyObjects else { throw AvahiFailure(reason: Self.text(number), number) }
    }
    guard connections.count < Self.connectionLimit, let another = open(), another.isRunning,
      let client = another.client, let pointer = make(client)
    else {
      throw AvahiFailure(reason: "the Avahi daemon is at its client limit; raise clients-max in avahi-daemon.conf")
    }
    return Object(pointer, another, free)
  }

  func close() {
    isClosed = true
    retry?.cancel()
    // The daemon sends the goodbyes for its clients' services.
    freeAll()
    poll.close()
    onUp = nil
    onDown = nil
  }

  // MARK: - Connection

  private func open() -> Connection? {
    let connection = Connection(self)
    var error: CInt = 0
    connections.append(connection)
    let client = avahi_client_new(
      poll.api, AVAHI_CLIENT_NO_FAIL,
      { client, state, data in
        guard let data else { return }
        let connection = Unmanaged<Connection>.fromOpaque(data).takeUnretainedValue()
        // The first callback runs before `avahi_client_new` returns the pointer.
        connection.client = client
        connection.daemon?.changed(connection, state)
      }, Unmanaged.passUnretained(connection).toOpaque(), &error)
    guard let client else {
      connections.removeAll { $0 === connection }
      connection.client = nil
      logger.debug("no connection to the Avahi daemon: \(Self.text(error))")
      return nil
    }
    connection.client = client
    return connection
  }

  private func changed(_ connection: Connection, _ state: AvahiClientState) {
    switch state {
    case AVAHI_CLIENT_S_RUNNING:
      connection.isRunning = true
      guard connection === connections.first, !isUp else { return }
      isUp = true
      if hasBeenUp { logger.notice("the Avahi daemon has restarted; all services are registered again") }
      hasBeenUp = true
      // Not from inside the library.
      onLoop { $0.onUp?() }
    case AVAHI_CLIENT_FAILURE:
      onLoop { $0.reset() }
    case AVAHI_CLIENT_CONNECTING:
      logger.info("waiting for the Avahi daemon")
    default:
      // The daemon is resolving a conflict of its own host name, which Hearth does not use.
      break
    }
  }

  /// Drops all objects of the old daemon and waits for a new one.
  private func reset() {
    if isClosed || isResetting { return }
    isResetting = true
    if isUp { logger.warning("the Avahi daemon has stopped; waiting for its restart") }
    isUp = false
    onDown?()
    freeAll()
    isResetting = false
    scheduleRetry(after: .milliseconds(100))
  }

  private func freeAll() {
    let old = connections
    connections = []
    for connection in old {
      connection.daemon = nil
      if let client = connection.client { avahi_client_free(client) }
      connection.client = nil
      connection.isRunning = false
    }
  }

  private func scheduleRetry(after delay: TimeAmount = AvahiDaemon.retryDelay) {
    retry?.cancel()
    retry = eventLoop.assumeIsolated().scheduleTask(in: delay) { [weak self] in self?.start() }
  }

  private func onLoop(_ body: @escaping (AvahiDaemon) -> Void) {
    eventLoop.assumeIsolated().execute { [weak self] in
      guard let self, !isClosed else { return }
      body(self)
    }
  }
}

/// A request that the Avahi daemon refused.
struct AvahiFailure: Error, CustomStringConvertible {
  var reason: String
  var isCollision = false
  var description: String { reason }

  init(reason: String, _ number: CInt = 0) {
    self.reason = reason
    isCollision = number == AvahiNumber.collision
  }
}
