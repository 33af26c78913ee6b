/// A decoded element with all its members. Meant for tools and tests; ``TLVReader`` is faster.
public struct TLVElement: Hashable, Sendable {
  public var tag: TLVTag
  public var value: Value

  /// The value of an element, by type.
  public enum Value: Hashable, Sendable {
    /// Numbers; their width on the wire is not kept.
    case signed(Int64), unsigned(UInt64), boolean(Bool), float(Float), double(Double)
    /// Text in UTF-8, bytes, and null, which is distinct from absent.
    case string(String), octets([UInt8]), null
    /// Members of a structure are tagged and unordered, members of an array have no tags, members of a list may have
    /// tags.
    case structure([TLVElement]), array([TLVElement]), list([TLVElement])
  }

  public init(_ value: Value, tag: TLVTag = .anonymous) {
    self.tag = tag
    self.value = value
  }

  /// Decodes bytes that hold exactly one element.
  public init(decoding bytes: [UInt8]) throws(TLVError) {
    let span = bytes.span.bytes
    var reader = TLVReader()
    guard try reader.next(span) else { throw .truncated }
    try self.init(current: &reader, span)
    guard try !reader.next(span) else { throw .trailingBytes }
  }

  /// Decodes the current element of the reader.
  public init(current reader: inout TLVReader, _ bytes: RawSpan) throws(TLVError) {
    tag = reader.tag
    switch reader.type {
    case .signedInteger: value = .signed(try reader.signed())
    case .unsignedInteger: value = .unsigned(try reader.unsigned())
    case .boolean: value = .boolean(try reader.boolean())
    case .float: value = .float(try reader.float())
    case .double: value = .double(try reader.double())
    case .utf8String: value = .string(try reader.string(bytes))
    case .octetString: value = .octets(try reader.octets(bytes))
    case .null: value = .null
    case .structure, .array, .list:
      let type = reader.type
      var members: [TLVElement] = []
      try reader.enter(bytes)
      while try reader.next(bytes) { members.append(try TLVElement(current: &reader, bytes)) }
      try reader.leave(bytes)
      value = type == .structure ? .structure(members) : type == .array ? .array(members) : .list(members)
    }
  }

  /// The member of a structure or list with this context tag.
  public subscript(_ number: UInt8) -> TLVElement? {
    switch value {
    case .structure(let members), .list(let members): members.first { $0.tag == .context(number) }
    default: nil
    }
  }

  /// The canonical encoding.
  public var encoded: [UInt8] {
    var writer = TLVWriter()
    write(to: &writer)
    return writer.bytes
  }

  /// Writes the element with its tag.
  public func write(to writer: inout TLVWriter) { value.write(to: &writer, tag) }
}

extension TLVElement.Value {
  func write(to writer: inout TLVWriter, _ tag: TLVTag) {
    switch self {
    case .signed(let value): writer.write(value, tag)
    case .unsigned(let value): writer.write(value, tag)
    case .boolean(let value): writer.write(value, tag)
    case .float(let value): writer.write(value, tag)
    case .double(let value): writer.write(value, tag)
    case .string(let value): writer.write(value, tag)
    case .octets(let value): writer.write(octets: value, tag)
    case .null: writer.writeNull(tag)
    case .structure(let members):
      writer.startStructure(tag)
      for member in members { member.write(to: &writer) }
      writer.end()
    case .array(let members):
      writer.startArray(tag)
      for member in members { member.write(to: &writer) }
      writer.end()
    case .list(let members):
      writer.startList(tag)
      for member in members { member.write(to: &writer) }
      writer.end()
    }
  }
}
