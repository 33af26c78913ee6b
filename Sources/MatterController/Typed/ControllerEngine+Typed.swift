internal import MatterClusters
public import MatterModel
public import MatterProtocol
internal import MatterTLV

/// Requests with the typed names of a cluster declaration.
extension ControllerEngine {
  /// Reads one attribute. Decode the report with `ReassembledReport.value(of:on:)`.
  public mutating func read<C: Cluster, Value: ModelValue>(
    _ attribute: Attribute<C, Value>, on endpoint: EndpointID, of node: NodeID, timeout: Duration = usualTimeout,
    at now: Instant
  ) -> OperationID {
    read(node, [AttributePath(attribute.path(on: endpoint))], timeout: timeout, at: now)
  }

  /// Writes one attribute, in a timed interaction if the attribute requires one.
  public mutating func write<C: Cluster, Value: ModelValue>(
    _ value: Value, to attribute: Attribute<C, Value>, on endpoint: EndpointID, of node: NodeID,
    dataVersion: UInt32? = nil, timeout: Duration = usualTimeout, at now: Instant
  ) -> OperationID {
    let write = AttributeWrite(attribute.path(on: endpoint), dataVersion: dataVersion, value: value.tlv)
    let timed: Duration? = attribute.details.quality.contains(.timed) ? Self.usualTimedTimeout : nil
    return self.write(node, [write], timed: timed, timeout: timeout, at: now)
  }

  /// Invokes one command, in a timed interaction if the command requires one. Decode the result with
  /// `Array.response(of:)`.
  public mutating func invoke<C: Cluster, Request: ModelStruct, Response: ModelStruct>(
    _ command: Command<C, Request, Response>, _ fields: Request = Request(), on endpoint: EndpointID, of node: NodeID,
    timeout: Duration = usualTimeout, at now: Instant
  ) -> OperationID {
    let timed: Duration? = command.details.quality.contains(.timed) ? Self.usualTimedTimeout : nil
    let data = CommandData(command.path(on: endpoint), fields: fields.tlv)
    return invoke(node, [data], timed: timed, timeout: timeout, at: now)
  }

  /// Default timeout of timed interactions.
  public static let usualTimedTimeout: Duration = .seconds(10)
}

extension ReassembledReport {
  /// Returns the value of an attribute.
  /// - Throws: ``ControllerError/status(_:)`` if the device refused the read,
  ///   ``ControllerError/unexpectedResponse(_:)`` if the value is missing or does not have the attribute's type.
  public func value<C: Cluster, Value: ModelValue>(
    of attribute: Attribute<C, Value>, on endpoint: EndpointID
  ) throws(ControllerError) -> Value {
    let path = attribute.path(on: endpoint)
    guard let encoded = self[path]?.value else {
      if let status = statuses.first(where: { $0.path.matches(path) }) { throw .status(status.status) }
      throw .unexpectedResponse("\(C.name).\(attribute.name) is missing")
    }
    do { return try Value(tlv: encoded) } catch {
      throw .unexpectedResponse("\(C.name).\(attribute.name): \(error)")
    }
  }
}

extension [CommandResult] {
  /// Returns the answer to the only command.
  /// - Throws: ``ControllerError/status(_:)`` if the device refused the command,
  ///   ``ControllerError/unexpectedResponse(_:)`` if it sent another response.
  public func response<C: Cluster, Request: ModelStruct, Response: ModelStruct>(
    of command: Command<C, Request, Response>
  ) throws(ControllerError) -> Response {
    if command.details.response == nil { try checkStatus() }
    return command.details.response == nil ? Response() : try response(as: Response.self)
  }

  /// Throws unless every command succeeded.
  public func checkStatus() throws(ControllerError) {
    guard !isEmpty else { throw .unexpectedResponse("no answer to the command") }
    for case .status(let status) in self where status.status.code != .success { throw .status(status.status) }
  }

  func response<Response: ModelStruct>(as _: Response.Type) throws(ControllerError) -> Response {
    switch first {
    case .command(let data)?:
      do { return try Response(tlv: data.fields ?? NoFields().tlv) } catch {
        throw .unexpectedResponse("command \(data.path.command) of \(data.path.cluster): \(error)")
      }
    case .status(let status)? where status.status.code != .success: throw .status(status.status)
    default: throw .unexpectedResponse("no response command")
    }
  }
}

extension [AttributeStatus] {
  /// Throws unless every write succeeded.
  public func check() throws(ControllerError) {
    guard !isEmpty else { throw .unexpectedResponse("no answer to the write") }
    for status in self where status.status.code != .success { throw .status(status.status) }
  }
}
