internal import MatterTLV

extension Schema {
  /// Returns a value as text that ``parse(text:)`` accepts. A value of another type is rendered by its own type.
  /// - Parameter tlv: one element with any tag.
  public func text(of tlv: [UInt8]) -> String { text(of: tlv) { _, _ in nil } }

  /// Returns a value as text, with the caller's texts for integers that are members of structures.
  /// - Parameter member: returns the text of a member by its name in camel case; nil for the number itself.
  package func text(of tlv: [UInt8], member: (String, Int64) -> String?) -> String {
    guard let element = try? TLVElement(decoding: tlv) else { return "(not TLV: \(tlv.hexadecimal.lowercased()))" }
    return text(of: element.value, member)
  }

  /// Returns a value as JSON: camelCase keys, 64-bit numbers as strings, octets in hexadecimal, enumerations and
  /// bitmaps as numbers. A value of another type is rendered by its own type; invalid TLV is null.
  /// - Parameter tlv: one element with any tag.
  public func json(of tlv: [UInt8]) -> String {
    guard let element = try? TLVElement(decoding: tlv) else { return "null" }
    return json(of: element.value)
  }

  // MARK: Text

  private func text(of value: TLVElement.Value, _ member: (String, Int64) -> String?) -> String {
    switch (self, value) {
    case (.nullable(let wrapped), let value): wrapped.text(of: value, member)
    case (.enumeration(_, let names), .unsigned(let number)): names[number] ?? "\(number)"
    case (.bitmap(let width, let names, let isInverted), .unsigned(let bits)):
      Self.text(of: bits, names, width: width, isInverted: isInverted)
    case (.list(let element), .array(let entries)):
      "[" + entries.map { element.text(of: $0.value, member) }.joined(separator: ", ") + "]"
    case (.structure(let members), .structure(let fields)):
      "{"
        + Self.named(fields, members).map { field -> String in
          let text = field.value.number.flatMap { member(field.name, $0) }
          return "\(field.name): \(text ?? field.schema.text(of: field.value, member))"
        }
        .joined(separator: ", ") + "}"
    default: Self.genericText(of: value)
    }
  }

  private static func text(of bits: UInt64, _ names: [Int: String], width: Int, isInverted: Bool) -> String {
    let meant = isInverted ? ~bits & UInt64.max >> UInt64(64 - width) : bits
    var rest = meant
    var parts: [String] = []
    for field in fields(names) where meant & field.mask != 0 {
      let number = (meant & field.mask) >> UInt64(field.bits.lowerBound)
      parts.append(field.bits.count == 1 ? field.name : "\(field.name)=\(number)")
      rest &= ~field.mask
    }
    // A single number is the value on the wire.
    if isInverted, parts.isEmpty { return "0x" + bits.hexadecimal() }
    if rest != 0 || parts.isEmpty { parts.append(rest == 0 ? "0" : "0x" + rest.hexadecimal()) }
    return parts.joined(separator: " | ")
  }

  private static func genericText(of value: TLVElement.Value) -> String {
    switch value {
    case .signed(let number): "\(number)"
    case .unsigned(let number): "\(number)"
    case .boolean(let value): "\(value)"
    case .float(let number): "\(number)"
    case .double(let number): "\(number)"
    case .string(let text): quoted(text)
    case .octets(let octets): octets.isEmpty ? "\"\"" : octets.hexadecimal.lowercased()
    case .null: "null"
    case .array(let entries): "[" + entries.map { genericText(of: $0.value) }.joined(separator: ", ") + "]"
    case .structure(let fields), .list(let fields):
      "{" + fields.map { "\(label($0.tag)): \(genericText(of: $0.value))" }.joined(separator: ", ") + "}"
    }
  }

  // MARK: JSON

  func json(of value: TLVElement.Value) -> String {
    switch (self, value) {
    case (.nullable(let wrapped), let value): wrapped.json(of: value)
    case (.unsigned(let bits), .unsigned(let number)), (.bitmap(let bits, _, _), .unsigned(let number)):
      bits > 32 ? "\"\(number)\"" : "\(number)"
    case (.signed(let bits), .signed(let number)): bits > 32 ? "\"\(number)\"" : "\(number)"
    case (.list(let element), .array(let entries)):
      "[" + entries.map { element.json(of: $0.value) }.joined(separator: ",") + "]"
    case (.structure(let members), .structure(let fields)):
      "{"
        + Self.named(fields, members).map { "\(Self.quoted($0.name)):\($0.schema.json(of: $0.value))" }
        .joined(separator: ",") + "}"
    default: Self.genericJSON(of: value)
    }
  }

  private static func genericJSON(of value: TLVElement.Value) -> String {
    /// The largest integer that all JSON parsers preserve.
    let exact = 1 << 53 - 1
    return switch value {
    case .signed(let number): number.magnitude > exact ? "\"\(number)\"" : "\(number)"
    case .unsigned(let number): number > exact ? "\"\(number)\"" : "\(number)"
    case .boolean(let value): "\(value)"
    case .float(let number): number.isFinite ? "\(number)" : "null"
    case .double(let number): number.isFinite ? "\(number)" : "null"
    case .string(let text): quoted(text)
    case .octets(let octets): "\"\(octets.hexadecimal.lowercased())\""
    case .null: "null"
    case .array(let entries): "[" + entries.map { genericJSON(of: $0.value) }.joined(separator: ",") + "]"
    case .structure(let fields), .list(let fields):
      "{" + fields.map { "\(quoted(label($0.tag))):\(genericJSON(of: $0.value))" }.joined(separator: ",") + "}"
    }
  }

  // MARK: Parts

  private static func named(
    _ fields: [TLVElement], _ members: [Member]
  ) -> [(name: String, schema: Schema, value: TLVElement.Value)] {
    fields.map { field in
      if case .context(let number) = field.tag, let member = members.first(where: { $0.id == number }) {
        (NormalizedName.camelCase(member.name), member.schema, field.value)
      } else {
        (label(field.tag), .any, field.value)
      }
    }
  }

  private static func label(_ tag: TLVTag) -> String {
    switch tag {
    case .anonymous: "_"
    case .context(let number): "\(number)"
    case .common(let number): "common \(number)"
    case .implicit(let number): "implicit \(number)"
    case .qualified(let vendor, let profile, let number): "\(vendor)/\(profile)/\(number)"
    }
  }

  /// Returns a JSON string with quotes.
  static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case "\u{0}"..."\u{1F}", "\u{7F}":
        result += "\\u" + scalar.value.hexadecimal(4).lowercased()
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
