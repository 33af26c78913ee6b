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
      await PendingWork.$board.withValue(nil) {
        while !Task.isCancelled, let value = await iterator.next(isolation: nil) {
          guard !Task.isCancelled else { return }
          await receive(value)
        }
      }
    }
    return ObservationHandle(task)
  }
}

/// What happens to a home. See ``Home/updates()``. Ends when the home is closed.
///
/// To be gone through once. Whoever keeps it keeps all that came since.
public struct HomeEvents: HomeUpdates {
  let stream: AsyncStream<HomeUpdate>
  public func makeAsyncIterator() -> UpdateIterator<HomeUpdate> {
    UpdateIterator(stream, waitingFor: "the home to change")
  }
}

/// One who goes through what becomes of a home, or of something in it.
public struct UpdateIterator<Element: Sendable>: AsyncIteratorProtocol {
  private var stream: AsyncStream<Element>.Iterator
  /// To be told if it never comes.
  private let what: String

  init(_ stream: AsyncStream<Element>, waitingFor what: String) {
    (self.stream, self.what) = (stream.makeAsyncIterator(), what)
  }

  init<Item>(_ stream: AsyncStream<Element>, changeOf items: Item.Type) {
    self.init(stream, waitingFor: "a change of what the home has: \(items)")
  }

  /// What comes next; nil: the home was closed, or the task cancelled.
  public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> Element? {
    let wait = PendingWork.begin(what)
    defer { wait?.end() }
    return await stream.next(isolation: actor)
  }
}
