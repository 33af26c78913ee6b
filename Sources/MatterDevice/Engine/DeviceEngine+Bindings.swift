internal import MatterClusters
public import MatterModel
public import MatterProtocol

/// A command to a node that an endpoint is bound to, or another request that the device makes as a client.
struct BoundCommand: Sendable {
  enum Content: Sendable {
    case command(CommandData)
    /// The request of a file over BDX.
    case download([UInt8])
  }

  let fabric: FabricIndex
  let node: NodeID
  let content: Content
  /// When the command fails. A late effect of a switch would be unexpected.
  var deadline: Instant
  /// Whether the command was already retried after an unacknowledged attempt.
  var wasRepeated = false
  /// The server that gets the result; nil for the command of a switch.
  var request: ClientRequest?

  /// The endpoint of a command.
  var endpoint: EndpointID? { if case .command(let data) = content { data.path.endpoint } else { nil } }
}

/// The commands that the device is sending as a client of other nodes. Matter Core § 9.6.
struct BoundCommands: Sendable {
  /// Commands that wait for a session.
  var waiting: [BoundCommand] = []
  var browsing: [DiscoveryQuery] = []
  /// Handshakes in progress, with the addresses to try after a failure.
  var handshakes: [HandshakeID: (fabric: FabricIndex, node: NodeID, rest: [SocketAddress])] = [:]

  /// The number of commands that could not be delivered or got no response.
  var undelivered = 0
  /// The number of commands that the other node refused.
  var refused = 0

  static let maximumWaiting = 32

  var deadline: Instant? { waiting.map(\.deadline).min() }
}

extension DeviceEngine {
  private static var timeout: Duration { .seconds(10) }

  /// Sends a command to all bindings of an endpoint, as a switch does when it is pressed. Without a session to a node,
  /// the node is discovered first. A command that can't be delivered within ten seconds is dropped and counted.
  /// - Returns: The number of bindings for the command's cluster.
  @discardableResult
  public mutating func control<C: Cluster, Request: ModelStruct, Response: ModelStruct>(
    _ command: Command<C, Request, Response>, _ request: Request, from endpoint: EndpointID, at now: Instant
  ) -> Int {
    advance(to: now)
    defer { settle() }
    return control(CommandData(command, request), from: endpoint)
  }

  /// Sends a command without an endpoint to all bindings of an endpoint.
  /// - Returns: The number of bindings for the command's cluster.
  @discardableResult
  mutating func control(_ command: CommandData, from endpoint: EndpointID) -> Int {
    let targets = context.bindings(of: command.path.cluster, on: endpoint)
    for target in targets {
      var command = command
      if let group = target.group {
        let message = InvokeRequest([command], suppressResponse: true)
        let isSent = core.sendToGroup(
          group, fabric: target.fabricIndex, InvokeRequest.opcode.rawValue, payload: message.encoded)
        if !isSent { abandon("group \(group.rawValue)", "the fabric has no keys for the group") }
      } else if let node = target.node, let endpoint = target.endpoint {
        command.path.endpoint = endpoint
        deliver(
          BoundCommand(
            fabric: target.fabricIndex, node: node, content: .command(command), deadline: now + Self.timeout))
      }
    }
    return targets.count
  }

  /// Sends a command over an existing session, or over a new one as soon as the node is found.
  mutating func deliver(_ command: BoundCommand) {
    if let session = core.newestSession(fabric: command.fabric, peer: command.node),
      let exchange = core.openExchange(on: session, at: now)
    {
      switch command.content {
      case .command(let data):
        interactions[exchange] = .controlling(command)
        core.send(
          InvokeRequest.opcode.rawValue, payload: InvokeRequest([data]).encoded, on: exchange,
          then: .expectResponse(within: Self.timeout), at: now)
      case .download(let file): startDownload(file, command, on: exchange)
      }
      return
    }
    guard bound.waiting.count < BoundCommands.maximumWaiting else {
      return abandon(command, "\(BoundCommands.maximumWaiting) other commands are waiting")
    }
    guard let fabric = core.fabric(command.fabric) else { return abandon(command, "the fabric was removed") }
    bound.waiting.append(command)
    if let address = configuration.peers[command.node], !isConnecting(command.fabric, command.node) {
      connect(command.fabric, command.node, [address])
    }
    browse(
      .operational(compressedFabricID: fabric.compressedFabricID, nodeID: command.node.rawValue))
  }

  // MARK: Failures

  /// The number of commands to bound nodes or groups that could not be delivered or got no response.
  public var undeliveredCommands: Int { bound.undelivered }
  /// The number of commands that bound nodes refused.
  public var refusedCommands: Int { bound.refused }

  private mutating func abandon(_ command: BoundCommand, _ reason: String) {
    abandon("node \(command.node.rawValue), endpoint \(command.endpoint?.rawValue ?? 0)", reason)
    context.report(.failure(.unreachable), to: command)
    context.report(.failed(0), to: command)
  }

  private mutating func abandon(_ target: String, _ reason: String) {
    bound.undelivered += 1
    context.report(.note("command for \(target) not delivered: \(reason)"))
  }

