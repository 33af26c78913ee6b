/// Between the wire's numbers and people's.
public enum HomeUnits {
  /// A level of 0 to 254 in percent; what is more than nothing is at least 1.
  public static func percent(_ level: UInt8) -> Int {
    level == 0 ? 0 : max(1, (Int(min(level, 254)) * 100 + 127) / 254)
  }
}
