package import GRDB
internal import Synchronization

/// In-memory databases of simulated homes, by the path that the file would have.
///
/// A closed database keeps its contents for the next opening, because a simulated power failure keeps the disk.
package enum InMemoryHomes {
  private struct Homes {
    var open: [String: DatabaseQueue] = [:]
    /// Emptied databases for reuse together with their cached statements, because simulations open thousands of homes.
    var idle: [DatabaseQueue] = []
  }

  private static let homes = Mutex(Homes())
  private static let mostIdle = 4

  /// Returns the database of a path, a new one if none exists.
  package static func open(_ path: String) throws -> DatabaseQueue {
    let known = homes.withLock { homes -> DatabaseQueue? in
      if let known = homes.open[path] { return known }
      homes.open[path] = homes.idle.popLast()
      return homes.open[path]
    }
    if let known { return known }
    var configuration = Configuration()
    configuration.label = "home in memory"
    let new = try DatabaseQueue(configuration: configuration)
    try empty.get().backup(to: new)
    return homes.withLock { homes in
      let queue = homes.open[path] ?? new
      homes.open[path] = queue
      return queue
    }
  }

  /// An empty database, the template of new ones.
  private static let empty = Result {
    let queue = try DatabaseQueue()
    try HomeSchema.create(in: queue)
    return queue
  }

  /// Removes the databases below a directory, which must not be in use.
  package static func remove(below directory: String) {
    let removed = homes.withLock { homes in
      let paths = homes.open.keys.filter { $0.hasPrefix(directory + "/") }
      return paths.compactMap { homes.open.removeValue(forKey: $0) }
    }
    for queue in removed {
      let isFull = homes.withLock { $0.idle.count >= mostIdle }
      guard !isFull, (try? wipe(queue)) != nil else { continue }
      homes.withLock { $0.idle.append(queue) }
    }
  }

  /// Deletes all rows.
  private static func wipe(_ queue: DatabaseQueue) throws {
    try queue.inTransaction { database in
      let tables = try String.fetchAll(
        database.cachedStatement(
          sql: """
            SELECT name FROM sqlite_master
            WHERE type = 'table' AND (name = 'sqlite_sequence' OR name NOT LIKE 'sqlite_%')
            """))
      for table in tables { try database.cachedStatement(sql: "DELETE FROM \"\(table)\"").execute() }
      return .commit
    }
  }
}
