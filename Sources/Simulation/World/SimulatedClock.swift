public import MatterProtocol

/// Virtual time: it stands still until somebody moves it, and never runs backwards.
public struct SimulatedClock: Hashable, Sendable {
  /// Where time stands.
  public private(set) var now: Instant

  public init(_ now: Instant = .zero) { self.now = now }

  /// - Returns: whether time moved.
  @discardableResult
  public mutating func advance(to instant: Instant) -> Bool {
    guard instant > now else { return false }
    now = instant
    return true
  }
}
