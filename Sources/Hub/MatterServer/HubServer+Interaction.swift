internal import HomeControl
internal import HomeModel
internal import MatterClusters
internal import MatterController
internal import MatterProtocol
internal import WebClient

// Commands that read, write and invoke.
extension HubServer {
  func deviceCommand(_ arguments: CommandArguments) async throws(MatterServerError) -> JSONValue {
    let node = try known(try arguments.nodeID())
    let endpoint = EndpointID(try arguments.integer("endpoint_id"))
    let cluster = ClusterID(try arguments.integer("cluster_id"))
    let name = try arguments.text("command_name")
    let declared = ClusterCatalogue.cluster(cluster)?.command(spelled: name)
    if testNodes.all[node.rawValue] != nil {
      try arguments.require(declared?.privilege ?? .administer)
      return .null
    }
    guard ElementNames.isKnown(cluster) else { throw arguments.invalid("unknown cluster \(cluster.rawValue)") }
    guard let command = declared else {
      throw arguments.invalid("unknown command \(name) of cluster \(cluster.rawValue)")
    }
    try arguments.require(command.privilege)
    let payload = Self.addingDefaults(arguments("payload") ?? .object([]), command.request)
    let fields = try decoded(payload, command.request, "payload")
    let timed: UInt16? = try arguments.optionalInteger("timed_request_timeout_ms", in: 1...UInt16.max)
    let usual = command.quality.contains(.timed) ? ControllerEngine.usualTimedTimeout : nil
    let limit: UInt32? = try arguments.optionalInteger("interaction_timeout_ms", in: 1...600_000)
    let path = CommandPath(endpoint: endpoint, cluster: cluster, command: command.id)
    let answer = try await request { () throws(HomeError) in
      try await controller.invoke(
        node, CommandData(path, fields: fields), timed: timed.map { Duration.milliseconds($0) } ?? usual,
        timeout: limit.map { .milliseconds($0) })
    }
    guard let answer, let fields = answer.fields else { return .null }
    do {
      return try ValueEncoder.fields(fields, command.response?.schema)
    } catch { throw MatterServerError(.sdkStackError, "the response can't be read: \(error)") }
  }

  /// Adds the omitted fields that have a default. Null counts as omitted.
  static func addingDefaults(_ payload: JSONValue, _ schema: Schema) -> JSONValue {
    guard case .structure(let declared) = schema, let given = payload.members else { return payload }
    let defaults = declared.compactMap { member -> JSONValue.Member? in
      guard let value = member.omittedValue,
        !given.contains(where: { FieldNames.matches($0.name, member) && !$0.value.isNull })
      else { return nil }
      return .init(member.name, value == "null" ? .null : 0)
    }
    return .object(given + defaults)
  }

  func readAttribute(_ arguments: CommandArguments) async throws(MatterServerError) -> JSONValue {
    let node = try known(try arguments.nodeID())
    let texts: [JSONValue]
    switch arguments("attribute_path") {
    case .string(let text): texts = [.string(text)]
    case .array(let values) where !values.isEmpty: texts = values
    default: throw arguments.invalid("attribute_path is not a path or a list of paths")
    }
    var paths: [AttributePath] = []
    for text in texts {
      guard let text = text.text else { throw arguments.invalid("attribute_path is not a path or a list of paths") }
      paths.append(try AttributeKey.path(text))
    }
    let visibility = RoleVisibility.of(arguments.role)
    if let test = testNodes.all[node.rawValue] {
      let members = test.read(paths, visibility)
      guard !members.isEmpty || !paths.contains(where: \.isWildcard) else { throw Self.noValue }
      return .object(members)
    }
    let isFabricFiltered = try arguments.flag("fabric_filtered") ?? false
    var members: [JSONValue.Member] = []
    for start in stride(from: 0, to: paths.count, by: Self.pathsPerRequest) {
      let part = Array(paths[start...].prefix(Self.pathsPerRequest))
      let report = try await request { () throws(HomeError) in
        try await controller.read(node, part, isFabricFiltered: isFabricFiltered)
      }
      for attribute in report.attributes {
        guard visibility.contains(attribute.path),
          let value = ValueEncoder.attribute(attribute.path, attribute.value)
        else { continue }
        members.append(.init(AttributeKey.text(attribute.path), value))
      }
    }
    guard !members.isEmpty else { throw Self.noValue }
    return .object(members)
  }

  private static let noValue = MatterServerError(.sdkStackError, "no attribute of the path could be read")
  /// A device must accept nine paths in a request. Matter Core § 2.11.2.1.
  private static let pathsPerRequest = 9

