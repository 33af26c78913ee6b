internal import Synchronization

/// A doorbell: its handler is called when there is something new that it asks for, with no data. The handler reads them
/// with an ``AnchoredQuery``. See <doc:TheHomeModel>, “Observer queries”.
///
/// Immutable; executed once by an ``ObserverCenter``, runs until it is stopped there.
public final class ObserverQuery: Sendable {
  /// Gets the query, what is to be called when the data were read, and what went wrong, after which it is called no more.
  ///
  /// While it has not completed it is not called again; what came in between rings once afterwards.
  public typealias Handler = @Sendable (ObserverQuery, ObserverCompletion, HomeError?) -> Void

  /// Of samples that ring.
  public let type: SampleType
  /// What is asked of them beside the type.
  public let predicate: SampleFilter
  package let handler: Handler
  private let wasExecuted = Mutex(false)

  /// - Parameter predicate: its own type is not looked at.
  public init(_ type: SampleType, _ predicate: SampleFilter = .all, handler: @escaping Handler) {
    var filter = predicate
    filter.type = type
    self.type = type
    self.predicate = filter
    self.handler = handler
  }

  /// - Returns: whether this is the first time.
  package func execute() -> Bool {
    wasExecuted.withLock { executed in
      defer { executed = true }
      return !executed
    }
  }
}

/// Says that an observer has read what it was woken for.
public struct ObserverCompletion: Sendable {
  let body: @Sendable (Bool) -> Void

  package init(_ body: @escaping @Sendable (Bool) -> Void) { self.body = body }

  /// - Parameter isSuccess: false: it could not, and is to be called again.
  public func callAsFunction(_ isSuccess: Bool = true) { body(isSuccess) }
}

/// What was added and deleted after an anchor, and the next anchor: asked of a home with ``Home/results(of:)``.
/// See <doc:TheHomeModel>, “Observer queries”.
public struct AnchoredQuery: Sendable {
  public var type: SampleType
  /// What the samples have to be like besides being of the type.
  public var predicate: SampleFilter
  /// Nil: from the beginning of the log.
  public var anchor: Anchor?
  /// Of samples, at most.
  public var limit: Int

  public init(_ type: SampleType, _ predicate: SampleFilter = .all, after anchor: Anchor?, limit: Int = 10_000) {
    self.type = type
    self.predicate = predicate
    self.anchor = anchor
    self.limit = limit
  }

  /// The same of a database that nobody has open as a home.
  /// - Throws: ``HomeError`` `badArguments` for the anchor of another log.
  public func results(in database: HomeDatabase) throws(HomeError) -> AnchoredResult {
    try database.samples(after: anchor, filter, limit: limit)
  }

  var filter: SampleFilter {
    var filter = predicate
    filter.type = type
    return filter
  }
}
