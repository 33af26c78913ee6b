// Control characters of terminals: names must not contain them, and texts of devices are shown with them escaped.
extension Unicode.Scalar {
  /// A control character (C0, C1, DEL), a line or paragraph separator, or a control of the text direction.
  package var isControl: Bool {
    switch value {
    case 0...0x1F, 0x7F...0x9F, 0x2028, 0x2029, 0x202A...0x202E, 0x2066...0x2069: true
    default: false
    }
  }

  var isLineEnd: Bool { (0x0A...0x0D).contains(value) || [0x85, 0x2028, 0x2029].contains(value) }

  /// Its code: `U+001B`.
  package var escaped: String { "U+" + value.hexadecimal(4) }
}

extension String {
  /// The text with each control character replaced by its code, `<U+001B>`.
  /// - Parameter lines: whether line ends and tabs are kept.
  package func shown(lines: Bool = false) -> String {
    replacing({ $0.isControl && !(lines && ($0 == "\n" || $0 == "\t")) }) { "<\($0.escaped)>" }
  }

  /// JSON with the control characters escaped that JSON allows in strings.
  package func shownAsJSON() -> String {
    replacing({ $0.isControl && $0.value > 0x1F }) { "\\u" + $0.escaped.dropFirst(2).lowercased() }
  }

  private func replacing(_ isReplaced: (Unicode.Scalar) -> Bool, with text: (Unicode.Scalar) -> String) -> String {
    guard unicodeScalars.contains(where: isReplaced) else { return self }
    return unicodeScalars.map { isReplaced($0) ? text($0) : String($0) }.joined()
  }
}
