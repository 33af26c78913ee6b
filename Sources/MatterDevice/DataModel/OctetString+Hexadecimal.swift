import MatterModel

extension OctetString {
  /// Reads hexadecimal digits, two for each byte; nil for another text.
  init?(hexadecimal text: String) {
    let digits = Array(text.utf8)
    guard digits.count.isMultiple(of: 2), text.allSatisfy({ $0.isASCII && $0.isHexDigit }) else { return nil }
    self.init(
      stride(from: 0, to: digits.count, by: 2).compactMap { index in
        UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16)
      })
  }
}
