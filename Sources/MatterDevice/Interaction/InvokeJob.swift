internal import MatterModel
internal import MatterProtocol

/// Runs the commands of an invoke request. Matter Core § 8.8.
struct InvokeJob: Sendable {
  let isTimed: Bool
  let isGroup: Bool
  /// The first response message; nil for a group. Most responses have no other.
  private(set) var message: [UInt8]?
  /// The further response messages. All but the last one announce more.
  private(set) var furtherMessages: [[UInt8]] = []
  /// Whether any response is not a plain success.
  private(set) var requiresResponse = false
  /// The first command. Most requests have no other.
  private let command: CommandDataView?
  private let furtherCommands: [CommandDataView]

  /// Decodes and checks the request.
  /// - Throws: The status that refuses the whole request.
  init(_ request: InvokeRequestReader, _ bytes: RawSpan, isGroup: Bool, limit: Int) throws(StatusError) {
    isTimed = request.isTimed
    self.isGroup = isGroup
    (command, furtherCommands) = try Self.commands(request, bytes, limit: limit)
  }

  /// Runs the commands in order.
  /// - Parameter bytes: The message that the request was decoded from.
  mutating func run(_ bytes: RawSpan, _ context: inout ServerContext) {
    if isGroup {
      if let command { runForGroup(command, bytes, &context) }
      for command in furtherCommands { runForGroup(command, bytes, &context) }
      return
    }
    var writer = InvokeResponseWriter()
    if let command { run(command, bytes, &context, &writer) }
    for command in furtherCommands { run(command, bytes, &context, &writer) }
    add((consume writer).finish())
  }

  /// Runs a command of a group message, which must not name an endpoint, and gets no response. Matter Core § 8.8.2.2.
  private func runForGroup(_ command: CommandDataView, _ bytes: RawSpan, _ context: inout ServerContext) {
    guard command.path.endpoint == nil else { return }
    for endpoint in endpoints(of: command.path, context) {
      _ = Result { () throws(StatusError) in try self.run(command, command.path, endpoint, bytes, &context) }
    }
  }

  private mutating func run(
    _ command: CommandDataView, _ bytes: RawSpan, _ context: inout ServerContext, _ writer: inout InvokeResponseWriter
  ) {
    if let endpoint = command.path.endpoint { return run(command, on: endpoint, bytes, &context, &writer) }
    for endpoint in endpoints(of: command.path, context) { run(command, on: endpoint, bytes, &context, &writer) }
  }

  /// Runs a command on one endpoint, and writes its response.
  private mutating func run(
    _ command: CommandDataView, on endpoint: EndpointID, _ bytes: RawSpan, _ context: inout ServerContext,
    _ writer: inout InvokeResponseWriter
  ) {
    var path = command.path
    path.endpoint = endpoint
    let (answered, answer) = answer(command, path, endpoint, bytes, &context)
    if append(answered, command.ref, answer, &writer) { return }
    // The message is full: continue in the next. A response that exceeds an empty message becomes an error status.
    if !writer.isEmpty {
      add(writer.finish(more: true))
      writer = InvokeResponseWriter()
    }
    if !append(answered, command.ref, answer, &writer) {
      _ = writer.append(path, ref: command.ref, status: Status(.resourceExhausted))
    }
  }

  private mutating func add(_ message: [UInt8]) {
    if self.message == nil { self.message = message } else { furtherMessages.append(message) }
  }

  /// Returns the endpoints with the command, which a wildcard selects. Matter Core § 8.2.1.6.
  private func endpoints(of path: CommandPath, _ context: ServerContext) -> [EndpointID] {
    context.endpoints.filter { mayRun(path, on: $0, context) }
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
  ) throws(StatusError) -> (first: CommandDataView?, further: [CommandDataView]) {
    guard request.commandCount <= limit else { throw StatusError(.invalidAction) }
    var request = request
    var further: [CommandDataView] = []
    do {
      guard let first = try request.nextCommand(bytes) else { return (nil, []) }
      while let command = try request.nextCommand(bytes) { further.append(command) }
      guard !further.isEmpty else { return (first, []) }
      let commands = [first] + further
      guard commands.allSatisfy({ $0.ref != nil && $0.path.endpoint != nil }),
        Set(commands.map(\.ref)).count == commands.count,
        Set(commands.map(\.path)).count == commands.count
      else { throw StatusError(.invalidAction) }
      return (first, further)
    } catch {
      throw StatusError(.invalidAction)
    }
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
    guard context.node.hasEndpoint(endpoint) else { throw StatusError(.unsupportedEndpoint) }
    guard let index = context.node.index(clusterPath) else { throw StatusError(.unsupportedCluster) }
    guard let served = context.node.clusters[index].server.commands[path.command] else {
      throw StatusError(.unsupportedCommand)
    }
    let quality = served.info.quality
    guard context.isAllowed(served.info.privilege, clusterPath) else { throw StatusError(.unsupportedAccess) }
    guard isTimed || !quality.contains(.timed) else { throw StatusError(.needsTimedInteraction) }
    guard !quality.contains(.fabricScoped) || context.subject.fabric != .none else {
      throw StatusError(.unsupportedAccess)
    }
    guard !context.node.isUnreachable(clusterPath) else { throw StatusError(.failure) }
    context.node.invokes = context.node.invokes.saturatingAdd(1)
    let fields = try context.enter(index) { (context) throws(StatusError) in
      try served.run(&context, command.fieldsRange?.lowerBound, bytes)
    }
    guard let fields, let response = served.info.response?.id else { return nil }
    return (response, fields)
  }
}
