public import HomeModel
public import HomeStore
package import Runtime
internal import Synchronization

/// A notification of new samples: its handler is called without data, and reads them with an ``AnchoredQuery``. See
/// the article “The home model”, “Observer queries”.
///
/// Immutable; can be executed once, with ``Home/execute(_:)``, and runs until it is stopped.
public final class ObserverQuery: Sendable {
  /// Receives the query, a completion to call after the data was read, and the error if the query could not be executed.
  ///
  /// The completion is optional. It delays the next call while the handler retains it, but at most 30 seconds; changes in
  /// between cause one call. ``ObserverCompletion`` with false requests another call.
  public typealias Handler = @Sendable (ObserverQuery, ObserverCompletion, HomeError?) -> Void

  /// The type of samples to notify of.
  public let sampleType: SampleType
  /// The conditions on samples besides the type.
  public let predicate: SampleFilter
  package let handler: Handler
  private let wasExecuted = Mutex(false)

  /// - Parameter predicate: conditions on the samples; its own type is ignored.
  public init(_ type: SampleType, _ predicate: SampleFilter = .all, handler: @escaping Handler) {
    sampleType = type
    self.predicate = modified(predicate) { $0.type = type }
    self.handler = handler
  }

  /// Marks the query as executed; if it already was, calls the handler with an error.
  /// - Returns: whether this is the first time.
  package func execute(on machine: any Machine) -> Bool {
    let wasExecuted = wasExecuted.withLock { executed in
      defer { executed = true }
      return executed
    }
    if wasExecuted {
      fail(HomeError(.badArguments, "an observer query is executed once; make another one"), on: machine)
    }
    return !wasExecuted
  }

  /// Calls the handler with an error.
  package func fail(_ error: HomeError, on machine: any Machine) {
    HandlerCalls(machine).add { self.handler(self, ObserverCompletion { _ in }, error) }
  }
}

/// Completes a notification after the observer has read the data.
public struct ObserverCompletion: Sendable {
  package let body: @Sendable (Bool) -> Void

  package init(_ body: @escaping @Sendable (Bool) -> Void) { self.body = body }

  /// Completes the notification.
  /// - Parameter isSuccess: false requests a retry.
  public func callAsFunction(_ isSuccess: Bool = true) { body(isSuccess) }
}

/// A query for the samples after an anchor, executed with ``Home/results(of:)``. See the article
/// “The home model”, “Observer queries”.
public struct AnchoredQuery: Sendable {
  public var sampleType: SampleType
  /// The conditions on samples besides the type.
  public var predicate: SampleFilter
  /// The position to read from; nil: the beginning of the log.
  public var anchor: Anchor?
  /// The maximum number of samples; 0: all.
  public var limit: Int

  public init(_ type: SampleType, _ predicate: SampleFilter = .all, after anchor: Anchor?, limit: Int = 10_000) {
    sampleType = type
    self.predicate = predicate
    self.anchor = anchor
    self.limit = limit
  }

  package var filter: SampleFilter { modified(predicate) { $0.type = sampleType } }
}
