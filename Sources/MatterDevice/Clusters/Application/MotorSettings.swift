/// The motors of a window covering, or the motor of a valve.
public struct MotorSettings: Hashable, Sendable {
  /// The time of a full travel of the lift or the valve; nil without this motor.
  public var lift: Duration?
  /// The time of a full travel of the tilt; nil without this motor.
  public var tilt: Duration?
  /// Whether the motors measure their position. Otherwise it is unknown after a movement by hand, and after a loss of
  /// power on the way.
  public var hasEncoder: Bool

  /// Creates settings; by default those of a slow roller shade.
  public init(lift: Duration? = .seconds(20), tilt: Duration? = nil, hasEncoder: Bool = true) {
    (self.lift, self.tilt, self.hasEncoder) = (lift, tilt, hasEncoder)
  }
}
