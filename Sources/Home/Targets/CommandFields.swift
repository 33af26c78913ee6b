public import MatterModel

/// The fields of a command, as a user writes them.
public enum CommandFields {
  /// Encodes `field=value` arguments, or one argument `{…}` as in JSON, as a structure.
  /// - Parameter info: nil for a command that is not known by name, whose fields are numbers with typed values (`0=i16:500`).
  /// - Throws: ``HomeError/Code-swift.enum/badArguments`` for an argument that is no field, or a value of another type.
  public static func encode(_ arguments: [String], _ info: CommandInfo?) throws(HomeError) -> [UInt8] {
    let text: String
    if arguments.isEmpty {
      text = "{}"
    } else if arguments.count == 1, arguments[0].hasPrefix("{") {
      text = arguments[0]
    } else {
      var members: [String] = []
      for argument in arguments {
        guard let equals = argument.firstIndex(of: "=") else {
          throw HomeError(.badArguments, "“\(argument)” is not a field; write field=value")
        }
        members.append("\(argument[..<equals]): \(argument[argument.index(after: equals)...])")
      }
      text = "{" + members.joined(separator: ", ") + "}"
    }
    let schema = info?.request ?? .any
    do throws(ValueTextError) {
      return try schema.parse(text: completed(text, schema))
    } catch {
      throw HomeError(.badArguments, "\(info.map { camelCase($0.name) } ?? "the command"): \(error)", cause: error)
    }
  }

  /// Parses a command to a group, `levelControl.moveToLevel`, and its fields; see ``encode(_:_:)``.
  /// - Throws: ``HomeError``, also for a command that must be timed.
  package static func groupCommand(
    _ command: String, _ fields: [String]
  ) throws(HomeError) -> (cluster: ClusterID, command: CommandID, fields: [UInt8]) {
    let (cluster, element) = try HomeRegistry.command(command)
    let info = ElementNames.command(CommandPath(endpoint: nil, cluster: cluster, command: element))
    if info?.quality.contains(.timed) == true {
      throw HomeError(.badArguments, "\(command) has to be timed, which a message to a group can't be")
    }
    let encoded = try encode(fields, info)
    return (cluster, element, encoded)
  }

  /// Adds what may be left out: a nullable field is null, a bitmap is empty.
  private static func completed(_ text: String, _ schema: Schema) -> String {
    guard case .structure(let members) = schema, text.hasPrefix("{"), text.hasSuffix("}") else { return text }
    let body = text.dropFirst().dropLast()
    let named = Set(
      body.split(separator: ",").compactMap { $0.split(separator: ":").first }.map { SpokenName($0) })
    let missing = members.filter { !$0.isOptional && !named.contains(SpokenName($0.name)) }.compactMap { member in
      switch member.schema {
      case .nullable: "\(member.name): null"
      case .bitmap: "\(member.name): 0"
      default: nil as String?
      }
    }
    guard !missing.isEmpty else { return text }
    let isEmpty = body.allSatisfy(\.isWhitespace)
    return "{" + (isEmpty ? "" : body + ", ") + missing.joined(separator: ", ") + "}"
  }
}
