internal import MatterTLV

extension Schema {
  /// Parses the text form of a value and encodes it with an anonymous tag.
  ///
  /// Numbers are decimal or `0x…`; enumerations are names or numbers, bitmaps are names joined with `|` or numbers, a
  /// field of several bits is `Lift=2`; octets are hexadecimal digits; a list is `[1, 2]`; a structure is
  /// `{level: 128, transitionTime: null}`, at the top level also without braces. Names are case-insensitive. Strings
  /// need quotes only inside lists and structures, and there only if they contain `,`, `]`, `}` or begin with a bracket.
  /// A value may have its type in front: `u8:100`.
  public func parse(text: String) throws(ValueTextError) -> [UInt8] { try encode(try syntax(of: text)) }

  /// Encodes a parsed value with an anonymous tag.
  package func encode(_ syntax: ValueSyntax) throws(ValueTextError) -> [UInt8] {
    var writer = TLVWriter()
    try encode(syntax, to: &writer, .anonymous)
    return writer.bytes
  }

  /// Parses the top level; the type determines which punctuation is syntax.
  package func syntax(of text: String) throws(ValueTextError) -> ValueSyntax {
    let trimmed = String(text.trimming { $0.isWhitespace })
    switch self {
    case .nullable(let wrapped):
      return NormalizedName(trimmed) == NormalizedName("null") && !trimmed.hasPrefix("\"")
        ? .word("null") : try wrapped.syntax(of: text)
    case .string:
      return trimmed.hasPrefix("\"") ? try .parse(trimmed) : .word(text)
    case .octets:
      return trimmed.hasPrefix("\"") ? try .parse(trimmed) : .word(trimmed)
    case .structure where !trimmed.hasPrefix("{"):
      return try .parseMembers(trimmed)
    default:
      return try .parse(trimmed)
    }
  }

  func encode(_ given: ValueSyntax, to writer: inout TLVWriter, _ tag: TLVTag) throws(ValueTextError) {
    let syntax = try untyped(given)
    switch self {
    case .nullable(let wrapped):
      if case .word("null") = syntax { writer.writeNull(tag) } else { try wrapped.encode(syntax, to: &writer, tag) }
    case .boolean:
      guard case .word(let text) = syntax, let value = Self.booleans[text.lowercased()] else {
        throw .mismatch(found: syntax.errorText, expected: "true or false")
      }
      writer.write(value, tag)
    case .unsigned(let bits): writer.write(try unsigned(syntax, bits: bits, or: "a number"), tag)
    case .signed(let bits): writer.write(try signed(syntax, bits: bits), tag)
    case .float:
      guard let value = Float(syntax.errorText) else { throw .mismatch(found: syntax.errorText, expected: "a number") }
      writer.write(value, tag)
    case .double:
      guard let value = Double(syntax.errorText) else { throw .mismatch(found: syntax.errorText, expected: "a number") }
      writer.write(value, tag)
    case .string:
      switch syntax {
      case .word(let text), .quoted(let text): writer.write(text, tag)
      default: throw .mismatch(found: syntax.errorText, expected: "a text")
      }
    case .octets: writer.write(octets: try octets(syntax), tag)
    case .enumeration(let bits, let names): writer.write(try enumeration(syntax, bits, names), tag)
    case .bitmap(let bits, let names, let isInverted):
      writer.write(try bitmap(syntax, bits, names, isInverted: isInverted), tag)
    case .list(let element):
      guard case .list(let entries) = syntax else {
        throw .mismatch(found: syntax.errorText, expected: "a list like [1, 2]")
      }
      writer.startArray(tag)
      for entry in entries { try element.encode(entry, to: &writer, .anonymous) }
      writer.end()
    case .structure(let members): try structure(syntax, members, to: &writer, tag)
    case .any: try encodeAny(syntax, to: &writer, tag)
    }
  }

  private static let booleans = ["true": true, "false": false, "1": true, "0": false, "on": true, "off": false]

  // MARK: Numbers and names

  private static func magnitude(_ digits: some StringProtocol) -> UInt64? {
    guard let first = digits.first, first != "+", first != "-" else { return nil }
    return UInt64(numeral: digits)
  }

  /// Whether a text has the form of a number, which may be out of range.
  private static func isNumeric(_ text: String) -> Bool {
    let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
    if digits.hasPrefix("0x") || digits.hasPrefix("0X") {
      return digits.count > 2 && digits.dropFirst(2).allSatisfy(\.isHexDigit)
    }
    return !digits.isEmpty && digits.allSatisfy { ("0"..."9").contains($0) }
  }

