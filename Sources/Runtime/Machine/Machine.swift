public import Logging
public import MatterCrypto
public import MatterProtocol
public import NIOCore

/// What nodes run on: time, threads, sockets, services, files and randomness come from here and from nowhere else.
///
/// There is the ``HostMachine``, which is the one that this process runs on, and there are simulated ones on virtual time: code that
/// is given its machine runs on either.
public protocol Machine: Sendable {
  // MARK: Time and threads

  /// A loop to run a node on. Its `now` is the machine's monotonic clock.
  func nextEventLoop() -> any EventLoop
  /// Where tasks run that are bound to no event loop; nil: on Swift's own threads.
  var taskExecutor: (any TaskExecutor)? { get }
  /// A thread for what waits, as files do.
  func makeWorker() -> any Worker
  /// The wall clock in microseconds since 1970. May jump.
  func unixMicroseconds() -> Int64

  // MARK: Randomness

  /// A source that no other part of the program draws from.
  func makeRandom() -> any RandomSource
  /// How nodes sign: with random numbers, or always in the same way where a run is to be repeated.
  var signatures: any SignatureScheme { get }

  // MARK: The network

  /// Opens one node's sockets on these interfaces, and on no others. To be called on the loop.
  /// - Parameter port: nil: one that is free.
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

  /// Opens the store in a directory, for this process alone.
  func openStore(_ directory: String) throws(StoreError) -> any NodeStore
  /// What the store in a directory holds, whoever has it open.
  func storedState(of directory: String) throws(StoreError) -> StoredState
  /// Whether other processes may use the same files at the same time, and have to be watched for that.
  var sharesFiles: Bool { get }
}

extension Machine {
  /// Starts a task of the machine's: it is bound to no event loop, and takes no time from one.
  @discardableResult
  public func task<Success: Sendable>(_ body: @escaping @Sendable () async -> Success) -> Task<Success, Never> {
    Tasks.$executor.withValue(taskExecutor) { Tasks.start(body) }
  }

  /// The wall clock in microseconds since 2000 (epoch-us). A clock set to before 2000 gives 0.
  public func matterMicroseconds() -> UInt64 {
    UInt64(clamping: unixMicroseconds() - HostClock.matterEpoch * 1_000_000)
  }

  /// The wall clock in seconds since 2000 (epoch-s), as in certificates. A clock set to before 2000 gives 0.
  public func matterSeconds() -> UInt32 { UInt32(clamping: matterMicroseconds() / 1_000_000) }
}

/// One thread for work that waits: what is given to it first is done first.
public protocol Worker: Sendable {
  /// - Returns: what the work came to, told on the event loop.
  func submit<R: Sendable>(
    on eventLoop: any EventLoop, _ body: @escaping @Sendable () throws -> R
  ) -> EventLoopFuture<R>
  /// Ends the thread when all work is done, and calls back on it or on another.
  func close(_ done: @escaping @Sendable () -> Void)
}

/// The datagrams of one node, on all of its sockets. Confined to its event loop.
public protocol DatagramTransport: AnyObject {
  /// The loop that it belongs to.
  var eventLoop: any EventLoop { get }
  /// The UDP port of all its sockets.
  var port: UInt16 { get }
  /// Where the node can be reached.
  var addresses: [MatterProtocol.SocketAddress] { get }
  /// What was lost on this side of the network.
  var counters: UDPTransport.Counters { get }
  /// Called for each datagram, on the loop.
  var onDatagram: ((consuming [UInt8], MatterProtocol.SocketAddress) -> Void)? { get set }
  /// Sends a datagram from the socket that the destination calls for; dropped and counted where there is none.
  func send(_ bytes: [UInt8], to destination: MatterProtocol.SocketAddress)
  /// Takes in what is sent to a multicast address.
  /// - Returns: what went wrong, interface by interface.
  func join(_ group: IPAddress, port: UInt16) -> [NetworkError]
  /// Takes in no longer what is sent to a multicast address.
  func leave(_ group: IPAddress)
  /// The interfaces that may be used are these now, with these addresses.
  /// - Returns: what went wrong.
  func follow(_ interfaces: [NetworkInterface]) -> [NetworkError]
  /// Closes all sockets; nothing is told of afterwards.
  func close()
  /// The node's engine has had so many effects at one time; asked seldom.
  /// - Returns: whether it may have more. Where not, the node ends without a word.
  func goesOn(afterEffects count: Int) -> Bool
}

extension DatagramTransport {
  /// Always: in real time whoever keeps itself busy is seen to.
  public func goesOn(afterEffects count: Int) -> Bool { true }
}

/// Service discovery for the nodes of one process. May be called from anywhere.
public protocol NodeDiscovery: AnyObject, Sendable {
  /// Announces a service, or announces it anew when something about it has changed.
  /// - Parameters:
  ///   - owner: the loop that `onConflict` is called on; nil: that of DNS-SD.
  ///   - onConflict: somebody else has a name of it.
  func publish(
    _ service: MatterService, on owner: (any EventLoop)?, onConflict: (@Sendable (ServiceConflict) -> Void)?)
  /// Takes a service back, with a goodbye unless it is `silently`.
  func withdraw(_ service: MatterService, silently: Bool)
  /// Starts a search.
  /// - Parameter owner: the loop that `handler` is called on; where that is the caller's, not before this has returned.
  func browse(
    _ query: DiscoveryQuery, on owner: any EventLoop, _ handler: @escaping @Sendable (ServiceDiscovery.Event) -> Void
  ) -> ServiceDiscovery.Browse
  /// Ends a search.
  func stop(_ browse: ServiceDiscovery.Browse)
  /// Says goodbye to all services and closes the sockets. Done when the future is.
  @discardableResult func stop() -> EventLoopFuture<Void>
}
