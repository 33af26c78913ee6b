internal import CAvahi
internal import Logging
internal import NIOCore

/// The connection to the Avahi daemon, made anew when the daemon went away. Confined to its event loop.
///
/// The library asks the daemon and waits for its answer, some 0.1 ms each time; so whoever uses this does a little at a time.
/// A daemon that stands still without being gone (stopped, or swapped out) holds up the event loop when something is asked of it: until
/// it goes on, or D-Bus gives up the answer after 25 s, a time that the library does not let us choose. The nodes of other loops go
/// on, as do those of this one as long as nothing is published, withdrawn or looked for.
/// A daemon gives each client a limited number of objects (1,024 as it comes): when one client's are used up, another is opened.
final class AvahiDaemon {
  /// One client of the daemon.
  final class Connection {
    fileprivate(set) var client: OpaquePointer?
    fileprivate(set) var objects = 0
    fileprivate weak var daemon: AvahiDaemon?
    fileprivate var isRunning = false

    fileprivate init(_ daemon: AvahiDaemon) { self.daemon = daemon }

    /// The last error, in words.
    var error: String { client.map { AvahiDaemon.text(avahi_client_errno($0)) } ?? "not connected" }
    var errorNumber: CInt { client.map { avahi_client_errno($0) } ?? AvahiNumber.disconnected }
  }

  /// An object that the daemon keeps for us.
  final class Object {
    let pointer: OpaquePointer
    let connection: Connection
    private let free: (OpaquePointer) -> Void

    fileprivate init(_ pointer: OpaquePointer, _ connection: Connection, _ free: @escaping (OpaquePointer) -> Void) {
      (self.pointer, self.connection, self.free) = (pointer, connection, free)
      connection.objects += 1
    }

    /// Lets the daemon forget it. Not to be called from a callback of its own, nor after ``AvahiDaemon/onDown``.
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
  /// Whether the daemon is there and answers.
  private(set) var isUp = false
  private var hasBeenUp = false
  /// The daemon is there: all is to be registered, for the first time or again.
  var onUp: (() -> Void)?
  /// The daemon is gone, and all objects with it: they are to be let go of without a call.
  var onDown: (() -> Void)?

  private static let objectLimit = 1000
  private static let connectionLimit = 64
  private static let pause = TimeAmount.seconds(1)

  init(on eventLoop: any EventLoop, logger: Logger) {
    self.eventLoop = eventLoop
    self.logger = logger
    poll = AvahiEventLoopPoll(on: eventLoop)
  }

  static func text(_ error: CInt) -> String { String(cString: avahi_strerror(error)) }

  /// Whether a daemon answers: its version, or why not.
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
    if connections.isEmpty, !isClosed, open() == nil { tryLater() }
  }

  /// Makes an object with a client that has room for one.
  /// - Parameter make: gives nil where the daemon refused.
  /// - Throws: why the daemon refused.
  func object(
    _ make: (OpaquePointer) -> OpaquePointer?, free: @escaping (OpaquePointer) -> Void
  ) throws(AvahiFailure) -> Object {
    guard isUp else { throw AvahiFailure(reason: Self.text(AvahiNumber.disconnected)) }
    for connection in connections where connection.isRunning && connection.objects < Self.objectLimit {
      guard let client = connection.client else { continue }
      if let pointer = make(client) { return Object(pointer, connection, free) }
      let number = avahi_client_errno(client)
      // A daemon with a lower limit.
      guard number == AvahiNumber.tooManyObjects else { throw AvahiFailure(reason: Self.text(number), number) }
    }
    guard connections.count < Self.connectionLimit, let another = open(), another.isRunning,
      let client = another.client, let pointer = make(client)
    else {
      throw AvahiFailure(reason: "the Avahi daemon has no room for more; see clients-max in avahi-daemon.conf")
    }
    return Object(pointer, another, free)
  }

  func close() {
    isClosed = true
    retry?.cancel()
    // The daemon says goodbye to all that its clients had.
    freeAll()
    poll.close()
    onUp = nil
    onDown = nil
  }

  // MARK: - Coming and going

  private func open() -> Connection? {
    let connection = Connection(self)
    var error: CInt = 0
    connections.append(connection)
    let client = avahi_client_new(
      poll.api, AVAHI_CLIENT_NO_FAIL,
      { client, state, data in
        guard let data else { return }
        let connection = Unmanaged<Connection>.fromOpaque(data).takeUnretainedValue()
        // The first call comes before the pointer is returned.
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
      if hasBeenUp { logger.notice("the Avahi daemon is back: everything is registered with it again") }
      hasBeenUp = true
      // Not from inside the library.
      onLoop { $0.onUp?() }
    case AVAHI_CLIENT_FAILURE:
      onLoop { $0.reset() }
    case AVAHI_CLIENT_CONNECTING:
      logger.info("waiting for the Avahi daemon")
    default:
      // The daemon settles a name for its own host, which is none of ours.
      break
    }
  }

  /// Everything of the old daemon is void: lets go of it, and waits for a new one.
  private func reset() {
    if isClosed || isResetting { return }
    isResetting = true
    if isUp { logger.warning("the Avahi daemon is gone; waiting for it to come back") }
    isUp = false
    onDown?()
    freeAll()
    isResetting = false
    tryLater(after: .milliseconds(100))
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

  private func tryLater(after delay: TimeAmount = AvahiDaemon.pause) {
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

/// The Avahi daemon did not do something.
struct AvahiFailure: Error, CustomStringConvertible {
  var reason: String
  var isCollision = false
  var description: String { reason }

  init(reason: String, _ number: CInt = 0) {
    self.reason = reason
    isCollision = number == AvahiNumber.collision
  }
}
