internal import MatterModel
internal import MatterTLV

/// An octet string of a fixed length. Decoding another length throws `outOfRange`.
struct Octets<let length: Int>: ModelValue, ExpressibleByArrayLiteral {
  var bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }
  init(arrayLiteral elements: UInt8...) { bytes = elements }

  static var schema: Schema { .octets }

  init(from reader: inout TLVReader, _ bytes: RawSpan) throws(TLVError) {
    self.bytes = try reader.octets(bytes)
    guard self.bytes.count == length else { throw .outOfRange }
  }

  /// Decodes an optional field; null and an empty string become nil.
  static func decodeIfPresent(from reader: inout TLVReader, _ bytes: RawSpan) throws(TLVError) -> Self? {
    if reader.isNull { return nil }
    let octets = try reader.octets(bytes)
    if octets.isEmpty { return nil }
    guard octets.count == length else { throw .outOfRange }
    return Self(octets)
  }

  func encode(to writer: inout TLVWriter, _ tag: TLVTag) { writer.write(octets: bytes, tag) }
}
