internal import MatterClusters
public import MatterModel
public import MatterProtocol

/// A command on its way to a node that one of our endpoints is bound to.
struct BoundCommand: Sendable {
  let fabric: FabricIndex
  let node: NodeID
  let command: CommandData
  /// When it is given up: what a switch does long after it was pressed would surprise.
  let deadline: Instant
  /// Whether a session that turned out to be dead was tried already.
  var wasRepeated = false
}

/// What a device has under way as a controller of others. Matter Core § 9.6.
struct BoundCommands: Sendable {
  /// Those that wait for a session.
  var waiting: [BoundCommand] = []
  var browsing: [DiscoveryQuery] = []
  /// Which addresses are left to try, should the one that is tried fail.
  var handshakes: [HandshakeID: (fabric: FabricIndex, node: NodeID, rest: [SocketAddress])] = [:]

  static let maximumWaiting = 32

  var deadline: Instant? { waiting.map(\.deadline).min() }
}

extension DeviceEngine {
  private static var patience: Duration { .seconds(10) }

  /// Has all that an endpoint is bound to carry out a command, as a switch does when it is pressed. Nodes that there is no
  /// session with are looked for first; what can't be delivered within ten seconds is forgotten.
  /// - Returns: how many bindings there are for the command's cluster.
  @discardableResult
  public mutating func control<C: Cluster, Request: ModelStruct, Response: ModelStruct>(
    _ command: Command<C, Request, Response>, _ request: Request, from endpoint: EndpointID, at now: Instant
  ) -> Int {
    advance(to: now)
    let targets = (context.value(Binding.binding, on: endpoint) ?? []).filter { $0.cluster ?? C.id == C.id }
    for target in targets {
      if let group = target.group {
        let path = CommandPath(endpoint: nil, cluster: C.id, command: command.id)
        let message = InvokeRequest([CommandData(path, fields: request.tlv)], suppressResponse: true)
        core.sendToGroup(
          group, fabric: target.fabricIndex, InvokeRequest.opcode.rawValue, payload: message.encoded)
      } else if let node = target.node, let endpoint = target.endpoint {
        deliver(
          BoundCommand(
            fabric: target.fabricIndex, node: node,
            command: CommandData(command.path(on: endpoint), fields: request.tlv), deadline: now + Self.patience))
      }
    }
    settle()
    return targets.count
  }

  private mutating func deliver(_ command: BoundCommand) {
    if let session = core.newestSession(fabric: command.fabric, peer: command.node),
      let exchange = core.openExchange(on: session, at: now)
    {
      interactions[exchange] = .controlling(command)
      core.send(
        InvokeRequest.opcode.rawValue, payload: InvokeRequest([command.command]).encoded, on: exchange,
        then: .expectResponse(within: Self.patience), at: now)
      return
    }
    guard bound.waiting.count < BoundCommands.maximumWaiting,
      let fabric = core.fabric(command.fabric)
    else { return }
    bound.waiting.append(command)
    let query = DiscoveryQuery.operational(
      compressedFabricID: fabric.compressedFabricID, nodeID: command.node.rawValue)
    guard !bound.browsing.contains(query) else { return }
    bound.browsing.append(query)
    effects.append(.browse(query))
  }

  // MARK: Finding nodes

  mutating func found(_ service: MatterService) {
    guard case .operational(let compressedFabricID, let nodeID) = service.kind else { return }
    let node = NodeID(nodeID)
    for fabric in core.fabrics where fabric.compressedFabricID == compressedFabricID {
      guard bound.waiting.contains(where: { $0.fabric == fabric.index && $0.node == node }),
        !bound.handshakes.values.contains(where: { $0.fabric == fabric.index && $0.node == node })
      else { continue }
      connect(fabric.index, node, service.addresses.map { SocketAddress($0, port: service.port) })
    }
  }

  private mutating func connect(_ fabric: FabricIndex, _ node: NodeID, _ addresses: [SocketAddress]) {
    guard let address = addresses.first else { return }
    let handshake = core.establishCASE(fabric: fabric, peer: node, to: address, parameters: .init(), at: now)
    bound.handshakes[handshake] = (fabric, node, Array(addresses.dropFirst()))
  }

  /// A session that was wanted for commands that wait.
  mutating func connected(_ handshake: HandshakeID) {
    guard let (fabric, node, _) = bound.handshakes.removeValue(forKey: handshake) else { return }
    let ready = bound.waiting.filter { $0.fabric == fabric && $0.node == node }
    bound.waiting.removeAll { $0.fabric == fabric && $0.node == node }
    stopBrowsing()
    for command in ready { deliver(command) }
  }

  mutating func failedToConnect(_ handshake: HandshakeID) {
    guard let (fabric, node, rest) = bound.handshakes.removeValue(forKey: handshake) else { return }
    guard bound.waiting.contains(where: { $0.fabric == fabric && $0.node == node }) else { return }
    connect(fabric, node, rest)
  }

  /// A command found its session dead: once more, over a new one.
  mutating func failed(_ command: BoundCommand, _ failure: ExchangeFailure, on session: SessionID) {
    guard failure == .noAcknowledgement, !command.wasRepeated else { return }
    core.close(session, notifyingPeer: false, at: now)
    deliver(
      BoundCommand(
        fabric: command.fabric, node: command.node, command: command.command, deadline: now + Self.patience,
        wasRepeated: true))
  }

  /// Forgets what took too long.
  mutating func advanceBoundCommands() {
    let now = now
    guard let deadline = bound.deadline, deadline <= now else { return }
    bound.waiting.removeAll { $0.deadline <= now }
    stopBrowsing()
  }

  private mutating func stopBrowsing() {
    let wanted = bound.waiting.compactMap { command in
      core.fabric(command.fabric).map {
        DiscoveryQuery.operational(compressedFabricID: $0.compressedFabricID, nodeID: command.node.rawValue)
      }
    }
    for query in bound.browsing where !wanted.contains(query) { effects.append(.stopBrowsing(query)) }
    bound.browsing.removeAll { !wanted.contains($0) }
  }
}
