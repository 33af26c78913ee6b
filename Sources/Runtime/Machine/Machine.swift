public import Logging
public import MatterCrypto
public import MatterProtocol
public import NIOCore

/// The environment of nodes, the only source of time, threads, sockets, services, files and randomness.
///
/// ``HostMachine`` is the machine that this process runs on; simulated machines run on virtual time. Code that uses its
/// machine for all of these runs on either.
public protocol Machine: Sendable {
  // MARK: Time and threads

  /// Returns a loop to run a node on. Its `now` is the machine's monotonic clock.
  func nextEventLoop() -> any EventLoop
  /// The executor of tasks that are not bound to an event loop; nil for Swift's own threads.
  var taskExecutor: (any TaskExecutor)? { get }
  /// Creates a thread for blocking work, such as file access.
  func makeWorker() -> any Worker
  /// Returns the wall clock in microseconds since 1970. May jump.
  func unixMicroseconds() -> Int64

  // MARK: Randomness

  /// Creates a random source that no other part of the program uses.
  func makeRandom() -> any RandomSource
  /// The signature scheme of nodes: randomized, or deterministic if the run has to be repeatable.
  var signatures: any SignatureScheme { get }

  // MARK: The network

  /// Opens one node's sockets on the selected interfaces only. To be called on the loop.
  /// - Parameter port: the UDP port; nil for a free one.
  /// - Throws: ``NetworkError``
  func openTransport(
    _ interfaces: InterfaceSelection, port: UInt16?, on eventLoop: any EventLoop
  ) throws -> any DatagramTransport

  /// Opens service discovery for the nodes of one process.
  /// - Throws: ``NetworkError`` or ``ServiceDiscovery/Failure``
  func openDiscovery(
    _ mode: ServiceDiscovery.Mode, _ interfaces: InterfaceSelection, registry: String?, on eventLoop: any EventLoop,
    logger: Logger
  ) throws -> any NodeDiscovery

  // MARK: Files

  /// Opens the store in a directory exclusively.
  func openStore(_ directory: String) throws(StoreError) -> any NodeStore
  /// Whether other processes may use the same files concurrently.
  var sharesFiles: Bool { get }
}

extension Machine {
  /// Starts a task on the machine's executor. It is not bound to an event loop.
  @discardableResult
  public func task<Success: Sendable>(_ body: @escaping @Sendable () async -> Success) -> Task<Success, Never> {
    Tasks.$executor.withValue(taskExecutor) { Tasks.start(body) }
  }

  /// Returns the wall clock in microseconds since 2000 (epoch-us), or 0 if the clock is set to before 2000.
  package func matterMicroseconds() -> UInt64 {
    UInt64(clamping: unixMicroseconds() - HostClock.matterEpoch * 1_000_000)
  }

  /// Returns the wall clock in seconds since 2000 (epoch-s), as in certificates, or 0 if the clock is set to before
  /// 2000.
  public func matterSeconds() -> UInt32 { UInt32(clamping: matterMicroseconds() / 1_000_000) }
}

/// A thread for blocking work, in first-in, first-out order.
public protocol Worker: Sendable {
  /// Runs `body` on the thread.
  /// - Returns: the result of `body`, delivered on the event loop.
  func submit<R: Sendable>(
    on eventLoop: any EventLoop, _ body: @escaping @Sendable () throws -> R
  ) -> EventLoopFuture<R>
  /// Runs `body` on the calling thread, at the same time as work on the worker's thread: for a write that has to be
  /// complete before the caller continues.
  /// - Returns: the result of `body`; nil if the machine has no power.
  func run<R, F: Error>(_ body: () throws(F) -> R) throws(F) -> R?
  /// Ends the thread after all queued work, then calls `done` on it or on another thread.
  func close(_ done: @escaping @Sendable () -> Void)
}

extension Worker {
  public func run<R, F: Error>(_ body: () throws(F) -> R) throws(F) -> R? { try body() }
}

/// The datagrams of one node, on all of its sockets. Confined to its event loop.
public protocol DatagramTransport: AnyObject {
  /// The loop that the transport is confined to.
  var eventLoop: any EventLoop { get }
  /// The UDP port of all sockets.
  var port: UInt16 { get }
  /// The addresses at which the node is reachable.
  var addresses: [MatterProtocol.SocketAddress] { get }
  /// Datagrams dropped on this host.
  var counters: UDPTransport.Counters { get }
  /// Called for each datagram, on the loop.
  var onDatagram: ((consuming [UInt8], MatterProtocol.SocketAddress) -> Void)? { get set }
  /// Sends a datagram from the socket that matches the destination, or drops and counts it if none does.
  func send(_ bytes: [UInt8], to destination: MatterProtocol.SocketAddress)
  /// Joins a multicast group on all interfaces.
  /// - Returns: the failures, by interface.
  func join(_ group: IPAddress, port: UInt16) -> [NetworkError]
  /// Leaves a multicast group.
  func leave(_ group: IPAddress)
  /// Switches to these interfaces and their current addresses.
  /// - Returns: the failures.
  func follow(_ interfaces: [NetworkInterface]) -> [NetworkError]
  /// Closes all sockets; no callback is called afterward.
  func close()
  /// Returns whether the engine may perform more effects without time passing. Called every few thousand effects; if
  /// false, the host stops the node silently.
  /// - Parameter count: the number of effects so far.
  func mayContinue(afterEffects count: Int) -> Bool
}

extension DatagramTransport {
  /// True: in real time, no guard against a busy engine is needed.
  public func mayContinue(afterEffects count: Int) -> Bool { true }
}

/// Service discovery for the nodes of one process. May be called from any thread.
public protocol NodeDiscovery: AnyObject, Sendable {
  /// Announces a service, or announces it again after a change.
  /// - Parameters:
  ///   - owner: the loop that `onConflict` is called on; nil for that of DNS-SD.
  ///   - onConflict: called if another host has the instance name or the host name.
  func publish(
    _ service: MatterService, on owner: (any EventLoop)?, onConflict: (@Sendable (ServiceConflict) -> Void)?)
  /// Withdraws a service, with a goodbye unless `silently` is set.
  func withdraw(_ service: MatterService, silently: Bool)
  /// Starts a search.
  /// - Parameter owner: the loop that `handler` is called on, never before this call returns if it is the caller's.
  func browse(
    _ query: DiscoveryQuery, on owner: any EventLoop, _ handler: @escaping @Sendable (ServiceDiscovery.Event) -> Void
  ) -> ServiceDiscovery.Browse
  /// Stops a search.
  func stop(_ browse: ServiceDiscovery.Browse)
  /// Switches to these interfaces and their current addresses.
  func follow(_ interfaces: [NetworkInterface])
  /// Withdraws all services with goodbyes and closes the sockets. The future completes when it is done.
  @discardableResult func stop() -> EventLoopFuture<Void>
}
