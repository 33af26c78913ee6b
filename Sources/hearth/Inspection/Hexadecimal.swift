extension [UInt8] {
  /// Parses hexadecimal digits, skipping blanks, colons, commas and a `0x` prefix; a single digit is a byte. Nil for any
  /// other text and for an empty one.
  init?(hexadecimal text: some StringProtocol) {
    self = []
    for word in text.split(whereSeparator: { $0.isWhitespace || $0 == ":" || $0 == "," }) {
      let digits = word.hasPrefix("0x") || word.hasPrefix("0X") ? word.dropFirst(2) : word[...]
      var high: UInt8?
      for digit in digits {
        guard digit.isASCII, let value = digit.hexDigitValue.map({ UInt8($0) }) else { return nil }
        if let first = high {
          append(first << 4 | value)
          high = nil
        } else {
          high = value
        }
      }
      if let single = high {
        guard digits.count == 1 else { return nil }
        append(single)
      }
    }
    if isEmpty { return nil }
  }
}
