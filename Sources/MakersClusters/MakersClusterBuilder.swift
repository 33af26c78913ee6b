internal import ClusterLanguage
internal import MatterClusters
internal import MatterModel

/// Converts the declarations of a cluster to those of the model.
struct MakersClusterBuilder {
  let cluster: ClusterDeclaration
  let catalogue = Catalogue()
  private(set) var features: [Feature] = []
  private(set) var attributes: [String: (info: AttributeInfo, type: TypeReference)] = [:]
  private(set) var commands: [CommandInfo] = []
  private(set) var events: [String: EventInfo] = [:]
  private(set) var elements: [ElementInfo] = []
  private(set) var effects: [CommandID: [ClusterEffect]] = [:]

  init(_ cluster: ClusterDeclaration) { self.cluster = cluster }

  mutating func build() throws(CatalogueError) {
    for feature in cluster.features {
      features.append(
        Feature(
          try number(feature.bit, in: 0...31, "the bit", feature.line), feature.code, feature.name,
          conformance: feature.conformance.text))
    }
    try checkUnique(cluster.features.map { ($0.line, $0.bit, $0.code) })
    try checkUnique(cluster.attributes.map { ($0.line, $0.id, $0.name) })
    try checkUnique(cluster.commands.map { ($0.line, $0.id, $0.name) })
    try checkUnique(cluster.events.map { ($0.line, $0.id, $0.name) })
    for feature in cluster.features { _ = try conformance(feature.conformance, feature.line) }
    for attribute in cluster.attributes { try add(attribute) }
    for command in cluster.commands { try add(command) }
    for event in cluster.events { try add(event) }
    for command in cluster.commands where !command.effects.isEmpty || command.response != nil {
      try addEffects(of: command)
    }
  }

  // MARK: Elements

  /// The names of the attributes that every cluster has.
  private static let globalNames = Set(Descriptor.globalAttributes.map { NormalizedName($0.name) })

  private mutating func add(_ attribute: AttributeDeclaration) throws(CatalogueError) {
    let line = attribute.line
    guard !Self.globalNames.contains(NormalizedName(attribute.name)) else {
      throw line.error("\(attribute.name): the name of a global attribute; expected another name")
    }
    let schema = try schema(attribute.type, line)
    let info = AttributeInfo(
      AttributeID(try number(attribute.id, in: 0...0x4FFF, "the id", line)), attribute.name, schema,
      initial: try attribute.initial.map { text throws(CatalogueError) in
        TLVElement(try value(text, of: attribute.type, schema, line)).encoded
      },
      quality: quality(attribute.qualities), read: privilege(attribute.read) ?? .view,
      write: privilege(attribute.write), conformance: try conformance(attribute.conformance, line),
      constraint: try constraint(attribute))
    if let problem = info.initial.flatMap(info.problem) {
      throw line.error("\(attribute.name): the initial value \(problem)")
    }
    if info.initial == nil, let expected = Self.expectedInsteadOfZero(info) {
      throw line.error(
        "\(attribute.name): has no initial value, and may not be zero or empty; expected = and \(expected)")
    }
    if info.quality.contains(.atomic) {
      throw line.error("\(attribute.name): atomic writes are not supported; expected an attribute without atomic")
    }
    let isScopedList = attribute.type.isList && catalogue.type(attribute.type.name, in: cluster)?.isFabricScoped == true
    if info.quality.contains(.fabricScoped), !isScopedList {
      throw line.error(
        "\(attribute.name): not a list of entries with a fabric; expected a list of a struct whose last field is "
          + "254 FabricIndex fabric-idx")
    }
    attributes[attribute.name] = (info, attribute.type)
    elements.append(.attribute(info))
  }

  /// Returns the values that an attribute may have if it may not have the value zero, which it has without an initial
  /// value; nil if it may.
  private static func expectedInsteadOfZero(_ info: AttributeInfo) -> String? {
    switch (info.schema, info.constraint) {
    case (.enumeration(_, let names), _) where !names.isEmpty && names[0] == nil:
      "one of " + names.sorted { $0.key < $1.key }.map(\.value).joined(separator: ", ")
    case (.unsigned, .range(let range)) where !range.contains(0), (.signed, .range(let range)) where !range.contains(0),
      (.enumeration, .range(let range)) where !range.contains(0), (.bitmap, .range(let range)) where !range.contains(0):
      "a value from \(range.lowerBound) to \(range.upperBound)"
    case (.string, .length(let range)) where range.lowerBound > 0,
      (.octets, .length(let range)) where range.lowerBound > 0:
      "a value of \(range.lowerBound) to \(range.upperBound) bytes"
    default: nil
    }
  }

