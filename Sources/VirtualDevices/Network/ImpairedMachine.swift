package import Logging
package import MatterCrypto
package import NIOCore
package import Runtime

/// A machine whose transports and service discovery are subject to network faults.
package struct ImpairedMachine: Machine {
  private let host: any Machine
  private let impairment: any NetworkImpairment

  package init(host: any Machine, _ impairment: any NetworkImpairment) {
    (self.host, self.impairment) = (host, impairment)
  }

  package func nextEventLoop() -> any EventLoop { host.nextEventLoop() }
  package var taskExecutor: (any TaskExecutor)? { host.taskExecutor }
  package func makeWorker() -> any Worker { host.makeWorker() }
  package func unixMicroseconds() -> Int64 { host.unixMicroseconds() }
  package func makeRandom() -> any RandomSource { host.makeRandom() }
  package var signatures: any SignatureScheme { host.signatures }
  package var sharesFiles: Bool { host.sharesFiles }

  package func openTransport(
    _ interfaces: InterfaceSelection, port: UInt16?, on eventLoop: any EventLoop
  ) throws -> any DatagramTransport {
    ImpairedTransport(try host.openTransport(interfaces, port: port, on: eventLoop), impairment, on: eventLoop)
  }

  package func openDiscovery(
    _ mode: ServiceDiscovery.Mode, _ interfaces: InterfaceSelection, registry: String?, on eventLoop: any EventLoop,
    logger: Logger
  ) throws -> any NodeDiscovery {
    ImpairedDiscovery(
      try host.openDiscovery(mode, interfaces, registry: registry, on: eventLoop, logger: logger), impairment)
  }

  package func openStore(_ directory: String) throws(StoreError) -> any NodeStore { try host.openStore(directory) }
}
