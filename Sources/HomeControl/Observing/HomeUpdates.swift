public import HomeModel
internal import Runtime

/// A sequence of values that follow the changes of a home, which can also be delivered to a closure.
///
/// Each iteration is a separate observer with its own unbounded queue: a slow observer loses nothing at the cost of
/// memory, and delays neither the home nor other observers.
public protocol HomeUpdates<Element>: AsyncSequence, CustomStringConvertible, Sendable
where Element: Sendable, Failure == Never {}

extension HomeUpdates {
  /// The name of the type, without the state: `CollectionChanges<HomeDevice>`.
  public var description: String { "\(Self.self)" }

  /// Calls a closure with each further value, one at a time.
  /// - Returns: a handle; the observation ends at its `cancel()`, or when it is released.
  public func sink(_ receive: @escaping @Sendable (Element) async -> Void) -> ObservationHandle {
    // Created before the task starts, so that no change after this call is missed.
    let iterator = makeAsyncIterator()
    let task = Tasks.start {
      var iterator = iterator
      // An idle observer isn't pending work.
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

/// The updates of a home. See ``Home/updates()``. Ends when the home is closed.
///
/// Can be iterated once. A retained sequence retains all elements since its creation.
public struct HomeEvents: HomeUpdates {
  package let stream: AsyncStream<HomeUpdate>
  package init(stream: AsyncStream<HomeUpdate>) { self.stream = stream }
  public func makeAsyncIterator() -> UpdateIterator<HomeUpdate> {
    UpdateIterator(stream, waitingFor: "the home to change")
  }
}

/// An iterator of the updates of a home, or of a part of it.
public struct UpdateIterator<Element: Sendable>: AsyncIteratorProtocol {
  private var stream: AsyncStream<Element>.Iterator
  /// The awaited event, for reports about pending work.
  private let what: String

  init(_ stream: AsyncStream<Element>, waitingFor what: String) {
    (self.stream, self.what) = (stream.makeAsyncIterator(), what)
  }

  init<Item>(_ stream: AsyncStream<Element>, changeOf items: Item.Type) {
    self.init(stream, waitingFor: "a change of what the home has: \(items)")
  }

  /// Returns the next element; nil if the home was closed or the task canceled.
  public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> Element? {
    let wait = PendingWork.begin(what)
    defer { wait?.end() }
    return await stream.next(isolation: actor)
  }
}
