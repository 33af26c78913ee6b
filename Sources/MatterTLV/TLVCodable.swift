/// A type with a TLV encoding.
public protocol TLVCodable: Sendable, Hashable {
  /// Decodes the current element of the reader.
  init(from reader: inout TLVReader, _ bytes: RawSpan) throws(TLVError)
  /// Writes the value as one element with the given tag.
  func encode(to writer: inout TLVWriter, _ tag: TLVTag)
}

extension TLVCodable {
  /// Decodes bytes that hold exactly one element, with any tag.
  public init(tlv bytes: [UInt8]) throws(TLVError) {
    let span = bytes.span.bytes
    var reader = TLVReader()
    guard try reader.next(span) else { throw .truncated }
    try self.init(from: &reader, span)
    guard try !reader.next(span) else { throw .trailingBytes }
  }

  /// The canonical encoding, with an anonymous tag.
  public var tlv: [UInt8] {
    // The smallest allocation has space for eight bytes, as most numbers need.
    var writer = TLVWriter(reservingCapacity: 8)
    encode(to: &writer, .anonymous)
    return writer.bytes
  }
}

extension Bool: TLVCodable {
  public init(from reader: inout TLVReader, _ bytes: RawSpan) throws(TLVError) { self = try reader.boolean() }
  public func encode(to writer: inout TLVWriter, _ tag: TLVTag) { writer.write(self, tag) }
}

extension Float: TLVCodable {
  public init(from reader: inout TLVReader, _ bytes: RawSpan) throws(TLVError) { self = try reader.float() }
  public func encode(to writer: inout TLVWriter, _ tag: TLVTag) { writer.write(self, tag) }
}

extension Double: TLVCodable {
  public init(from reader: inout TLVReader, _ bytes: RawSpan) throws(TLVError) { self = try reader.double() }
  public func encode(to writer: inout TLVWriter, _ tag: TLVTag) { writer.write(self, tag) }
}

extension String: TLVCodable {
  public init(from reader: inout TLVReader, _ bytes: RawSpan) throws(TLVError) { self = try reader.string(bytes) }
  public func encode(to writer: inout TLVWriter, _ tag: TLVTag) { writer.write(self, tag) }
}

// Inlinable, because other modules have copies of the conformances below, which would call the unspecialized functions.

extension TLVCodable where Self: UnsignedInteger & FixedWidthInteger {
  @inlinable public init(from reader: inout TLVReader, _ bytes: RawSpan) throws(TLVError) {
    self = try reader.unsigned(as: Self.self)
  }
  @inlinable public func encode(to writer: inout TLVWriter, _ tag: TLVTag) { writer.write(UInt64(self), tag) }
}

extension TLVCodable where Self: SignedInteger & FixedWidthInteger {
  @inlinable public init(from reader: inout TLVReader, _ bytes: RawSpan) throws(TLVError) {
    self = try reader.signed(as: Self.self)
  }
  @inlinable public func encode(to writer: inout TLVWriter, _ tag: TLVTag) { writer.write(Int64(self), tag) }
}

extension UInt8: TLVCodable {}
extension UInt16: TLVCodable {}
extension UInt32: TLVCodable {}
extension UInt64: TLVCodable {}
extension Int8: TLVCodable {}
extension Int16: TLVCodable {}
extension Int32: TLVCodable {}
extension Int64: TLVCodable {}

extension Array: TLVCodable where Element: TLVCodable {
  public init(from reader: inout TLVReader, _ bytes: RawSpan) throws(TLVError) {
    guard reader.type == .array else { throw .unexpectedType(found: reader.type, expected: "array") }
    self = []
    try reader.enter(bytes)
    while try reader.next(bytes) { append(try Element(from: &reader, bytes)) }
    try reader.leave(bytes)
  }

  public func encode(to writer: inout TLVWriter, _ tag: TLVTag) {
    writer.startArray(tag)
    for element in self { element.encode(to: &writer, .anonymous) }
    writer.end()
  }
}

/// An octet string; a plain `[UInt8]` is encoded as an array of numbers.
public struct OctetString: TLVCodable, ExpressibleByArrayLiteral {
  /// The content, possibly empty.
  public var bytes: [UInt8]

  public init(_ bytes: [UInt8]) { self.bytes = bytes }
  public init(arrayLiteral elements: UInt8...) { bytes = elements }

  public init(from reader: inout TLVReader, _ bytes: RawSpan) throws(TLVError) { self.bytes = try reader.octets(bytes) }
  public func encode(to writer: inout TLVWriter, _ tag: TLVTag) { writer.write(octets: bytes, tag) }
}

/// A value that may be null, as distinct from absent, on the wire.
public enum Nullable<Wrapped: TLVCodable>: TLVCodable {
  case null
  /// A value other than null.
  case value(Wrapped)

  public init(_ wrapped: Wrapped?) { self = wrapped.map { .value($0) } ?? .null }

  /// The value, nil if null.
  public var wrapped: Wrapped? {
    if case .value(let value) = self { value } else { nil }
  }

  public init(from reader: inout TLVReader, _ bytes: RawSpan) throws(TLVError) {
    self = reader.isNull ? .null : .value(try Wrapped(from: &reader, bytes))
  }

  public func encode(to writer: inout TLVWriter, _ tag: TLVTag) {
    switch self {
    case .null: writer.writeNull(tag)
    case .value(let value): value.encode(to: &writer, tag)
    }
  }
}

/// A list member of any type, kept in its encoded form (anonymous tag).
public struct AnyTLV: TLVCodable {
  /// One element with an anonymous tag.
  public var encoded: [UInt8]

  public init(encoded: [UInt8]) { self.encoded = encoded }
  public init(from reader: inout TLVReader, _ bytes: RawSpan) throws(TLVError) {
    encoded = try reader.anonymousElement(bytes)
  }
  public func encode(to writer: inout TLVWriter, _ tag: TLVTag) { writer.write(encoded: encoded, tag) }
}
