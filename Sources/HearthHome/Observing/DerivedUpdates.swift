internal import AsyncAlgorithms
public import Dispatch

// The operators of Combine that samples for the Google Home APIs use, with the same names and order of calls. Each
// observes its base sequence from the call of `sink` or `makeAsyncIterator` on.
extension HomeUpdates {
  /// Returns the results of a closure for all values.
  public func map<Value: Sendable>(
    _ transform: @escaping @Sendable (Element) async -> Value
  ) -> some HomeUpdates<Value> {
    DerivedUpdates(base: map(transform) as AsyncMapSequence, queue: queue)
  }

  /// Returns the results of a closure for all values, without nil.
  public func compactMap<Value: Sendable>(
    _ transform: @escaping @Sendable (Element) async -> Value?
  ) -> some HomeUpdates<Value> {
    DerivedUpdates(base: compactMap(transform) as AsyncCompactMapSequence, queue: queue)
  }

  /// Returns the values that satisfy a condition.
  public func filter(_ isIncluded: @escaping @Sendable (Element) async -> Bool) -> some HomeUpdates<Element> {
    DerivedUpdates(base: filter(isIncluded) as AsyncFilterSequence, queue: queue)
  }

  /// Returns the values that differ from the one before.
  /// - Parameter areEqual: compares two consecutive values.
  public func removeDuplicates(
    by areEqual: @escaping @Sendable (Element, Element) async -> Bool
  ) -> some HomeUpdates<Element> {
    DerivedUpdates(base: removeDuplicates(by: areEqual) as AsyncRemoveDuplicatesSequence, queue: queue)
  }

  /// Returns the values that differ from the one before.
  public func removeDuplicates() -> some HomeUpdates<Element> where Element: Equatable {
    removeDuplicates { $0 == $1 }
  }

  /// Returns the first value only.
  public func first() -> some HomeUpdates<Element> {
    DerivedUpdates(base: prefix(1), queue: queue)
  }

  /// Returns the first value that satisfies a condition.
  public func first(where isIncluded: @escaping @Sendable (Element) async -> Bool) -> some HomeUpdates<Element> {
    filter(isIncluded).first()
  }

  /// Returns the values without the first ones.
  public func dropFirst(_ count: Int = 1) -> some HomeUpdates<Element> {
    DerivedUpdates(base: dropFirst(Swift.max(count, 0)) as AsyncDropFirstSequence, queue: queue)
  }

  /// Returns the same values; the closure of ``sink(receiveValue:)`` is called on a queue. An asynchronous closure
  /// that is isolated to an actor, such as the main actor, needs no queue.
  public func receive(on queue: DispatchQueue) -> some HomeUpdates<Element> {
    DerivedUpdates(base: self, queue: queue)
  }

  /// Returns the same sequence, which never fails.
  public func assertNoFailure() -> Self { self }
}

/// A sequence that results from an operator.
private struct DerivedUpdates<Base: AsyncSequence & Sendable>: HomeUpdates
where Base.Element: Sendable, Base.Failure == Never {
  let base: Base
  let queue: DispatchQueue?

  var description: String { "Updates<\(Base.Element.self)>" }

  func makeAsyncIterator() -> Base.AsyncIterator { base.makeAsyncIterator() }
}
