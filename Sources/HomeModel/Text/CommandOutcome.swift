package import MatterProtocol
internal import MatterTLV

/// Detects failures that a response command reports in a member of its own instead of a status.
package enum CommandOutcome {
  /// The names of such members in the clusters of the specification.
  private static let names: Set<String> = [
    "Status", "StatusCode", "ErrorCode", "NetworkingStatus", "CommandResponseState",
  ]
  /// Clusters whose `Status` doesn't mean success or failure: an available update, the end of a log.
  private static let others: Set<ClusterID> = [0x0029, 0x0032]

  /// Returns the reported error, or nil if the response reports none.
  /// - Parameter shape: the schema of the response; nil: that of the catalog.
  package static func failure(_ answer: CommandData, shape: Schema? = nil) -> HomeError? {
    guard !others.contains(answer.path.cluster), let fields = answer.fields,
      case .structure(let members) = shape
        ?? ElementNames.response(answer.path.command, of: answer.path.cluster),
      let response = try? TLVElement(decoding: fields)
    else { return nil }
    for member in members where names.contains(member.name) {
      guard let element = response[member.id], let code = number(element.value), code != 0 else { continue }
      var name = "\(code)"
      if case .unsigned = element.value { name = member.schema.text(of: TLVElement(element.value).encoded) }
      if name == "\(code)" {
        name = UInt8(exactly: code).flatMap { ElementNames.clusterStatus($0, of: answer.path.cluster) } ?? name
      }
      let text = members.first { ["DebugText", "StatusText"].contains($0.name) }.flatMap { response[$0.id] }
      var message = "the device refused: \(name)"
      if name != "\(code)" { message += " (\(NormalizedName.camelCase(member.name)) \(code))" }
      if case .string(let words)? = text?.value, !words.isEmpty { message += ": \(words)" }
      return HomeError(.refused, message)
    }
    return nil
  }

  /// Returns a code, or the first field of an error state of an appliance, which is its code.
  private static func number(_ value: TLVElement.Value) -> UInt64? {
    switch value {
    case .unsigned(let number): number
    case .structure(let fields): fields.first { $0.tag == .context(0) }.flatMap { number($0.value) }
    default: nil
    }
  }
}

extension Command {
  /// Decodes the answer of a device.
  /// - Parameter answer: the response command; nil if the response was only a status.
  /// - Throws: ``HomeError`` `refused` if the response reports an error or can't be decoded.
  package func response(_ answer: CommandData?) throws(HomeError) -> Response {
    guard let response = details.response else { return Response() }
    guard let answer else {
      throw HomeError(.refused, "the device answered \(C.name).\(name) with a status and nothing else")
    }
    if let failure = CommandOutcome.failure(answer, shape: response.schema) { throw failure.answered(answer) }
    do {
      return try Response(tlv: answer.fields ?? NoFields().tlv)
    } catch {
      throw HomeError(.refused, "the answer to \(C.name).\(name) can't be read: \(error)", cause: error)
    }
  }
}
