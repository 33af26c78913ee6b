import Runtime
import Synchronization

/// Records the waits of the tasks that have it as their `PendingWork.board`.
final class WaitRecorder: WaitRegistry {
  private let recorded = Mutex<(begun: [String], ended: Int)>(([], 0))
  /// The descriptions of all waits, in order.
  var begun: [String] { recorded.withLock { $0.begun } }
  /// The number of completed waits.
  var ended: Int { recorded.withLock { $0.ended } }

  func begin(_ description: String) -> Int? {
    recorded.withLock {
      $0.begun.append(description)
      return $0.begun.count
    }
  }

  func end(_ number: Int) { recorded.withLock { $0.ended += 1 } }
}
