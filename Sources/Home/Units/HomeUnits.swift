/// Between the wire's numbers and people's.
public enum HomeUnits {
  /// A level of 0 to 254 in percent; what is more than nothing is at least 1.
  public static func percent(_ level: UInt8) -> Int { LevelRange.standard.percent(level) }

  /// A colour temperature in kelvins; rounded to tens, as lamps are sold: a mired is more than that.
  public static func kelvin(mireds: UInt16) -> Int {
    guard mireds > 0 else { return 1_000_000 }
    let kelvin = 1_000_000 / Double(mireds)
    return kelvin > 1000 ? Int((kelvin / 10).rounded()) * 10 : Int(kelvin.rounded())
  }
}
