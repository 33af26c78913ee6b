public import MatterProtocol

/// Why a run can't go on.
public enum SimulationError: Error, Hashable, Sendable {
  /// So many steps were made without time going on: engines that keep each other, or themselves, busy. Names who was.
  case livelock(at: Instant, steps: Int, host: String)
  /// One engine had more effects at a time than make sense.
  case endlessEffects(at: Instant, host: String)
  /// Nothing is left to happen, and somebody still waits: for what, as far as it was named. It may be something outside of virtual
  /// time: a task of its own, a real clock.
  case deadlock(at: Instant, waiting: [String])
  /// Somebody waits to whom nothing has happened for a long time, though there is enough that goes on for ever: reports that are
  /// due, connections that are tried again. Nobody sleeps, and nothing is to come that was meant for a later time.
  case noProgress(at: Instant, since: Instant, waiting: [String])
  /// Code of the run came back from another thread, by `Task.detached`, the main actor or a real clock, while the run went on: no run
  /// like that is the same twice.
  case escaped(at: Instant)
  /// The machine of this name has no power.
  case powerOff(String)
  /// The run's time was over, and somebody still waited: for what, as far as it was named. It may be something outside of virtual time.
  case timedOut(at: Instant, waiting: [String] = [])
}

extension SimulationError: CustomStringConvertible {
  public var description: String {
    func list(_ waits: [String]) -> String {
      waits.isEmpty ? "somebody, who did not say for what" : waits.map { "“\($0)”" }.joined(separator: ", ")
    }
    let outside =
      ", or it waits for something outside of virtual time (a task of its own, a real clock, or the main actor)"
    return switch self {
    case .livelock(let time, let steps, let host):
      "livelock at \(time.text): \(host) keeps itself busy, in \(steps) steps time did not go on"
    case .endlessEffects(let time, let host): "livelock at \(time.text): \(host) does not come to an end"
    case .deadlock(let time, let waits):
      "deadlock at \(time.text): nothing is left to happen, and there still waits \(list(waits))\(outside)"
    case .noProgress(let time, let last, let waits):
      "no progress at \(time.text): nothing has happened since \(last.text) to whoever waits, nothing more is to come at a time of its own, and there still waits \(list(waits))"
    case .escaped(let time):
      "at \(time.text) code came from another thread (a task of its own, a real clock, or the main actor): such a run is not the same twice"
    case .powerOff(let name): "\(name) has no power"
    case .timedOut(let time, let waits):
      "the time is over at \(time.text), and there still waits \(list(waits))\(outside)"
    }
  }
}

extension Instant {
  /// Virtual seconds since the beginning.
  fileprivate var text: String {
    let milliseconds = nanoseconds / 1_000_000
    return "\(milliseconds / 1000).\(String(1000 + milliseconds % 1000).dropFirst()) s"
  }
}
