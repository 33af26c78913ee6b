import ArgumentParser
import Home
import MatterProtocol

/// A span of time as people write it: `2s`, `150ms`, `1.5min`, `3m`, `1h`; a bare number is seconds.
struct TimeSpan: ExpressibleByArgument, Hashable {
  var duration: Duration
  static let example = "expected a time such as 2s, 150ms, 3m or 1h"

  init(_ duration: Duration) { self.duration = duration }

  init?(argument: String) {
    let text = argument.lowercased().filter { !$0.isWhitespace }
    let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    // A plain decimal number below a year: what is longer is a mistake.
    guard let value = Double(digits), value.isFinite else { return nil }
    let seconds: Double
    switch text.dropFirst(digits.count) {
    case "ms": seconds = value / 1000
    case "", "s", "sec": seconds = value
    case "m", "min": seconds = value * 60
    case "h": seconds = value * 3600
    default: return nil
    }
    guard seconds < 31_536_000 else { return nil }
    duration = .milliseconds(Int64((seconds * 1000).rounded()))
  }

  var defaultValueDescription: String { Self.text(duration) }

  /// The shortest exact form of whole milliseconds: "40 ms", "2 s", "1.25 s", "3 min".
  static func text(_ duration: Duration) -> String {
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

  /// How long ago something was, roughly: "2 s ago", "4 min ago".
  static func ago(milliseconds: Int64) -> String {
    let seconds = max(0, milliseconds / 1000)
    return switch seconds {
    case ..<1: "just now"
    case ..<120: "\(seconds) s ago"
    case ..<7200: "\(seconds / 60) min ago"
    case ..<172_800: "\(seconds / 3600) h ago"
    default: "\(seconds / 86_400) days ago"
    }
  }
}

/// A level as people write it, `40%`, or as the wire has it, 0 to 254.
enum LevelText {
  /// - Parameter raw: whether the number is the wire's.
  static func level(_ text: String, raw: Bool) throws(HomeError) -> UInt8 {
    let number = text.hasSuffix("%") ? text.dropLast() : text[...]
    if raw {
      guard let value = UInt8(text), value <= 254 else {
        throw HomeError(.badArguments, "“\(text)” is no level of the wire; expected a number from 0 to 254")
      }
      return value
    }
    guard number.first.map({ $0.isASCII && $0.isNumber }) == true, let percent = Double(number), percent <= 100 else {
      throw HomeError(.badArguments, "“\(text)” is no level; expected 0% to 100%, or 0 to 254 with --raw")
    }
    // What is more than nothing is not nothing.
    let level = UInt8((percent * 254 / 100).rounded())
    return percent > 0 ? max(1, level) : 0
  }

  /// "40%"; what is on is never shown as 0%.
  static func percent(_ level: UInt8) -> String { "\(HomeUnits.percent(level))%" }
}

/// A positive count of tenths of a second, as transition times have it.
enum TransitionTime {
  static func tenths(_ duration: Duration) throws(HomeError) -> UInt16 {
    guard let tenths = UInt16(exactly: (duration.milliseconds + 50) / 100), tenths < 0xFFFF else {
      throw HomeError(.badArguments, "--over takes at most 6553 s")
    }
    return tenths
  }
}
