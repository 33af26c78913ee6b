internal import MatterModel
internal import MatterTLV
internal import WebClient

/// Converts JSON to TLV by the declared schema, for writes and command payloads.
struct ValueDecoder {
  /// The value does not fit the schema.
  struct Failure: Error, Hashable {
    /// The names of the fields and the indices of the entries that lead to the value.
    var path: [String]
    var reason: String

    var text: String { path.isEmpty ? reason : "\(path.joined(separator: ".")): \(reason)" }
  }

  private var writer = TLVWriter()
  private var path: [String] = []
  private let absentIsNull: Bool

  private init(absentIsNull: Bool) { self.absentIsNull = absentIsNull }

  /// Returns the value as one TLV element with an anonymous tag.
  /// - Parameter absentIsNull: whether an absent field that may be null is null, instead of an error.
  static func tlv(_ value: JSONValue, _ schema: Schema, absentIsNull: Bool = false) throws(Failure) -> [UInt8] {
    var decoder = ValueDecoder(absentIsNull: absentIsNull)
    try decoder.write(value, schema, .anonymous)
    return decoder.writer.bytes
  }

  private func failure(_ reason: String) -> Failure { Failure(path: path, reason: reason) }

  private mutating func write(_ value: JSONValue, _ schema: Schema, _ tag: TLVTag) throws(Failure) {
    switch schema {
    case .nullable(let inner):
      if value.isNull { writer.writeNull(tag) } else { try write(value, inner, tag) }
    case .any: try writeAny(value, tag)
    case .boolean:
      guard let value = value.bool else { throw failure("expected true or false") }
      writer.write(value, tag)
    case .unsigned(let bits), .enumeration(let bits, _), .bitmap(let bits, _, _):
      guard let number = value.integer(as: UInt64.self), bits >= 64 || number >> UInt64(bits) == 0 else {
        throw failure("expected an unsigned integer of \(bits) bits")
      }
      writer.write(number, tag)
    case .signed(let bits):
      guard let number = value.integer(as: Int64.self),
        bits >= 64 || number >> Int64(bits - 1) == 0 || number >> Int64(bits - 1) == -1
      else { throw failure("expected an integer of \(bits) bits") }
      writer.write(number, tag)
    case .float: writer.write(Float(try number(value)), tag)
    case .double: writer.write(try number(value), tag)
    case .string:
      guard let text = value.text else { throw failure("expected a string") }
      writer.write(text, tag)
    case .octets:
      guard let text = value.text, let octets = Base64.decode(text) else { throw failure("expected base64") }
      writer.write(octets: octets, tag)
    case .list(let element):
      guard let entries = value.array else { throw failure("expected an array") }
      writer.startArray(tag)
      for (index, entry) in entries.enumerated() {
        try within(String(index)) { decoder throws(Failure) in try decoder.write(entry, element, .anonymous) }
      }
      writer.end()
    case .structure(let declared): try writeStructure(value, declared, tag)
    }
  }

  private func number(_ value: JSONValue) throws(Failure) -> Double {
    switch value {
    case .number(let value): value
    case .integer(let value): Double(value)
    default: throw failure("expected a number")
    }
  }

  private mutating func within(_ name: String, _ body: (inout Self) throws(Failure) -> Void) throws(Failure) {
    path.append(name)
    try body(&self)
    path.removeLast()
  }

  /// Writes the declared members; keys without a declaration are ignored, except tags, whose values are kept.
  private mutating func writeStructure(
    _ value: JSONValue, _ declared: [Schema.Member], _ tag: TLVTag
  ) throws(Failure) {
    guard let members = value.members else { throw failure("expected an object") }
    writer.startStructure(tag)
    for member in declared {
      // The server fills in the fabric of an entry.
      if member.id == GlobalAttribute.fabricIndexField { continue }
      var value = members.last { FieldNames.matches($0.name, member) }?.value
      if value == nil, absentIsNull, !member.isOptional, member.schema.isNullable { value = .null }
      guard let value, !(value.isNull && member.isOptional && !member.schema.isNullable) else {
        if member.isOptional { continue }
        path.append(FieldNames.label(member.name))
        throw failure("missing")
      }
      try within(FieldNames.label(member.name)) { decoder throws(Failure) in
        try decoder.write(value, member.schema, .context(member.id))
      }
    }
    for member in members {
      guard let tag = FieldNames.tag(member.name), tag != GlobalAttribute.fabricIndexField,
        !declared.contains(where: { $0.id == tag })
      else { continue }
      try within(member.name) { decoder throws(Failure) in try decoder.writeAny(member.value, .context(tag)) }
    }
    writer.end()
  }

  /// Writes a value whose type is not declared: a string is text, and an integer is unsigned unless it is negative.
  private mutating func writeAny(_ value: JSONValue, _ tag: TLVTag) throws(Failure) {
    switch value {
    case .null: writer.writeNull(tag)
    case .bool(let value): writer.write(value, tag)
    case .integer(let value):
      if let unsigned = UInt64(exactly: value) {
        writer.write(unsigned, tag)
      } else if let signed = Int64(exactly: value) {
        writer.write(signed, tag)
      }
    case .number(let value): writer.write(value, tag)
    case .string(let text): writer.write(text, tag)
    case .array(let values):
      writer.startArray(tag)
      for value in values { try writeAny(value, .anonymous) }
      writer.end()
    case .object: try writeStructure(value, [], tag)
    }
  }
}

extension Schema {
  fileprivate var isNullable: Bool { if case .nullable = self { true } else { false } }
}
