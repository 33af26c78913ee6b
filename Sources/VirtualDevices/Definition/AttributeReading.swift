internal import MatterClusters
internal import MatterModel
internal import Yams

/// Parses one entry of a device's `attributes` or `behave`.
enum AttributeReading {
  static func read(
    key: String, mark: SourceMark, node: Node, valueMark: SourceMark, catalogue: AttributeCatalogue?
  ) throws(DefinitionError) -> InitialValue {
    let attribute = try attribute(key, mark: mark, catalogue: catalogue)
    return try read(node, of: attribute, mark: valueMark, catalogue: catalogue)
  }

  /// Parses the name of an attribute: `onOff.onOff` or `2.onOff.onOff`.
  /// - Returns: the attribute without a value.
  static func attribute(
    _ key: String, mark: SourceMark, catalogue: AttributeCatalogue?
  ) throws(DefinitionError) -> InitialValue {
    var parts = key.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    var endpoint: EndpointID = 1
    if parts.count == 3 {
      guard let number = UInt16(parts[0]), number != .max else {
        throw DefinitionError(at: mark, found: "endpoint “\(parts[0])”", expected: "a number from 0 to 65534")
      }
      endpoint = EndpointID(number)
      parts.removeFirst()
    }
    guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }) else {
      throw DefinitionError(
        at: mark, found: "attribute “\(key)”",
        expected: "cluster.attribute or endpoint.cluster.attribute, such as onOff.onOff")
    }
    var value = InitialValue(
      endpoint: endpoint, cluster: parts[0], attribute: parts[1], value: .null, target: nil, mark: mark, text: "",
      valueMark: mark)
    guard let catalogue else { return value }
    guard catalogue.hasCluster(parts[0]) else {
      throw DefinitionError(
        at: mark, found: "cluster “\(parts[0])”", expected: "a known cluster",
        suggestions: NearestName.suggestions(for: parts[0], in: catalogue.clusterNames))
    }
    guard let found = catalogue.find(cluster: parts[0], attribute: parts[1]) else {
      let suggestions = NearestName.suggestions(for: parts[1], in: catalogue.attributeNames(of: parts[0]))
      throw DefinitionError(
        at: mark, found: "attribute “\(parts[1])”", expected: "an attribute of \(parts[0])", suggestions: suggestions)
    }
    value.cluster = found.cluster
    value.attribute = found.name
    value.target = .init(
      cluster: found.id, attribute: found.info.id, schema: found.info.schema, constraint: found.info.constraint)
    return value
  }

  /// Parses a value of an attribute. A measure may have its unit: `21.5C`.
  /// - Parameter attribute: the attribute as ``attribute(_:mark:catalogue:)`` returns it.
  static func read(
    _ node: Node, of attribute: InitialValue, mark: SourceMark, catalogue: AttributeCatalogue?
  ) throws(DefinitionError) -> InitialValue {
    var value = attribute
    (value.text, value.valueMark) = (node.summary, mark)
    guard let target = attribute.target, let catalogue else {
      guard let scalar = node.scalar else {
        throw DefinitionError(
          at: mark, found: node.summary, expected: "a single value: a number, a text, true or false")
      }
      value.value = untyped(scalar, node)
      return value
    }
    var encoded = node
    if let unit = target.unit, let measure = unit.measure(node.scalar?.string ?? "") {
      encoded = Node("\(unit.encoded(measure))")
    }
    switch typed(encoded, schema: target.schema, constraint: target.constraint) {
    case .success(let typed): value.value = typed
    case .failure(let mismatch) where mismatch.isOfInteger && !catalogue.checksIntegers:
      value.mismatch = mismatch.expected
    case .failure(let mismatch):
      throw DefinitionError(
        at: mark, found: node.summary, expected: mismatch.expected, suggestions: mismatch.suggestions)
    }
    return value
  }

  /// Returns the value of a scalar without a known type, by the rules of YAML 1.2.
  private static func untyped(_ scalar: Node.Scalar, _ node: Node) -> InitialValue.Value {
    guard scalar.style == .plain else { return .text(scalar.string) }
    if node.isNull { return .null }
    switch scalar.string {
    case "true", "True", "TRUE": return .boolean(true)
    case "false", "False", "FALSE": return .boolean(false)
    default: break
    }
    if let integer = ScalarReading.integer(scalar.string) { return .integer(integer) }
    if let real = ScalarReading.real(scalar.string) { return .real(real) }
    return .text(scalar.string)
  }

  private struct Mismatch: Error {
    var expected: String
    var suggestions: [String] = []
    /// Whether an integer is expected that the device may limit.
    var isOfInteger = false
  }

  private static func typed(
    _ node: Node, schema: Schema, constraint: Constraint
  ) -> Result<InitialValue.Value, Mismatch> {
    if case .nullable(let inner) = schema {
      if node.isNull { return .success(.null) }
      return typed(node, schema: inner, constraint: constraint, isNullable: true)
    }
    let found = typed(node, schema: schema, constraint: constraint, isNullable: false)
    guard node.isNull else { return found }
    return found.mapError { Mismatch(expected: "\($0.expected): it can't be null") }
  }

  private static func typed(
    _ node: Node, schema: Schema, constraint: Constraint, isNullable: Bool
  ) -> Result<InitialValue.Value, Mismatch> {
    let text = node.isNull ? nil : node.scalar?.string
    let orNull = isNullable ? ", or null" : ""
    switch schema {
    case .boolean:
      guard let value = text.flatMap(ScalarReading.boolean) else { return mismatch("true or false\(orNull)") }
      return .success(.boolean(value))
    case .unsigned(let bits):
      return integer(text, in: range(unsigned: bits, isNullable, constraint), orNull)
    case .bitmap(bits: let bits, names: let names, isInverted: false):
      let fields = Schema.fields(names)
      if let field = fields.first(where: { $0.name.lowercased() == text?.lowercased() }) {
        return .success(.integer(Int64(clamping: field.mask)))
      }
      // A bitmap with one bit, such as Occupancy, is also true or false.
      if let field = fields.first, names.count == 1, let isSet = text.flatMap(ScalarReading.boolean) {
        return .success(.integer(isSet ? Int64(clamping: field.mask) : 0))
      }
      return integer(text, in: range(unsigned: bits, isNullable, constraint), orNull)
    case .bitmap(let bits, _, _):
      return integer(text, in: range(unsigned: bits, isNullable, constraint), orNull)
    case .signed(let bits):
      return integer(text, in: range(signed: bits, isNullable, constraint), orNull)
    case .enumeration(let bits, let names):
      return enumeration(text, names: names, in: range(unsigned: bits, isNullable, constraint), orNull)
    case .float, .double:
      guard let value = text.flatMap({ ScalarReading.real($0) ?? ScalarReading.integer($0).map(Double.init) })
      else { return mismatch("a number\(orNull)") }
      return .success(.real(value))
    case .string:
      let lengths = lengths(constraint)
      guard let text, lengths.contains(text.utf8.count) else {
        return mismatch("a text\(words(lengths))\(orNull)")
      }
      return .success(.text(text))
    case .octets:
      let lengths = lengths(constraint)
      guard let octets = text.flatMap(octets), lengths.contains(octets.count) else {
        return mismatch("pairs of hexadecimal digits\(words(lengths))\(orNull)")
      }
      return .success(.octets(octets))
    case .list, .structure, .any, .nullable:
      return mismatch("an attribute with a single value; lists and structures can't be set here")
    }
  }

  private static func mismatch(_ expected: String) -> Result<InitialValue.Value, Mismatch> {
    .failure(Mismatch(expected: expected))
  }

  private static func integer(
    _ text: String?, in range: ClosedRange<Int64>, _ orNull: String
  ) -> Result<InitialValue.Value, Mismatch> {
    guard let value = text.flatMap(ScalarReading.integer), range.contains(value) else {
      return .failure(
        Mismatch(expected: "a number from \(range.lowerBound) to \(range.upperBound)\(orNull)", isOfInteger: true))
    }
    return .success(.integer(value))
  }

  private static func enumeration(
    _ text: String?, names: [UInt64: String], in range: ClosedRange<Int64>, _ orNull: String
  ) -> Result<InitialValue.Value, Mismatch> {
    let sorted = names.sorted { $0.key < $1.key }
    if let text, let named = sorted.first(where: { $0.value.lowercased() == text.lowercased() }) {
      return .success(.integer(Int64(clamping: named.key)))
    }
    if let value = text.flatMap(ScalarReading.integer), range.contains(value) { return .success(.integer(value)) }
    return .failure(
      Mismatch(
        expected: (DefinitionReader.list(names) ?? "a number from \(range.lowerBound) to \(range.upperBound)") + orNull,
        suggestions: NearestName.suggestions(for: text ?? "", in: sorted.map(\.value))))
  }

  /// The range of an integer. The largest value of a nullable one stands for null on the wire. Matter Core § 7.19.1.
  private static func range(unsigned bits: Int, _ isNullable: Bool, _ constraint: Constraint) -> ClosedRange<Int64> {
    let highest = bits < 64 ? (Int64(1) << Int64(bits)) - 1 : Int64.max
    return limited(0...(isNullable ? highest - 1 : highest), by: constraint)
  }

  private static func range(signed bits: Int, _ isNullable: Bool, _ constraint: Constraint) -> ClosedRange<Int64> {
    let highest = Int64.max >> Int64(64 - bits)
    return limited((isNullable ? -highest : -highest - 1)...highest, by: constraint)
  }

  private static func limited(_ range: ClosedRange<Int64>, by constraint: Constraint) -> ClosedRange<Int64> {
    guard case .range(let allowed) = constraint else { return range }
    return range.clamped(to: allowed)
  }

  private static func lengths(_ constraint: Constraint) -> ClosedRange<Int> {
    if case .length(let lengths) = constraint { lengths } else { 0...Int.max }
  }

  private static func words(_ lengths: ClosedRange<Int>) -> String {
    lengths.upperBound == .max ? "" : " of \(lengths.lowerBound) to \(lengths.upperBound) bytes"
  }

  /// Parses pairs of hexadecimal digits, also after `0x`.
  static func octets(_ text: String) -> [UInt8]? {
    [UInt8](hexadecimalDigits: text.dropFirst(text.hasPrefix("0x") ? 2 : 0))
  }
}

extension InitialValue.Target {
  /// The unit of the attribute; nil if it has none.
  var unit: ValueUnit? { ValueUnit(cluster, attribute) }
}
