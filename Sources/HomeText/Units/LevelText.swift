package import HomeModel
internal import MatterProtocol

/// A requested level.
public enum WantedLevel: Hashable, Sendable {
  /// A level on the wire, 0 to 254.
  case wire(UInt8)
  /// A percentage of the device's maximum level.
  case percent(Double)

  /// What is more than nothing is not nothing, and at least the lowest level.
  package func level(in range: LevelRange) -> UInt8 {
    switch self {
    case .wire(let level): level
    case .percent(let percent):
      percent > 0
        ? max(1, range.lowest, UInt8(clamping: Int((min(percent, 100) * Double(range.highest) / 100).rounded()))) : 0
    }
  }
}

/// A level as people write it, `40%`, or as the wire has it, 0 to 254.
package enum LevelText {
  /// - Parameter raw: whether the number is the wire's.
  package static func level(_ text: String, raw: Bool) throws(HomeError) -> WantedLevel {
    let number = text.hasSuffix("%") ? text.dropLast() : text[...]
    if raw {
      guard let value = UInt8(text), value <= 254 else {
        throw HomeError(.badArguments, "“\(text)” is not an encoded level; expected a number from 0 to 254")
      }
      return .wire(value)
    }
    guard number.first.map({ $0.isASCII && $0.isNumber }) == true, let percent = Double(number), percent <= 100 else {
      throw HomeError(.badArguments, "“\(text)” is not a level; expected 0% to 100%, or 0 to 254 with --raw")
    }
    return .percent(percent)
  }
}

/// A positive count of tenths of a second, as transition times have it.
package enum TransitionTime {
  package static func tenths(_ duration: Duration) throws(HomeError) -> UInt16 {
    guard let tenths = UInt16(exactly: (duration.milliseconds + 50) / 100), tenths < 0xFFFF else {
      throw HomeError(.badArguments, "--over: expected at most 6553 s")
    }
    return tenths
  }
}
