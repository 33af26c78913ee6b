/// A measured power with its voltage and current.
struct ElectricalReading: Hashable, Sendable {
  /// In milliwatts; negative if power is exported.
  var power: Int64
  /// In millivolts.
  var voltage: Int64
  /// In milliamperes.
  var current: Int64 { Self.current(power, at: voltage) }

  static func current(_ power: Int64, at voltage: Int64) -> Int64 {
    // Milliwatts per millivolt are amperes.
    voltage > 0 ? Int64(clamping: Int128(power) * 1000 / Int128(voltage)) : 0
  }
}
