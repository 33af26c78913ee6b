public import Dispatch
package import HomeModel
internal import Runtime

/// A sequence of values that follow the changes of a home, which can also be delivered to a closure.
///
/// Each iteration is a separate observer with its own unbounded queue: a slow observer loses nothing at the cost of
/// memory, and delays neither the home nor other observers. The operators `map`, `compactMap`, `filter`,
/// `removeDuplicates`, `first`, `dropFirst`, `receive` and `assertNoFailure` return another such sequence.
public protocol HomeUpdates<Element>: AsyncSequence, CustomStringConvertible, Sendable
where Element: Sendable, Failure == Never {
  /// The queue on which the closure of ``sink(receiveValue:)`` is called; nil: any thread.
  var queue: DispatchQueue? { get }
}

extension HomeUpdates {
  public var queue: DispatchQueue? { nil }

  /// The name of the type, without the state: `CollectionChanges<HomeDevice>`.
  public var description: String { "\(Self.self)" }

  /// Calls a closure with each further value, one at a time; on the actor in whose context it is written, if any.
  /// - Returns: a handle; the observation ends at its `cancel()`, or when it is released.
  public func sink(@_inheritActorContext receiveValue: @escaping @Sendable (Element) async -> Void) -> ObservationHandle
  {
    sink(receiveCompletion: { _ in }, receiveValue: receiveValue)
  }

  /// - Parameter receiveCompletion: is called after the last value, because the home was closed or lacks the observed
  ///   part; not after the observation was canceled.
  public func sink(
    @_inheritActorContext receiveCompletion: @escaping @Sendable (ObservationCompletion) async -> Void,
    @_inheritActorContext receiveValue: @escaping @Sendable (Element) async -> Void
  ) -> ObservationHandle {
    // Created before the task starts, so that no change after this call is missed.
    let iterator = makeAsyncIterator()
    let executor = queue.map { QueueExecutor($0) }
    let task = Tasks.start {
      var iterator = iterator
      // An idle observer isn't pending work.
      await PendingWork.$board.withValue(nil) {
        while !Task.isCancelled, let value = await iterator.next(isolation: nil) {
          guard !Task.isCancelled else { return }
          await withTaskExecutorPreference(executor) { await receiveValue(value) }
        }
        guard !Task.isCancelled else { return }
        await withTaskExecutorPreference(executor) { await receiveCompletion(.finished) }
      }
    }
    return ObservationHandle(task)
  }
}

/// The end of an observation.
public enum ObservationCompletion: Sendable {
  case finished
  /// Never: an observation does not fail. For exhaustive switches over Combine's completions.
  case failure(Never)
}

/// Runs tasks on a dispatch queue.
private final class QueueExecutor: TaskExecutor {
  private let queue: DispatchQueue

  init(_ queue: DispatchQueue) { self.queue = queue }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

/// The updates of a home. See ``Home/updates()``. Ends when the home is closed.
///
/// Can be iterated once. A retained sequence retains all elements since its creation.
package struct HomeEvents: HomeUpdates {
  package let stream: AsyncStream<HomeUpdate>
  package init(stream: AsyncStream<HomeUpdate>) { self.stream = stream }
  package func makeAsyncIterator() -> UpdateIterator<HomeUpdate> {
    UpdateIterator(stream, waitingFor: "the home to change")
  }
}

/// An iterator of the updates of a home, or of a part of it.
public struct UpdateIterator<Element: Sendable>: AsyncIteratorProtocol {
  /// Returns the element to deliver instead of a new one; nil: none.
  typealias Projection = @Sendable (_ new: Element, _ lastDelivered: Element?) -> Element?

  private var stream: AsyncStream<Element>.Iterator
  /// The awaited event, for reports about pending work.
  private let what: String
  /// Nil: all elements are delivered.
  private let projection: Projection?
  private var last: Element?

  init(_ stream: AsyncStream<Element>, waitingFor what: String, _ projection: Projection? = nil) {
    (self.stream, self.what, self.projection) = (stream.makeAsyncIterator(), what, projection)
  }

  init<Item>(_ stream: AsyncStream<Element>, changeOf items: Item.Type, _ projection: Projection? = nil) {
    self.init(stream, waitingFor: "a change of the collection of \(items)", projection)
  }

  /// Returns the next element; nil if the home was closed or the task canceled.
  public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> Element? {
    let wait = PendingWork.begin(what)
    defer { wait?.end() }
    while let element = await stream.next(isolation: actor) {
      guard let projection else { return element }
      guard let element = projection(element, last) else { continue }
      last = element
      return element
    }
    return nil
  }
}
