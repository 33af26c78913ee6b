import Runtime
import Synchronization

/// Says on standard error what a command waits for, where it has waited for a second already.
final class WaitingNotes: WaitRegistry {
  private struct State {
    var last = 0
    /// Those that still wait, by number; of those that were told, nothing more is said.
    var untold: [Int: String] = [:]
    var isLooking = false
  }

  private let output: Output
  private let timeout: Duration
  private let state = Mutex(State())

  init(_ output: Output, timeout: Duration = .seconds(1)) { (self.output, self.timeout) = (output, timeout) }

  func begin(_ what: String) -> Int? {
    let (number, isFirst) = state.withLock { state in
      state.last += 1
      state.untold[state.last] = what
      defer { state.isLooking = true }
      return (state.last, !state.isLooking)
    }
    if isFirst { look(after: number) }
    return number
  }

  func end(_ number: Int) { state.withLock { _ = $0.untold.removeValue(forKey: number) } }

  /// Tells what has been waited for since the last look, and looks again where something else was begun meanwhile.
  private func look(after number: Int) {
    Task { [self, timeout] in
      var number = number
      while true {
        try? await Task.sleep(for: timeout)
        let (overdue, next) = state.withLock { state in
          let overdue = state.untold.filter { $0.key <= number }.sorted { $0.key < $1.key }.map(\.value)
          state.untold = state.untold.filter { $0.key > number }
          state.isLooking = !state.untold.isEmpty
          return (overdue, state.isLooking ? state.last : nil as Int?)
        }
        if let text = Self.text(overdue) { output.progress(text) }
        guard let next else { return }
        number = next
      }
    }
  }

  /// What is said of so many: the first ones by name.
  static func text(_ waits: [String]) -> String? {
    var seen: Set<String> = []
    let waits = waits.filter { seen.insert($0).inserted }
    guard let first = waits.first else { return nil }
    return switch waits.count {
    case 1: "waiting for \(first)"
    case 2: "waiting for \(first), and for \(waits[1])"
    default: "waiting for \(first), for \(waits[1]), and for \(waits.count - 2) more"
    }
  }
}

extension Output {
  /// Does something, and says what it waits for where that takes long.
  func tellingWaits<R>(_ body: () async throws -> R) async throws -> R {
    try await PendingWork.$board.withValue(WaitingNotes(self)) { try await body() }
  }
}