  private func unsigned(_ syntax: ValueSyntax, bits: Int, or expected: String) throws(ValueTextError) -> UInt64 {
    let largest = UInt64.max >> UInt64(64 - bits)
    switch syntax {
    case .word(let text), .quoted(let text):
      if let value = Self.magnitude(text), value <= largest { return value }
      guard Self.isNumeric(text) else { throw .mismatch(found: text, expected: expected) }
      throw .outOfRange(found: text, allowed: "0 to \(largest)")
    default: throw .mismatch(found: syntax.errorText, expected: expected)
    }
  }

  private func signed(_ syntax: ValueSyntax, bits: Int) throws(ValueTextError) -> Int64 {
    let (least, largest) = (Int64.min >> Int64(64 - bits), Int64.max >> Int64(64 - bits))
    switch syntax {
    case .word(let text), .quoted(let text):
      guard Self.isNumeric(text) else { throw .mismatch(found: text, expected: "a number") }
      let isNegative = text.hasPrefix("-")
      if let magnitude = Self.magnitude(isNegative ? text.dropFirst() : text[...]) {
        let value = isNegative ? Int64(exactly: -Int128(magnitude)) : Int64(exactly: magnitude)
        if let value, (least...largest).contains(value) { return value }
      }
      throw .outOfRange(found: text, allowed: "\(least) to \(largest)")
    default: throw .mismatch(found: syntax.errorText, expected: "a number")
    }
  }

  private func octets(_ syntax: ValueSyntax) throws(ValueTextError) -> [UInt8] {
    let expected = "octets in hexadecimal like 00ff10"
    switch syntax {
    case .word(let text), .quoted(let text):
      let bare = text.hasPrefix("0x") || text.hasPrefix("0X") ? text.dropFirst(2) : text[...]
      let digits = bare.filter { !$0.isWhitespace && $0 != ":" }
      if let octets = [UInt8](hexadecimalDigits: digits) { return octets }
      let isOdd = digits.allSatisfy(\.isHexDigit) && !digits.count.isMultiple(of: 2)
      throw .mismatch(found: text, expected: expected + (isOdd ? " (the number of digits is odd)" : ""))
    default: throw .mismatch(found: syntax.errorText, expected: expected)
    }
  }

  private func enumeration(
    _ syntax: ValueSyntax, _ bits: Int, _ names: [UInt64: String]
  ) throws(ValueTextError) -> UInt64 {
    switch syntax {
    case .word(let text), .quoted(let text):
      // Names have precedence, because some look like numbers (a battery named "523").
      let normalized = NormalizedName(text)
      let known = names.sorted { $0.key < $1.key }
      guard let match = known.first(where: { NormalizedName($0.value) == normalized }) else {
        guard Self.isNumeric(text) else { throw .unknownName(text, known: known.map(\.value)) }
        return try unsigned(syntax, bits: bits, or: "a number")
      }
      return match.key
    default:
      throw .mismatch(found: syntax.errorText, expected: "one of " + names.values.sorted().joined(separator: ", "))
    }
  }

  /// Parses a bitmap. In an inverted bitmap, names are bits that are not set; a single number is the value on the wire.
  private func bitmap(
    _ syntax: ValueSyntax, _ bits: Int, _ names: [Int: String], isInverted: Bool
  ) throws(ValueTextError) -> UInt64 {
    let parts: [String]
    switch syntax {
    case .word(let text), .quoted(let text):
      parts = text.split(separator: "|").map { String($0.trimming { $0.isWhitespace }) }
    case .list(let entries): parts = entries.map(\.errorText)
    case .object: throw .mismatch(found: syntax.errorText, expected: "names joined with '|'")
    }
    // A bitmap with one bit, such as Occupancy, is also true or false.
    if !isInverted, names.count == 1, let bit = names.keys.first, let word = parts.first, parts.count == 1,
      !Self.isNumeric(word), let isSet = Self.booleans[word.lowercased()]
    {
      return isSet ? 1 << UInt64(bit) : 0
    }
    var value: UInt64 = 0
    for part in parts {
      if Self.isNumeric(part) {
        value |= try unsigned(.word(part), bits: bits, or: "a number")
        continue
      }
      let words = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      let fields = Self.fields(names)
      guard let field = fields.first(where: { NormalizedName($0.name) == NormalizedName(words.first ?? "") }) else {
        // No bit is 0, unless names are bits that are not set.
        throw .unknownName(part, known: fields.map(\.name) + (isInverted ? [] : ["0"]))
      }
      // All bits without a number.
      let number = words.count == 1 ? nil : try unsigned(.word(words[1]), bits: field.bits.count, or: "a number")
      value |= number.map { $0 << UInt64(field.bits.lowerBound) } ?? field.mask
    }
    let isNumber = parts.count == 1 && parts.allSatisfy(Self.isNumeric)
    return isInverted && !isNumber ? ~value & UInt64.max >> UInt64(64 - bits) : value
  }

