internal import MatterProtocol

/// A level as people write it, `40%`, or as the wire has it, 0 to 254.
package enum LevelText {
  /// - Parameter raw: whether the number is the wire's.
  package static func level(_ text: String, raw: Bool) throws(HomeError) -> UInt8 {
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
  package static func percent(_ level: UInt8) -> String { "\(HomeUnits.percent(level))%" }
}

/// A positive count of tenths of a second, as transition times have it.
package enum TransitionTime {
  package static func tenths(_ duration: Duration) throws(HomeError) -> UInt16 {
    guard let tenths = UInt16(exactly: (duration.milliseconds + 50) / 100), tenths < 0xFFFF else {
      throw HomeError(.badArguments, "--over takes at most 6553 s")
    }
    return tenths
  }
}
