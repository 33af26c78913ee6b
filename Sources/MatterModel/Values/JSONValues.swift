// The JSON forms of octets and durations. A synthesized `Codable` conformance calls these methods, because they are more specific
// than those of the standard library, which encode arrays of numbers.

extension KeyedEncodingContainer {
  /// Encodes octets as base64.
  package mutating func encode(_ octets: [UInt8], forKey key: Key) throws {
    try encode(Base64.encode(octets), forKey: key)
  }

  package mutating func encodeIfPresent(_ octets: [UInt8]?, forKey key: Key) throws {
    if let octets { try encode(octets, forKey: key) }
  }

  /// Encodes a duration in milliseconds.
  package mutating func encode(_ duration: Duration, forKey key: Key) throws {
    let (seconds, attoseconds) = duration.components
    let (whole, isTooLong) = seconds.multipliedReportingOverflow(by: 1000)
    guard !isTooLong else {
      throw EncodingError.invalidValue(
        duration, .init(codingPath: codingPath + [key], debugDescription: "the duration is too long"))
    }
    try encode(whole + attoseconds / 1_000_000_000_000_000, forKey: key)
  }

  package mutating func encodeIfPresent(_ duration: Duration?, forKey key: Key) throws {
    if let duration { try encode(duration, forKey: key) }
  }
}

extension KeyedDecodingContainer {
  /// Decodes octets from base64.
  package func decode(_: [UInt8].Type, forKey key: Key) throws -> [UInt8] {
    guard let octets = Base64.decode(try decode(String.self, forKey: key)) else {
      throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: "expected base64")
    }
    return octets
  }

  package func decodeIfPresent(_: [UInt8].Type, forKey key: Key) throws -> [UInt8]? {
    guard contains(key), try !decodeNil(forKey: key) else { return nil }
    return try decode([UInt8].self, forKey: key)
  }

  /// Decodes a duration from milliseconds.
  package func decode(_: Duration.Type, forKey key: Key) throws -> Duration {
    .milliseconds(try decode(Int64.self, forKey: key))
  }

  package func decodeIfPresent(_: Duration.Type, forKey key: Key) throws -> Duration? {
    try decodeIfPresent(Int64.self, forKey: key).map { .milliseconds($0) }
  }
}

/// Standard base64 with padding. RFC 4648 § 4.
package enum Base64 {
  private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let padding = UInt8(ascii: "=")

  package static func encode(_ octets: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((octets.count + 2) / 3 * 4)
    for start in stride(from: 0, to: octets.count, by: 3) {
      let group = octets[start..<min(start + 3, octets.count)]
      let bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
      for position in 0..<4 {
        text.append(position > group.count ? padding : digits[Int(bits >> UInt32(18 - 6 * position) & 0x3F)])
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Returns nil if the text is not base64 with padding.
  package static func decode(_ text: String) -> [UInt8]? {
    let characters = Array(text.utf8)
    guard characters.count.isMultiple(of: 4) else { return nil }
    let end = characters.suffix(2).firstIndex(of: padding) ?? characters.count
    guard characters[end...].allSatisfy({ $0 == padding }) else { return nil }
    var octets: [UInt8] = []
    octets.reserveCapacity(characters.count / 4 * 3)
    var (bits, count) = (UInt32(0), 0)
    for character in characters[..<end] {
      guard let value = value(of: character) else { return nil }
      bits = (bits << 6 | value) & 0xFFFFFF
      count += 6
      guard count >= 8 else { continue }
      count -= 8
      octets.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
    }
    return octets
  }

  private static func value(of character: UInt8) -> UInt32? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a") + 26)
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0") + 52)
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
