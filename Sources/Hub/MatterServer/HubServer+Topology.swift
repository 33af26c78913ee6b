internal import HomeControl
internal import HomeModel
internal import MatterModel
internal import MatterProtocol
internal import NIOCore
internal import Runtime
internal import WebClient

// `get_network_topology` and its event.
extension HubServer {
  /// The time between a change and the event, for all clients that have requested the graph.
  private static let topologyDelay = Duration.seconds(2)
  /// The limits of `refresh`: the time in which reads are started, and the number of concurrent ones.
  private static let refreshTime = TimeAmount.seconds(30), concurrentReads = 4

  func topology(_ arguments: CommandArguments) async throws(MatterServerError) -> JSONValue {
    if try arguments.flag("refresh") == true { await refreshTopology() }
    let topology = topology(for: arguments.role)
    if connections[arguments.client] != nil { topologies[arguments.client] = topology }
    return topology.object(at: now / 1000)
  }

  private func topology(for role: HomeRole) -> NetworkTopology {
    let visibility = RoleVisibility.of(role)
    let tests = testNodes.all.sorted { $0.key < $1.key }.map { id, node in
      let object = node.object(visibility)
      return NetworkTopology.Source(
        id: id, isAvailable: object["available"] != false, isBridge: object["is_bridge"] == true
      ) { object["attributes"]?[AttributeKey.text($0)] }
    }
    return NetworkTopology(topologySources(visibility) + tests)
  }

  /// The nodes of the fabric.
  private func topologySources(_ visibility: RoleVisibility) -> [NetworkTopology.Source] {
    let state = state
    return projection.sortedIDs.map { id in
      NetworkTopology.Source(
        id: id.rawValue, isAvailable: projection.nodes[id]?.isAvailable == true,
        isBridge: NodeObject.isBridge(id, state)
      ) { path in
        guard visibility.contains(path) else { return nil }
        return state.value(id, path).flatMap { ValueEncoder.attribute(path, $0) }
      }
    }
  }

  /// Reads the diagnostics of all available nodes; the home applies the reports. Concurrent requests share the reads.
  private func refreshTopology() async {
    if let topologyRefresh {
      try? await topologyRefresh.get()
      return
    }
    let end = eventLoop.makePromise(of: Void.self)
    topologyRefresh = end.futureResult
    defer {
      topologyRefresh = nil
      end.succeed()
    }
    let deadline = eventLoop.now + Self.refreshTime
    var nodes = topologySources(.of(.owner)).filter(\.isAvailable).compactMap { source in
      NetworkTopology.refreshed(source).map { (NodeID(source.id), $0.map { AttributePath($0) }) }
    }[...]
    await withTaskGroup(of: Void.self) { tasks in
      func readNext() {
        guard eventLoop.now < deadline, let (node, paths) = nodes.popFirst() else { return }
        tasks.addTask { [controller] in _ = try? await controller.read(node, paths) }
      }
      for _ in 0..<Self.concurrentReads { readNext() }
      for await _ in tasks { readNext() }
    }
  }

  /// Sends the graph later to the clients that have requested it, if it has changed then.
  func scheduleTopology() {
    guard !topologies.isEmpty, !isTopologyScheduled else { return }
    isTopologyScheduled = true
    schedule(in: Self.topologyDelay) { $0.sendTopology() }
  }

  private func sendTopology() {
    isTopologyScheduled = false
    topologies = topologies.filter { connections[$0.key] != nil }
    var current: [HomeRole: NetworkTopology] = [:]
    for (number, sent) in topologies.sorted(by: { $0.key < $1.key }) {
      guard let connection = connections[number] else { continue }
      let topology = current[connection.role] ?? topology(for: connection.role)
      current[connection.role] = topology
      guard topology != sent else { continue }
      topologies[number] = topology
      connection.send(["event": "network_topology_updated", "data": topology.object(at: now / 1000)])
    }
  }
}
