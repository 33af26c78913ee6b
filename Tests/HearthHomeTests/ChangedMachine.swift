import Logging
import MatterCrypto
import MatterModel
import MatterProtocol
import NIOCore
import Runtime
import Synchronization

/// The host machine with overrides for tests.
struct ChangedMachine: Machine {
  let host = HostMachine()
  /// Whether other processes may use the same files.
  var sharesFiles = true
  /// Runs blocking work; nil: the host's worker.
  var worker: (any Worker)?

  func makeWorker() -> any Worker { worker ?? host.makeWorker() }

  func nextEventLoop() -> any EventLoop { host.nextEventLoop() }
  var taskExecutor: (any TaskExecutor)? { host.taskExecutor }
  /// Offset of the wall clock, in days.
  let days = Tally()

  func unixMicroseconds() -> Int64 { host.unixMicroseconds() + Int64(days.count) * 86_400_000_000 }
  func makeRandom() -> any RandomSource { host.makeRandom() }
  var signatures: any SignatureScheme { host.signatures }
  func openTransport(
    _ interfaces: InterfaceSelection, port: UInt16?, on eventLoop: any EventLoop
  ) throws -> any DatagramTransport { try host.openTransport(interfaces, port: port, on: eventLoop) }
  func openDiscovery(
    _ mode: ServiceDiscovery.Mode, _ interfaces: InterfaceSelection, registry: String?, on eventLoop: any EventLoop,
    logger: Logger
  ) throws -> any NodeDiscovery {
    try host.openDiscovery(mode, interfaces, registry: registry, on: eventLoop, logger: logger)
  }
  func openStore(_ directory: String) throws(StoreError) -> any NodeStore { try host.openStore(directory) }
}

/// A thread-safe counter.
final class Tally: Sendable {
  private let number = Mutex(0)
  var count: Int { number.withLock { $0 } }
  func add() { number.withLock { $0 += 1 } }
}
