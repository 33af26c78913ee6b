package import GRDB
public import HomeModel
public import MatterModel
internal import Synchronization

/// The positions of committed updates in the log.
public struct CommittedUpdates: Hashable, Sendable {
  /// The position after all updates.
  public var anchor: Anchor
  /// The position after each update, in order.
  public var anchors: [Anchor]
}

extension HomeDatabase {
  /// Stores updates of the process that follows the devices: the resulting state, and each change in the log, in one
  /// transaction.
  /// - Parameters:
  ///   - updates: the updates in order, based on the state that ``load()`` returned. Changes that don't apply are
  ///     logged without effect. An addition of an existing object is skipped, because two processes may report the same
  ///     new device.
  ///   - contacts: the changed times of last contact. Not logged.
  @discardableResult
  public func commit(
    _ updates: [HomeUpdate], contacts: [NodeID: Contact] = [:]
  ) throws(HomeError) -> CommittedUpdates {
    let logged = try write { database in
      var place = try self.end(database)
      var changes = ChangeWriter(database, writer: self.writer, after: place.sequence)
      var logged: [LoggedUpdate] = []
      for update in updates {
        let (written, devices) = try changes.write(update)
        // One of which nothing came into the log is where the one before is.
        if !written.changes.isEmpty {
          place = Anchor(log: self.logID, sequence: changes.sequence, mark: Self.mark(of: self.writer))
        }
        logged.append(LoggedUpdate(update: written, anchor: place, devices: devices))
      }
      try changes.finish(contacts)
      return (updates: logged, end: place)
    }
    bell.ring(logged.updates)
    return CommittedUpdates(anchor: logged.end, anchors: logged.updates.map(\.anchor))
  }

  /// Stores that nodes were heard by a process that does not follow them, where nobody has heard them since. Not logged.
  /// - Parameter times: in microseconds since 1970.
  package func note(heard times: [NodeID: Int64]) throws(HomeError) {
    try write { database in
      let statement = try database.cachedStatement(
        sql: "UPDATE contact SET last = ? WHERE node = ? AND (last IS NULL OR last < ?)")
      for (node, time) in times { try statement.execute(arguments: [time, HomeDatabase.stored(node), time]) }
    }
  }

  /// Changes names, rooms or devices in a transaction that sees the changes of all other processes.
  /// - Parameters:
  ///   - origin: the client that made the call.
  ///   - time: now, in microseconds since 1970.
  ///   - body: receives the home without attribute values, and returns the changes. If it throws, nothing is changed.
  /// - Returns: the update, the position after it in the log, and the result of `body`.
  /// - Throws: the error of `body`.
  public func change<R: Sendable>(
    origin: String?, at time: Int64,
    _ body: (HomeState) throws(HomeError) -> (changes: [HomeChange], result: R)
  ) throws(HomeError) -> (update: HomeUpdate, anchor: Anchor, result: R) {
    try change(origin: origin, at: time, beside: { _, state in try body(state) })
  }

  /// Changes the home in one transaction with what `body` does to the database.
  package func change<R: Sendable>(
    origin: String?, at time: Int64, beside body: (Database, HomeState) throws -> (changes: [HomeChange], result: R)
  ) throws(HomeError) -> (update: HomeUpdate, anchor: Anchor, result: R) {
    let (logged, result) = try write { database in
      let (changes, result) = try body(database, try self.names(database))
      let update = HomeUpdate(changes, at: time, origin: origin)
      var writer = ChangeWriter(database, writer: self.writer, after: try self.lastSequence(database))
      let (written, devices) = try writer.write(update)
      try writer.finish([:])
      let anchor = try self.anchor(at: writer.sequence, database)
      return (LoggedUpdate(update: written, anchor: anchor, devices: devices), result)
    }
    bell.ring([logged])
    return (logged.update, logged.anchor, result)
  }
}

/// Tells everybody in this process who wants to know of our commits.
package final class Bell: Sendable {
  package enum News: Sendable {
    case updates([LoggedUpdate])
    /// The log begins anew: everything may be different, and whoever reads it has a reset to read.
    case restart
  }

  package typealias Ear = @Sendable (News) -> Void
  private struct Ears {
    var next = 0
    var all: [Int: Ear] = [:]
  }

  private let ears = Mutex(Ears())

  /// - Parameter ear: is called behind each commit, on the thread that committed; must not wait.
  package func add(_ ear: @escaping Ear) -> Int {
    ears.withLock {
      $0.next += 1
      $0.all[$0.next] = ear
      return $0.next
    }
  }

  package func remove(_ number: Int) { _ = ears.withLock { $0.all.removeValue(forKey: number) } }

  package func ring(_ updates: [LoggedUpdate]) { if !updates.isEmpty { ring(.updates(updates)) } }

  package func ring(_ news: News) {
    let all = ears.withLock { $0.all }
    // The first comes first: a run of a simulation is the same each time.
    for (_, ear) in all.sorted(by: { $0.key < $1.key }) { ear(news) }
  }
}