  /// Counts and logs a refusal of the command, as by a light to which the device has no access. Other responses are
  /// ignored.
  mutating func answered(_ command: BoundCommand, _ opcode: UInt8, _ bytes: [UInt8]) {
    var status: Status?
    if opcode == InvokeResponse.opcode.rawValue {
      switch (try? InvokeResponse(decoding: bytes))?.responses.first {
      case .status(let answer): status = answer.status
      case .command(let data): return context.report(.success(data.fields), to: command)
      case nil: break
      }
    } else if opcode == StatusResponse.opcode.rawValue {
      status = (try? StatusResponse(decoding: bytes)).map { Status($0.status) }
    }
    guard let status else { return context.report(.failure(.malformed), to: command) }
    guard status.code != .success else { return context.report(.success(nil), to: command) }
    context.report(.failure(.refused(status)), to: command)
    bound.refused += 1
    context.report(.note("command refused by node \(command.node.rawValue): \(status)"))
  }

  // MARK: Discovery and sessions

  private func isConnecting(_ fabric: FabricIndex, _ node: NodeID) -> Bool {
    bound.handshakes.values.contains { $0.fabric == fabric && $0.node == node }
  }

  mutating func found(_ service: MatterService) {
    guard case .operational(let compressedFabricID, let nodeID) = service.kind else { return }
    let node = NodeID(nodeID)
    for fabric in core.fabrics where fabric.compressedFabricID == compressedFabricID {
      foundSubscriber(node, of: fabric.index, service)
      foundClient(node, of: fabric.index, service)
      guard bound.waiting.contains(where: { $0.fabric == fabric.index && $0.node == node }) else { continue }
      let addresses = service.addresses.map { SocketAddress($0, port: service.port) }
      if let handshake = bound.handshakes.first(where: { $1.fabric == fabric.index && $1.node == node })?.key {
        // The address that is being tried may be stale.
        bound.handshakes[handshake]?.rest = addresses
      } else {
        connect(fabric.index, node, addresses)
      }
    }
  }

  private mutating func connect(_ fabric: FabricIndex, _ node: NodeID, _ addresses: [SocketAddress]) {
    guard let address = addresses.first else { return }
    let handshake = core.establishCASE(fabric: fabric, peer: node, to: address, parameters: .init(), at: now)
    bound.handshakes[handshake] = (fabric, node, Array(addresses.dropFirst()))
  }

  /// Sends the waiting commands over the session that was opened for them.
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

  /// Retries an unacknowledged command once over a new session; fails it otherwise.
  mutating func failed(_ command: BoundCommand, _ failure: ExchangeFailure, on session: SessionID) {
    guard failure == .noAcknowledgment, !command.wasRepeated else {
      return abandon(command, failure == .noResponse ? "no response" : "unreachable")
    }
    core.close(session, notifyingPeer: false, at: now)
    var command = command
    command.deadline = now + Self.timeout
    command.wasRepeated = true
    deliver(command)
  }

  /// Fails the commands whose deadline has passed.
  mutating func advanceBoundCommands() {
    let now = now
    guard let deadline = bound.deadline, deadline <= now else { return }
    let late = bound.waiting.filter { $0.deadline <= now }
    bound.waiting.removeAll { $0.deadline <= now }
    for command in late { abandon(command, "node not found or not reached in time") }
    stopBrowsing()
  }

  // MARK: DNS-SD

  /// Returns the DNS-SD query for a node; nil if the fabric was removed.
  func query(_ node: NodeID, of fabric: FabricIndex) -> DiscoveryQuery? {
    core.fabric(fabric).map { .operational(compressedFabricID: $0.compressedFabricID, nodeID: node.rawValue) }
  }

  mutating func browse(_ query: DiscoveryQuery) {
    guard !bound.browsing.contains(query) else { return }
    bound.browsing.append(query)
    effects.append(.browse(query))
  }

  /// Stops the queries that no command, resumption or Check-In message waits for.
  mutating func stopBrowsing() {
    let wanted =
      bound.waiting.compactMap { query($0.node, of: $0.fabric) }
      + resumptions.compactMap { query($0.node, of: $0.fabric) } + checkIns.compactMap { query($0.node, of: $0.fabric) }
    for query in bound.browsing where !wanted.contains(query) { effects.append(.stopBrowsing(query)) }
    bound.browsing.removeAll { !wanted.contains($0) }
  }
}

extension CommandData {
  /// Creates a command for the endpoints of bindings.
  fileprivate init<C: Cluster, Request: ModelStruct, Response: ModelStruct>(
    _ command: Command<C, Request, Response>, _ request: Request
  ) {
    self.init(CommandPath(endpoint: nil, cluster: C.id, command: command.id), fields: request.tlv)
  }
}

extension ServerContext {
  /// Returns the bindings of an endpoint for a cluster.
  mutating func bindings(of cluster: ClusterID, on endpoint: EndpointID) -> [Binding.TargetStruct] {
    (value(Binding.binding, on: endpoint) ?? []).filter { $0.cluster ?? cluster == cluster }
  }

  /// Sends a command to all bindings of the handler's own endpoint after the handler returns.
  /// - Returns: The number of bindings for the command's cluster.
  mutating func control<C: Cluster, Request: ModelStruct, Response: ModelStruct>(
    _ command: Command<C, Request, Response>, _ request: Request
  ) -> Int {
    node.requests.append(.control(CommandData(command, request), from: endpoint))
    return bindings(of: C.id, on: endpoint).count
  }
}
