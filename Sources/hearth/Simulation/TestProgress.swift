import MatterProtocol
import Runtime
import Scenario
import Synchronization

/// The results of `hearth test` so far, and the current run. Thread-safe.
final class TestProgress: Sendable {
  /// The current run.
  struct Running: Sendable {
    var scenario: ScenarioDefinition
    /// The seed; nil for a run in real time.
    var seed: UInt64?
    /// The injected defect.
    var defect: SeededDefect?
    var timeline = Timeline()
    let began = HostClock.now()

    /// `Lamp, seed 7`.
    var name: String { seed.map { "\(scenario.name), seed \($0)" } ?? scenario.name }

    /// The command that repeats it.
    var again: String? { scenario.again(seed: seed, defect: defect) }

    /// Returns the result of a run that was ended early.
    func result(_ reason: String) -> ScenarioResult {
      scenario.result(
        endedEarly: reason, seed: seed, defect: defect, timeline, after: HostClock.now() - began)
    }
  }

  private struct State {
    var results: [ScenarioResult] = []
    var running: Running?
    /// Whether the results have been taken for writing.
    var isClosed = false
  }

  private let state = Mutex(State())

  /// Records the result of the current run and starts the next one, atomically.
  ///
  /// Never returns if the progress is closed, because the process is about to end.
  /// - Parameters:
  ///   - next: the next run; nil if there is none.
  ///   - result: the result of the current run; nil if there is none.
  func advance(to next: Running?, after result: ScenarioResult? = nil) async {
    let isClosed = state.withLock { state in
      guard !state.isClosed else { return true }
      if let result { state.results.append(result) }
      state.running = next
      return false
    }
    if isClosed { await Self.suspend() }
  }

  /// Closes the progress after all runs. Never returns if it is already closed.
  /// - Returns: the results.
  func finish() async -> [ScenarioResult] {
    guard let all = close() else { await Self.suspend() }
    return all.results
  }

  /// Closes the progress: further results are not recorded.
  /// - Returns: the results so far and the current run, or nil if it is already closed.
  func close() -> (results: [ScenarioResult], running: Running?)? {
    state.withLock { state in
      guard !state.isClosed else { return nil }
      state.isClosed = true
      return (state.results, state.running)
    }
  }

  private static func suspend() async -> Never {
    while true { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }
  }
}
