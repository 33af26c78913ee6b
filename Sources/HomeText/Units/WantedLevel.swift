package import HomeModel
internal import MatterProtocol

/// A requested level.
public enum WantedLevel: Hashable, Sendable {
  /// An encoded level, 0 to 254.
  case encoded(UInt8)
  /// A percentage of the device's highest level.
  case percent(Double)

  /// Parses `40%`, or an encoded level if `raw` is true.
  package init(text: String, raw: Bool) throws(HomeError) {
    if raw {
      guard let value = UInt8(text), value <= 254 else {
        throw HomeError(.badArguments, "“\(text)” is not an encoded level; expected a number from 0 to 254")
      }
      self = .encoded(value)
    } else {
      let number = text.hasSuffix("%") ? text.dropLast() : text[...]
      guard number.first.map({ $0.isASCII && $0.isNumber }) == true, let percent = Double(number), percent <= 100 else {
        throw HomeError(.badArguments, "“\(text)” is not a level; expected 0% to 100%, or 0 to 254 with --raw")
      }
      self = .percent(percent)
    }
  }

  /// Returns the encoded level. A percentage above 0 is at least the lowest level of the device.
  package func level(in range: LevelRange) -> UInt8 {
    switch self {
    case .encoded(let level): level
    case .percent(let percent):
      percent > 0
        ? max(1, range.lowest, UInt8(clamping: Int((min(percent, 100) * Double(range.highest) / 100).rounded()))) : 0
    }
  }
}

extension Duration {
  /// Returns the duration as a transition time, in tenths of a second.
  /// - Throws: ``HomeError`` `badArguments` if it is too long.
  package func transitionTime() throws(HomeError) -> UInt16 {
    guard let tenths = UInt16(exactly: (milliseconds + 50) / 100), tenths < 0xFFFF else {
      throw HomeError(.badArguments, "--over: expected at most 6553 s")
    }
    return tenths
  }
}
