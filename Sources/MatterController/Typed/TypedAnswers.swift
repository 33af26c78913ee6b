public import MatterModel
public import MatterProtocol
internal import MatterTLV

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
