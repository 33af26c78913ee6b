import Foundation
import Logging
import MatterProtocol
import NIOCore
import NIOPosix
import Synchronization

@testable import Runtime

/// NIO declares a type of the same name.
typealias SocketAddress = MatterProtocol.SocketAddress

/// A temporary directory, removed on deinitialization.
final class TemporaryDirectory: Sendable {
  let path: String

  init() throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("hearth-" + UUID().uuidString)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    path = url.path
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}

let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

/// Collects values from any thread.
final class Collector<Value: Sendable>: Sendable {
  private let values = Mutex<[Value]>([])

  func add(_ value: Value) { values.withLock { $0.append(value) } }
  var all: [Value] { values.withLock { $0 } }

  /// Waits until the values satisfy `condition`.
  func wait(until condition: ([Value]) -> Bool) async -> Bool { await eventually { condition(all) } }
}

/// An engine that echoes datagrams or reports them, and performs the effects that tests add.
struct EchoEngine: Engine, Sendable {
  enum Event: Hashable, Sendable {
    case received([UInt8], SocketAddress)
    case advanced(Instant)
    case found(MatterService)
    case lost(MatterService)
    case note(String)
  }

  var echoes = false
  var deadlines: [Instant] = []
  var effects: [Effect<Event>] = []
  private var head = 0

  init(echoes: Bool = false) { self.echoes = echoes }

  mutating func handle(_ input: Input, at now: Instant) {
    switch input {
    case .datagram(let bytes, let source):
      effects.append(echoes ? .send(bytes, to: source) : .emit(.received(bytes, source)))
    case .serviceFound(let service): effects.append(.emit(.found(service)))
    case .serviceLost(let service): effects.append(.emit(.lost(service)))
    case .serviceConflict(.instance(let kind)): effects.append(.emit(.note("conflict \(kind.instanceLabel)")))
    case .serviceConflict(.host(let name)): effects.append(.emit(.note("conflict \(name)")))
    }
  }

  mutating func advance(to now: Instant) {
    while let first = deadlines.first, first <= now {
      deadlines.removeFirst()
      effects.append(.emit(.advanced(now)))
    }
  }

  var nextDeadline: Instant? { deadlines.first }

  mutating func nextEffect() -> Effect<Event>? {
    guard head < effects.count else { return nil }
    defer {
      head += 1
      if head == effects.count {
        effects.removeAll(keepingCapacity: true)
        head = 0
      }
    }
    return effects[head]
  }
}

/// Starts an echo engine on a loop, with a collector for its events.
func startEcho(
  on loop: any EventLoop, echoes: Bool, events: Collector<EchoEngine.Event> = Collector(),
  discovery: ServiceDiscovery? = nil, store: @escaping @Sendable () throws -> any NodeStore = { MemoryStore() }
) async throws -> (actor: EngineActor<EchoEngine>, addresses: [SocketAddress]) {
  let sockets = try BoundSockets(.loopback)
  let actor = try await EngineActor.start(on: loop) {
    EngineHost(
      EchoEngine(echoes: echoes), transport: UDPTransport(sockets, on: loop), store: try store(), discovery: discovery,
      logger: quiet, onEvent: { events.add($0) })
  }
  return (actor, sockets.addresses)
}
