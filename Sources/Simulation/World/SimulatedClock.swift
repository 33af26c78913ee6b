public import MatterProtocol

/// Virtual time. It advances only by `advance(to:)` and never runs backward.
public struct SimulatedClock: Hashable, Sendable {
  /// The present time.
  public private(set) var now: Instant

  init(_ now: Instant = .zero) { self.now = now }

  /// Advances to a later time.
  /// - Returns: whether the time changed.
  @discardableResult
  package mutating func advance(to instant: Instant) -> Bool {
    guard instant > now else { return false }
    now = instant
    return true
  }
}
