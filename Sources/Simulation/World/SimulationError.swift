public import MatterProtocol

/// Why a run can't go on.
public enum SimulationError: Error, Hashable, Sendable {
  /// So many steps were made without time going on: engines that keep each other, or themselves, busy. Names who was.
  case livelock(at: Instant, steps: Int, host: String)
  /// One engine had more effects at a time than make sense.
  case endlessEffects(at: Instant, host: String)
  /// Nothing is left to happen, and somebody still waits, for these things as far as they were named.
  case deadlock(at: Instant, waiting: [String])
  /// Code of the run was on another thread, by `Task.detached`, the main actor or a real clock: no run like that is the same twice.
  case escaped(at: Instant)
  /// The machine of this name has no power.
  case powerOff(String)
  /// What was waited for did not happen in time.
  case timedOut(at: Instant)
}
