/// Parses the declaration of a cluster, or of types that several clusters use. docs/catalogue.md describes the
/// language.
package struct ClusterParser {
  private var lines: ArraySlice<SourceLine>
  private let bases: [String: [SourceLine]]
  /// The types of the base that the cluster has not declared itself, by name.
  private var inherited: Set<String> = []
  /// Whether the cluster is one of a manufacturer: without sections, and with effects of commands.
  private let isMakers: Bool
  private var book = ""
  private var cluster: ClusterDeclaration?
  private var types: [TypeDeclaration] = []

  private static let qualities = [
    "nonvolatile": "nonVolatile", "fixed": "fixed", "scene": "scene", "changes-omitted": "changesOmitted",
    "quieter": "quieter", "fabric-scoped": "fabricScoped", "fabric-sensitive": "fabricSensitive", "timed": "timed",
    "singleton": "singleton", "diagnostics": "diagnostics", "large-message": "largeMessage", "atomic": "atomic",
  ]
  private static let privileges = ["view", "operate", "manage", "administer"]

  /// Adds the declarations of a file to the catalogue.
  /// - Parameter bases: the lines that clusters of a kind share, by name.
  package static func parse(
    _ text: String, file: String, bases: [String: [SourceLine]] = [:], into catalogue: inout Catalogue
  ) throws(CatalogueError) {
    var parser = ClusterParser(SourceLine.lines(of: text, file: file), bases: bases)
    try parser.parse()
    guard let cluster = parser.sortedCluster else {
      catalogue.types += parser.types
      return
    }
    guard file.hasSuffix("/\(cluster.name).cluster") else {
      throw CatalogueError(
        file: file, line: 1, message: "the cluster is \(cluster.name); expected the file name \(cluster.name).cluster"
      )
    }
    catalogue.clusters.append(cluster)
  }

  /// Parses the declaration of a manufacturer's cluster.
  /// - Parameter offset: the number of lines of the file above the declaration.
  package static func makersCluster(
    _ text: String, file: String, offset: Int = 0
  ) throws(CatalogueError) -> ClusterDeclaration {
    var parser = ClusterParser(SourceLine.lines(of: text, file: file, offset: offset), isMakers: true)
    try parser.parse()
    guard let cluster = parser.sortedCluster else {
      throw CatalogueError(
        file: file, line: offset + 1, message: "no cluster; expected a line with cluster, an id, a name")
    }
    return cluster
  }

  private init(_ lines: [SourceLine], bases: [String: [SourceLine]] = [:], isMakers: Bool = false) {
    (self.lines, self.bases, self.isMakers) = (lines[...], bases, isMakers)
  }

  private var sortedCluster: ClusterDeclaration? {
    guard var cluster else { return nil }
    cluster.types = types
    cluster.sort()
    return cluster
  }

  private mutating func parse() throws(CatalogueError) {
    guard var line = lines.popFirst() else { return }
    switch try line.readWord("cluster or types") {
    case "cluster": cluster = try clusterHead(&line)
    case "types":
      guard let section = line.section else { throw line.error("types: no section; expected § and a book") }
      book = section
    case let word: throw line.error("“\(word)” begins no file; expected cluster or types")
    }
    guard let base = cluster?.base.flatMap({ bases[$0] }) else { return try declarations() }
    let own = lines
    lines = base[...]
    try declarations()
    inherited = Set(types.map(\.name))
    let baseTypes = elementTypes
    lines = own
    try declarations()
    // Those of commands and events that the cluster does not have.
    let unused = baseTypes.subtracting(elementTypes)
    types.removeAll { unused.contains($0.name) }
    for name in unused { cluster?.responses[name] = nil }
  }

  /// The names of the types with the fields of commands and events, and those of responses.
  private var elementTypes: Set<String> {
    guard let cluster else { return [] }
    let names = cluster.commands.flatMap { [$0.request, $0.response] } + cluster.events.map(\.payload)
    return Set(names.compactMap(\.self))
  }

  private mutating func declarations() throws(CatalogueError) {
    while var line = lines.popFirst() {
      guard !line.isIndented else { throw line.error("the line is indented, but the line above has no fields") }
      let keyword = try line.readWord("a declaration")
      switch keyword {
      case "feature": try feature(&line)
      case "attribute": try attribute(&line)
      case "command": try command(&line)
      case "response": try response(&line)
      case "event": try event(&line)
      case "struct": try structure(&line)
      case "enum8", "enum16", "map8", "map16", "map32", "map64": try codes(&line, keyword)
      default:
        throw line.error(
          "“\(keyword)” is not a declaration; expected feature, attribute, command, response, event, struct, enum8, enum16, "
            + "map8, map16, map32 or map64")
      }
    }
  }

  private mutating func clusterHead(_ line: inout SourceLine) throws(CatalogueError) -> ClusterDeclaration {
    if let section = line.section {
      book = Reference.parts(section).book
    } else if !isMakers {
      throw line.error("cluster: no section; expected § with book and number, such as § Application Clusters 1.5")
    }
    var cluster = ClusterDeclaration(line: line, reference: Reference(line, book: book))
    cluster.id = try line.readNumber("the id of the cluster")
    cluster.name = try line.readName("the name of the cluster")
    cluster.title = try line.readText("the name of the cluster in the standard")
    guard line.skip("revision") else { throw line.error("cluster: no revision; expected revision and a number") }
    cluster.revision = try line.readNumber("the revision of the cluster")
    if line.skip("from") {
      let name = try line.readName("the name of a base")
      guard !isMakers else {
        throw line.error("\(name): the cluster of a manufacturer has no base; expected all of its declarations here")
      }
      guard bases[name] != nil else {
        throw line.error("\(name): no such base; expected one of \(bases.keys.sorted().joined(separator: ", "))")
      }
      cluster.base = name
    }
    while let quality = line.next.flatMap({ Self.qualities[String($0)] }) {
      cluster.qualities.append(quality)
      _ = try line.readWord("a quality")
    }
    try line.end("from, a quality or §")
    return cluster
  }

  // MARK: Elements

  private mutating func feature(_ line: inout SourceLine) throws(CatalogueError) {
    let bit = try line.readNumber("the bit of the feature")
    let code = try line.readName("the code of the feature")
    let name = try line.readName("the name of the feature")
    let conformance = ConformanceText(text: line.next == nil ? "O" : try line.readWord("a conformance"))
    try line.end("the end of the line")
    cluster?.features.append(.init(line: line, bit: bit, code: code, name: name, conformance: conformance))
  }

  private mutating func attribute(_ line: inout SourceLine) throws(CatalogueError) {
    let id = try line.readNumber("the id of the attribute")
    let name = try line.readName("the name of the attribute")
    var type = try typeReference(&line)
    var attribute = AttributeDeclaration(
      line: line, id: id, name: name, type: type, conformance: conformance(&line), qualities: [])
    attribute.constraint = try constraint(&line)
    while let word = line.next.map(String.init) {
      if line.skip("nullable") {
        type.isNullable = true
        attribute.type = type
      } else if line.skip("read") {
        attribute.read = try privilege(&line)
      } else if line.skip("write") {
        attribute.write = try privilege(&line)
      } else if line.skip("=") {
        attribute.initial = try line.readWord("the initial value")
      } else if let quality = Self.qualities[word] {
        attribute.qualities.append(quality)
        _ = try line.readWord("a quality")
      } else {
        break
      }
    }
    try line.end("a constraint, nullable, a quality, read, write, = or §")
    add(attribute, to: \.attributes)
  }

  private mutating func command(_ line: inout SourceLine) throws(CatalogueError) {
    let id = try line.readNumber("the id of the command")
    let name = try line.readName("the name of the command")
    let response = line.skip("->") ? try line.readName("the name of the response command") : nil
    var command = CommandDeclaration(
      line: line, id: id, name: name, reference: Reference(line, book: book), conformance: conformance(&line),
      qualities: [],
      response: response)
    var shared: TypeDeclaration?
    while let word = line.next.map(String.init) {
      if line.skip("invoke") {
        command.invoke = try privilege(&line)
      } else if word == "fields" {
        shared = try sharedFields(&line)
      } else if let quality = Self.qualities[word] {
        command.qualities.append(quality)
        _ = try line.readWord("a quality")
      } else {
        break
      }
    }
    try line.end("a quality, invoke, fields or §")
    let fields = try fields(after: shared, allowsEffects: isMakers)
    if !fields.isEmpty {
      command.request = Self.request(name)
      try addStructure(Self.request(name), fields, shared, line)
    }
    while var line = lines.first, line.isIndented {
      lines.removeFirst()
      command.effects.append(EffectDeclaration(line: line, action: try EffectParser.action(&line)))
    }
    add(command, to: \.commands)
  }

  /// The name of the type with the fields of a command.
  private static func request(_ command: String) -> String {
    command.hasSuffix("Request") ? command : command + "Request"
  }

  private mutating func response(_ line: inout SourceLine) throws(CatalogueError) {
    let id = try line.readNumber("the id of the response command")
    let name = try line.readName("the name of the response command")
    let shared = try sharedFields(&line)
    try line.end("fields or §")
    if isMakers, let other = cluster?.responses.first(where: { $0.value == id }) {
      throw line.error("\(name): \(other.key) has the id \(id) already; expected another id")
    }
    cluster?.responses[name] = id
    try addStructure(name, try fields(after: shared), shared, line)
  }

  private mutating func event(_ line: inout SourceLine) throws(CatalogueError) {
    let id = try line.readNumber("the id of the event")
    let name = try line.readName("the name of the event")
    let priority = try line.readWord("a priority: debug, info or critical")
    guard ["debug", "info", "critical"].contains(priority) else {
      throw line.error("“\(priority)” is not a priority; expected debug, info or critical")
    }
    var event = EventDeclaration(
      line: line, id: id, name: name, priority: priority, conformance: conformance(&line), isFabricSensitive: false)
    if line.skip("read") { event.read = try privilege(&line) }
    event.isFabricSensitive = line.skip("fabric-sensitive")
    let shared = try sharedFields(&line)
    try line.end("read, fabric-sensitive, fields or §")
    let fields = try fields(after: shared)
    if !fields.isEmpty {
      event.payload = name + "Event"
      try addStructure(name + "Event", fields, shared, line)
    }
    add(event, to: \.events)
  }

  /// Adds an element to the cluster. It replaces the one of the base with the same id, or removes it if it is not allowed.
  private mutating func add<E: ElementDeclaration>(
    _ element: E, to elements: WritableKeyPath<ClusterDeclaration, [E]>
  ) {
    guard let own = cluster?.line.file, let others = cluster?[keyPath: elements] else { return }
    let remaining = others.filter { $0.id != element.id || $0.line.file == own }
    let isRemoved = remaining.count < others.count && element.conformance.text == "X"
    cluster?[keyPath: elements] = remaining + (isRemoved ? [] : [element])
  }

  // MARK: Types

  /// Adds a type. A type of the base with the same name gives way to it.
  private mutating func add(_ type: TypeDeclaration, _ line: SourceLine) throws(CatalogueError) {
    if inherited.remove(type.name) != nil { types.removeAll { $0.name == type.name } }
    guard !types.contains(where: { $0.name == type.name }) else {
      throw line.error("\(type.name): two types have this name; expected another name")
    }
    types.append(type)
  }

  /// Adds the type of the fields of a declaration.
  /// - Parameter shared: the type with the first fields. Without others, both are the same type.
  private mutating func addStructure(
    _ name: String, _ fields: [FieldDeclaration], _ shared: TypeDeclaration?, _ line: SourceLine
  ) throws(CatalogueError) {
    var type = TypeDeclaration(name: name, reference: Reference(line, book: book), content: .structure(fields))
    if let shared, shared.fields.count == fields.count {
      type.original = shared.original ?? shared.name
      if type.reference.isEmpty { type.reference = shared.reference }
    }
    try add(type, line)
  }

  private mutating func structure(_ line: inout SourceLine) throws(CatalogueError) {
    let name = try line.readName("the name of the structure")
    let shared = try sharedFields(&line)
    try line.end("fields or §")
    try addStructure(name, try fields(after: shared), shared, line)
  }

  /// Parses `fields` and the name of a command, response, event or structure above, whose fields a declaration shares.
  private func sharedFields(_ line: inout SourceLine) throws(CatalogueError) -> TypeDeclaration? {
    guard line.skip("fields") else { return nil }
    let name = try line.readName("the name of a declaration with the same fields")
    for name in [Self.request(name), name + "Event", name] {
      if let type = types.first(where: { $0.name == name }) { return type }
    }
    throw line.error("\(name): not declared above; expected a command, response, event or struct with fields")
  }

  /// Parses the fields below a line, and returns them behind the shared ones.
  private mutating func fields(
    after shared: TypeDeclaration?, allowsEffects: Bool = false
  ) throws(CatalogueError) -> [FieldDeclaration] {
    var fields = shared?.fields ?? []
    while var line = lines.first, line.isIndented {
      if allowsEffects, let word = line.next, EffectParser.isEffect(word) { break }
      lines.removeFirst()
      let id = try line.readNumber("the number of the field")
      guard (0...254).contains(id) else { throw line.error("field \(id): out of range; expected 0 to 254") }
      let name = try line.readName("the name of the field")
      var type = try typeReference(&line)
      let isOptional = line.skip("O")
      type.isNullable = line.skip("nullable")
      let initial = line.skip("=") ? try line.readWord("the default of the argument") : nil
      try line.end("O, nullable, = or //")
      if let last = fields.last, last.id >= id {
        throw line.error("field \(id) after \(last.id); expected fields in the order of their numbers")
      }
      guard !fields.contains(where: { $0.name.lowercased() == name.lowercased() }) else {
        throw line.error("\(name): two fields have this name; expected another name")
      }
      guard id != 254 || type.name == "fabric-idx" else {
        throw line.error("\(name): field 254 is the fabric of an entry; expected the type fabric-idx")
      }
      fields.append(.init(line: line, id: id, name: name, type: type, isOptional: isOptional, initial: initial))
    }
    return fields
  }

  private mutating func codes(_ line: inout SourceLine, _ keyword: String) throws(CatalogueError) {
    let name = try line.readName("the name of the type")
    let isBitmap = keyword.hasPrefix("map")
    let isInverted = isBitmap && line.skip("inverted")
    try line.end(isBitmap ? "inverted or §" : "the end of the line or §")
    let bits = Int(keyword.drop { $0.isLetter }) ?? 8
    // A type of the cluster extends the one of its base.
    let base = inherited.contains(name) ? types.first { $0.name == name } : nil
    if let base, base.keyword != keyword {
      throw line.error("\(name): is an \(base.keyword) in the base; expected the same type")
    }
    var codes = base?.codes ?? []
    while var line = lines.first, line.isIndented {
      lines.removeFirst()
      let word = try line.readWord("a number")
      let range = isBitmap ? word.split(separator: "-").map(SourceLine.number) : [SourceLine.number(word[...])]
      guard let first = range.first ?? nil, let last = range.last ?? nil, (1...2).contains(range.count) else {
        throw line.error("“\(word)” is not a number; expected \(isBitmap ? "a bit, or bits such as 0-1" : "a value")")
      }
      guard first >= 0, last < (isBitmap ? bits : 1 << bits) else {
        throw line.error("\(name) \(word): out of range; expected a number that fits \(keyword)")
      }
      guard first <= last else { throw line.error("\(name) \(word): empty; expected the lower bit first") }
      let code = try line.readName("a name")
      let constant = line.skip("as") ? try line.readName("a name in Swift") : Names.camelCase(code)
      guard constant.first?.isNumber == false else {
        throw line.error("\(code): the name begins with a digit; expected “as” and a name in Swift")
      }
      try line.end("as or //")
      guard !codes.contains(where: { $0.name == code || ($0.number <= last && first <= $0.last) }) else {
        throw line.error("\(code): its number or name is used twice; expected unique ones")
      }
      codes.append(.init(number: first, last: last, name: code, constant: constant))
    }
    var type = TypeDeclaration(
      name: name, reference: Reference(line, book: book),
      content: isBitmap ? .bitmap(bits: bits, codes, isInverted: isInverted) : .enumeration(bits: bits, codes))
    if let base, type.reference.isEmpty { type.reference = base.reference }
    try add(type, line)
  }

  // MARK: Parts of a line

  private func typeReference(_ line: inout SourceLine) throws(CatalogueError) -> TypeReference {
    var type = TypeReference(name: try line.readWord("a type"))
    let parts = type.name.split(separator: ":", omittingEmptySubsequences: false)
    if parts.count == 2, !isMakers {
      type.name = String(parts[0])
      type.unit = TypeReference.units.first { $0 == parts[1] }
      guard type.unit != nil else {
        throw line.error("\(parts[1]): no such unit; expected \(TypeReference.units.joined(separator: ", "))")
      }
    }
    type.isList = type.name.hasPrefix("list[") && type.name.hasSuffix("]")
    if type.isList { type.name = String(type.name.dropFirst(5).dropLast()) }
    return type
  }

  /// Parses a conformance expression, which starts with a capital letter, `!`, `(` or `[`, or is `desc`. Without one,
  /// the element is mandatory.
  private func conformance(_ line: inout SourceLine) -> ConformanceText {
    guard let next = line.next, let first = next.first, first.isUppercase || "!([".contains(first) || next == "desc"
    else { return ConformanceText(text: "M") }
    _ = line.skip(String(next))
    return ConformanceText(text: String(next))
  }

  private func constraint(_ line: inout SourceLine) throws(CatalogueError) -> Limits? {
    if line.skip("max") { return .init(minimum: nil, maximum: try line.readNumber("a maximum")) }
    if line.skip("min") { return .init(minimum: try line.readNumber("a minimum"), maximum: nil) }
    guard let minimum = line.next.flatMap(SourceLine.number) else { return nil }
    _ = try line.readWord("a minimum")
    return .init(minimum: minimum, maximum: line.skip("to") ? try line.readNumber("a maximum") : minimum)
  }

  private func privilege(_ line: inout SourceLine) throws(CatalogueError) -> String {
    let word = try line.readWord("a privilege")
    guard Self.privileges.contains(word) else {
      throw line.error("“\(word)” is not a privilege; expected \(Self.privileges.joined(separator: ", "))")
    }
    return word
  }
}
