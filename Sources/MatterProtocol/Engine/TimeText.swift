/// A duration as text: `2s`, `150ms`, `1.5min`, `3m`, `1h`, `30d`; a number without a unit is in seconds.
package enum TimeText {
  package static let example = "expected a time such as 2s, 150ms, 3m, 1h or 30d"

  package static func duration(_ text: String) -> Duration? {
    let text = text.lowercased().filter { !$0.isWhitespace }
    let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    // Accepts plain decimal numbers below a year: a longer duration is a mistake.
    guard let value = Double(digits), value.isFinite else { return nil }
    let seconds: Double
    switch text.dropFirst(digits.count) {
    case "ms": seconds = value / 1000
    case "", "s", "sec": seconds = value
    case "m", "min": seconds = value * 60
    case "h": seconds = value * 3600
    case "d": seconds = value * 86_400
    default: return nil
    }
    guard seconds < 31_536_000 else { return nil }
    return .milliseconds(Int64((seconds * 1000).rounded()))
  }

  /// Rejects a number without a unit for an option whose values are usually milliseconds, since it would mean seconds.
  /// - Returns: the expected text; nil for a time with a unit, and for 0.
  package static func missingUnit(_ text: String) -> String? {
    guard text.last?.isLetter == false, let duration = duration(text), duration != .zero else { return nil }
    return "a time with a unit, such as \(text)ms"
  }

  /// The shortest exact form of whole milliseconds: "40 ms", "2 s", "1.25 s", "3 min".
  package static func text(_ duration: Duration) -> String {
    let milliseconds = duration.milliseconds
    if milliseconds == 0 { return "0 s" }
    if milliseconds < 1000 { return "\(milliseconds) ms" }
    if milliseconds < 60_000 || milliseconds % 60_000 != 0 {
      let rest = milliseconds % 1000
      if rest == 0 { return "\(milliseconds / 1000) s" }
      var decimals = String(1000 + rest).dropFirst()
      while decimals.last == "0" { decimals.removeLast() }
      return "\(milliseconds / 1000).\(decimals) s"
    }
    return "\(milliseconds / 60_000) min"
  }
}
