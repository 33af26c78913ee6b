/// Conversions between the units of clouds and those of Matter. Results are clamped to their range.
enum CloudUnits {
  /// Rounds and clamps a number.
  private static func whole<Number: FixedWidthInteger>(
    _ value: Double, _ least: Number, _ most: Number
  ) -> Number {
    guard value.isFinite else { return least }
    return Number(exactly: min(max(value.rounded(), Double(least)), Double(most))) ?? least
  }

  /// 1 to 254, from percent above 0.
  static func level(_ percent: Double) -> UInt8 { whole(percent * 2.54, 1, 254) }

  /// Converts kelvin to mireds, or back.
  static func mireds(_ kelvin: Double) -> UInt16 { kelvin > 0 ? whole(1_000_000 / kelvin, 1, 65279) : 65279 }
  static func kelvin(_ mireds: UInt16) -> Int { whole(1_000_000 / Double(max(mireds, 1)), 1, 1_000_000) }

  /// 0 to 254, from a fraction of the hue circle or of the full saturation.
  static func eighth(_ part: Double) -> UInt8 { whole(part * 254, 0, 254) }

  /// Hundredths of a degree, or of a percent.
  static func hundredths(_ value: Double) -> Int16 { whole(value * 100, -27315, 32767) }
  static func hundredths(percent: Double) -> UInt16 { whole(percent * 100, 0, 10_000) }

  /// 0 to 100.
  static func percent(_ value: Double) -> UInt8 { whole(value, 0, 100) }
  /// 0 to 200: halves of a percent.
  static func halves(percent: Double) -> UInt8 { whole(percent * 2, 0, 200) }
}
