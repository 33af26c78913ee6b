internal import Synchronization

/// Somebody's interest in values to come: it ends at ``cancel()``, or when the last reference to this is let go.
public final class ObservationHandle: Sendable {
  private let task: Mutex<Task<Void, Never>?>

  /// - Parameter task: what is to be cancelled.
  init(_ task: Task<Void, Never>) { self.task = Mutex(task) }

  deinit { cancel() }

  /// Ends it. A call of the observer that has begun comes to its end; no other begins. Harmless when repeated.
  public func cancel() {
    task.withLock { task in
      task?.cancel()
      task = nil
    }
  }
}
