internal import MatterClusters
internal import MatterModel
internal import MatterProtocol

/// The levels that a device can have: its MinLevel and MaxLevel. Application Clusters § 1.6.6.
package struct LevelRange: Hashable, Sendable {
  package var lowest: UInt8
  package var highest: UInt8

  /// That of a light: 1 to 254.
  package static let standard = LevelRange(lowest: 1, highest: 254)

  package init(lowest: UInt8, highest: UInt8) { (self.lowest, self.highest) = (lowest, max(1, min(highest, 254))) }

  /// - Returns: nil where it is not known what the endpoint has.
  init?(_ values: NodeValues?, on endpoint: EndpointID) {
    guard let values, let highest = values.value(LevelControl.maxLevel, on: endpoint) else { return nil }
    let lowest = values.value(LevelControl.minLevel, on: endpoint) ?? Self.standard.lowest
    self.init(lowest: lowest, highest: highest)
  }

  /// Whether the device can have the level; 0 is off.
  func allows(_ level: UInt8) -> Bool { level == 0 || level >= lowest && level <= highest }

  /// A level in percent of the highest; what is more than nothing is at least 1.
  package func percent(_ level: UInt8) -> Int {
    level == 0 ? 0 : max(1, (Int(min(level, highest)) * 100 + Int(highest) / 2) / Int(highest))
  }
}

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
