import Foundation
import Glibc
import MatterController
import MatterDevice
import MatterModel
import MatterProtocol
import NIOCore
import Runtime

/// A controller and lights on two event loops, connected by loopback sockets, with their state on disk.
final class Household {
  let loops: Loops
  let controller: NIOLoopBound<LoopClient<ControllerEngine>>
  private let directory: String
  private var lights: [Light] = []
  /// The stored state of the controller, for its next process.
  private let memory: NIOLoopBound<RecordingStore>

  private struct Light {
    let host: NIOLoopBound<EngineHost<DeviceEngine>>
    /// The number of datagrams received.
    let received: NIOLoopBoundBox<Int>
  }

  init(_ loops: Loops) throws {
    self.loops = loops
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("hearth-bench-" + UUID().uuidString)
      .path
    self.directory = directory
    let sockets = try BoundSockets(.loopback)
    (controller, memory) = try loops.client.submit {
      let store = RecordingStore(try StateStore(directory: directory + "/controller"))
      let host = EngineHost(
        try Nodes.controller(), transport: UDPTransport(sockets, on: loops.client), store: store, logger: quiet)
      host.start()
      return (
        NIOLoopBound(LoopClient(host), eventLoop: loops.client), NIOLoopBound(store, eventLoop: loops.client)
      )
    }.wait()
  }

  /// Starts an uncommissioned light.
  func addLight() throws -> MatterProtocol.SocketAddress {
    let sockets = try BoundSockets(.loopback)
    guard let address = sockets.addresses.first(where: { !$0.ip.isIPv6 }) else {
      throw BenchError("the loopback interface has no IPv4 address")
    }
    let configuration = try Nodes.lightConfiguration(port: sockets.port)
    let loop = loops.server
    let path = directory + "/light-\(lights.count)"
    lights.append(
      try loop.submit {
        let store = try StateStore(directory: path)
        let host = EngineHost(
          Nodes.light(configuration, at: HostClock.now()), transport: UDPTransport(sockets, on: loop), store: store,
          logger: quiet)
        host.start()
        let received = NIOLoopBoundBox(0, eventLoop: loop)
        let deliver = host.transport.onDatagram
        host.transport.onDatagram = { bytes, source in
          received.value += 1
          deliver?(bytes, source)
        }
        return Light(host: host.bound, received: received)
      }.wait())
    return address
  }

  /// Commissions the light at an address.
  /// - Returns: its node ID, and the time from the call to completion in nanoseconds.
  func commission(_ address: MatterProtocol.SocketAddress) throws -> (node: NodeID, time: Double) {
    let controller = controller
    let promise = loops.client.makePromise(of: Measured.self)
    let node = try loops.client.submit {
      let client = controller.value
      let node = client.host.perform { engine, _ in engine.nextNodeID }
      client.begin = { engine, now in _ = engine.commission(Nodes.commissioning(of: address), at: now) }
      client.isAnswer = { if case .commissioned? = try Nodes.outcome($0) { true } else { false } }
      client.run(1, window: 1, promise)
      return node
    }.wait()
    return (node, try promise.futureResult.wait().median)
  }

  /// Sets the client's operation to toggling the lights of nodes, one after the other.
  func prepareToggling(_ nodes: [NodeID]) throws {
    let controller = controller
    try loops.client.submit {
      var next = 0
      controller.value.begin = { engine, now in
        _ = engine.invoke(nodes[next % nodes.count], [Nodes.toggle], at: now)
        next += 1
      }
      controller.value.isAnswer = { if case .invoked? = try Nodes.outcome($0) { true } else { false } }
    }.wait()
  }

  /// The controller's fabric, including its keys.
  func fabric() throws -> Fabric {
    let controller = controller
    return try loops.client.submit { controller.value.host.perform { engine, _ in engine.fabric } }.wait()
  }

  /// Returns the message with which the controller will toggle the light next, for replay by an eavesdropper.
  func nextToggle(_ node: NodeID) throws -> [UInt8] {
    let controller = controller
    return try loops.client.submit {
      var copy = controller.value.host.perform { engine, _ in engine }
      while copy.nextEffect() != nil {}
      _ = copy.invoke(node, [Nodes.toggle], at: HostClock.now())
      while let effect = copy.nextEffect() { if case .send(let bytes, _) = effect { return bytes } }
      return []
    }.wait()
  }

