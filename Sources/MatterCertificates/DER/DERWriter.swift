/// Encodes DER.
struct DERWriter {
  private(set) var bytes: [UInt8] = []

  /// Writes an element with this content.
  mutating func write(_ tag: UInt8, _ content: some Collection<UInt8>) {
    bytes.append(tag)
    let count = content.count
    switch count {
    case ..<0x80: bytes.append(UInt8(count))
    case ..<0x100: bytes += [0x81, UInt8(count)]
    case ..<0x1_0000: bytes += [0x82, UInt8(count >> 8), UInt8(count & 0xFF)]
    default: bytes += [0x83, UInt8(truncatingIfNeeded: count >> 16), UInt8(count >> 8 & 0xFF), UInt8(count & 0xFF)]
    }
    bytes += content
  }

  /// Writes an element that contains the elements that `body` writes.
  mutating func nest(_ tag: UInt8 = DERTag.sequence, _ body: (inout DERWriter) -> Void) {
    var inner = DERWriter()
    body(&inner)
    write(tag, inner.bytes)
  }

  /// Appends an encoded element.
  mutating func append(_ encoded: some Collection<UInt8>) { bytes += encoded }

  mutating func write(objectIdentifier: [UInt8]) { write(DERTag.objectIdentifier, objectIdentifier) }
  mutating func write(octets: some Collection<UInt8>) { write(DERTag.octetString, octets) }
  mutating func writeTrue() { write(DERTag.boolean, [0xFF]) }

  /// Writes a number up to 127, or up to 255 with a leading zero.
  mutating func write(integer: UInt8) { write(DERTag.integer, integer < 0x80 ? [integer] : [0, integer]) }

  /// Writes a BIT STRING of whole octets.
  mutating func write(bits octets: [UInt8]) { write(DERTag.bitString, [0] + octets) }

  /// Writes a BIT STRING of named bits without trailing zeros; bit 0 is the first.
  mutating func write(namedBits bits: UInt16) {
    var octets: [UInt8] = [0, 0]
    for bit in 0..<16 where bits & (1 << UInt16(bit)) != 0 { octets[bit / 8] |= 0x80 >> UInt8(bit % 8) }
    while octets.last == 0 { octets.removeLast() }
    write(DERTag.bitString, [UInt8(octets.last?.trailingZeroBitCount ?? 0)] + octets)
  }
}
