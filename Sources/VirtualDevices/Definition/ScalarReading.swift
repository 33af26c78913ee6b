package import Yams

/// Parses plain YAML scalars as numbers and booleans.
package enum ScalarReading {
  /// Parses a decimal integer, or a hexadecimal one with `0x`. Leading zeros are ignored, as in a passcode. Nil for
  /// other texts.
  static func integer(_ text: String) -> Int64? {
    let isNegative = text.hasPrefix("-")
    let digits = (isNegative || text.hasPrefix("+") ? text.dropFirst() : text[...])
    let sign = isNegative ? "-" : ""
    if digits.hasPrefix("0x") || digits.hasPrefix("0X") {
      let rest = digits.dropFirst(2).filter { $0 != "_" }
      return rest.first?.isHexDigit == true ? Int64(sign + rest, radix: 16) : nil
    }
    guard digits.first?.isNumber == true else { return nil }
    return Int64(sign + digits.filter { $0 != "_" })
  }

  /// Parses a decimal fraction with an optional exponent. Nil for other texts.
  static func real(_ text: String) -> Double? {
    guard text.contains(where: \.isNumber), text.allSatisfy({ "0123456789.+-eE".contains($0) }) else { return nil }
    return Double(text)
  }

  /// Parses `true`, `false`, `on`, `off`, `yes` or `no`, ignoring case. Nil for other texts.
  package static func boolean(_ text: String) -> Bool? {
    switch text.lowercased() {
    case "true", "on", "yes": true
    case "false", "off", "no": false
    default: nil
    }
  }
}

/// The spellings of null.
private let nulls = ["", "~", "null", "Null", "NULL"]

extension Node {
  /// The text of a scalar that was written without quotation marks.
  var plainText: String? {
    guard let scalar, scalar.style == .plain else { return nil }
    return scalar.string
  }

  /// Whether the node is empty, `~` or `null`.
  package var isNull: Bool { plainText.map(nulls.contains) ?? false }

  /// Whether the node is `~` or `null` rather than empty; within quotation marks only with a null tag.
  package var isWrittenNull: Bool {
    guard let scalar, nulls.contains(scalar.string) else { return false }
    return scalar.style == .plain ? !scalar.string.isEmpty : scalar.tag == Tag(.null)
  }

  /// A description for messages.
  package var summary: String {
    if isWrittenNull { return "null" }
    if isNull { return "nothing" }
    switch self {
    case .scalar(let scalar):
      let text = scalar.string
      let isNumber = ScalarReading.integer(text) != nil || ScalarReading.real(text) != nil
      let isBare = scalar.style == .plain && (isNumber || text == "true" || text == "false")
      return isBare ? text : "“\(text)”"
    case .mapping: return "a mapping"
    case .sequence: return "a list"
    case .alias: return "an alias"
    }
  }
}
