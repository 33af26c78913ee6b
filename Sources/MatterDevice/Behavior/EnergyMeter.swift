package import MatterProtocol

/// A meter that integrates power over time: a value type without a clock. The power is constant between two calls, so
/// that the energy is exact.
///
///     var meter = EnergyMeter(at: .zero)
///     meter.setPower(60_000, at: .zero)
///     meter.advance(to: .zero + .seconds(3600))  // imported: 60,000 mWh
package struct EnergyMeter: Hashable, Sendable {
  /// In milliwatts; negative if power is exported.
  package private(set) var power: Int64 = 0
  /// The totals in milliwatts times nanoseconds.
  private var importedTotal: Int128 = 0
  private var exportedTotal: Int128 = 0
  private var now: Instant

  private static let milliwattHour: Int128 = 3_600_000_000_000
  private static let limit = Int128(Int64.max) * milliwattHour

  /// Creates a meter that shows zero.
  init(at now: Instant) { self.now = now }

  /// Creates a meter with the totals that ``stored`` returned; zero for others.
  init(stored: [Int64], at now: Instant) {
    self.now = now
    guard stored.count == 4, stored.allSatisfy({ $0 >= 0 }) else { return }
    importedTotal = min(Int128(stored[0]) * Self.milliwattHour + Int128(stored[1]), Self.limit)
    exportedTotal = min(Int128(stored[2]) * Self.milliwattHour + Int128(stored[3]), Self.limit)
  }

  /// Advances to a time. An earlier time than that of the last call has no effect.
  package mutating func advance(to now: Instant) {
    guard now > self.now else { return }
    // A product of two numbers with 63 bits and the limit fits into 127 bits.
    let energy = Int128(power) * Int128((now - self.now).nanoseconds)
    if energy > 0 { importedTotal = min(importedTotal + energy, Self.limit) }
    if energy < 0 { exportedTotal = min(exportedTotal - energy, Self.limit) }
    self.now = now
  }

  /// Advances to a time, and sets the power from then on.
  mutating func setPower(_ power: Int64, at now: Instant) {
    advance(to: now)
    self.power = power
  }

  /// Sets a total in milliwatt hours; nil keeps it.
  mutating func setTotals(imported: Int64? = nil, exported: Int64? = nil) {
    if let imported { importedTotal = Int128(max(imported, 0)) * Self.milliwattHour }
    if let exported { exportedTotal = Int128(max(exported, 0)) * Self.milliwattHour }
  }

  /// Returns the time until a total of energy in milliwatt hours is imported with the present power; nil if none is
  /// imported.
  func time(toImport total: Int64) -> Duration? {
    guard power > 0 else { return nil }
    // Rounded up.
    let missing = max(Int128(total) * Self.milliwattHour - importedTotal, 0)
    return .nanoseconds(Int64(clamping: (missing + Int128(power) - 1) / Int128(power)))
  }

  /// The whole milliwatt hours imported at the time of the last call.
  var imported: Int64 { Int64(importedTotal / Self.milliwattHour) }
  /// The whole milliwatt hours exported at the time of the last call.
  var exported: Int64 { Int64(exportedTotal / Self.milliwattHour) }

  /// The totals, for ``init(stored:at:)``.
  package var stored: [Int64] {
    [importedTotal, exportedTotal].flatMap {
      [Int64($0 / Self.milliwattHour), Int64($0 % Self.milliwattHour)]
    }
  }
}
