internal import HomeModel

/// Conversions of wire values to units for users.
package enum HomeUnits {
  /// Converts a level of 0 to 254 to percent; a level above 0 is at least 1 percent.
  package static func percent(_ level: UInt8) -> Int { LevelRange.standard.percent(level) }

  /// Converts a color temperature to kelvin, rounded to tens, because one mired is more than that.
  package static func kelvin(mireds: UInt16) -> Int {
    guard mireds > 0 else { return 1_000_000 }
    let kelvin = 1_000_000 / Double(mireds)
    return kelvin > 1000 ? Int((kelvin / 10).rounded()) * 10 : Int(kelvin.rounded())
  }
}
