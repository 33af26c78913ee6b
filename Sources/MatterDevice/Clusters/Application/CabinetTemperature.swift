internal import Glibc
internal import MatterProtocol

/// The temperature inside a cabinet, which approaches a target exponentially. A value without a clock, which is advanced
/// to the present time.
struct CabinetTemperature: Hashable, Sendable {
  /// In degrees Celsius.
  private(set) var value: Double
  /// The temperature that is approached.
  private(set) var target: Double
  /// The time in which the difference to the target decreases to 37 %.
  private(set) var timeConstant: Duration
  private var now: Instant

  init(_ value: Double, at now: Instant) {
    (self.value, target, timeConstant, self.now) = (value, value, .seconds(1), now)
  }

  /// Whether the target is reached to within a twentieth of a degree.
  var isSettled: Bool { abs(value - target) < 0.05 }

  /// Advances to a time; earlier times have no effect.
  mutating func advance(to time: Instant) {
    guard time > now else { return }
    let share = Double((time - now).nanoseconds) / Double(max(1, timeConstant.nanoseconds))
    value = target + (value - target) * exp(-share)
    now = time
  }

  /// Approaches another target from a time on.
  mutating func approach(_ target: Double, timeConstant: Duration, at time: Instant) {
    advance(to: time)
    (self.target, self.timeConstant) = (target, timeConstant)
  }
}
