import MatterProtocol
import Runtime
import Scenario
import Synchronization

/// What came of the runs of `hearth test` so far, and which one goes on. May be used from anywhere.
final class TestProgress: Sendable {
  /// A run that goes on.
  struct Running: Sendable {
    var scenario: ScenarioDefinition
    /// Nil: in real time.
    var seed: UInt64?
    /// A fault that is built in.
    var defect: SeededDefect?
    /// What happens in it.
    var timeline = Timeline()
    let began = HostClock.now()

    /// `Lamp, seed 7`.
    var name: String { seed.map { "\(scenario.name), seed \($0)" } ?? scenario.name }

    /// The command that repeats it.
    var again: String? { scenario.again(seed: seed, defect: defect) }

    /// It, ended before its time.
    func result(_ reason: String) -> ScenarioResult {
      scenario.result(
        endedEarly: reason, seed: seed, defect: defect, timeline, after: HostClock.now() - began)
    }
  }

  private struct State {
    var results: [ScenarioResult] = []
    var running: Running?
    /// Whether somebody has all that there will be.
    var isOver = false
  }

  private let state = Mutex(State())

  /// A run is over, if one went on, and the next one begins, in one step: whoever asks in between is told of one or of the other.
  ///
  /// Where the last word is spoken already, it never returns: the process is about to end.
  /// - Parameter next: nil: there is none.
  func go(on next: Running?, after result: ScenarioResult? = nil) async {
    let isOver = state.withLock { state in
      guard !state.isOver else { return true }
      if let result { state.results.append(result) }
      state.running = next
      return false
    }
    if isOver { await Self.end() }
  }

  /// The results, at the end of all runs. Never returns where the last word is spoken already.
  func finish() async -> [ScenarioResult] {
    guard let all = interrupt() else { await Self.end() }
    return all.results
  }

  /// The results at this moment, and what goes on, for the last word: nothing comes to it any more.
  /// - Returns: nil where it was spoken already.
  func interrupt() -> (results: [ScenarioResult], running: Running?)? {
    state.withLock { state in
      guard !state.isOver else { return nil }
      state.isOver = true
      return (state.results, state.running)
    }
  }

  private static func end() async -> Never {
    while true { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }
  }
}
