public import MatterTLV

/// A type of attributes and of fields of commands, events and structures. Matter Core § 7.19.
public protocol ModelValue: TLVCodable {
  static var schema: Schema { get }
  /// Decodes an optional field. Returns nil for the values that peers send instead of omitting the field.
  static func decodeIfPresent(from reader: inout TLVReader, _ bytes: RawSpan) throws(TLVError) -> Self?
}

extension ModelValue {
  /// Decodes an optional field; null is decoded as nil.
  public static func decodeIfPresent(from reader: inout TLVReader, _ bytes: RawSpan) throws(TLVError) -> Self? {
    reader.isNull ? nil : try Self(from: &reader, bytes)
  }
}

extension Bool: ModelValue { public static var schema: Schema { .boolean } }
extension UInt8: ModelValue { public static var schema: Schema { .unsigned(bits: 8) } }
extension UInt16: ModelValue { public static var schema: Schema { .unsigned(bits: 16) } }
extension UInt32: ModelValue { public static var schema: Schema { .unsigned(bits: 32) } }
extension UInt64: ModelValue { public static var schema: Schema { .unsigned(bits: 64) } }
extension Int8: ModelValue { public static var schema: Schema { .signed(bits: 8) } }
extension Int16: ModelValue { public static var schema: Schema { .signed(bits: 16) } }
extension Int32: ModelValue { public static var schema: Schema { .signed(bits: 32) } }
extension Int64: ModelValue { public static var schema: Schema { .signed(bits: 64) } }
extension Float: ModelValue { public static var schema: Schema { .float } }
extension Double: ModelValue { public static var schema: Schema { .double } }
extension String: ModelValue { public static var schema: Schema { .string } }
extension OctetString: ModelValue { public static var schema: Schema { .octets } }
extension AnyTLV: ModelValue { public static var schema: Schema { .any } }
extension Array: ModelValue where Element: ModelValue { public static var schema: Schema { .list(Element.schema) } }
extension Nullable: ModelValue where Wrapped: ModelValue {
  public static var schema: Schema { .nullable(Wrapped.schema) }

  /// Decodes an optional field; null is a value.
  public static func decodeIfPresent(from reader: inout TLVReader, _ bytes: RawSpan) throws(TLVError) -> Self? {
    try Self(from: &reader, bytes)
  }
}
