internal import Logging
internal import MatterCrypto
internal import MatterProtocol
internal import NIOCore
internal import Runtime
internal import Simulation

/// The host with the clocks, the IPv4 address and the power supply of a machine, but without its network faults.
struct RealHost: Machine {
  private let machine: RealMachine
  private let host = HostMachine()

  init(_ machine: RealMachine) { self.machine = machine }

  func nextEventLoop() -> any EventLoop { machine.loop }
  var taskExecutor: (any TaskExecutor)? { host.taskExecutor }
  func makeWorker() -> any Worker { PoweredWorker(worker: host.makeWorker(), machine: machine) }
  func unixMicroseconds() -> Int64 { machine.unixMicroseconds() }
  func makeRandom() -> any RandomSource { host.makeRandom() }
  var signatures: any SignatureScheme { host.signatures }
  var sharesFiles: Bool { host.sharesFiles }

  func openTransport(
    _ interfaces: InterfaceSelection, port: UInt16?, on _: any EventLoop
  ) throws -> any DatagramTransport { try machine.openSockets(interfaces, port: port) }

  func openDiscovery(
    _ mode: ServiceDiscovery.Mode, _ interfaces: InterfaceSelection, registry: String?, on _: any EventLoop,
    logger: Logger
  ) throws -> any NodeDiscovery {
    try host.openDiscovery(mode, interfaces, registry: registry, on: machine.loop.base, logger: logger)
  }

  func openStore(_ directory: String) throws(StoreError) -> any NodeStore {
    PoweredStore(try host.openStore(directory), machine)
  }
}

/// A worker that rejects tasks while the machine has no power. Each task is one effect.
private struct PoweredWorker: Worker {
  let worker: any Worker
  let machine: RealMachine

  func submit<R: Sendable>(
    on eventLoop: any EventLoop, _ body: @escaping @Sendable () throws -> R
  ) -> EventLoopFuture<R> {
    worker.submit(on: eventLoop) {
      guard machine.takesEffect() else { throw SimulationError.powerOff("the machine") }
      return try body()
    }
  }

  func run<R, F: Error>(_ body: () throws(F) -> R) throws(F) -> R? {
    machine.takesEffect() ? try worker.run(body) : nil
  }

  func close(_ done: @escaping @Sendable () -> Void) { worker.close(done) }
}

/// A store that ignores commits while the machine has no power.
private final class PoweredStore: NodeStore {
  private let store: any NodeStore
  private let machine: RealMachine

  init(_ store: any NodeStore, _ machine: RealMachine) { (self.store, self.machine) = (store, machine) }

  func load() throws(StoreError) -> StoredState { try store.load() }
  func commit(_ changes: [StoreChange]) throws(StoreError) { if machine.takesEffect() { try store.commit(changes) } }
  func close() { store.close() }
  func abandon() { store.abandon() }
}
