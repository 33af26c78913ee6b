/// Tags of the ASN.1 types in certificates (ITU-T X.690 § 8).
enum DERTag {
  static let boolean: UInt8 = 0x01, integer: UInt8 = 0x02, bitString: UInt8 = 0x03, octetString: UInt8 = 0x04
  static let null: UInt8 = 0x05, objectIdentifier: UInt8 = 0x06, utf8String: UInt8 = 0x0C
  static let sequence: UInt8 = 0x30, set: UInt8 = 0x31
  static let printableString: UInt8 = 0x13, utcTime: UInt8 = 0x17
  static let generalizedTime: UInt8 = 0x18

  /// A context-specific tag that encloses other elements.
  static func explicit(_ number: UInt8) -> UInt8 { 0xA0 | number }
  /// A context-specific tag that replaces that of a primitive type.
  static func implicit(_ number: UInt8) -> UInt8 { 0x80 | number }
}

/// An element with its tag, content and complete encoding.
struct DERElement {
  let tag: UInt8
  let content: ArraySlice<UInt8>
  let encoded: ArraySlice<UInt8>
}

/// Reads DER elements in order. Accepts only DER: definite lengths in their shortest form.
struct DERReader {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }
  init(_ bytes: [UInt8]) { rest = bytes[...] }

  var isAtEnd: Bool { rest.isEmpty }
  var nextTag: UInt8? { rest.first }

  mutating func next() throws(CertificateError) -> DERElement {
    let whole = rest
    guard let tag = rest.popFirst() else { throw .malformed("DER: missing element") }
    guard tag & 0x1F != 0x1F else { throw .malformed("DER: long tag") }
    guard let first = rest.popFirst() else { throw .malformed("DER: truncated") }
    var length = Int(first)
    if first >= 0x80 {
      let count = Int(first & 0x7F)
      guard 1...3 ~= count, rest.count >= count else { throw .malformed("DER: length") }
      length = rest.prefix(count).reduce(0) { $0 << 8 | Int($1) }
      rest = rest.dropFirst(count)
      guard length >= 0x80, length >> (8 * (count - 1)) != 0 else { throw .malformed("DER: length not shortest") }
    }
    guard rest.count >= length else { throw .malformed("DER: truncated") }
    let content = rest.prefix(length)
    rest = rest.dropFirst(length)
    return DERElement(tag: tag, content: content, encoded: whole.prefix(content.endIndex - whole.startIndex))
  }

  /// Returns the content of the next element, which must have this tag.
  mutating func read(_ tag: UInt8) throws(CertificateError) -> ArraySlice<UInt8> {
    let element = try next()
    guard element.tag == tag else { throw .malformed("DER: tag \(element.tag) in place of \(tag)") }
    return element.content
  }

  /// Returns a reader for the content of the next element.
  mutating func enter(_ tag: UInt8 = DERTag.sequence) throws(CertificateError) -> DERReader {
    DERReader(try read(tag))
  }

  /// Throws if elements follow.
  func finish() throws(CertificateError) {
    guard rest.isEmpty else { throw .malformed("DER: trailing elements") }
  }

  // MARK: Types

  mutating func objectIdentifier() throws(CertificateError) -> [UInt8] {
    let content = Array(try read(DERTag.objectIdentifier))
    guard let last = content.last, last < 0x80 else { throw .malformed("DER: object identifier") }
    return content
  }

  /// The content of an INTEGER, in two's complement.
  mutating func integer() throws(CertificateError) -> [UInt8] {
    let content = Array(try read(DERTag.integer))
    guard let first = content.first else { throw .malformed("DER: empty integer") }
    if content.count > 1, (first == 0 && content[1] < 0x80) || (first == 0xFF && content[1] >= 0x80) {
      throw .malformed("DER: integer not shortest")
    }
    return content
  }

  /// A number of one octet, 0 to 127.
  mutating func smallInteger() throws(CertificateError) -> UInt8 {
    let content = try integer()
    guard content.count == 1, content[0] < 0x80 else { throw .malformed("DER: integer out of range") }
    return content[0]
  }

  /// A BOOLEAN with default false, which must be omitted if false.
  mutating func booleanIfTrue() throws(CertificateError) -> Bool {
    guard nextTag == DERTag.boolean else { return false }
    guard try read(DERTag.boolean).elementsEqual([0xFF]) else { throw .malformed("DER: boolean") }
    return true
  }

  /// A BIT STRING of whole octets.
  mutating func octetsOfBitString() throws(CertificateError) -> [UInt8] {
    let content = try read(DERTag.bitString)
    guard content.first == 0 else { throw .malformed("DER: bit string") }
    return Array(content.dropFirst())
  }

  /// A BIT STRING of at most 16 named bits; bit 0 of the result is the first.
  mutating func namedBits() throws(CertificateError) -> UInt16 {
    let content = Array(try read(DERTag.bitString))
    guard 1...3 ~= content.count, content[0] < 8 else { throw .malformed("DER: bit string") }
    let octets = content.dropFirst()
    guard let last = octets.last else {
      guard content[0] == 0 else { throw .malformed("DER: bit string") }
      return 0
    }
    guard last.trailingZeroBitCount == Int(content[0]) else { throw .malformed("DER: named bits not shortest") }
    var bits: UInt16 = 0
    for (index, octet) in octets.enumerated() {
      for bit in 0..<8 where octet & (0x80 >> UInt8(bit)) != 0 { bits |= 1 << UInt16(index * 8 + bit) }
    }
    return bits
  }
}
