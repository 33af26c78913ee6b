internal import HomeModel
internal import MatterClusters
internal import MatterTLV
internal import WebClient

/// Converts TLV to JSON by the declared schema.
struct ValueEncoder {
  /// The keys of structures.
  enum Keys {
    /// Decimal context tags, for attributes.
    case tags
    /// Field names, for responses and events. Undeclared fields have their tag.
    case names
  }

  var keys: Keys

  /// Returns the JSON value of an attribute; nil if the bytes are not a value of its declared type, which a client
  /// could not read. An undeclared attribute is converted by its TLV types.
  static func attribute(_ path: ConcreteAttributePath, _ tlv: [UInt8]) -> JSONValue? {
    let declared = ClusterCatalogue.cluster(path.cluster)?.attribute(path.attribute)
    return try? ValueEncoder(keys: .tags).value(tlv, declared?.schema ?? .any)
  }

  static func fields(_ tlv: [UInt8], _ schema: Schema?) throws(TLVError) -> JSONValue {
    try ValueEncoder(keys: .names).value(tlv, schema ?? .any)
  }

  /// Converts bytes that are one element.
  func value(_ tlv: [UInt8], _ schema: Schema) throws(TLVError) -> JSONValue {
    let bytes = tlv.span.bytes
    var reader = TLVReader()
    guard try reader.next(bytes) else { throw .truncated }
    return try value(&reader, bytes, schema)
  }

  private func value(
    _ reader: inout TLVReader, _ bytes: RawSpan, _ schema: Schema
  ) throws(TLVError) -> JSONValue {
    // A null of a type that has none is passed on: clients replace it by their default.
    if reader.isNull { return .null }
    switch schema {
    case .nullable(let inner): return try value(&reader, bytes, inner)
    case .any: return try value(&reader, bytes, Self.schema(of: reader.type))
    case .boolean: return .bool(try reader.boolean())
    case .unsigned, .signed, .enumeration, .bitmap: return try integer(reader)
    case .float, .double: return try number(reader)
    case .string: return .string(try reader.string(bytes))
    case .octets: return .string(Base64.encode(try reader.octets(bytes)))
    case .list(let element):
      var values: [JSONValue] = []
      try reader.array(bytes) { (reader: inout TLVReader) throws(TLVError) in
        values.append(try value(&reader, bytes, element))
      }
      return .array(values)
    case .structure(let declared): return try structure(&reader, bytes, declared)
    }
  }

  private func integer(_ reader: TLVReader) throws(TLVError) -> JSONValue {
    reader.type == .signedInteger ? .int(try reader.signed()) : .int(try reader.unsigned())
  }

  private func number(_ reader: TLVReader) throws(TLVError) -> JSONValue {
    let value = reader.type == .float ? Double(try reader.float()) : try reader.double()
    return value.isFinite ? .number(value) : .null
  }

  private func structure(
    _ reader: inout TLVReader, _ bytes: RawSpan, _ declared: [Schema.Member]
  ) throws(TLVError) -> JSONValue {
    var members: [JSONValue.Member] = []
    try reader.structure(bytes) { (reader: inout TLVReader, tag) throws(TLVError) in
      guard case .context(let number) = tag else { return }
      let member = declared.first { $0.id == number }
      let name =
        switch (keys, member) {
        case (.names, let member?): FieldNames.label(member.name)
        default: String(number)
        }
      members.append(JSONValue.Member(name, try value(&reader, bytes, member?.schema ?? .any)))
    }
    return .object(members)
  }

  /// Returns the schema of an element whose type is not declared.
  private static func schema(of type: TLVType) -> Schema {
    switch type {
    case .signedInteger, .unsignedInteger: .signed(bits: 64)
    case .boolean: .boolean
    case .float, .double, .null: .double
    case .utf8String: .string
    case .octetString: .octets
    case .structure: .structure([])
    case .array, .list: .list(.any)
    }
  }
}
