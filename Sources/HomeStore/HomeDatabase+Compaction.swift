internal import GRDB
internal import Glibc
package import HomeModel
internal import MatterProtocol
internal import Synchronization

// Compaction of the log by the number and age of changes and by the size of the file.
extension HomeDatabase {
  /// Removes changes beyond the count or older than the time from the log, as whole updates. The home is not changed,
  /// except that data of nodes without a device is removed.
  /// - Parameters:
  ///   - keeping: the maximum number of remaining changes.
  ///   - time: changes before this time are removed, in microseconds since 1970.
  /// - Returns: the number of removed changes.
  @discardableResult
  package func compact(keeping count: Int, since time: Int64 = .min) throws(HomeError) -> Int {
    try write { database in
      // The last change to remove; updates are never split.
      let last = try self.lastSequence(database)
      let firstKept: Int64? = try database.cachedStatement(
        sql: "SELECT sequence FROM log WHERE time >= ? ORDER BY sequence LIMIT 1"
      ).number([time])
      let limit = max(
        max(0, last.saturatingSubtract(Int64(clamping: max(count, 0)))),
        firstKept.map { $0.saturatingSubtract(1) } ?? last)
      let divided: Int64? = try database.cachedStatement(
        sql: "SELECT batch FROM log WHERE sequence = ? AND batch <= ?"
      ).number([limit.saturatingAdd(1), limit])
      let end = divided.map { $0.saturatingSubtract(1) } ?? limit
      try database.cachedStatement(sql: "DELETE FROM log WHERE sequence <= ?").execute(arguments: [end])
      let removed = database.changesCount
      if removed > 0 { try self.noteCompaction(upTo: end, database) }
      // Reports that were in flight while a device was removed leave orphaned rows, which are rare: they are not
      // searched each time.
      guard removed > 0 || !self.isSwept.exchange(true, ordering: .relaxed) else { return removed }
      for table in ["cluster", "event", "contact"] {
        try database.cachedStatement(sql: "DELETE FROM \(table) WHERE node NOT IN (SELECT node FROM source)").execute()
      }
      return removed
    }
  }

  /// Stores that the log begins after a position. The generation of this position is kept, for comparison with anchors.
  func noteCompaction(upTo end: Int64, _ database: Database) throws {
    try database.execute(
      sql: """
        INSERT OR REPLACE INTO meta (key, value) VALUES ('compacted', ?);
        DELETE FROM opening WHERE start < (SELECT max(start) FROM opening WHERE start < ?)
        """, arguments: [end, end])
  }

  /// Also compacts the log to a file size: removes the older half of the changes until the file uses at most three
  /// quarters of the limit. The state of the home is kept. Only ``giveBack(beyond:)`` shortens the file.
  /// - Parameter size: the size limit in bytes.
  @discardableResult
  package func compact(keeping count: Int, since time: Int64, within size: Int64) throws(HomeError) -> Int {
    var removed = try compact(keeping: count, since: time)
    guard try fileSize().all > size else { return removed }
    var half = count
    while try fileSize().used > size / 4 * 3 {
      let left = try read { try Int.fetchOne($0, sql: "SELECT count(*) FROM log") ?? 0 }
      guard left > 0 else { break }
      // Halves the number each time, because an update that can't be split may prevent a removal.
      half = min(half, left) / 2
      removed += try compact(keeping: half)
    }
    return removed
  }

  /// The size of the file and of its used pages, in bytes.
  func fileSize() throws(HomeError) -> (all: Int64, used: Int64) {
    try read { database in
      func number(_ name: String) throws -> Int64 { try Int64.fetchOne(database, sql: "PRAGMA \(name)") ?? 0 }
      let page = try number("page_size")
      let pages = try number("page_count")
      return (pages * page, (pages - (try number("freelist_count"))) * page)
    }
  }

  /// Checkpoints the write-ahead log and truncates its file if it is too large. SQLite itself does so only while no
  /// reader is active, and not before the next write; ``giveBack(beyond:)`` writes the whole database to it.
  package func cutJournal() throws(HomeError) {
    var status = stat()
    guard !isPassing, stat("\(path)-wal", &status) == 0, Int64(status.st_size) > Self.journalSize else { return }
    do { try pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) } } catch {
      throw Self.failure(error, path)
    }
  }

  /// Vacuums the file if it exceeds the limit and much of it is unused. Rewrites the whole file, so that otherwise
  /// unused pages are reused.
  /// - Parameter size: the size limit in bytes.
  package func giveBack(beyond size: Int64) throws(HomeError) {
    let (all, used) = try fileSize()
    guard all > size, used <= all / 4 * 3 else { return }
    do {
      try pool.writeWithoutTransaction { try $0.execute(sql: "VACUUM") }
    } catch {
      throw Self.failure(error, path)
    }
  }
}
