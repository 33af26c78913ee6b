internal import Glibc
internal import MatterProtocol
internal import Synchronization

/// The air of a room: a heat capacity that loses heat to the outdoors, and that devices heat and cool. A value type
/// without a clock, which is advanced to a time.
///
///     var air = RoomAir(ClimateDefinition(), temperature: 18, outdoor: 5, at: .zero)
///     air.setPower(3000, of: "heater", at: .zero)
///     air.advance(to: .zero + .seconds(3600))  // temperature: 21.3
struct RoomAir: Hashable, Sendable {
  /// In joules per kelvin.
  private let capacity: Double
  /// In watts per kelvin.
  private let loss: Double
  /// In degrees Celsius, at the time of the last call.
  private(set) var temperature: Double
  private(set) var outdoor: Double
  /// The heating power of each device in watts, negative for cooling. Whole numbers have the same sum in any order.
  private var powers: [String: Int] = [:]
  private var time: Instant

  init(_ climate: ClimateDefinition, temperature: Double, outdoor: Double, at time: Instant) {
    (capacity, loss) = (climate.capacity, climate.loss)
    (self.temperature, self.outdoor, self.time) = (temperature, outdoor, time)
  }

  /// Advances to a time. An earlier time than that of the last call has no effect.
  mutating func advance(to now: Instant) {
    guard now > time else { return }
    let seconds = Double((now - time).nanoseconds) / 1e9
    // Outdoor temperature and power were constant, so that the distance from the balance decays exponentially.
    let balance = outdoor + Double(powers.values.reduce(0, +)) / loss
    temperature = balance + (temperature - balance) * exp(-seconds * loss / capacity)
    time = now
  }

  /// Sets the temperature, as an open window does.
  mutating func setTemperature(_ temperature: Double, at now: Instant) {
    advance(to: now)
    self.temperature = temperature
  }

  mutating func setOutdoor(_ outdoor: Double, at now: Instant) {
    advance(to: now)
    self.outdoor = outdoor
  }

  /// Sets the heating power of a device in watts, negative for cooling.
  mutating func setPower(_ power: Int, of device: String, at now: Instant) {
    guard powers[device] ?? 0 != power else { return }
    advance(to: now)
    powers[device] = power == 0 ? nil : power
  }
}

/// The air of the rooms of a home by name, its alarms, and the attributes that expressions name. Shared by all devices of
/// the home that run in this process, on any loop.
package final class Rooms: Sendable {
  private let airs = Mutex<[String: RoomAir]>([:])
  let alarms = HomeAlarms()
  let attributes: SharedAttributes

  /// - Parameter devices: The devices of the home, with the expressions that they follow.
  package init(of devices: [DeviceDefinition] = []) { attributes = SharedAttributes(of: devices) }

  /// Changes or reads the air of a room, which is nil before a device that heats or cools it has started.
  func withAir<Result: Sendable>(of room: String, _ body: (inout RoomAir?) -> Result) -> Result {
    let key = room.lowercased()
    return airs.withLock { body(&$0[key]) }
  }

  /// Returns the temperature of a room in degrees Celsius; nil while it is unknown.
  func temperature(of room: String, at now: Instant) -> Double? {
    withAir(of: room) { air in
      air?.advance(to: now)
      return air?.temperature
    }
  }

  /// Returns a value outside of a device; nil while it is unknown.
  func value(of source: Behavior.Source, at now: Instant) -> Double? {
    switch source {
    case .room(let name): temperature(of: name, at: now)
    case .attribute(let operand): attributes.value(of: operand)
    }
  }

  /// Ends the effects of devices without power: heating, cooling and alarms, and shared attributes that are zero without
  /// power.
  func endEffects(of devices: [String], at now: Instant) {
    alarms.end(of: devices)
    attributes.losePower(of: devices)
    airs.withLock { airs in
      for room in airs.keys { for device in devices { airs[room]?.setPower(0, of: device, at: now) } }
    }
  }
}
