/// Parses JSON text (RFC 8259) with a bounded nesting depth. The caller bounds the size.
package struct JSONParser {
  /// The maximum number of nested arrays and objects.
  package static let maximumDepth = 32

  /// The text is not JSON, or nests too deep.
  package struct Failure: Error, Hashable, CustomStringConvertible {
    package var reason: String
    /// The offset in bytes.
    package var offset: Int

    package var description: String { "\(reason) at byte \(offset)" }
  }

  private let bytes: [UInt8]
  private var offset = 0

  private init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Parses a text that is exactly one value.
  package static func parse(_ bytes: [UInt8]) throws(Failure) -> JSONValue {
    var parser = JSONParser(bytes)
    let value = try parser.value(depth: 0)
    parser.skipBlanks()
    guard parser.offset == bytes.count else { throw parser.failure("unexpected text after the value") }
    return value
  }

  private func failure(_ reason: String) -> Failure { Failure(reason: reason, offset: offset) }

  /// The next byte; nil at the end.
  private var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

  private mutating func skipBlanks() {
    while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { offset += 1 }
  }

  /// Skips blanks and the byte, if it comes next.
  private mutating func skip(_ byte: UInt8) -> Bool {
    skipBlanks()
    guard next == byte else { return false }
    offset += 1
    return true
  }

  private mutating func value(depth: Int) throws(Failure) -> JSONValue {
    skipBlanks()
    switch next {
    case UInt8(ascii: "{"): return try object(depth: depth + 1)
    case UInt8(ascii: "["): return try array(depth: depth + 1)
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    case let byte? where byte == UInt8(ascii: "-") || Self.isDigit(byte): return try number()
    case nil: throw failure("unexpected end")
    default: throw failure("unexpected character")
    }
  }

  private mutating func word(_ text: StaticString, _ value: JSONValue) throws(Failure) -> JSONValue {
    guard skipText(text) else { throw failure("unexpected character") }
    return value
  }

  private mutating func array(depth: Int) throws(Failure) -> JSONValue {
    guard depth <= Self.maximumDepth else { throw failure("nested too deep") }
    offset += 1
    var values: [JSONValue] = []
    if skip(UInt8(ascii: "]")) { return .array(values) }
    while true {
      values.append(try value(depth: depth))
      if skip(UInt8(ascii: "]")) { return .array(values) }
      guard skip(UInt8(ascii: ",")) else { throw failure("expected a comma or the end of the array") }
    }
  }

  private mutating func object(depth: Int) throws(Failure) -> JSONValue {
    guard depth <= Self.maximumDepth else { throw failure("nested too deep") }
    offset += 1
    var members: [JSONValue.Member] = []
    if skip(UInt8(ascii: "}")) { return .object(members) }
    while true {
      skipBlanks()
      guard next == UInt8(ascii: "\"") else { throw failure("expected a name") }
      let name = try string()
      guard skip(UInt8(ascii: ":")) else { throw failure("expected a colon") }
      members.append(JSONValue.Member(name, try value(depth: depth)))
      if skip(UInt8(ascii: "}")) { return .object(members) }
      guard skip(UInt8(ascii: ",")) else { throw failure("expected a comma or the end of the object") }
    }
  }

  // MARK: Numbers

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  private mutating func digits() -> Int {
    let start = offset
    while let byte = next, Self.isDigit(byte) { offset += 1 }
    return offset - start
  }

  private mutating func number() throws(Failure) -> JSONValue {
    let start = offset
    if next == UInt8(ascii: "-") { offset += 1 }
    let first = next
    let count = digits()
    guard count == 1 || count > 1 && first != UInt8(ascii: "0") else { throw failure("malformed number") }
    var isInteger = true
    if next == UInt8(ascii: ".") {
      isInteger = false
      offset += 1
      guard digits() > 0 else { throw failure("malformed number") }
    }
    if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
      isInteger = false
      offset += 1
      if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { offset += 1 }
      guard digits() > 0 else { throw failure("malformed number") }
    }
    let text = String(decoding: bytes[start..<offset], as: UTF8.self)
    if isInteger, count <= 20, let value = Int128(text), value >= Int128(Int64.min), value <= Int128(UInt64.max) {
      return .integer(value)
    }
    guard let value = Double(text), value.isFinite else { throw failure("number out of range") }
    return .number(value)
  }

  // MARK: Strings

  private mutating func string() throws(Failure) -> String {
    offset += 1
    let start = offset
    // Strings without escapes, nearly all, are copied at once.
    while let byte = next, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 { offset += 1 }
    var text = Array(bytes[start..<offset])
    while true {
      guard let byte = next else { throw failure("unterminated string") }
      offset += 1
      switch byte {
      case UInt8(ascii: "\""):
        guard let text = String(validating: text, as: UTF8.self) else { throw failure("invalid UTF-8") }
        return text
      case UInt8(ascii: "\\"): text += Array(String(Character(try escape())).utf8)
      case 0..<0x20: throw failure("control character in a string")
      default: text.append(byte)
      }
    }
  }

  private mutating func escape() throws(Failure) -> Unicode.Scalar {
    guard let byte = next else { throw failure("unterminated string") }
    offset += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"):
      let high = try unit()
      if let scalar = Unicode.Scalar(high) { return scalar }
      guard high < 0xDC00, skipText("\\u") else { throw failure("unpaired surrogate") }
      let low = try unit()
      guard (0xDC00...0xDFFF).contains(low),
        let scalar = Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00))
      else { throw failure("unpaired surrogate") }
      return scalar
    default: throw failure("unknown escape")
    }
  }

  private mutating func skipText(_ text: StaticString) -> Bool {
    let count = text.utf8CodeUnitCount
    guard text.withUTF8Buffer({ bytes[offset...].prefix(count).elementsEqual($0) }) else { return false }
    offset += count
    return true
  }

  /// Four hexadecimal digits.
  private mutating func unit() throws(Failure) -> UInt32 {
    let digits = bytes[offset...].prefix(4)
    guard digits.count == 4, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
      let value = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
    else { throw failure("malformed escape") }
    offset += 4
    return value
  }
}
