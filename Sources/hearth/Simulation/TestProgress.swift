import MatterProtocol
import Scenario
import Synchronization

/// What came of the runs of `hearth test` so far, and which one goes on. May be used from anywhere.
final class TestProgress: Sendable {
  /// A run that goes on.
  struct Running: Sendable {
    var scenario: ScenarioDefinition
    /// Nil: in real time.
    var seed: UInt64?
    /// The command that repeats it.
    var again: String

    /// `Lamp, seed 7`.
    var name: String { seed.map { "\(scenario.name), seed \($0)" } ?? scenario.name }

    /// It, ended before its time.
    func result(_ reason: String) -> ScenarioResult {
      var result = scenario.result(endedEarly: reason, seed: seed)
      result.failure?.again = again
      return result
    }
  }

  private struct State {
    var results: [ScenarioResult] = []
    var running: Running?
  }

  private let state = Mutex(State())

  var results: [ScenarioResult] { state.withLock(\.results) }

  /// The results at one moment, and what goes on then; nil before the first run, and behind the last.
  var now: (results: [ScenarioResult], running: Running?) { state.withLock { ($0.results, $0.running) } }

  func begin(_ running: Running) { state.withLock { $0.running = running } }

  func end(_ result: ScenarioResult) {
    state.withLock { state in
      state.results.append(result)
      state.running = nil
    }
  }
}
