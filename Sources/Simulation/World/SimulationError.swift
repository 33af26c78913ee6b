public import MatterProtocol

/// Why a run can't go on.
public enum SimulationError: Error, Hashable, Sendable {
  /// So many steps were made without time going on: engines that keep each other, or themselves, busy. Names who was.
  case livelock(at: Instant, steps: Int, host: String)
  /// One engine had more effects at a time than make sense.
  case endlessEffects(at: Instant, host: String)
  /// What was waited for did not happen in time.
  case timedOut(at: Instant)
}
