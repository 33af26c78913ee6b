import MatterClusters
import MatterModel

/// The set points of a thermostat with their limits, in hundredths of a degree Celsius. Application Clusters § 4.3.5.
struct ThermostatSetpoints: Hashable, Sendable {
  enum Side: Hashable, Sendable, CaseIterable {
    case heat, cool
  }

  struct Values: Hashable, Sendable {
    /// The limits of the device.
    var absolute: ClosedRange<Int>
    /// The limits of the user.
    var lowest, highest: Int
    var occupied, unoccupied: Int

    func allows(_ setpoint: Int) -> Bool { lowest <= setpoint && setpoint <= highest }
    func clamped(_ setpoint: Int) -> Int { max(lowest, min(highest, setpoint)) }

    fileprivate var isValid: Bool {
      lowest <= highest && absolute.contains(lowest) && absolute.contains(highest) && allows(occupied)
        && allows(unoccupied)
    }
  }

  typealias Member = any WritableKeyPath<Values, Int> & Sendable
  private static let setpoints: [Member] = [\.occupied, \.unoccupied]

  /// Nil if the thermostat can't heat.
  var heat: Values?
  /// Nil if the thermostat can't cool.
  var cool: Values?
  /// The smallest difference of the set points for cooling and heating.
  var deadBand = 0

  subscript(side: Side) -> Values? {
    get { side == .heat ? heat : cool }
    set { if side == .heat { heat = newValue } else { cool = newValue } }
  }

  /// Sets a set point or a limit. Set points move into changed limits, and a set point of the other side moves as far
  /// as the dead band requires.
  /// - Throws: `constraintError` if the value is outside of its limits, or the others can't move far enough.
  mutating func set(_ member: Member, of side: Side, to value: Int) throws(StatusError) {
    var changed = self
    guard var values = self[side] else { throw StatusError(.invalidCommand) }
    values[keyPath: member] = value
    if Self.setpoints.contains(member) {
      guard values.allows(value) else { throw StatusError(.constraintError) }
    } else {
      for setpoint in Self.setpoints { values[keyPath: setpoint] = values.clamped(values[keyPath: setpoint]) }
    }
    changed[side] = values
    for setpoint in Self.setpoints { changed.move(setpoint, awayFrom: side) }
    guard changed.isValid else { throw StatusError(.constraintError) }
    self = changed
  }

  /// Raises or lowers the occupied set points of one or both sides. The limits shorten the step.
  /// - Throws: `invalidCommand` if the dead band does not permit it, or the thermostat lacks the side.
  mutating func step(_ sides: [Side], by amount: Int) throws(StatusError) {
    let present = sides.filter { self[$0] != nil }
    guard !present.isEmpty else { throw StatusError(.invalidCommand) }
    var amount = amount
    // Both sides move by the same step, to keep their distance.
    for side in present {
      guard let values = self[side] else { continue }
      let possible = values.clamped(values.occupied + amount) - values.occupied
      if possible.magnitude < amount.magnitude { amount = possible }
    }
    var changed = self
    for side in present { changed[side]?.occupied += amount }
    if present.count == 1 { changed.move(\.occupied, awayFrom: present[0]) }
    guard changed.isValid else { throw StatusError(.invalidCommand) }
    self = changed
  }

  /// Moves a set point of the other side as far as the dead band requires.
  private mutating func move(_ setpoint: Member, awayFrom side: Side) {
    guard let heat, let cool, cool[keyPath: setpoint] - heat[keyPath: setpoint] < deadBand else { return }
    if side == .heat {
      self.cool?[keyPath: setpoint] = heat[keyPath: setpoint] + deadBand
    } else {
      self.heat?[keyPath: setpoint] = cool[keyPath: setpoint] - deadBand
    }
  }

  private var isValid: Bool {
    guard heat?.isValid != false, cool?.isValid != false else { return false }
    guard let heat, let cool else { return true }
    return cool.lowest - heat.lowest >= deadBand && cool.highest - heat.highest >= deadBand
      && Self.setpoints.allSatisfy { cool[keyPath: $0] - heat[keyPath: $0] >= deadBand }
  }
}

/// The attributes of one side.
struct ThermostatSideAttributes: Sendable {
  typealias Setpoint = Attribute<Thermostat, Int16>

  let absoluteLowest, absoluteHighest, lowest, highest, occupied, unoccupied: Setpoint

  /// The attributes that can be written.
  var members: [(attribute: Setpoint, member: ThermostatSetpoints.Member)] {
    [(lowest, \.lowest), (highest, \.highest), (occupied, \.occupied), (unoccupied, \.unoccupied)]
  }

  static func of(_ side: ThermostatSetpoints.Side) -> Self { side == .heat ? heat : cool }

  private static let heat = Self(
    absoluteLowest: Thermostat.absMinHeatSetpointLimit, absoluteHighest: Thermostat.absMaxHeatSetpointLimit,
    lowest: Thermostat.minHeatSetpointLimit, highest: Thermostat.maxHeatSetpointLimit,
    occupied: Thermostat.occupiedHeatingSetpoint, unoccupied: Thermostat.unoccupiedHeatingSetpoint)
  private static let cool = Self(
    absoluteLowest: Thermostat.absMinCoolSetpointLimit, absoluteHighest: Thermostat.absMaxCoolSetpointLimit,
    lowest: Thermostat.minCoolSetpointLimit, highest: Thermostat.maxCoolSetpointLimit,
    occupied: Thermostat.occupiedCoolingSetpoint, unoccupied: Thermostat.unoccupiedCoolingSetpoint)
}

extension ServerContext {
  /// The set points of the thermostat on this endpoint. The setter changes the attributes that differ.
  var thermostatSetpoints: ThermostatSetpoints {
    mutating get {
      var setpoints = ThermostatSetpoints()
      for side in ThermostatSetpoints.Side.allCases {
        let attributes = ThermostatSideAttributes.of(side)
        guard serves(attributes.occupied) else { continue }
        let lowest = Int(self[attributes.absoluteLowest])
        setpoints[side] = ThermostatSetpoints.Values(
          absolute: lowest...max(lowest, Int(self[attributes.absoluteHighest])), lowest: Int(self[attributes.lowest]),
          highest: Int(self[attributes.highest]), occupied: Int(self[attributes.occupied]),
          unoccupied: Int(self[attributes.unoccupied]))
      }
      if has(Thermostat.autoMode) { setpoints.deadBand = Int(self[Thermostat.minSetpointDeadBand]) * 10 }
      return setpoints
    }
    set {
      for side in ThermostatSetpoints.Side.allCases {
        guard let values = newValue[side] else { continue }
        for (attribute, member) in ThermostatSideAttributes.of(side).members {
          self[attribute] = Int16(clamping: values[keyPath: member])
        }
      }
    }
  }
}
