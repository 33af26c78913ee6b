public import Logging
public import MatterProtocol
public import NIOCore

/// Drives one engine on one event loop, with its datagrams, timer, store and services.
///
/// Confined to that loop: all methods and callbacks run on it, synchronously. Effects are performed in order after each
/// input. Input from a callback is performed by the same drain, after the effects queued before. Call `stop()` to end
/// the host, which also releases it.
///
/// The packet path is inlinable, so that it is specialized for the engine: unspecialized generic code would look up the
/// type of each effect at run time, which takes longer than performing it.
public final class EngineHost<E: Engine & SendableMetatype> {
  public let eventLoop: any EventLoop
  public let transport: any DatagramTransport
  /// Called for each event of the engine, in order.
  public var onEvent: ((E.Event) -> Void)?
  /// Called when the store has failed. The engine is stopped, since its next steps rely on the changes that were not
  /// stored.
  public var onStoreFailure: ((StoreError) -> Void)?

  @usableFromInline var engine: E
  package let store: any NodeStore
  private let discovery: (any NodeDiscovery)?
  @usableFromInline let logger: Logger
  @usableFromInline let traces: Bool
  @usableFromInline var isDraining = false
  /// Whether the host was stopped; the engine gets no further input.
  public private(set) var isStopped = false
  /// One service for each kind. A list of few, which takes less memory than a dictionary.
  private var published: [MatterService] = []
  private var browses: [DiscoveryQuery: ServiceDiscovery.Browse] = [:]
  @usableFromInline var timer: LazyTimer?

  /// To be called on the event loop, followed by `start()`.
  public init(
    _ engine: E, transport: any DatagramTransport, store: any NodeStore = MemoryStore(),
    discovery: (any NodeDiscovery)? = nil, logger: Logger, onEvent: ((E.Event) -> Void)? = nil
  ) {
    self.engine = engine
    self.transport = transport
    self.store = store
    self.discovery = discovery
    self.logger = logger
    self.onEvent = onEvent
    eventLoop = transport.eventLoop
    traces = logger.logLevel <= .trace
    eventLoop.preconditionInEventLoop()
  }

  /// The host as a value for other threads, to be unwrapped on its loop. To be called on the loop.
  public var bound: NIOLoopBound<EngineHost<E>> { NIOLoopBound(self, eventLoop: eventLoop) }

  /// The machine's monotonic clock.
  @inlinable public var now: Instant {
    Instant(nanoseconds: Int64(clamping: eventLoop.now.uptimeNanoseconds))
  }

  /// Starts receiving, performs the engine's initial effects, and arms the timer.
  @inlinable public func start() {
    timer = LazyTimer(on: eventLoop) { [weak self] in self?.fired() }
    transport.onDatagram = { [self] bytes, source in received(bytes, from: source) }
    drain()
  }

  /// Passes a datagram to the engine.
  @inlinable public func received(_ bytes: consuming [UInt8], from source: MatterProtocol.SocketAddress) {
    if traces { logger.trace("received \(bytes.count) bytes from \(source)") }
    // Consumed explicitly: with a second reference, the engine would copy the datagram to decrypt it.
    handle(.datagram(consume bytes, from: source))
  }

  /// Passes an input to the engine.
  @inlinable public func handle(_ input: consuming Input) {
    if isStopped { return }
    engine.handle(input, at: now)
    drain()
  }

  /// Calls `body` with the engine and the time, then performs the effects.
  ///
  /// If called from a callback, the effects are performed after those in progress. `body` itself must not call the
  /// host.
  @inlinable public func perform<R, F: Error>(_ body: (inout E, Instant) throws(F) -> R) throws(F) -> R {
    defer { drain() }
    return try body(&engine, now)
  }

