internal import GRDB
internal import Synchronization

/// Homes that nobody but this process has and that need not outlive it, as those of a simulation: each in memory, under the
/// path that its file would have. One that was closed is there when it is opened again, since its machine lost its power and
/// not its disk.
package enum PassingHomes {
  private struct Homes {
    var open: [String: DatabaseQueue] = [:]
    /// Emptied ones, to be used again with all the statements that they know: thousands of homes follow each other.
    var idle: [DatabaseQueue] = []
  }

  private static let homes = Mutex(Homes())
  private static let mostIdle = 4

  /// The home of a path; an empty one, brought to the last form, where there is none yet.
  static func open(_ path: String) throws -> DatabaseQueue {
    let known = homes.withLock { homes -> DatabaseQueue? in
      if let known = homes.open[path] { return known }
      homes.open[path] = homes.idle.popLast()
      return homes.open[path]
    }
    if let known { return known }
    var configuration = Configuration()
    configuration.label = "passing home"
    let new = try DatabaseQueue(configuration: configuration)
    try empty.get().backup(to: new)
    return homes.withLock { homes in
      let queue = homes.open[path] ?? new
      homes.open[path] = queue
      return queue
    }
  }

  /// A home in which nothing is yet: the form is made once and copied.
  private static let empty = Result {
    let queue = try DatabaseQueue()
    try HomeSchema.migrate(queue)
    return queue
  }

  /// Forgets the homes below a directory, which nobody uses any more.
  package static func remove(below directory: String) {
    let gone = homes.withLock { homes in
      let paths = homes.open.keys.filter { $0.hasPrefix(directory + "/") }
      return paths.compactMap { homes.open.removeValue(forKey: $0) }
    }
    for queue in gone {
      let isFull = homes.withLock { $0.idle.count >= mostIdle }
      guard !isFull, (try? wipe(queue)) != nil else { continue }
      homes.withLock { $0.idle.append(queue) }
    }
  }

  private static func wipe(_ queue: DatabaseQueue) throws {
    try queue.inTransaction { database in
      let tables = try String.fetchAll(
        database.cachedStatement(
          sql: """
            SELECT name FROM sqlite_master
            WHERE type = 'table' AND name != 'grdb_migrations' AND (name = 'sqlite_sequence' OR name NOT LIKE 'sqlite_%')
            """))
      for table in tables { try database.cachedStatement(sql: "DELETE FROM \"\(table)\"").execute() }
      return .commit
    }
  }
}
