package import MatterClusters
package import MatterProtocol

/// The vehicle of a charging station.
public struct ElectricVehicle: Hashable, Sendable {
  /// In milliwatt hours.
  public var capacity: Int64
  /// The charge at first, in percent.
  public var charge: Double
  /// The highest power of its charger in milliwatts.
  public var charging: Int64
  /// The energy that it uses between two sessions, in milliwatt hours.
  public var trip: Int64

  public init(capacity: Int64 = 60_000_000, charge: Double = 40, charging: Int64 = 11_000_000, trip: Int64 = 0) {
    (self.capacity, self.charge, self.charging, self.trip) = (capacity, charge, charging, trip)
  }
}

/// A charging station with its vehicle: the state, the power and the energy of a session. A value type without a clock.
///
///     var station = ChargingStation(ElectricVehicle(capacity: 60_000_000, charge: 50))
///     station.plugIn(at: .zero)
///     station.control(.init(isEnabled: true, current: 16_000), at: .zero)  // state: pluggedInCharging, 3.68 kW
package struct ChargingStation: Hashable, Sendable {
  /// The conditions of a transfer of energy.
  package struct Controls: Hashable, Sendable {
    /// The fault; `noError` for none.
    var fault = EnergyEvse.FaultState.noError
    /// Whether it diagnoses itself.
    var isDiagnosing = false
    /// Whether charging is enabled.
    package var isEnabled = false
    /// The highest current in milliamperes.
    package var current: Int64 = 0
    /// Whether a schedule or a pause prevents the transfer.
    var isHeld = false
    /// The power that energy management requests, in milliwatts; nil for the highest.
    package var power: Int64?

    init(isEnabled: Bool = false, current: Int64 = 0) { (self.isEnabled, self.current) = (isEnabled, current) }
  }

  /// The lowest current at which a vehicle charges, in milliamperes.
  static let minimumCurrent: Int64 = 6000
  /// The nominal voltage in millivolts.
  static let voltage: Int64 = 230_000

  /// The vehicle, at first.
  let vehicle: ElectricVehicle
  /// The conditions of a transfer.
  private(set) var controls = Controls()
  /// Whether the vehicle is plugged in.
  private(set) var isPluggedIn = false
  /// Whether the vehicle asks for energy unless it is full.
  private(set) var isReady = true
  /// The battery of the vehicle.
  private(set) var battery: StorageBattery
  /// The energy of the present session, or of the last one.
  private var meter: EnergyMeter
  private var sessionStart: Instant
  /// Nil during a session.
  private var sessionEnd: Instant?
  private var now: Instant

  /// Creates an enabled station without a vehicle, whose meter starts at zero.
  init(_ vehicle: ElectricVehicle, at now: Instant = .zero) {
    self.vehicle = vehicle
    battery = StorageBattery(
      capacity: vehicle.capacity, charge: vehicle.charge, charging: vehicle.charging, discharging: 0, at: now)
    meter = EnergyMeter(at: now)
    (sessionStart, sessionEnd, self.now) = (now, now, now)
  }

  // MARK: Changes

  /// Advances to a time. An earlier time than that of the last call has no effect.
  package mutating func advance(to now: Instant) {
    // The power changes when the battery is full.
    while let next = battery.nextChange, next <= now, next > self.now { step(to: next) }
    step(to: now)
  }

  private mutating func step(to now: Instant) {
    battery.advance(to: now)
    meter.setPower(battery.power, at: now)
    self.now = max(now, self.now)
  }

  /// Plugs the vehicle in, after the trip if it was unplugged, and starts a session.
  mutating func plugIn(at now: Instant, afterTrip: Bool = true) {
    advance(to: now)
    guard !isPluggedIn else { return }
    if afterTrip { battery.remove(vehicle.trip, at: now) }
    (isPluggedIn, sessionStart, sessionEnd, meter) = (true, now, nil, EnergyMeter(at: now))
    settle()
  }

  /// Unplugs the vehicle, which ends the session.
  mutating func unplug(at now: Instant) {
    advance(to: now)
    guard isPluggedIn else { return }
    (isPluggedIn, isReady, sessionEnd) = (false, true, now)
    settle()
  }

  /// Lets the vehicle ask for energy, or not.
  mutating func setReady(_ isReady: Bool, at now: Instant) {
    advance(to: now)
    self.isReady = isReady
    settle()
  }

  /// Sets the charge of the vehicle in percent.
  package mutating func set(charge percent: Double, at now: Instant) {
    advance(to: now)
    battery.set(charge: percent, at: now)
    settle()
  }

  /// Replaces the battery of the vehicle.
  /// - Parameters:
  ///   - capacity: in milliwatt hours.
  ///   - percent: the charge in percent.
  mutating func replaceBattery(capacity: Int64, charge percent: Double, at now: Instant) {
    advance(to: now)
    battery = StorageBattery(
      capacity: capacity, charge: percent, charging: vehicle.charging, discharging: 0, at: now)
    settle()
  }

  /// Sets the conditions of a transfer.
  package mutating func control(_ controls: Controls, at now: Instant) {
    advance(to: now)
    self.controls = controls
    settle()
  }

  private mutating func settle() {
    battery.request(isTransferring ? min(controls.power ?? availablePower, availablePower) : 0, at: now)
    meter.setPower(battery.power, at: now)
  }

  // MARK: State

  /// Whether the vehicle asks for energy.
  var hasDemand: Bool { isPluggedIn && isReady && !battery.isFull }

  /// Whether energy flows into the vehicle.
  var isTransferring: Bool {
    hasDemand && controls.fault == .noError && !controls.isDiagnosing && controls.isEnabled && !controls.isHeld
      && controls.current >= Self.minimumCurrent && controls.power != 0
  }

  /// The State attribute. Application Clusters § 9.3.
  package var state: EnergyEvse.State {
    guard controls.fault == .noError else { return .fault }
    guard isPluggedIn else { return .notPluggedIn }
    return isTransferring ? .pluggedInCharging : hasDemand ? .pluggedInDemand : .pluggedInNoDemand
  }

  /// The SupplyState attribute. Application Clusters § 9.3.
  var supplyState: EnergyEvse.SupplyState {
    guard controls.fault == .noError else { return .disabledError }
    return controls.isDiagnosing ? .disabledDiagnostics : controls.isEnabled ? .chargingEnabled : .disabled
  }

  /// The highest power at present, in milliwatts: that of the current, and of the charger of the vehicle.
  var availablePower: Int64 { min(Self.power(of: controls.current), vehicle.charging) }

  /// Returns the power of a current in milliwatts.
  static func power(of current: Int64) -> Int64 {
    // Milliamperes times millivolts are microwatts.
    Int64(clamping: Int128(current) * Int128(voltage) / 1000)
  }

  /// The power that flows into the vehicle in milliwatts.
  package var power: Int64 { battery.power }

  /// The charge of the vehicle in whole percent.
  var percent: UInt8 { UInt8(clamping: Int128(battery.energy) * 100 / Int128(battery.capacity)) }

  /// The energy of the session in milliwatt hours.
  var sessionEnergy: Int64 { meter.imported }

  /// Returns the time until the session has an energy, in milliwatt hours; nil if no power flows.
  func time(toSessionEnergy energy: Int64) -> Duration? { meter.time(toImport: energy) }

  /// Returns the time that the session has lasted.
  func sessionDuration(at now: Instant) -> Duration { max((sessionEnd ?? now) - sessionStart, .zero) }

  /// The time at which the battery is full, or its charge in half percent changes; nil if no power flows.
  var nextChange: Instant? { battery.nextChange }

  // MARK: Storage

  /// The state that survives a restart.
  var stored: [Int64] {
    [isPluggedIn ? 1 : 0, sessionDuration(at: now).nanoseconds] + battery.stored + meter.stored
  }

  /// Starts at a time, with a stored state if there is one: the session continues, without the time in between.
  mutating func start(stored: [Int64]?, at now: Instant) {
    self.now = now
    guard let stored, stored.count == 8, stored[1] >= 0 else {
      battery.start(stored: nil, at: now)
      (meter, sessionStart, sessionEnd) = (EnergyMeter(at: now), now, now)
      return
    }
    battery.start(stored: Array(stored[2...3]), at: now)
    meter = EnergyMeter(stored: Array(stored[4...]), at: now)
    sessionStart = Instant(nanoseconds: now.nanoseconds.saturatingSubtract(stored[1]))
    isPluggedIn = stored[0] == 1
    sessionEnd = isPluggedIn ? nil : now
  }
}
