package import HearthHome

/// The fields of a command, as written by users.
package enum CommandFields {
  /// Encodes `field=value` arguments, or one argument `{…}` as in JSON, as a structure.
  /// - Parameters:
  ///   - info: the declaration; nil for an undeclared command, whose fields are numbers with typed values (`0=i16:500`).
  ///   - cluster: the cluster of the command, for the units of its fields.
  ///   - raw: whether all values are encoded values, without units.
  ///   - levels: the levels of the device, for percentages.
  /// - Throws: ``HomeError`` `badArguments` for an unknown field, or a value of another type.
  package static func encode(
    _ arguments: [String], _ info: CommandInfo?, of cluster: ClusterID, raw: Bool = false,
    levels: LevelRange = .standard
  ) throws(HomeError) -> [UInt8] {
    let name = info.map { NormalizedName.camelCase($0.name) } ?? "the command"
    let schema = info?.request ?? .any
    var members: [Schema.Member] = []
    if case .structure(let declared) = schema { members = declared }
    var syntax = try fields(arguments, members, named: name)
    if !raw { syntax = try AttributeUnits.encoded(syntax, schema, of: cluster, named: name, levels: levels) }
    let whole = addingDefaults(syntax, members)
    return try HomeError.naming(name) { () throws(ValueTextError) in try schema.encode(whole) }
  }

  private static func fields(
    _ arguments: [String], _ members: [Schema.Member], named name: String
  ) throws(HomeError) -> ValueSyntax {
    if let only = arguments.first, arguments.count == 1, only.hasPrefix("{") {
      return try HomeError.naming(name) { () throws(ValueTextError) in try ValueSyntax.parse(only) }
    }
    var fields: [ValueSyntax.Member] = []
    for argument in arguments {
      guard let equals = argument.firstIndex(of: "=") else {
        throw HomeError(.badArguments, "“\(argument)” is not a field; write field=value")
      }
      let field = String(argument[..<equals])
      let text = String(argument[argument.index(after: equals)...])
      let schema = members.first { $0.isNamed(field) }?.schema ?? .any
      let value = try HomeError.naming(name) { () throws(ValueTextError) in try schema.syntax(of: text) }
      fields.append(.init(name: field, value: value))
    }
    return .object(fields)
  }

  /// Parses a command to a group, `levelControl.moveToLevel`, and its fields; see ``encode(_:_:)``.
  /// - Throws: ``HomeError``, also for a command that must be timed.
  package static func groupCommand(
    _ command: String, _ fields: [String]
  ) throws(HomeError) -> (cluster: ClusterID, command: CommandID, fields: [UInt8]) {
    let (cluster, element) = try HomeRegistry.command(command)
    let info = ElementNames.command(CommandPath(endpoint: nil, cluster: cluster, command: element))
    if info?.quality.contains(.timed) == true {
      throw HomeError(.badArguments, "\(command): requires a timed interaction, which groups do not support")
    }
    let encoded = try encode(fields, info, of: cluster)
    return (cluster, element, encoded)
  }

  /// Adds the omitted fields that have a default.
  private static func addingDefaults(_ syntax: ValueSyntax, _ members: [Schema.Member]) -> ValueSyntax {
    guard case .object(var fields) = syntax else { return syntax }
    for member in members where !fields.contains(where: { member.isNamed($0.name) }) {
      if let value = member.omittedValue { fields.append(.init(name: member.name, value: .word(value))) }
    }
    return .object(fields)
  }
}
