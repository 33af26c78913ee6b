import MatterModel

extension [UInt8] {
  /// Parses hexadecimal digits, skipping blanks, colons, commas and a `0x` prefix; a single digit is a byte. Nil for any
  /// other text and for an empty one.
  init?(hexadecimal text: some StringProtocol) {
    self = []
    for word in text.split(whereSeparator: { $0.isWhitespace || $0 == ":" || $0 == "," }) {
      let digits = word.hasPrefix("0x") || word.hasPrefix("0X") ? word.dropFirst(2) : word[...]
      guard let bytes = [UInt8](hexadecimalDigits: (digits.count == 1 ? "0" : "") + digits) else { return nil }
      self += bytes
    }
    if isEmpty { return nil }
  }
}
