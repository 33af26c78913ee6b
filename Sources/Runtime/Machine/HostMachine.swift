public import Logging
public import MatterCrypto
public import NIOCore
internal import NIOPosix

/// The machine that this process runs on.
public struct HostMachine: Machine {
  public init() {}

  public func nextEventLoop() -> any EventLoop { MultiThreadedEventLoopGroup.singleton.next() }
  public var taskExecutor: (any TaskExecutor)? { nil }
  public func makeWorker() -> any Worker { ThreadWorker() }
  public func unixMicroseconds() -> Int64 { HostClock.unixMicroseconds() }

  public func makeRandom() -> any RandomSource { SystemRandomSource() }
  public var signatures: any SignatureScheme { OpenSSLSignatures() }

  public func openTransport(
    _ interfaces: InterfaceSelection, port: UInt16?, on eventLoop: any EventLoop
  ) throws -> any DatagramTransport {
    UDPTransport(try BoundSockets(interfaces, port: port), on: eventLoop)
  }

  public func openDiscovery(
    _ mode: ServiceDiscovery.Mode, _ interfaces: InterfaceSelection, registry: String?, on eventLoop: any EventLoop,
    logger: Logger
  ) throws -> any NodeDiscovery {
    var wanted = ServiceDiscovery.Options(interfaces: try NetworkInterfaces.select(interfaces), registry: registry)
    wanted.mode = mode
    return try ServiceDiscovery(wanted, on: eventLoop, logger: logger)
  }

  public func openStore(_ directory: String) throws(StoreError) -> any NodeStore {
    try StateStore(directory: directory)
  }
  public var sharesFiles: Bool { true }
}

/// A worker with a thread of this process.
private struct ThreadWorker: Worker {
  private let pool = NIOThreadPool(numberOfThreads: 1)

  init() { pool.start() }

  func submit<R: Sendable>(
    on eventLoop: any EventLoop, _ body: @escaping @Sendable () throws -> R
  ) -> EventLoopFuture<R> {
    pool.runIfActive(eventLoop: eventLoop, body)
  }

  func close(_ done: @escaping @Sendable () -> Void) {
    // Shutting down a pool drops queued work, so the shutdown is queued behind it.
    pool.submit { [pool] _ in pool.shutdownGracefully { _ in done() } }
  }
}