  func writeAttribute(_ arguments: CommandArguments) async throws(MatterServerError) -> JSONValue {
    let text = try arguments.text("attribute_path")
    guard let path = try AttributeKey.path(text).concrete else {
      throw arguments.invalid("wildcards are not allowed in attribute_path")
    }
    // Null is a value.
    guard let value = arguments.values["value"] else { throw arguments.invalid("value is missing") }
    let node = try known(try arguments.nodeID())
    let status = try await write(value, to: path, of: node, arguments)
    return [.object(Self.result(status, of: path))]
  }

  /// Returns the result of a write in the spelling of the SDK.
  private static func result(_ status: UInt8, of path: ConcreteAttributePath) -> [JSONValue.Member] {
    [
      .init(
        "Path",
        [
          "EndpointId": .int(path.endpoint.rawValue), "ClusterId": .int(path.cluster.rawValue),
          "AttributeId": .int(path.attribute.rawValue),
        ]), .init("Status", .int(status)),
    ]
  }

  /// Writes an attribute and returns the status code of the device.
  /// - Parameter name: the argument with the value.
  private func write(
    _ value: JSONValue, _ name: String = "value", to path: ConcreteAttributePath, of node: NodeID,
    _ arguments: CommandArguments
  ) async throws(MatterServerError) -> UInt8 {
    let known = ClusterCatalogue.cluster(path.cluster)?.attribute(path.attribute)
    let isTest = testNodes.all[node.rawValue] != nil
    if known != nil || isTest { try arguments.require(known?.write ?? .administer) }
    if isTest { return 0 }
    guard let declared = known else { throw arguments.invalid("unknown attribute \(AttributeKey.text(path))") }
    let write = AttributeWrite(path, value: try decoded(value, declared.schema, name))
    if path == AccessControl.acl.path(on: .root) { try checkAdministration(write.value, name, arguments) }
    let statuses = try await request { () throws(HomeError) in
      try await controller.write(node, [write], isTimed: declared.quality.contains(.timed))
    }
    return statuses.first { $0.status.code != .success }?.status.code.rawValue ?? 0
  }

  /// Refuses an access control list that would lock the home out of the device.
  private func checkAdministration(
    _ list: [UInt8], _ name: String, _ arguments: CommandArguments
  ) throws(MatterServerError) {
    let own = controller.assumeIsolated { $0.fabric.nodeID }
    let entries = (try? [AccessControl.AccessControlEntryStruct](tlv: list)) ?? []
    guard !entries.contains(where: { $0.allowsAdministration(by: own) }) else { return }
    throw arguments.invalid(
      "\(name) has no entry by which this server (node \(own.rawValue)) administers the device; add one")
  }

  func setAccessList(_ arguments: CommandArguments) async throws(MatterServerError) -> JSONValue {
    try await setList("entry", AccessControl.acl.path(on: .root), arguments)
  }

  func setBindings(_ arguments: CommandArguments) async throws(MatterServerError) -> JSONValue {
    try await setList("bindings", Binding.binding.path(on: EndpointID(try arguments.integer("endpoint"))), arguments)
  }

  private func setList(
    _ name: String, _ attribute: ConcreteAttributePath, _ arguments: CommandArguments
  ) async throws(MatterServerError) -> JSONValue {
    let node = try known(try arguments.nodeID())
    let status = try await write(try arguments.array(name), name, to: attribute, of: node, arguments)
    // The published servers spell this result differently.
    let path: JSONValue = [
      "endpoint_id": .int(attribute.endpoint.rawValue), "cluster_id": .int(attribute.cluster.rawValue),
      "attribute_id": .int(attribute.attribute.rawValue),
    ]
    return [.object([.init("path", path), .init("status", .int(status))] + Self.result(status, of: attribute))]
  }

  // MARK: Helpers

  private func decoded(_ value: JSONValue, _ schema: Schema, _ name: String) throws(MatterServerError) -> [UInt8] {
    // Clients write the fields of these lists in snake case, and may omit null fields.
    let isNamedList = ["entry", "bindings"].contains(name)
    do throws(ValueDecoder.Failure) {
      return try ValueDecoder.tlv(value, schema, absentIsNull: isNamedList)
    } catch {
      var failure = error
      if isNamedList { failure.path = failure.path.map(FieldNames.snakeCase) }
      failure.path.insert(name, at: 0)
      throw MatterServerError(.invalidArguments, failure.text)
    }
  }

  /// Performs a request to a device.
  func request<R: Sendable>(_ body: () async throws(HomeError) -> R) async throws(MatterServerError) -> R {
    do throws(HomeError) { return try await body() } catch { throw MatterServerError(error) }
  }
}