  /// Toggles a light from a restarted controller, which first has to establish a session.
  /// - Parameter isResuming: whether to resume the previous session rather than use certificates.
  /// - Returns: the time in nanoseconds.
  func toggleFromRestartedController(_ node: NodeID, isResuming: Bool = false) throws -> Double {
    let sockets = try BoundSockets(.loopback)
    let memory = memory
    let loop = loops.client
    let client = try loop.submit {
      let state = memory.value.state.filter { isResuming || !$0.key.hasPrefix(PeerRecord.resumptionPrefix) }
      let host = EngineHost(
        try Nodes.controller(state), transport: UDPTransport(sockets, on: loop), store: memory.value.next(state),
        logger: quiet)
      host.start()
      let client = LoopClient(host)
      client.begin = { engine, now in _ = engine.invoke(node, [Nodes.toggle], at: now) }
      client.isAnswer = { if case .invoked? = try Nodes.outcome($0) { true } else { false } }
      return NIOLoopBound(client, eventLoop: loop)
    }.wait()
    let secret = try loop.submit { memory.value.secret(of: node) }.wait()
    defer { try? loop.submit { client.value.host.stop() }.wait() }
    let time = try client.measure(1).median
    let isResumed = try loop.submit { memory.value.secret(of: node) }.wait() == secret
    guard isResumed == isResuming else {
      throw BenchError(isResuming ? "the session was not resumed" : "the session was resumed")
    }
    return time
  }

  /// The counters of datagrams sent to the last light.
  struct Account: CustomStringConvertible {
    var received = 0
    var overflowed = 0
    var drops: [(reason: DropReason, count: Int)] = []

    var description: String {
      "\(received) read, \(overflowed) thrown away by the system; dropped: "
        + drops.map { "\($0.reason) \($0.count)" }.joined(separator: ", ")
    }
  }

  func account(since earlier: Account = Account()) throws -> Account {
    guard let light = lights.last else { return Account() }
    func read() throws -> Account {
      try loops.server.submit {
        let host = light.host.value
        return Account(
          received: light.received.value, overflowed: host.transport.counters.overflowed,
          drops: host.perform { engine, _ in engine.drops.all })
      }.wait()
    }
    // Wait until the light has read the datagrams in its sockets.
    var account = try read()
    while true {
      usleep(200_000)
      let next = try read()
      defer { account = next }
      if next.received - account.received < 50 { break }
    }
    account.received -= earlier.received
    account.overflowed -= earlier.overflowed
    account.drops = account.drops.map { reason, count in
      (reason, count - (earlier.drops.first { $0.reason == reason }?.count ?? 0))
    }
    return account
  }

  func close() {
    let controller = controller
    for light in lights { try? light.host.eventLoop.submit { light.host.value.stop() }.wait() }
    try? loops.client.submit { controller.value.host.stop() }.wait()
    try? FileManager.default.removeItem(atPath: directory)
  }
}

/// Stores changes on disk and also in memory, so that another process of the same node can continue from there.
/// Confined to the loop.
final class RecordingStore: NodeStore {
  private let store: any NodeStore
  private(set) var state: StoredState = [:]

  init(_ store: any NodeStore) { self.store = store }

  func load() throws(StoreError) -> StoredState { try store.load() }

  func commit(_ changes: [StoreChange]) throws(StoreError) {
    try store.commit(changes)
    for change in changes { state[change.key] = change.value }
  }

  func close() { store.close() }

  /// Returns a store for another process, whose changes are also recorded here, as if both shared one directory.
  func next(_ state: StoredState) -> any NodeStore {
    self.state = state
    return SuccessorStore(self)
  }

  /// Returns the shared secret for resuming a session with the node.
  func secret(of node: NodeID) -> [UInt8]? {
    let key = PeerRecord.resumptionPrefix + node.rawValue.hexadecimal(16).lowercased()
    return state[key].flatMap { ResumptionRecord(stored: $0, fabric: 1)?.sharedSecret }
  }

  private final class SuccessorStore: NodeStore {
    private let store: RecordingStore
    init(_ store: RecordingStore) { self.store = store }
    func load() throws(StoreError) -> StoredState { store.state }
    func commit(_ changes: [StoreChange]) throws(StoreError) { try store.commit(changes) }
    func close() {}
  }
}
