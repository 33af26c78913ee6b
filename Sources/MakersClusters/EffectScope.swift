internal import ClusterLanguage
internal import MatterModel

/// Resolves the names in the effects of a command.
struct EffectScope {
  let builder: MakersClusterBuilder
  let command: CommandDeclaration
  let info: CommandInfo

  func effect(_ effect: EffectDeclaration) throws(CatalogueError) -> ClusterEffect {
    let line = effect.line
    switch effect.action {
    case .set(let name, let text):
      let (attribute, type) = try attribute(name, line)
      return .set(attribute.id, try value(text, of: type, attribute.schema, line))
    case .toggle(let name):
      let (attribute, _) = try attribute(name, line)
      guard attribute.schema.plain == .boolean else {
        throw line.error("\(name): is a \(attribute.schema.typeName); expected an attribute of the type bool")
      }
      return .toggle(attribute.id)
    case .add(let text, let name):
      let (attribute, type) = try number(name, line)
      return .add(attribute.id, try value(text, of: type, attribute.schema, line, isDifference: true))
    case .transition(let name, let text, let time, let unit):
      let (attribute, type) = try number(name, line)
      return .transition(
        attribute.id, try value(text, of: type, attribute.schema, line),
        over: try value(time, of: TypeReference(name: "uint32"), .unsigned(bits: 32), line),
        unit: .milliseconds(Int64(unit)))
    case .emit(let name, let values):
      guard let event = builder.events[name] else {
        throw line.error("\(name): no such event; expected \(list(builder.events.keys.sorted()))")
      }
      let type = builder.cluster.events.first { $0.name == name }?.payload
      return .emit(event, try fields(values, of: type, event.payload, line))
    case .answer(let values):
      guard let response = info.response else {
        throw line.error("answer: \(info.name) has no response; expected -> and its name in the line of the command")
      }
      return .answer(try fields(values, of: command.response, response.schema, line))
    }
  }

  private func list(_ names: [String]) -> String { names.isEmpty ? "a declared one" : names.joined(separator: ", ") }

  private func attribute(
    _ name: String, _ line: SourceLine
  ) throws(CatalogueError) -> (info: AttributeInfo, type: TypeReference) {
    guard let found = builder.attributes[name] else {
      throw line.error("\(name): no such attribute; expected \(list(builder.attributes.keys.sorted()))")
    }
    return found
  }

  private func number(
    _ name: String, _ line: SourceLine
  ) throws(CatalogueError) -> (info: AttributeInfo, type: TypeReference) {
    let found = try attribute(name, line)
    switch found.info.schema.plain {
    case .unsigned, .signed: return found
    default: throw line.error("\(name): is a \(found.info.schema.typeName); expected an attribute with an integer")
    }
  }

  /// Resolves the fields of an event or response. Throws if a field that is not optional has no value.
  private func fields(
    _ values: [(field: String, value: OperandText)], of type: String?, _ schema: Schema, _ line: SourceLine
  ) throws(CatalogueError) -> [UInt8: EffectValue] {
    guard case .structure(let members) = schema else { return [:] }
    let declared = type.flatMap { builder.catalogue.type($0, in: builder.cluster) }?.fields ?? []
    var result: [UInt8: EffectValue] = [:]
    for (name, text) in values {
      guard let member = members.first(where: { $0.name == name }),
        let field = declared.first(where: { $0.name == name })
      else { throw line.error("\(name): no such field; expected \(list(members.map(\.name)))") }
      result[member.id] = try value(text, of: field.type, member.schema, line)
    }
    if let missing = members.first(where: { !$0.isOptional && result[$0.id] == nil }) {
      throw line.error("\(missing.name): has no value; expected \(missing.name) = and a value")
    }
    return result
  }

  private func value(
    _ text: OperandText, of type: TypeReference, _ schema: Schema, _ line: SourceLine, isDifference: Bool = false
  ) throws(CatalogueError) -> EffectValue {
    switch text {
    case .constant(let text):
      // A difference may be negative for any attribute.
      guard isDifference else { return .constant(try builder.value(text, of: type, schema, line)) }
      return .constant(try builder.value(text, of: TypeReference(name: "int64"), .signed(bits: 64), line))
    case .field(let name):
      guard case .structure(let members) = info.request, let member = members.first(where: { $0.name == name }) else {
        throw line.error("field.\(name): \(info.name) has no such field; expected a field above")
      }
      try check(member.schema, fits: schema, "field.\(name)", line)
      return .field(member.id)
    case .attribute(let name):
      let attribute = try attribute(name, line).info
      try check(attribute.schema, fits: schema, "attribute.\(name)", line)
      return .attribute(attribute.id)
    }
  }

  private func check(
    _ schema: Schema, fits other: Schema, _ name: String, _ line: SourceLine
  ) throws(CatalogueError) {
    guard schema.plain == other.plain || (schema.plain.range != nil && other.plain.range != nil) else {
      throw line.error("\(name): is a \(schema.typeName); expected a \(other.plain.typeName)")
    }
  }
}

extension Schema {
  /// The type without null.
  fileprivate var plain: Schema { if case .nullable(let wrapped) = self { wrapped } else { self } }
}
