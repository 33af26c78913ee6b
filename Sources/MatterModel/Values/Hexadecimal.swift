// Hexadecimal digits of numbers and bytes, for messages, names and keys.

extension BinaryInteger {
  /// Returns the hexadecimal digits in upper case, with leading zeros up to a number of digits.
  package func hexadecimal(_ count: Int = 1) -> String {
    let digits = String(self, radix: 16, uppercase: true)
    return String(repeating: "0", count: Swift.max(count - digits.count, 0)) + digits
  }
}

extension FixedWidthInteger {
  /// Parses a decimal number, or a hexadecimal one with the prefix `0x` or `0X`.
  package init?(numeral text: some StringProtocol) {
    let isHexadecimal = text.hasPrefix("0x") || text.hasPrefix("0X")
    self.init(text.dropFirst(isHexadecimal ? 2 : 0), radix: isHexadecimal ? 16 : 10)
  }
}

extension Sequence<UInt8> {
  /// Two hexadecimal digits in upper case for each byte.
  package var hexadecimal: String { map { $0.hexadecimal(2) }.joined() }
}

extension [UInt8] {
  /// Parses two hexadecimal digits for each byte; nil for any other text.
  package init?(hexadecimalDigits text: some StringProtocol) {
    let digits = text.compactMap { $0.isASCII ? $0.hexDigitValue : nil }
    guard digits.count == text.count, digits.count.isMultiple(of: 2) else { return nil }
    self = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }
}
