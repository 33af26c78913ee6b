internal import Glibc
public import MatterProtocol

/// The water in a tank, fully mixed: it is heated, loses heat to its surroundings, and cold water replaces the water
/// that is drawn. A value type without a clock, which is advanced to a time.
///
///     var tank = WaterTank(volume: 100, temperature: 20)
///     tank.setHeating(4182, at: .zero)
///     tank.advance(to: .zero + .seconds(1000))  // temperature: 30 without a loss
public struct WaterTank: Hashable, Sendable {
  /// In liters, positive. A liter has a mass of one kilogram.
  public var volume: Double
  /// The temperature of the water that replaces the drawn water, in degrees Celsius.
  public var cold: Double
  /// In watts per kelvin.
  public var loss: Double
  /// In degrees Celsius, at the time of the last call.
  private(set) var temperature: Double
  /// The heating power in watts.
  public private(set) var heating = 0.0
  /// The water that is drawn in liters per minute.
  package private(set) var flow = 0.0
  private var now: Instant

  /// The specific heat capacity of water in joules per kilogram and kelvin. Application Clusters § 9.5.7.4.
  private static let specificHeat = 4182.0
  /// The temperature around the tank in degrees Celsius.
  static let surroundings = 20.0
  /// The range of temperatures in degrees Celsius.
  static let temperatures: ClosedRange<Double> = 0...100

  public init(
    volume: Double = 200, temperature: Double = 45, cold: Double = 10, loss: Double = 2, at now: Instant = .zero
  ) {
    (self.volume, self.cold, self.loss, self.now) = (max(volume, 1), cold, loss, now)
    self.temperature = Self.limited(temperature)
  }

  private static func limited(_ temperature: Double) -> Double {
    min(max(temperature, temperatures.lowerBound), temperatures.upperBound)
  }

  /// In joules per kelvin.
  private var capacity: Double { volume * Self.specificHeat }

  // MARK: Changes

  /// Advances to a time. An earlier time than that of the last call has no effect.
  package mutating func advance(to now: Instant) {
    guard now > self.now else { return }
    let seconds = Double((now - self.now).nanoseconds) / 1e9
    self.now = now
    // In watts per kelvin: the loss, and the heat that leaves with the water.
    let drain = flow / 60 * Self.specificHeat
    let conductance = loss + drain
    guard conductance > 0 else {
      temperature = Self.limited(temperature + heating * seconds / capacity)
      return
    }
    // Everything was constant, so that the distance from the balance decays exponentially.
    let balance = (heating + loss * Self.surroundings + drain * cold) / conductance
    temperature = Self.limited(balance + (temperature - balance) * exp(-seconds * conductance / capacity))
  }

  /// Lets time pass without a change of the water.
  mutating func skip(to now: Instant) { self.now = max(self.now, now) }

  /// Sets the heating power in watts.
  mutating func setHeating(_ power: Double, at now: Instant) {
    advance(to: now)
    heating = max(0, power)
  }

  /// Sets the water that is drawn in liters per minute.
  mutating func setFlow(_ flow: Double, at now: Instant) {
    advance(to: now)
    self.flow = max(0, flow)
  }

  /// Sets the temperature in degrees Celsius.
  mutating func setTemperature(_ temperature: Double, at now: Instant) {
    advance(to: now)
    self.temperature = Self.limited(temperature)
  }

  /// Draws an amount of water at once.
  /// - Parameter share: The part of the volume, 0 to 1.
  public mutating func draw(share: Double, at now: Instant) {
    advance(to: now)
    let share = min(max(share, 0), 1)
    temperature = Self.limited(temperature * (1 - share) + cold * share)
  }

  // MARK: State

  /// Returns the time until the water has a temperature, with a constant heating power and the present flow; nil if
  /// that never happens.
  /// - Parameters:
  ///   - wanted: In degrees Celsius.
  ///   - heating: In watts.
  func time(to wanted: Double, heating: Double) -> Duration? {
    let drain = flow / 60 * Self.specificHeat
    let conductance = loss + drain
    let seconds: Double
    if conductance > 0 {
      // The distance from the balance decays exponentially.
      let balance = (heating + loss * Self.surroundings + drain * cold) / conductance
      seconds = -log((wanted - balance) / (temperature - balance)) * capacity / conductance
    } else {
      seconds = (wanted - temperature) * capacity / heating
    }
    // Not a number if it is beyond the balance.
    guard seconds >= 0, seconds < 1e9 else { return nil }
    return .milliseconds(Int64(seconds * 1000))
  }

  /// Returns the share of hot water in percent, rounded down: 100 for a tank at the target temperature.
  /// Application Clusters § 9.5.7.5.
  func percentage(target: Double) -> UInt8 {
    // A thousandth of a degree makes up for the rounding of the temperature.
    guard target > cold, temperature < target else { return 100 }
    return UInt8(min(max((temperature + 0.001 - cold) / (target - cold) * 100, 0), 99))
  }

  /// Returns the heat up to the target temperature in milliwatt hours. Application Clusters § 9.5.7.4.
  func heatRequired(target: Double) -> Int64 {
    Int64((max(0, target - temperature) * capacity / 3.6).rounded())
  }
}
