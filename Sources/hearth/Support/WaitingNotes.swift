import Runtime
import Synchronization

/// Prints on standard error what a command has been waiting for since a timeout, once.
final class WaitingNotes: WaitRegistry {
  private struct State {
    var last = 0
    /// The waits that have neither ended nor been printed, by number.
    var pending: [Int: String] = [:]
    var isTimerRunning = false
    /// The waits that were printed, which are not printed again.
    var printed: Set<String> = []
  }

  private let output: Output
  private let timeout: Duration
  private let state = Mutex(State())

  init(_ output: Output, timeout: Duration = .seconds(1)) { (self.output, self.timeout) = (output, timeout) }

  func begin(_ what: String) -> Int? {
    let (number, isFirst) = state.withLock { state in
      state.last += 1
      state.pending[state.last] = what
      defer { state.isTimerRunning = true }
      return (state.last, !state.isTimerRunning)
    }
    if isFirst { startTimer(for: number) }
    return number
  }

  func end(_ number: Int) { state.withLock { _ = $0.pending.removeValue(forKey: number) } }

  /// Prints the waits up to a number after the timeout, and repeats this for waits that began in the meantime.
  private func startTimer(for number: Int) {
    Task { [self, timeout] in
      var number = number
      while true {
        try? await Task.sleep(for: timeout)
        let (text, next) = takeOverdue(upTo: number)
        if let text { output.progress(text) }
        guard let next else { return }
        number = next
      }
    }
  }

  /// Returns the note for the waits up to a number that were not printed before, and the last number if others began since.
  func takeOverdue(upTo number: Int) -> (text: String?, next: Int?) {
    state.withLock { state in
      let overdue = state.pending.filter { $0.key <= number }.sorted { $0.key < $1.key }.map(\.value)
      state.pending = state.pending.filter { $0.key > number }
      state.isTimerRunning = !state.pending.isEmpty
      return (Self.text(overdue.filter { state.printed.insert($0).inserted }), state.isTimerRunning ? state.last : nil)
    }
  }

  /// Returns the note for several waits, which names the first two.
  static func text(_ waits: [String]) -> String? {
    guard let first = waits.first else { return nil }
    return switch waits.count {
    case 1: "waiting for \(first)"
    case 2: "waiting for \(first), and for \(waits[1])"
    default: "waiting for \(first), for \(waits[1]), and for \(waits.count - 2) more"
    }
  }
}

extension Output {
  /// Runs the body and prints a note for each long wait.
  func reportingWaits<R>(_ body: () async throws -> R) async throws -> R {
    try await PendingWork.$board.withValue(WaitingNotes(self)) { try await body() }
  }
}