  // MARK: Structures

  private func structure(
    _ syntax: ValueSyntax, _ members: [Member], to writer: inout TLVWriter, _ tag: TLVTag
  ) throws(ValueTextError) {
    guard case .object(let given) = syntax else {
      throw .mismatch(found: syntax.errorText, expected: "a structure like {name: value}")
    }
    var values: [UInt8: ValueSyntax] = [:]
    for field in given {
      guard let member = members.first(where: { $0.isNamed(field.name) }) else {
        throw .unknownField(field.name, known: members.map { NormalizedName.camelCase($0.name) })
      }
      guard values.updateValue(field.value, forKey: member.id) == nil else { throw .duplicateField(field.name) }
    }
    writer.startStructure(tag)
    for member in members {
      if let value = values[member.id] {
        try member.schema.encode(value, to: &writer, .context(member.id))
      } else if !member.isOptional {
        throw .missingField(NormalizedName.camelCase(member.name))
      }
    }
    writer.end()
  }

  private static let types: [String: Schema] = [
    "u8": .unsigned(bits: 8), "u16": .unsigned(bits: 16), "u32": .unsigned(bits: 32), "u64": .unsigned(bits: 64),
    "i8": .signed(bits: 8), "i16": .signed(bits: 16), "i32": .signed(bits: 32), "i64": .signed(bits: 64),
    "f32": .float, "f64": .double, "bool": .boolean, "str": .string, "hex": .octets,
  ]

  /// Parses `i16:500` as a type and a value.
  private static func typed(_ text: String) -> (Schema, ValueSyntax)? {
    guard let colon = text.firstIndex(of: ":"), let schema = types[text[..<colon].lowercased()] else { return nil }
    return (schema, .word(String(text[text.index(after: colon)...])))
  }

  /// Removes the type in front of a value.
  /// - Throws: `mismatch` if it is not the schema's type. A text or octets may begin like a type of numbers.
  private func untyped(_ syntax: ValueSyntax) throws(ValueTextError) -> ValueSyntax {
    guard case .word(let text) = syntax, let (type, value) = Self.typed(text) else { return syntax }
    let own: Schema
    switch self {
    case .enumeration(let bits, _), .bitmap(let bits, _, _): own = .unsigned(bits: bits)
    case .boolean, .unsigned, .signed, .float, .double: own = self
    case .string, .octets: return type == self ? value : syntax
    case .nullable, .list, .structure, .any: return syntax
    }
    guard type == own else {
      let name = Self.types.first { $0.value == own }?.key
      throw .mismatch(found: text, expected: name.map { "a value of type \($0)" } ?? "a number")
    }
    return value
  }

  /// Encodes a value of unknown type: with the type given in the text, as in `i16:500`, else with an inferred type.
  /// Fields of structures are numbers.
  private func encodeAny(_ syntax: ValueSyntax, to writer: inout TLVWriter, _ tag: TLVTag) throws(ValueTextError) {
    switch syntax {
    case .word("null"): writer.writeNull(tag)
    case .word("true"): writer.write(true, tag)
    case .word("false"): writer.write(false, tag)
    case .word(let text) where Self.isNumeric(text):
      if text.hasPrefix("-") {
        writer.write(try signed(syntax, bits: 64), tag)
      } else {
        writer.write(try unsigned(syntax, bits: 64, or: "a number"), tag)
      }
    case .word(let text) where Self.typed(text) != nil:
      if let (schema, value) = Self.typed(text) { try schema.encode(value, to: &writer, tag) }
    case .word(let text):
      if let number = Double(text) { writer.write(number, tag) } else { writer.write(text, tag) }
    case .quoted(let text): writer.write(text, tag)
    case .list(let entries):
      writer.startArray(tag)
      for entry in entries { try encodeAny(entry, to: &writer, .anonymous) }
      writer.end()
    case .object(let members):
      writer.startStructure(tag)
      for member in members {
        guard let number = UInt8(member.name) else {
          throw .mismatch(found: member.name, expected: "the number of a field, 0 to 255")
        }
        try encodeAny(member.value, to: &writer, .context(number))
      }
      writer.end()
    }
  }
}

extension StringProtocol {
  /// Returns the text without leading and trailing characters that satisfy `predicate`.
  fileprivate func trimming(_ predicate: (Character) -> Bool) -> SubSequence {
    guard let start = firstIndex(where: { !predicate($0) }), let end = lastIndex(where: { !predicate($0) }) else {
      return self[endIndex...]
    }
    return self[start...end]
  }
}
