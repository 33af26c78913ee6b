// What a terminal does something at, in place of showing it. Names have none of it, and what devices say is shown without.
extension Unicode.Scalar {
  /// A control character (C0, C1, DEL), the end of a line or paragraph, or what turns the direction of the text behind it.
  package var isControl: Bool {
    switch value {
    case 0...0x1F, 0x7F...0x9F, 0x2028, 0x2029, 0x202A...0x202E, 0x2066...0x2069: true
    default: false
    }
  }

  /// Whether a line ends with it.
  var isLineEnd: Bool { (0x0A...0x0D).contains(value) || [0x85, 0x2028, 0x2029].contains(value) }

  /// As it is shown: `U+001B`.
  package var escaped: String {
    let digits = String(value, radix: 16, uppercase: true)
    return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }
}

extension String {
  /// The text as a terminal may have it: each control character as its code, `<U+001B>`.
  /// - Parameter lines: whether ends of lines and tabs stay what they are.
  package func shown(lines: Bool = false) -> String {
    guard unicodeScalars.contains(where: \.isControl) else { return self }
    var shown = String.UnicodeScalarView()
    for scalar in unicodeScalars {
      if scalar.isControl, !(lines && (scalar == "\n" || scalar == "\t")) {
        shown.append(contentsOf: "<\(scalar.escaped)>".unicodeScalars)
      } else {
        shown.append(scalar)
      }
    }
    return String(shown)
  }

  /// JSON in which no string has a control character that a terminal knows and JSON does not.
  package func shownAsJSON() -> String {
    guard unicodeScalars.contains(where: { $0.isControl && $0.value > 0x1F }) else { return self }
    var shown = ""
    for scalar in unicodeScalars {
      if scalar.isControl, scalar.value > 0x1F {
        shown += "\\u" + scalar.escaped.dropFirst(2).lowercased()
      } else {
        shown.unicodeScalars.append(scalar)
      }
    }
    return shown
  }
}
