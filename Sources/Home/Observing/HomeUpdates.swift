internal import Runtime

/// Values that come as a home changes: an `AsyncSequence` that also gives its values to a closure.
///
/// Each iteration is an observer of its own, with a queue of its own that is as long as it must be: a slow observer loses
/// nothing, pays with memory, and never stalls another or the home.
public protocol HomeUpdates<Element>: AsyncSequence, Sendable where Element: Sendable, Failure == Never {}

extension HomeUpdates {
  /// Gives each value to a closure, one after another, from now on.
  /// - Returns: a handle; observing stops at its `cancel()`, or when it is let go.
  public func sink(_ receive: @escaping @Sendable (Element) async -> Void) -> ObservationHandle {
    // Begun here and not in the task, so that nothing that happens after this call is missed.
    let iterator = makeAsyncIterator()
    let task = Tasks.start {
      var iterator = iterator
      // Nobody waits for what is only listened to.
      await Waits.$board.withValue(nil) {
        while !Task.isCancelled, let value = await iterator.next(isolation: nil) {
          guard !Task.isCancelled else { return }
          await receive(value)
        }
      }
    }
    return ObservationHandle(task)
  }
}
