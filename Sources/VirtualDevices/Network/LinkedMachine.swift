internal import Logging
internal import MatterCrypto
internal import MatterProtocol
internal import NIOCore
internal import Runtime

/// A machine whose transport and discovery go through a link with fault injection.
struct LinkedMachine: Machine {
  let host: any Machine
  let link: DeviceLink

  func nextEventLoop() -> any EventLoop { host.nextEventLoop() }
  var taskExecutor: (any TaskExecutor)? { host.taskExecutor }
  func makeWorker() -> any Worker { host.makeWorker() }
  func unixMicroseconds() -> Int64 { host.unixMicroseconds() }
  func makeRandom() -> any RandomSource { host.makeRandom() }
  var signatures: any SignatureScheme { host.signatures }
  var sharesFiles: Bool { host.sharesFiles }

  func openTransport(
    _ interfaces: InterfaceSelection, port: UInt16?, on eventLoop: any EventLoop
  ) throws -> any DatagramTransport {
    LinkedTransport(try host.openTransport(interfaces, port: port, on: eventLoop), link)
  }

  func openDiscovery(
    _ mode: ServiceDiscovery.Mode, _ interfaces: InterfaceSelection, registry: String?, on eventLoop: any EventLoop,
    logger: Logger
  ) throws -> any NodeDiscovery {
    LinkedDiscovery(
      try host.openDiscovery(mode, interfaces, registry: registry, on: eventLoop, logger: logger), link)
  }

  func openStore(_ directory: String) throws(StoreError) -> any NodeStore { try host.openStore(directory) }
  func storedState(of directory: String) throws(StoreError) -> StoredState { try host.storedState(of: directory) }
}
