public import HomeModel
internal import Runtime

/// A collection of objects in a home, to list or observe. See the article “The home model”, “Observing”.
public struct Query<Item: Identifiable & Equatable & Sendable>: CustomStringConvertible, Sendable {
  let snapshot: @Sendable (_ timeout: Duration) async throws(HomeError) -> [Item]
  let snapshots: @Sendable () -> AsyncStream<[Item]>
  let changes: @Sendable () -> AsyncStream<CollectionChange<Item>>
  /// Nil: all elements are included.
  var isIncluded: (@Sendable (Item) -> Bool)?

  /// The name of the type, without the elements: `Query<HomeDevice>`.
  public var description: String { "\(Self.self)" }

  /// Returns the current elements, after waiting for the first synchronization.
  /// - Throws: ``HomeError`` `timedOut` if the synchronization does not complete in time.
  public func list(timeout: Duration = .seconds(10)) async throws(HomeError) -> [Item] {
    let wait = PendingWork.begin("the home to list its values: \(Item.self)")
    defer { wait?.end() }
    let items = try await snapshot(timeout)
    return isIncluded.map { items.filter($0) } ?? items
  }

  /// Returns the whole collection, at once and after every change. Equal consecutive collections are not repeated.
  public func batched() -> CollectionSnapshots<Item> {
    CollectionSnapshots(begin: snapshots, isIncluded: isIncluded)
  }

  /// Returns all further changes, in order.
  public func stream() -> CollectionChanges<Item> { CollectionChanges(begin: changes, isIncluded: isIncluded) }

  /// Returns a query of the elements that satisfy a condition, and all earlier conditions. An element that begins or
  /// ceases to satisfy them is added to the collection or removed from it.
  public func filter(_ condition: @escaping @Sendable (Item) -> Bool) -> Self {
    var query = self
    if let isIncluded {
      query.isIncluded = { isIncluded($0) && condition($0) }
    } else {
      query.isIncluded = condition
    }
    return query
  }
}

/// An element that was added to, updated in, or removed from an observed collection.
public enum CollectionChange<Item: Sendable>: Sendable {
  /// A new element.
  case added(Item)
  /// An element with the same id, before and after the change.
  case updated(old: Item, new: Item)
  /// A removed element, with its last value.
  case removed(Item)

  /// The changed element; after the change, unless it was removed.
  public var item: Item {
    switch self {
    case .added(let item), .updated(_, let item), .removed(let item): item
    }
  }
}

/// A sequence of snapshots; see ``Query/batched()``. Ends when the home is closed.
public struct CollectionSnapshots<Item: Identifiable & Equatable & Sendable>: HomeUpdates {
  let begin: @Sendable () -> AsyncStream<[Item]>
  let isIncluded: (@Sendable (Item) -> Bool)?

  public func makeAsyncIterator() -> UpdateIterator<[Item]> {
    guard let isIncluded else { return UpdateIterator(begin(), changeOf: Item.self) }
    return UpdateIterator(begin(), changeOf: Item.self) { items, last in
      // Different collections may have the same included elements.
      let items = items.filter(isIncluded)
      return items == last ? nil : items
    }
  }
}

/// A sequence of changes; see ``Query/stream()``. Ends when the home is closed.
public struct CollectionChanges<Item: Identifiable & Equatable & Sendable>: HomeUpdates {
  let begin: @Sendable () -> AsyncStream<CollectionChange<Item>>
  let isIncluded: (@Sendable (Item) -> Bool)?

  public func makeAsyncIterator() -> UpdateIterator<CollectionChange<Item>> {
    guard let isIncluded else { return UpdateIterator(begin(), changeOf: Item.self) }
    return UpdateIterator(begin(), changeOf: Item.self) { change, _ in
      switch change {
      case .added(let item), .removed(let item): isIncluded(item) ? change : nil
      case .updated(let old, let new):
        switch (isIncluded(old), isIncluded(new)) {
        case (true, true): change
        case (false, true): .added(new)
        case (true, false): .removed(old)
        case (false, false): nil
        }
      }
    }
  }
}
