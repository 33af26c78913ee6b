internal import MatterModel
internal import MatterProtocol

/// Runs the commands of an invoke request. Matter Core § 8.8.
struct InvokeJob: Sendable {
  let isTimed: Bool
  let isGroup: Bool
  /// The response messages. All but the last announce more. Empty for a group.
  private(set) var messages: [[UInt8]] = []
  /// Whether any response is not a plain success.
  private(set) var requiresResponse = false
  private let commands: [CommandDataView]

  /// Decodes and checks the request.
  /// - Throws: The status that refuses the whole request.
  init(_ request: InvokeRequestReader, _ bytes: RawSpan, isGroup: Bool, limit: Int) throws(StatusError) {
    isTimed = request.isTimed
    self.isGroup = isGroup
    commands = try Self.commands(request, bytes, limit: limit)
  }

  /// Runs the commands in order.
  /// - Parameter bytes: The message that the request was decoded from.
  mutating func run(_ bytes: RawSpan, _ context: inout ServerContext) {
    var writer = InvokeResponseWriter()
    for command in commands {
      // A wildcard selects all endpoints that have the command and skips the others. Matter Core § 8.2.1.6.
      let endpoints =
        command.path.endpoint.map { [$0] } ?? context.endpoints.filter { mayRun(command.path, on: $0, context) }
      // A group message must not name an endpoint, and gets no response. Matter Core § 8.8.2.2.
      if isGroup {
        guard command.path.endpoint == nil else { continue }
        for endpoint in endpoints {
          _ = Result { () throws(StatusError) in try self.run(command, command.path, endpoint, bytes, &context) }
        }
        continue
      }
      for endpoint in endpoints {
        var path = command.path
        path.endpoint = endpoint
        let (answered, answer) = answer(command, path, endpoint, bytes, &context)
        if !append(answered, command.ref, answer, &writer) {
          // The message is full: continue in the next. A response that exceeds an empty message becomes an error
          // status.
          if !writer.isEmpty {
            messages.append(writer.finish(more: true))
            writer = InvokeResponseWriter()
          }
          if !append(answered, command.ref, answer, &writer) {
            _ = writer.append(path, ref: command.ref, status: Status(.resourceExhausted))
          }
        }
      }
    }
    if !isGroup { messages.append(writer.finish()) }
  }

  private enum Answer { case fields([UInt8]), status(Status) }

  private mutating func answer(
    _ command: CommandDataView, _ path: CommandPath, _ endpoint: EndpointID, _ bytes: RawSpan,
    _ context: inout ServerContext
  ) -> (CommandPath, Answer) {
    do throws(StatusError) {
      guard let (response, fields) = try run(command, path, endpoint, bytes, &context) else {
        return (path, .status(.success))
      }
      requiresResponse = true
      return (CommandPath(endpoint: endpoint, cluster: path.cluster, command: response), .fields(fields))
    } catch {
      requiresResponse = true
      context.report(.note("refused \(Self.name(of: path, context)) on endpoint \(endpoint): \(error.status)"))
      return (path, .status(error.status))
    }
  }

  private static func name(of path: CommandPath, _ context: ServerContext) -> String {
    let number = "command \(path.command) of cluster \(path.cluster)"
    guard let endpoint = path.endpoint, let index = context.node.index(ClusterPath(endpoint, path.cluster)) else {
      return number
    }
    let server = context.node.clusters[index].server
    let command = server.commands[path.command]?.info.name ?? "command \(path.command)"
    return "\(server.cluster.name).\(command)"
  }

  private func append(
    _ path: CommandPath, _ ref: UInt16?, _ answer: Answer, _ writer: inout InvokeResponseWriter
  ) -> Bool {
    switch answer {
    case .fields(let fields): writer.append(path, ref: ref, fields: fields)
    case .status(let status): writer.append(path, ref: ref, status: status)
    }
  }

  /// Returns the commands. Several of them need unique references and paths. Matter Core § 8.8.3.1.
  private static func commands(
    _ request: InvokeRequestReader, _ bytes: RawSpan, limit: Int
  ) throws(StatusError) -> [CommandDataView] {
    guard request.commandCount <= limit else { throw StatusError(.invalidAction) }
    var request = request
    var commands: [CommandDataView] = []
    do {
      while let command = try request.nextCommand(bytes) { commands.append(command) }
    } catch {
      throw StatusError(.invalidAction)
    }
    if commands.count > 1 {
      guard commands.allSatisfy({ $0.ref != nil && $0.path.endpoint != nil }),
        Set(commands.map(\.ref)).count == commands.count,
        Set(commands.map(\.path)).count == commands.count
      else { throw StatusError(.invalidAction) }
    }
    return commands
  }

  /// Returns whether the endpoint has the command and the subject may invoke it there.
  private func mayRun(_ path: CommandPath, on endpoint: EndpointID, _ context: ServerContext) -> Bool {
    let clusterPath = ClusterPath(endpoint, path.cluster)
    guard let index = context.node.index(clusterPath),
      let served = context.node.clusters[index].server.commands[path.command]
    else { return false }
    return context.isAllowed(served.info.privilege, clusterPath)
  }

  /// - Returns: The id and fields of the response; nil for a plain success.
  private func run(
    _ command: CommandDataView, _ path: CommandPath, _ endpoint: EndpointID, _ bytes: RawSpan,
    _ context: inout ServerContext
  ) throws(StatusError) -> (CommandID, [UInt8])? {
    let clusterPath = ClusterPath(endpoint, path.cluster)
    guard context.isAddressed(endpoint), context.isAllowed(.view, clusterPath) else {
      throw StatusError(.unsupportedAccess)
    }
    guard context.node.endpoint(endpoint) != nil else { throw StatusError(.unsupportedEndpoint) }
    guard let index = context.node.index(clusterPath) else { throw StatusError(.unsupportedCluster) }
    guard let served = context.node.clusters[index].server.commands[path.command] else {
      throw StatusError(.unsupportedCommand)
    }
    let info = served.info
    guard context.isAllowed(info.privilege, clusterPath) else { throw StatusError(.unsupportedAccess) }
    guard isTimed || !info.quality.contains(.timed) else { throw StatusError(.needsTimedInteraction) }
    guard !info.quality.contains(.fabricScoped) || context.subject.fabric != .none else {
      throw StatusError(.unsupportedAccess)
    }
    guard !context.node.isUnreachable(clusterPath) else { throw StatusError(.failure) }
    context.node.invokes = context.node.invokes.saturatingAdd(1)
    let fields = try context.enter(index) { (context) throws(StatusError) in
      try served.run(&context, command.fieldsRange?.lowerBound, bytes)
    }
    guard let fields, let response = info.response?.id else { return nil }
    return (response, fields)
  }
}
