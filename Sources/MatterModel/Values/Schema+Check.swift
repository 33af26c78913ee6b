package import MatterTLV

extension AttributeInfo {
  /// Returns why the bytes are not a value that the attribute may have, for example “is null; expected uint8”; nil if
  /// they are.
  /// - Parameter value: one element with any tag.
  public func problem(of value: [UInt8]) -> String? {
    guard let element = try? TLVElement(decoding: value) else { return "is not TLV" }
    if let problem = schema.problem(of: element.value) { return problem }
    guard !constraint.allows(value) else { return nil }
    return switch constraint {
    case .none: nil
    case .range(let range):
      "is \(schema.text(of: value)); expected \(range.lowerBound) to \(range.upperBound)"
    case .length(let range): "has a wrong length; expected \(range.lowerBound) to \(range.upperBound) bytes"
    case .entries(let range): "has a wrong number of entries; expected \(Constraint.words(entries: range))"
    }
  }
}

extension Constraint {
  /// Returns a number of entries in words: “at most 4”, “at least 2” or “2 to 4”.
  package static func words(entries range: ClosedRange<Int>) -> String {
    if range.lowerBound == 0 { return "at most \(range.upperBound)" }
    return range.upperBound == .max ? "at least \(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
  }
}

extension Schema {
  /// Returns why a value is not one of the type, with the place within a list or structure; nil if it is one.
  package func problem(of value: TLVElement.Value) -> String? {
    switch (self, value) {
    case (.any, _), (.nullable, .null), (.boolean, .boolean), (.float, .float), (.double, .double), (.string, .string),
      (.octets, .octets):
      return nil
    case (.nullable(let wrapped), _):
      return isReserved(value) ? "has the value that is reserved for null" : wrapped.problem(of: value)
    case (_, .null): return "is null; expected \(typeName)"
    case (.enumeration, .unsigned(let number)) where !names(value): return "has the unknown value \(number)"
    case (.list(let entry), .array(let entries)):
      for (index, element) in entries.enumerated() {
        if let problem = entry.problem(of: element.value) { return "entry \(index): \(problem)" }
      }
      return nil
    case (.structure(let members), .structure(let fields)):
      for member in members {
        guard let field = fields.first(where: { $0.tag == .context(member.id) }) else {
          if member.isOptional { continue }
          return "field \(member.name) is missing"
        }
        // An optional field that is null is absent.
        if member.isOptional, field.value == .null { continue }
        if let problem = member.schema.problem(of: field.value) { return "field \(member.name) \(problem)" }
      }
      return nil
    case (.unsigned(let bits), .unsigned(let number)), (.enumeration(let bits, _), .unsigned(let number)),
      (.bitmap(let bits, _, _), .unsigned(let number)):
      return bits < 64 && number >> UInt64(bits) > 0 ? "is \(number); expected \(typeName)" : nil
    case (.signed, .signed(let number)):
      return range?.contains(number) == false ? "is \(number); expected \(typeName)" : nil
    default: return "is \(text(of: TLVElement(value).encoded)); expected \(typeName)"
    }
  }

  /// The type in the words of the standard: `uint8`, `list[struct]`, `uint8 or null`.
  public var typeName: String {
    switch self {
    case .boolean: "bool"
    case .unsigned(let bits): "uint\(bits)"
    case .signed(let bits): "int\(bits)"
    case .float: "single"
    case .double: "double"
    case .string: "string"
    case .octets: "octstr"
    case .enumeration(let bits, _): "enum\(bits)"
    case .bitmap(let bits, _, _): "map\(bits)"
    case .list(let entry): "list of \(entry.typeName)"
    case .structure: "struct"
    case .nullable(let inner): "\(inner.typeName) or null"
    case .any: "any"
    }
  }

  /// The range of the type; nil if it is not a number. A nullable type reserves its largest value for null, a signed
  /// one its smallest. Matter Core § 7.19.1.
  package var range: ClosedRange<Int64>? {
    switch self {
    case .unsigned(let bits), .enumeration(let bits, _), .bitmap(let bits, _, _):
      0...(bits < 64 ? (Int64(1) << Int64(bits)) - 1 : .max)
    case .signed(let bits): (Int64.min >> Int64(64 - bits))...(Int64.max >> Int64(64 - bits))
    case .nullable(let wrapped):
      wrapped.range.map { range in
        if wrapped.isSigned { return (range.lowerBound + 1)...range.upperBound }
        // The largest value of 64 bits is not in the range.
        return range.upperBound == .max ? range : range.lowerBound...(range.upperBound - 1)
      }
    default: nil
    }
  }

  private var isSigned: Bool { if case .signed = self { true } else { false } }

  /// Returns whether the number is reserved for null.
  package func isReserved(_ value: TLVElement.Value) -> Bool {
    switch (self, value) {
    case (.nullable(.unsigned(let bits)), .unsigned(let number)): number == UInt64.max >> UInt64(64 - bits)
    case (.nullable(.signed(let bits)), .signed(let number)): number == Int64.min >> Int64(64 - bits)
    default: false
    }
  }

  /// Returns whether an enumeration value, or each bit of a bitmap, has a name.
  package func names(_ value: TLVElement.Value) -> Bool {
    switch (self, value) {
    case (.enumeration(_, let names), .unsigned(let number)): names.isEmpty || names[number] != nil
    // A set bit of an inverted bitmap means “not supported”, as for all bits without a name.
    case (.bitmap(_, _, true), _): true
    case (.bitmap(_, let names, _), .unsigned(let bits)):
      names.isEmpty || bits & ~names.keys.reduce(0) { $0 | 1 << UInt64($1) } == 0
    case (.nullable(let wrapped), _): value == .null || wrapped.names(value)
    default: true
    }
  }
}

extension TLVElement.Value {
  /// The integer; nil for a value of another type, and for one that Int64 can't represent.
  package var number: Int64? {
    switch self {
    case .unsigned(let number): Int64(exactly: number)
    case .signed(let number): number
    default: nil
    }
  }
}
