public import MatterProtocol

/// The battery of a battery storage: its charge by the power that flows into it. A value type without a clock, and
/// without losses.
///
///     var battery = StorageBattery(capacity: 10_000_000, charge: 50)
///     battery.request(2_000_000, at: .zero)
///     battery.advance(to: .zero + .seconds(3600))  // percent: 70
public struct StorageBattery: Hashable, Sendable {
  /// In milliwatt hours.
  public let capacity: Int64
  /// The highest power of charging in milliwatts.
  public let charging: Int64
  /// The highest power of discharging in milliwatts.
  public let discharging: Int64

  /// The power that is requested in milliwatts; negative to discharge.
  package private(set) var requested: Int64 = 0
  /// In milliwatts times nanoseconds.
  private var charge: Int128
  private var now: Instant

  private static let milliwattHour: Int128 = 3_600_000_000_000
  private var full: Int128 { Int128(capacity) * Self.milliwattHour }

  /// - Parameters:
  ///   - capacity: in milliwatt hours, positive.
  ///   - charge: in percent.
  ///   - charging: The highest power in milliwatts.
  ///   - discharging: The highest power in milliwatts.
  public init(
    capacity: Int64 = 10_000_000, charge: Double = 50, charging: Int64 = 5_000_000, discharging: Int64 = 5_000_000,
    at now: Instant = .zero
  ) {
    (self.capacity, self.charging, self.discharging, self.now) = (max(1, capacity), charging, discharging, now)
    self.charge = 0
    set(percent: charge)
  }

  private mutating func set(percent: Double) {
    // Millionths of a percent are exact enough for a charge that a user sets.
    let part = Int128((min(max(percent.isFinite ? percent : 0, 0), 100) * 1e6).rounded())
    charge = full * part / 100_000_000
  }

  // MARK: Changes

  /// Advances to a time. An earlier time than that of the last call has no effect.
  package mutating func advance(to now: Instant) {
    guard now > self.now else { return }
    charge = min(max(charge + Int128(power) * Int128((now - self.now).nanoseconds), 0), full)
    self.now = now
  }

  /// Requests a power in milliwatts, positive to charge.
  package mutating func request(_ power: Int64, at now: Instant) {
    advance(to: now)
    requested = power
  }

  /// Sets the charge in percent.
  public mutating func set(charge percent: Double, at now: Instant) {
    advance(to: now)
    set(percent: percent)
  }

  /// Removes an energy in milliwatt hours, or all that is left.
  mutating func remove(_ energy: Int64, at now: Instant) {
    advance(to: now)
    charge = max(0, charge - Int128(max(energy, 0)) * Self.milliwattHour)
  }

  /// Starts the time at `now`, with a stored charge if there is one.
  mutating func start(stored: [Int64]?, at now: Instant) {
    self.now = now
    if let stored, stored.count == 2, stored.allSatisfy({ $0 >= 0 }) {
      charge = min(Int128(stored[0]) * Self.milliwattHour + Int128(stored[1]), full)
    }
  }

  /// The charge, for ``start(stored:at:)``.
  var stored: [Int64] { [energy, Int64(charge % Self.milliwattHour)] }

  // MARK: State

  /// The charge in whole milliwatt hours.
  public var energy: Int64 { Int64(charge / Self.milliwattHour) }
  /// The charge in percent.
  var percent: Double { Double(charge) / Double(full) * 100 }
  /// The charge in half percent, rounded up.
  var halfPercent: UInt8 { UInt8(clamping: (charge * 200 + full - 1) / full) }
  /// Whether the charge is the capacity.
  var isFull: Bool { charge == full }

  /// The power that flows in milliwatts: the requested one within the limits, nothing into a full battery and nothing out
  /// of an empty one.
  public var power: Int64 {
    let power = min(max(requested, -discharging), charging)
    return power > 0 && isFull || power < 0 && charge == 0 ? 0 : power
  }

  /// The time until the battery is full or empty with the present power; nil if no power flows.
  var timeToEnd: Duration? { time(to: power > 0 ? full : 0) }

  /// Returns the time until the charge is an energy in milliwatt hours with the present power; nil if no power flows.
  func time(toEnergy energy: Int64) -> Duration? { time(to: Int128(energy) * Self.milliwattHour) }

  /// The time of the next change of ``halfPercent`` or ``power``; nil if there is none.
  var nextChange: Instant? {
    let step = Int128(halfPercent)
    // Rounded up: while charging, the value changes just above a multiple of half a percent.
    let target = power > 0 ? min(full * step / 200 + 1, full) : max(full * (step - 1) / 200, 0)
    return time(to: target).map { now + max($0, .nanoseconds(1)) }
  }

  private func time(to target: Int128) -> Duration? {
    guard power != 0 else { return nil }
    let (energy, power) = (target - charge, Int128(power))
    // Rounded up.
    let time = (energy.magnitude + power.magnitude - 1) / power.magnitude
    return .nanoseconds(Int64(clamping: time))
  }
}