  /// Withdraws the node's services and closes its sockets and its store.
  /// - Parameter silently: whether to omit the goodbyes, as on a loss of power.
  public func stop(silently: Bool = false) {
    if isStopped { return }
    isStopped = true
    timer?.cancel()
    transport.close()
    // Sorted, so that a simulation is deterministic.
    for (_, browse) in browses.sorted(by: { "\($0.key)" < "\($1.key)" }) { discovery?.stop(browse) }
    browses = [:]
    for service in published.sorted(by: { "\($0.kind)" < "\($1.kind)" }) {
      discovery?.withdraw(service, silently: silently)
    }
    published = []
    if silently { store.abandon() } else { store.close() }
    onEvent = nil
    onStoreFailure = nil
  }

  // MARK: - Effects

  @inlinable func drain() {
    if isDraining || isStopped { return }
    isDraining = true
    var count = 0
    while !isStopped, let effect = engine.nextEffect() {
      carryOut(effect)
      count &+= 1
      // In virtual time, an engine that never runs out of effects would block the simulation forever, so it is stopped.
      if count & 0xFFF == 0, !transport.mayContinue(afterEffects: count) { stop(silently: true) }
    }
    isDraining = false
    if !isStopped { timer?.arm(Self.deadline(&engine)) }
  }

  /// `inout`, since reading a computed property of a stored engine would copy the whole engine first.
  @inlinable static func deadline(_ engine: inout E) -> Instant? { engine.nextDeadline }

  @inlinable func carryOut(_ effect: Effect<E.Event>) {
    switch effect {
    case .send(let bytes, let destination):
      if traces { logger.trace("sends \(bytes.count) bytes to \(destination)") }
      transport.send(bytes, to: destination)
    case .emit(let event): onEvent?(event)
    case .store(let changes): commit(changes)
    case .publish, .withdraw, .browse, .stopBrowsing: discover(effect)
    case .join(let group): join(group)
    case .leave(let group): transport.leave(group)
    }
  }

  @usableFromInline func join(_ group: IPAddress) {
    for failure in transport.join(group, port: NodeCore.groupPort) {
      logger.warning("cannot join \(group), messages to it are not received: \(failure)")
    }
  }

  @usableFromInline func discover(_ effect: Effect<E.Event>) {
    switch effect {
    case .send, .emit, .store, .join, .leave: break
    case .publish(let service):
      published.removeAll { $0.kind == service.kind }
      published.append(service)
      publish(service)
    case .withdraw(let service):
      published.removeAll { $0.kind == service.kind }
      discovery?.withdraw(service, silently: false)
    case .browse(let query): browse(query)
    case .stopBrowsing(let query):
      if let browse = browses.removeValue(forKey: query) { discovery?.stop(browse) }
    }
  }

  @usableFromInline func commit(_ changes: [StoreChange]) {
    do throws(StoreError) {
      try store.commit(changes)
    } catch {
      logger.critical("cannot store the state, stopping the node: \(error)")
      let report = onStoreFailure
      stop()
      report?(error)
    }
  }

  private func publish(_ service: MatterService) {
    guard let discovery else { return }
    let bound = NIOLoopBound(Weak(self), eventLoop: eventLoop)
    let kind = service.kind
    discovery.publish(service, on: eventLoop) { conflict in
      guard let host = bound.value.object, host.published.contains(where: { $0.kind == kind }) else { return }
      host.handle(.serviceConflict(conflict))
    }
  }

  private func browse(_ query: DiscoveryQuery) {
    guard let discovery, browses[query] == nil else { return }
    let bound = NIOLoopBound(Weak(self), eventLoop: eventLoop)
    browses[query] = discovery.browse(query, on: eventLoop) { event in
      guard let host = bound.value.object, host.browses[query] != nil else { return }
      switch event {
      case .found(let service): host.handle(.serviceFound(service))
      case .lost(let service): host.handle(.serviceLost(service))
      }
    }
  }

  @inlinable func fired() {
    if isStopped { return }
    let now = now
    if let deadline = Self.deadline(&engine), deadline <= now { engine.advance(to: now) }
    drain()
  }
}

/// A weak reference in a value.
struct Weak<Object: AnyObject> {
  weak var object: Object?
  init(_ object: Object) { self.object = object }
}
