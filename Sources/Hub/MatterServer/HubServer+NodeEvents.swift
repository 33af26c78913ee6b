internal import HomeControl
internal import HomeModel
internal import MatterProtocol
internal import NIOCore
internal import Runtime
internal import WebClient

// Events of the standard API.
extension HubServer {
  /// Sends an event to all listening clients.
  /// - Parameter data: returns the data that clients with this visibility get; nil if they don't get the event.
  func broadcast(_ event: String, _ data: (RoleVisibility) -> JSONValue?) {
    enqueue(event, data)
    flush()
    scheduleTopology()
  }

  /// Queues an event for all listening clients, until ``flush()``. It is encoded once for all clients with the same role.
  private func enqueue(_ event: String, _ data: (RoleVisibility) -> JSONValue?) {
    for (role, clients) in Dictionary(grouping: connections.values.lazy.filter(\.isListening), by: \.role) {
      guard let data = data(.of(role)) else { continue }
      let text = JSONValue.object([.init("event", .string(event)), .init("data", data)]).bytes
      for client in clients {
        eventsDelivered &+= 1
        client.write(text)
      }
    }
  }

  private func flush() {
    for connection in connections.values where connection.isListening { connection.channel.flush() }
  }

  // MARK: The home

  func sendNodeEvents(_ update: HomeUpdate, _ state: HomeState) {
    let pending = projection.pending
    let events = projection.apply(update, state)
    for node in projection.pending.subtracting(pending) { scheduleAnnouncement(of: node) }
    sendNodeEvents(events, state)
  }

  private func scheduleAnnouncement(of node: NodeID) {
    schedule(in: Limits.descriptionTime) { server in
      let state = server.state
      server.sendNodeEvents(server.projection.announce(node, state), state)
    }
  }

  func sendNodeEvents(_ events: [NodeEvent], _ state: HomeState) {
    for event in events {
      switch event {
      case .added(let node):
        interviews[node] = now
        enqueue("node_added") { nodeObject(node, state, $0) }
      case .updated(let node): enqueue("node_updated") { nodeObject(node, state, $0) }
      case .removed(let node):
        interviews[node] = nil
        enqueue("node_removed") { _ in .int(node.rawValue) }
      case .endpointAdded(let node, let endpoint), .endpointRemoved(let node, let endpoint):
        let name = if case .endpointAdded = event { "endpoint_added" } else { "endpoint_removed" }
        enqueue(name) { _ in ["node_id": .int(node.rawValue), "endpoint_id": .int(endpoint.rawValue)] }
      case .attribute(let node, let path, let value):
        enqueue("attribute_updated") { visibility in
          guard visibility.contains(path), let value = ValueEncoder.attribute(path, value) else { return nil }
          return [.int(node.rawValue), .string(AttributeKey.text(path)), value]
        }
      case .event(let node, let data):
        recentEvents.append((node, data))
        if recentEvents.count > Limits.recentEvents { recentEvents.removeFirst() }
        enqueue("node_event") { $0.contains(data) ? NodeObject.event(node, data) : nil }
      }
    }
    // One write to the socket for all events of an update.
    flush()
    if !topologies.isEmpty, events.contains(where: \.changesTopology) { scheduleTopology() }
    waiters.wakeUp()
  }

  // MARK: Waiting for nodes

  /// Waits until a node is announced or removed, for a limited time.
  func wait(for node: NodeID, isPresent: Bool, within time: TimeAmount) async {
    let deadline = eventLoop.now + time
    while (projection.nodes[node] != nil) != isPresent, !isClosed, eventLoop.now < deadline {
      await waiters.wait(until: deadline)
    }
  }

  // MARK: One at a time

  /// What operations use one at a time.
  enum ExclusiveResource { case fabric, softwareProvider }

  /// Performs an operation that needs exclusive access to a resource, after all earlier ones.
  func exclusively<R: Sendable>(
    using resource: ExclusiveResource = .fabric, _ body: () async throws(HomeError) -> R
  ) async throws(HomeError) -> R {
    let before = lastExclusive[resource]
    let end = eventLoop.makePromise(of: Void.self)
    lastExclusive[resource] = end.futureResult
    defer { end.succeed() }
    try? await before?.get()
    return try await body()
  }

  // MARK: Values

  /// The time in microseconds since 1970.
  var now: Int64 { controller.options.machine.unixMicroseconds() }

  /// The state of the home as users see it.
  var state: HomeState {
    let reducer = controller.view.reducer
    return reducer.shown(reducer.state)
  }

  /// Returns a node as clients with this visibility see it; nil if it is not in the fabric.
  func nodeObject(_ node: NodeID, _ state: HomeState, _ visibility: RoleVisibility) -> JSONValue? {
    projection.nodes[node].map { known in
      let commissioned = additionTimes[node] ?? now
      return NodeObject.make(
        node, known, state, visibility, commissioned: commissioned, interviewed: interviews[node] ?? commissioned)
    }
  }

  var health: JSONValue {
    ["version": .string(options.version), "node_count": .int(projection.nodes.count + testNodes.all.count)]
  }
}
