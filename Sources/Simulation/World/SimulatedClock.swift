internal import MatterProtocol

/// Virtual time, shared by the members of a world. It advances only by `advance(to:)` and never runs backward.
final class SimulatedClock {
  /// The present time.
  private(set) var now = Instant.zero

  /// Advances to a later time.
  /// - Returns: whether the time changed.
  @discardableResult
  func advance(to instant: Instant) -> Bool {
    guard instant > now else { return false }
    now = instant
    return true
  }
}
