public import MatterClusters
public import MatterProtocol

/// A battery: its charge over time and with use. A value type without a clock.
///
///     var battery = Battery(.cr123A, charge: 80, lifetime: .seconds(365 * 86_400))
///     battery.advance(to: now)
///     battery.halfPercent  // as in BatPercentRemaining
public struct Battery: Hashable, Sendable {
  /// The properties of a kind of battery.
  public struct Cell: Hashable, Sendable {
    /// The name in definition files.
    public var name: String
    /// The designation in the standard; unspecified for button cells, which have none.
    public var designation: PowerSource.BatCommonDesignation
    /// The chemistry in the standard.
    public var chemistry: PowerSource.BatApprovedChemistry
    /// The voltages with full and with no charge, in millivolts.
    public var voltage: ClosedRange<UInt32>
    /// In milliampere hours.
    public var capacity: UInt32
    /// Whether it can be charged; otherwise it is replaced.
    public var isRechargeable = false

    public static let aa = Cell(
      name: "AA", designation: .aa, chemistry: .alkaline, voltage: 900...1500, capacity: 2500)
    public static let aaa = Cell(
      name: "AAA", designation: .aaa, chemistry: .alkaline, voltage: 900...1500, capacity: 1200)
    public static let cr123A = Cell(
      name: "CR123A", designation: .cr123A, chemistry: .lithiumManganeseDioxide, voltage: 2000...3000, capacity: 1500)
    public static let cr2 = Cell(
      name: "CR2", designation: .cr2, chemistry: .lithiumManganeseDioxide, voltage: 2000...3000, capacity: 850)
    public static let cr2032 = Cell(
      name: "CR2032", designation: .unspecified, chemistry: .lithiumManganeseDioxide, voltage: 2000...3000,
      capacity: 225)
    public static let cr2450 = Cell(
      name: "CR2450", designation: .unspecified, chemistry: .lithiumManganeseDioxide, voltage: 2000...3000,
      capacity: 620)
    public static let nineVolt = Cell(
      name: "9V", designation: .cell9v0, chemistry: .alkaline, voltage: 5400...9000, capacity: 550)
    public static let lithiumIon = Cell(
      name: "lithium ion", designation: .unspecified, chemistry: .lithiumIon, voltage: 3300...4200, capacity: 2600,
      isRechargeable: true)

    /// The kinds that definition files can name.
    public static let all = [aa, aaa, cr123A, cr2, cr2032, cr2450, nineVolt, lithiumIon]
  }

  /// The kind of its cells.
  let cell: Cell
  /// The number of cells, in series.
  let quantity: UInt8
  /// The time from full to empty without use; nil if the battery keeps its charge.
  package let lifetime: Duration?
  /// The time from empty to full on the charger.
  package let chargingTime: Duration
  /// The charge that one use takes, in percent.
  let drainPerUse: Double
  /// Whether the battery is on the charger.
  private(set) var isOnCharger = false

  /// The charge at ``since``, and at the last advance.
  private var initial: Int64
  private var charge: Int64
  private var since: Instant
  private var now: Instant

  private static let full: Int64 = 1_000_000_000_000, halfPercent = full / 200

  /// - Parameters:
  ///   - charge: in percent.
  ///   - lifetime: positive.
  ///   - chargingTime: positive.
  public init(
    _ cell: Cell, quantity: UInt8 = 1, charge: Double = 100, lifetime: Duration? = nil, drainPerUse: Double = 0,
    chargingTime: Duration = .seconds(10_800), at now: Instant = .zero
  ) {
    (self.cell, self.quantity, self.lifetime) = (cell, quantity, lifetime)
    (self.chargingTime, self.drainPerUse) = (chargingTime, drainPerUse)
    initial = Self.charge(charge)
    (self.charge, since, self.now) = (initial, now, now)
  }

  private static func charge(_ percent: Double) -> Int64 {
    Int64((min(max(percent.isFinite ? percent : 0, 0), 100) / 100 * Double(full)).rounded())
  }

  // MARK: Time and use

