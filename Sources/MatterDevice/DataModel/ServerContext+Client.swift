internal import MatterModel
internal import MatterProtocol

/// The reason why a request of a server to another node has no result.
enum ClientError: Error, Hashable, Sendable {
  /// The node was not found or reached, or did not answer in time.
  case unreachable
  /// The node answered with this status.
  case refused(Status)
  /// The response can't be decoded.
  case malformed
}

/// The server that made a request to another node.
struct ClientRequest: Sendable {
  enum Handler: Sendable {
    /// Gets the fields of the response, nil for a status of success.
    case command(@Sendable (inout ServerContext, Result<[UInt8]?, ClientError>) -> Void)
    case download(@Sendable (inout ServerContext, DownloadStep) -> Void)
  }

  let server: ClusterPath
  let handler: Handler
}

// Requests of servers to other nodes of a fabric.
extension ServerContext {
  /// The time in which a node must be found and reached.
  private static var timeout: Duration { .seconds(60) }

  /// Sends a command to another node, and runs the body with its result.
  mutating func send<C: Cluster, Request: ModelStruct, Response: ModelStruct>(
    _ command: Command<C, Request, Response>, _ request: Request, to node: NodeID, _ endpoint: EndpointID,
    fabric: FabricIndex,
    then body: @escaping @Sendable (inout ServerContext, Result<Response, ClientError>) -> Void
  ) {
    let handler: @Sendable (inout ServerContext, Result<[UInt8]?, ClientError>) -> Void = { context, result in
      switch result {
      case .failure(let error): body(&context, .failure(error))
      case .success(let fields):
        // A status of success has no fields.
        let response = try? Response(tlv: fields ?? NoFields().tlv)
        if let response { body(&context, .success(response)) } else { body(&context, .failure(.malformed)) }
      }
    }
    enqueue(.command(CommandData(command.path(on: endpoint), fields: request.tlv)), node, fabric, .command(handler))
  }

  /// Receives a file from another node over BDX, and runs the body after each block, and at the end.
  mutating func download(
    _ file: [UInt8], from node: NodeID, fabric: FabricIndex,
    then body: @escaping @Sendable (inout ServerContext, DownloadStep) -> Void
  ) {
    enqueue(.download(file), node, fabric, .download(body))
  }

  private mutating func enqueue(
    _ content: BoundCommand.Content, _ node: NodeID, _ fabric: FabricIndex, _ handler: ClientRequest.Handler
  ) {
    let path = self.node.clusters[current].path
    self.node.requests.append(
      .send(
        BoundCommand(
          fabric: fabric, node: node, content: content, deadline: now + Self.timeout,
          request: ClientRequest(server: path, handler: handler))))
  }

  /// Passes the result of a command to the server that sent it.
  mutating func report(_ result: Result<[UInt8]?, ClientError>, to command: BoundCommand) {
    guard let request = command.request, case .command(let body) = request.handler,
      let index = node.index(request.server)
    else { return }
    enterQuietly(index, as: .device) { body(&$0, result) }
  }

  /// Passes a step of a download to the server that requested it.
  mutating func report(_ step: DownloadStep, to command: BoundCommand) {
    guard let request = command.request, case .download(let body) = request.handler,
      let index = node.index(request.server)
    else { return }
    enterQuietly(index, as: .device) { body(&$0, step) }
  }
}
