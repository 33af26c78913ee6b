internal import MatterClusters
internal import MatterModel
internal import MatterProtocol
internal import MatterTLV

/// What a response command says of the success of the command, where it says that in a member of its own.
enum CommandOutcome {
  /// The names that the standard's clusters have for such a member.
  private static let names: Set<String> = ["Status", "StatusCode", "ErrorCode", "NetworkingStatus"]
  /// Clusters whose `Status` tells of other things than success and failure: an update that is available, a log that is at
  /// its end.
  private static let others: Set<ClusterID> = [0x0029, 0x0032]

  /// The error, nil where the command succeeded as far as anybody can tell.
  /// - Parameter shape: of the answer, where the caller has a declaration of it; else ours is looked for.
  static func failure(_ answer: CommandData, shape: Schema? = nil) -> HomeError? {
    guard !others.contains(answer.path.cluster), let fields = answer.fields,
      case .structure(let members) = shape
        ?? ElementNames.response(answer.path.command, of: answer.path.cluster),
      let response = try? TLVElement(decoding: fields)
    else { return nil }
    for member in members where names.contains(member.name) {
      guard let element = response[member.id], let code = number(element.value), code != 0 else { continue }
      let name = member.schema.text(of: TLVElement(element.value).encoded)
      let text = members.first { $0.name == "DebugText" }.flatMap { response[$0.id] }
      var message = "the device refused: \(name)"
      if name != "\(code)" { message += " (\(camelCase(member.name)) \(code))" }
      if case .string(let words)? = text?.value, !words.isEmpty { message += ": \(words)" }
      return HomeError(.refused, message)
    }
    return nil
  }

  private static func number(_ value: TLVElement.Value) -> UInt64? {
    if case .unsigned(let number) = value { number } else { nil }
  }
}
