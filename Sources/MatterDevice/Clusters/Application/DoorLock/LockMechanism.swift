import MatterProtocol

/// The bolt and the latch of a door lock, moved by a motor or by hand. A value without a clock.
///
///     var mechanism = LockMechanism(.locked)
///     mechanism.drive(to: .unlatched, at: now)
///     while let outcome = mechanism.advance(to: later) { … }  // unlatched, then unlocked
struct LockMechanism: Hashable, Sendable {
  enum Position: Hashable, Sendable {
    case locked, unlocked
    /// The latch is pulled: the door opens without a handle.
    case unlatched
    /// The bolt is on the way or stuck.
    case between
  }

  enum Outcome: Hashable, Sendable {
    case reached(Position)
    /// The motor could not move the bolt.
    case jammed
  }

  private struct Motion: Hashable, Sendable {
    var target: Position
    var arrival: Instant
    var movesBolt: Bool
  }

  private static let boltTime = Duration.milliseconds(500), latchTime = Duration.milliseconds(200)
  /// How long the latch stays pulled.
  private static let holdTime = Duration.seconds(3)

  private(set) var position: Position
  /// Whether something keeps the motor from moving the bolt. A key overcomes it.
  var isBlocked = false
  private var motion: Motion?

  init(_ position: Position) { self.position = position }

  /// When ``advance(to:)`` has the next outcome; nil if nothing moves.
  var nextOutcome: Instant? { motion?.arrival }

  /// Starts the motor. A motion in progress is replaced.
  mutating func drive(to target: Position, at now: Instant) {
    let movesBolt = (position == .locked || target == .locked || position == .between) && position != target
    var time = movesBolt ? Self.boltTime : .zero
    if target == .unlatched, position != .unlatched { time += Self.latchTime }
    if movesBolt { position = .between }
    motion = Motion(target: target, arrival: now + time, movesBolt: movesBolt)
  }

  /// Turns the mechanism by hand, at once.
  mutating func turn(to target: Position, at now: Instant) {
    position = .between
    motion = Motion(target: target, arrival: now, movesBolt: false)
  }

  /// Advances to the next outcome until a time; nil if there is no further one.
  mutating func advance(to now: Instant) -> Outcome? {
    guard let motion, motion.arrival <= now else { return nil }
    self.motion = nil
    guard !(motion.movesBolt && isBlocked) else { return .jammed }
    position = motion.target
    if position == .unlatched {
      self.motion = Motion(target: .unlocked, arrival: motion.arrival + Self.holdTime, movesBolt: false)
    }
    return .reached(position)
  }
}
