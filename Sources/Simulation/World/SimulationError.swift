public import MatterProtocol

/// Why a run can't continue.
public enum SimulationError: Error, Hashable, Sendable {
  /// Too many steps without time advancing: engines that keep each other or themselves busy. Names one of them.
  case livelock(at: Instant, steps: Int, host: String)
  /// An engine had more effects at one time than ``World/maximumEffects``.
  case endlessEffects(at: Instant, host: String)
  /// No event is left, and the named operations are pending. One of them may wait outside of virtual time: on a
  /// detached task or a real clock.
  case deadlock(at: Instant, waiting: [String])
  /// The named operations are pending, no event has reached them for a long time, and only recurring events are left,
  /// such as due reports and connection retries. No task sleeps, and no event is scheduled for a later time.
  case noProgress(at: Instant, since: Instant, waiting: [String])
  /// Code of the run returned from another thread (`Task.detached`, the main actor or a real clock) during the run,
  /// which is therefore not reproducible.
  case escaped(at: Instant)
  /// The machine has no power.
  case powerOff(String)
  /// The time limit was reached with the named operations pending. One of them may wait outside of virtual time.
  case timedOut(at: Instant, waiting: [String] = [])
}

extension SimulationError: CustomStringConvertible {
  public var description: String {
    func list(_ waits: [String]) -> String {
      waits.isEmpty ? "an unnamed operation" : waits.map { "“\($0)”" }.joined(separator: ", ")
    }
    let outside =
      ", or an operation outside of virtual time (a detached task, a real clock, or the main actor)"
    return switch self {
    case .livelock(let time, let steps, let host):
      "livelock at \(time.text): \(host) made \(steps) steps without time advancing"
    case .endlessEffects(let time, let host): "livelock at \(time.text): \(host) performs effects without end"
    case .deadlock(let time, let waits):
      "deadlock at \(time.text): no event is left, and there still waits \(list(waits))\(outside)"
    case .noProgress(let time, let last, let waits):
      "no progress at \(time.text): no event has reached the run since \(last.text), none is scheduled, and there still waits \(list(waits))"
    case .escaped(let time):
      "code returned from another thread at \(time.text) (a detached task, a real clock, or the main actor); the run is not reproducible"
    case .powerOff(let name): "\(name) has no power"
    case .timedOut(let time, let waits):
      "the time is over at \(time.text), and there still waits \(list(waits))\(outside)"
    }
  }
}

extension Instant {
  /// Virtual seconds since the start.
  fileprivate var text: String {
    let milliseconds = nanoseconds / 1_000_000
    return "\(milliseconds / 1000).\(String(1000 + milliseconds % 1000).dropFirst()) s"
  }
}
