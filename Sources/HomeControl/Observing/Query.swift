public import HomeModel
internal import Runtime

/// A collection of objects in a home, to list or observe. See the article “The home model”, “Observing”.
public struct Query<Item: Identifiable & Sendable>: CustomStringConvertible, Sendable {
  package let snapshot: @Sendable (_ timeout: Duration) async throws(HomeError) -> [Item]
  package let snapshots: @Sendable () -> AsyncStream<[Item]>
  package let changes: @Sendable () -> AsyncStream<CollectionChange<Item>>

  /// The name of the type, without the elements: `Query<HomeDevice>`.
  public var description: String { "\(Self.self)" }

  /// Returns the current elements, after waiting for the first synchronization.
  /// - Throws: ``HomeError`` `timedOut` if the synchronization does not complete in time.
  public func list(timeout: Duration = .seconds(10)) async throws(HomeError) -> [Item] {
    let wait = PendingWork.begin("the home to list what it has: \(Item.self)")
    defer { wait?.end() }
    return try await snapshot(timeout)
  }

  /// Returns the whole collection, at once and after every change. Equal consecutive collections are not repeated.
  public func batched() -> CollectionSnapshots<Item> { CollectionSnapshots(begin: snapshots) }

  /// Returns a query of the item with an id.
  package func only(_ id: Item.ID) -> Query<Item> where Item: Equatable, Item.ID: Sendable {
    Query(
      snapshot: { [snapshot] timeout async throws(HomeError) in try await snapshot(timeout).filter { $0.id == id } },
      snapshots: { [snapshots] in
        // Different collections may have the same item.
        Self.derived(from: snapshots()) { (items, last: inout [Item]?) in
          let items = items.filter { $0.id == id }
          guard items != last else { return nil }
          last = items
          return items
        }
      },
      changes: { [changes] in
        Self.derived(from: changes()) { (change, _: inout [Item]?) in change.item.id == id ? change : nil }
      })
  }

  private static func derived<Element: Sendable>(
    from stream: AsyncStream<Element>, _ next: @escaping @Sendable (Element, inout [Item]?) -> Element?
  ) -> AsyncStream<Element> {
    let (result, continuation) = AsyncStream.makeStream(of: Element.self)
    let task = Tasks.start {
      var last: [Item]?
      for await element in stream { if let element = next(element, &last) { continuation.yield(element) } }
      continuation.finish()
    }
    continuation.onTermination = { _ in task.cancel() }
    return result
  }

  /// Returns all further changes, in order.
  public func stream() -> CollectionChanges<Item> { CollectionChanges(begin: changes) }
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
public struct CollectionSnapshots<Item: Identifiable & Sendable>: HomeUpdates {
  package let begin: @Sendable () -> AsyncStream<[Item]>
  public func makeAsyncIterator() -> UpdateIterator<[Item]> { UpdateIterator(begin(), changeOf: Item.self) }
}

/// A sequence of changes; see ``Query/stream()``. Ends when the home is closed.
public struct CollectionChanges<Item: Identifiable & Sendable>: HomeUpdates {
  package let begin: @Sendable () -> AsyncStream<CollectionChange<Item>>
  public func makeAsyncIterator() -> UpdateIterator<CollectionChange<Item>> {
    UpdateIterator(begin(), changeOf: Item.self)
  }
}
