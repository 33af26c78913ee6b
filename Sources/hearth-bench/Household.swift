import Foundation
import MatterController
import MatterDevice
import MatterModel
import MatterProtocol
import NIOCore
import Runtime

/// A controller and lights on event loops of their own, over loopback sockets, with their state on disk.
final class Household {
  let loops: Loops
  let controller: NIOLoopBound<LoopClient<ControllerEngine>>
  private let directory: String
  private var lights: [NIOLoopBound<EngineHost<DeviceEngine>>] = []
  private var lightCount = 0

  init(_ loops: Loops) throws {
    self.loops = loops
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("hearth-bench-" + UUID().uuidString)
      .path
    self.directory = directory
    let sockets = try BoundSockets(.loopback)
    controller = try loops.client.submit {
      let store = try StateStore(directory: directory + "/controller")
      let host = EngineHost(
        try Nodes.controller(), transport: UDPTransport(sockets, on: loops.client), store: store, logger: quiet)
      host.start()
      return NIOLoopBound(LoopClient(host), eventLoop: loops.client)
    }.wait()
  }

  /// A new light, not commissioned yet.
  func addLight() throws -> MatterProtocol.SocketAddress {
    let sockets = try BoundSockets(.loopback)
    guard let address = sockets.addresses.first(where: { !$0.ip.isIPv6 }) else {
      throw BenchError("the loopback interface has no IPv4 address")
    }
    let configuration = try Nodes.lightConfiguration(port: sockets.port)
    let loop = loops.server
    let path = directory + "/light-\(lightCount)"
    lightCount += 1
    lights.append(
      try loop.submit {
        let store = try StateStore(directory: path)
        let host = EngineHost(
          Nodes.light(configuration, at: HostClock.now()), transport: UDPTransport(sockets, on: loop), store: store,
          logger: quiet)
        host.start()
        return host.bound
      }.wait())
    return address
  }

  /// Commissions the light at an address.
  /// - Returns: its node id, and how many nanoseconds it took from the call to the completion.
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

  /// Makes toggling a node's light what the controller is measured by.
  func prepareToggling(_ node: NodeID) throws {
    let controller = controller
    try loops.client.submit {
      controller.value.begin = { engine, now in _ = engine.invoke(node, [Nodes.toggle], at: now) }
      controller.value.isAnswer = { if case .invoked? = try Nodes.outcome($0) { true } else { false } }
    }.wait()
  }

  /// The controller's fabric, with its keys.
  func fabric() throws -> Fabric {
    let controller = controller
    return try loops.client.submit { controller.value.host.perform { engine, _ in engine.fabric } }.wait()
  }

  /// What the controller will send to toggle a light next, as somebody overhears it who sends it again.
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

  /// What the last light did not take in.
  func drops() throws -> String {
    guard let light = lights.last else { return "" }
    let drops = try loops.server.submit { light.value.perform { engine, _ in engine.drops.all } }.wait()
    return drops.map { "\($0.reason) \($0.count)" }.joined(separator: ", ")
  }

  func close() {
    let controller = controller
    for light in lights { try? light.eventLoop.submit { light.value.stop() }.wait() }
    try? loops.client.submit { controller.value.host.stop() }.wait()
    try? FileManager.default.removeItem(atPath: directory)
  }
}