  private mutating func add(_ command: CommandDeclaration) throws(CatalogueError) {
    var response: (id: CommandID, schema: Schema)?
    if let name = command.response {
      guard let id = cluster.responses[name] else {
        throw command.line.error("\(name): not declared; expected a line response with an id and this name")
      }
      response = (CommandID(try number(id, in: 0...0xFF, "the id", command.line)), try structure(name, command.line))
    }
    let info = CommandInfo(
      id: CommandID(try number(command.id, in: 0...0xFF, "the id", command.line)), name: command.name,
      request: try structure(command.request, command.line), response: response,
      privilege: privilege(command.invoke) ?? .operate, quality: quality(command.qualities),
      conformance: try conformance(command.conformance, command.line))
    commands.append(info)
    elements.append(.command(info))
  }

  private mutating func add(_ event: EventDeclaration) throws(CatalogueError) {
    let info = EventInfo(
      id: EventID(try number(event.id, in: 0...0xFF, "the id", event.line)), name: event.name,
      payload: try structure(event.payload, event.line),
      priority: event.priority == "critical" ? .critical : event.priority == "info" ? .info : .debug,
      read: privilege(event.read) ?? .view, isFabricSensitive: event.isFabricSensitive,
      conformance: try conformance(event.conformance, event.line))
    events[event.name] = info
    elements.append(.event(info))
  }

  private mutating func addEffects(of command: CommandDeclaration) throws(CatalogueError) {
    guard let info = commands.first(where: { $0.name == command.name }) else { return }
    let scope = EffectScope(builder: self, command: command, info: info)
    effects[info.id] = try command.effects.map { effect throws(CatalogueError) in try scope.effect(effect) }
    let answers = command.effects.count { if case .answer = $0.action { true } else { false } }
    guard answers == (info.response == nil ? 0 : 1) else {
      throw command.line.error(
        "\(command.name): \(answers) lines answer; expected \(info.response == nil ? "none without a response" : "one")"
      )
    }
  }

  /// Throws if two elements have the same number or name.
  private func checkUnique(_ elements: [(line: SourceLine, number: Int, name: String)]) throws(CatalogueError) {
    var (numbers, names): (Set<Int>, Set<NormalizedName>) = ([], [])
    for element in elements {
      guard numbers.insert(element.number).inserted, names.insert(NormalizedName(element.name)).inserted else {
        throw element.line.error("\(element.name): its number or name is used twice; expected unique ones")
      }
    }
  }

  // MARK: Types

  private static let largestStructure = 1000, deepestNesting = 8

  /// Returns the number of fields of a type, nested structures included; above the maximum if it is nested too deeply.
  private func size(of name: String, _ sizes: inout [String: Int], depth: Int = 0) -> Int {
    if let size = sizes[name] { return size }
    guard case .structure(let fields)? = catalogue.type(name, in: cluster)?.content else { return 1 }
    guard depth <= Self.deepestNesting else { return Self.largestStructure + 1 }
    // A structure that contains itself is reported when it is expanded.
    sizes[name] = 1
    let sum = fields.reduce(1) {
      min($0 + size(of: $1.type.name, &sizes, depth: depth + 1), Self.largestStructure + 1)
    }
    sizes[name] = sum
    return sum
  }

  private static let types: [String: any ModelValue.Type] = [
    "bool": Bool.self, "uint8": UInt8.self, "uint16": UInt16.self, "uint32": UInt32.self, "uint64": UInt64.self,
    "int8": Int8.self, "int16": Int16.self, "int32": Int32.self, "int64": Int64.self, "single": Float.self,
    "double": Double.self, "string": String.self, "octstr": OctetString.self, "status": StatusCode.self,
    "fabric-idx": FabricIndex.self, "fabric-id": FabricID.self, "node-id": NodeID.self, "group-id": GroupID.self,
    "endpoint-no": EndpointID.self, "vendor-id": VendorID.self, "devtype-id": DeviceTypeID.self,
    "cluster-id": ClusterID.self, "attrib-id": AttributeID.self, "command-id": CommandID.self, "event-id": EventID.self,
  ]