  /// Advances to a time, which is not before that of the last call.
  package mutating func advance(to now: Instant) {
    self.now = max(now, self.now)
    let elapsed = Double((self.now - since).nanoseconds)
    let change = period.map { elapsed / Double(max(1, $0.nanoseconds)) * Double(Self.full) } ?? 0
    let rounded = Int64(min(change, Double(Self.full)).rounded())
    charge = min(max(initial + (isOnCharger ? rounded : -rounded), 0), Self.full)
  }

  /// Sets the charge in percent: the battery is replaced, for example.
  public mutating func set(charge percent: Double, at now: Instant) {
    advance(to: now)
    restart(Self.charge(percent))
  }

  /// Starts the time at `now` with the initial charge.
  mutating func start(at now: Instant) {
    (charge, since, self.now) = (initial, now, now)
  }

  /// Restores a charge as ``stored`` returned it.
  mutating func restore(_ stored: Int64, at now: Instant) {
    advance(to: now)
    restart(min(max(stored, 0), Self.full))
  }

  /// The charge, for `restore(_:at:)`.
  public var stored: Int64 { charge }

  /// Takes the charge of a number of uses.
  public mutating func use(_ count: Int, at now: Instant) {
    advance(to: now)
    let drain = min(Double(count) * drainPerUse, 100)
    restart(max(0, charge - Self.charge(drain)))
  }

  /// Puts the battery on the charger, or removes it.
  mutating func setOnCharger(_ isOn: Bool, at now: Instant) {
    advance(to: now)
    isOnCharger = isOn && cell.isRechargeable
    restart(charge)
  }

  private mutating func restart(_ charge: Int64) {
    (initial, self.charge, since) = (charge, charge, now)
  }

  /// The time of a whole charge or discharge in the present state; nil if the charge is constant.
  private var period: Duration? { isOnCharger ? chargingTime : lifetime }

  /// The time at which ``halfPercent`` changes or the battery is full; nil if that doesn't happen.
  var nextChange: Instant? {
    guard let period else { return nil }
    let step = Int64(halfPercent)
    let target = isOnCharger ? min(step * Self.halfPercent + 1, Self.full) : (step - 1) * Self.halfPercent
    guard isOnCharger ? charge < Self.full : charge > 0 else { return nil }
    let elapsed = Double(abs(target - initial)) / Double(Self.full) * Double(period.nanoseconds)
    // The limit is beyond the life of a battery. The next nanosecond makes up for the rounding.
    return max(since + .nanoseconds(Int64(min(elapsed, 1e18).rounded(.up)) + 1), now + .nanoseconds(1))
  }

  // MARK: Values of Power Source

  /// The charge in half percent, rounded up.
  var halfPercent: UInt8 {
    UInt8(clamping: (charge + Self.halfPercent - 1) / Self.halfPercent)
  }

  /// The level of the charge.
  public var level: PowerSource.BatChargeLevel { .init(halfPercent: halfPercent) }

  /// In millivolts, of all cells.
  public var voltage: UInt32 {
    let range = cell.voltage
    let part = Double(range.upperBound - range.lowerBound) * Double(charge) / Double(Self.full)
    return (range.lowerBound + UInt32(part.rounded())) * UInt32(quantity)
  }

  /// In seconds; nil if the battery keeps its charge or is on the charger.
  var timeRemaining: UInt32? {
    isOnCharger ? nil : lifetime.map { Self.seconds($0, charge) }
  }

  /// In seconds; nil unless the battery is charging.
  var timeToFull: UInt32? {
    isOnCharger && charge < Self.full ? Self.seconds(chargingTime, Self.full - charge) : nil
  }

  /// Whether the battery is charging, full on the charger, or not on the charger.
  var chargeState: PowerSource.BatChargeState {
    !isOnCharger ? .isNotCharging : charge < Self.full ? .isCharging : .isAtFullCharge
  }

  private static func seconds(_ period: Duration, _ charge: Int64) -> UInt32 {
    UInt32(clamping: Int64((Double(period.nanoseconds) / 1e9 * Double(charge) / Double(full)).rounded()))
  }
}

extension PowerSource.BatChargeLevel {
  /// Returns the level of a charge: warning from 15% down, critical from 5% down.
  init(halfPercent: UInt8) { self = halfPercent <= 10 ? .critical : halfPercent <= 30 ? .warning : .ok }
}