  func schema(_ type: TypeReference, _ line: SourceLine, within: [String] = []) throws(CatalogueError) -> Schema {
    var schema: Schema
    if let base = Self.types[type.name] {
      schema = base.schema
    } else {
      switch catalogue.type(type.name, in: cluster)?.content {
      case .enumeration(let bits, let codes):
        schema = .enumeration(
          bits: bits,
          names: Dictionary(codes.map { (UInt64($0.number), $0.name) }, uniquingKeysWith: { first, _ in first }))
      case .bitmap(let bits, let codes, let isInverted):
        schema = .bitmap(
          bits: bits,
          names: Dictionary(
            codes.flatMap { code in (code.number...max(code.number, code.last)).map { ($0, code.name) } },
            uniquingKeysWith: { first, _ in first }),
          isInverted: isInverted)
      case .structure(let fields):
        guard !within.contains(type.name) else {
          throw line.error("\(type.name): contains itself; expected a structure of other types")
        }
        var sizes: [String: Int] = [:]
        guard !within.isEmpty || size(of: type.name, &sizes) <= Self.largestStructure else {
          throw line.error(
            "\(type.name): too large; expected at most \(Self.largestStructure) fields, nested at most "
              + "\(Self.deepestNesting) times")
        }
        schema = .structure(try members(fields, within: within + [type.name]))
      case nil:
        let names = cluster.types.map(\.name) + Self.types.keys.sorted()
        throw line.error("\(type.name): no such type; expected one of \(names.joined(separator: ", "))")
      }
    }
    if type.isList { schema = .list(schema) }
    return type.isNullable ? .nullable(schema) : schema
  }

  private func members(_ fields: [FieldDeclaration], within: [String]) throws(CatalogueError) -> [Schema.Member] {
    try fields.map { field throws(CatalogueError) in
      Schema.Member(
        id: try number(field.id, in: 0...254, "the number", field.line), name: field.name,
        schema: try schema(field.type, field.line, within: within), isOptional: field.isOptional || field.id == 254)
    }
  }

  /// Returns the schema of the fields of a command or event; without a name, no fields.
  private func structure(_ name: String?, _ line: SourceLine) throws(CatalogueError) -> Schema {
    guard let name else { return .structure([]) }
    return try schema(TypeReference(name: name), line)
  }

  private func constraint(_ attribute: AttributeDeclaration) throws(CatalogueError) -> Constraint {
    guard let limits = attribute.constraint else { return .none }
    return switch try catalogue.limits(limits, of: attribute.type, in: cluster, attribute.line) {
    case .range(let range): .range(range)
    case .length(let range): .length(range)
    case .entries(let range) where range.lowerBound > 0:
      throw attribute.line.error("\(attribute.name): the list is empty at first; expected no minimum")
    case .entries(let range): .entries(range)
    }
  }

  func value(
    _ text: String, of type: TypeReference, _ schema: Schema, _ line: SourceLine
  ) throws(CatalogueError) -> TLVElement.Value {
    var schema = schema
    if case .nullable(let wrapped) = schema { schema = wrapped }
    let value: TLVElement.Value? =
      switch (try catalogue.value(text, of: type, in: cluster, line), schema) {
      case (.null, _): .null
      case (.empty, .list): .array([])
      case (.empty, .octets): .octets([])
      case (.empty, _): .unsigned(0)
      case (.boolean(let value), _): .boolean(value)
      case (.text(let text), _): .string(text)
      case (.code(let number), _), (.named(let number, _), _): UInt64(exactly: number).map { .unsigned($0) }
      case (.number(let text), .signed): SourceLine.number(text[...]).map { .signed(Int64($0)) }
      case (.number(let text), .float): Self.real(text).map { .float(Float($0)) }
      case (.number(let text), .double): Self.real(text).map { .double($0) }
      case (.number(let text), _):
        (UInt64(text) ?? SourceLine.number(text[...]).flatMap { UInt64(exactly: $0) }).map { .unsigned($0) }
      }
    guard let value, schema.problem(of: value) == nil || value == .null, value != .float(.infinity),
      value != .float(-.infinity)
    else { throw line.error("“\(text)” is out of range; expected \(schema.typeName)") }
    return value
  }

  private static func real(_ text: String) -> Double? {
    SourceLine.number(text[...]).map { Double($0) } ?? Double(text)
  }

  func number<Number: FixedWidthInteger>(
    _ number: Int, in range: ClosedRange<Int>, _ noun: String, _ line: SourceLine
  ) throws(CatalogueError) -> Number {
    guard range.contains(number), let result = Number(exactly: number) else {
      throw line.error("\(noun) \(number): out of range; expected \(range.lowerBound) to \(range.upperBound)")
    }
    return result
  }

  // MARK: Parts of a line

  private func conformance(_ text: ConformanceText, _ line: SourceLine) throws(CatalogueError) -> Conformance {
    try text.check(names: cluster.names, in: line)
    do throws(ConformanceError) { return try Conformance(text.text, features: features) } catch {
      throw line.error("\(error)")
    }
  }

  private func privilege(_ name: String?) -> Privilege? { name.flatMap(Privilege.init(named:)) }

  func quality(_ names: [String]) -> Quality {
    Quality(Quality.named.filter { names.contains($0.name) }.map(\.quality))
  }
}
