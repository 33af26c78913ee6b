internal import GRDB
internal import Glibc
package import HomeModel
internal import MatterProtocol
internal import Synchronization

// Compaction of the log by the number and age of changes and by the size of the file, in slices: other transactions,
// above all durable ones on the event loop, wait for one slice at most.
extension HomeDatabase {
  /// The number of changes that one transaction removes; more if they are of one update.
  static let changesOfSlice: Int64 = 2000
  /// The maximum number of pages that one transaction removes from the file.
  private static let pagesOfSlice: Int64 = 500

  /// Removes a slice of the changes beyond the limits from the log, as whole updates. The home is not changed, except
  /// that the last call removes data of nodes without a device.
  /// - Parameters:
  ///   - count: the maximum number of remaining changes.
  ///   - time: changes before this time are removed, in microseconds since 1970.
  ///   - size: the size limit of the file in bytes. In a larger file, changes are removed until it uses at most three
  ///     quarters of the limit. Only ``shrink(to:)`` shortens the file.
  /// - Returns: the number of removed changes; 0: the log is within the limits.
  @discardableResult
  package func compact(
    keeping count: Int, since time: Int64 = .min, within size: Int64 = .max
  ) throws(HomeError) -> Int {
    try write { database in
      let removed = try self.removeSlice(keeping: count, since: time, within: size, database)
      // Reports that were in flight while a device was removed leave orphaned rows, which are rare: they are not
      // searched each time.
      if removed > 0 {
        self.isSwept.store(false, ordering: .relaxed)
      } else if !self.isSwept.exchange(true, ordering: .relaxed) {
        for table in ["cluster", "event", "contact"] {
          try database.cachedStatement(sql: "DELETE FROM \(table) WHERE node NOT IN (SELECT node FROM source)")
            .execute()
        }
      }
      return removed
    }
  }

  private func removeSlice(
    keeping count: Int, since time: Int64, within size: Int64, _ database: Database
  ) throws -> Int {
    let last = try lastSequence(database)
    guard let first: Int64 = try database.cachedStatement(sql: "SELECT min(sequence) FROM log").number() else {
      return 0
    }
    // The last change of the slice, of an update that ends there.
    let next = first.saturatingAdd(Self.changesOfSlice)
    let slice: Int64 =
      try database.cachedStatement(
        sql: "SELECT batch - 1 FROM log WHERE sequence >= ? AND batch >= ? ORDER BY sequence LIMIT 1"
      ).number([next, next]) ?? last
    // The last change to remove. Only rows of the slice are read.
    var end = slice
    let (all, used, _) = try fileSize(database)
    if all <= size || used <= size / 4 * 3 {
      let kept: Int64? = try database.cachedStatement(
        sql: "SELECT sequence FROM log WHERE sequence <= ? AND time >= ? ORDER BY sequence LIMIT 1"
      ).number([slice, time])
      let surplus = last.saturatingSubtract(Int64(clamping: max(count, 0)))
      end = min(slice, max(surplus, kept.map { $0.saturatingSubtract(1) } ?? slice))
    }
    // Updates are never split.
    let divided: Int64? = try database.cachedStatement(
      sql: "SELECT batch FROM log WHERE sequence = ? AND batch <= ?"
    ).number([end.saturatingAdd(1), end])
    if let divided { end = divided.saturatingSubtract(1) }
    try database.cachedStatement(sql: "DELETE FROM log WHERE sequence <= ?").execute(arguments: [end])
    let removed = database.changesCount
    if removed > 0 { try noteCompaction(upTo: end, database) }
    return removed
  }

  /// Stores that the log begins after a position. The generation of this position is kept, for comparison with anchors.
  func noteCompaction(upTo end: Int64, _ database: Database) throws {
    try database.execute(
      sql: """
        INSERT OR REPLACE INTO meta (key, value) VALUES ('compacted', ?);
        DELETE FROM opening WHERE start < (SELECT max(start) FROM opening WHERE start < ?)
        """, arguments: [end, end])
  }

  /// The size of the file, of its used pages, and of each page, in bytes.
  func fileSize(_ database: Database) throws -> (all: Int64, used: Int64, page: Int64) {
    func number(_ name: String) throws -> Int64 { try Int64.fetchOne(database, sql: "PRAGMA \(name)") ?? 0 }
    let page = try number("page_size")
    let pages = try number("page_count")
    return (pages * page, (pages - (try number("freelist_count"))) * page, page)
  }

  /// Removes a slice of the unused pages from a file that exceeds the limit; the other unused pages are reused.
  /// - Parameter size: the size limit in bytes.
  /// - Returns: whether the file became shorter; false: there is nothing to remove.
  @discardableResult
  package func shrink(to size: Int64) throws(HomeError) -> Bool {
    try write { database in
      let (before, _, page) = try self.fileSize(database)
      guard before > size else { return false }
      // Rounded up, so that the file is not longer than the limit.
      let pages = min((before - size - 1) / page + 1, Self.pagesOfSlice)
      try database.execute(sql: "PRAGMA incremental_vacuum(\(pages))")
      return try self.fileSize(database).all < before
    }
  }

  /// Checkpoints the write-ahead log and truncates its file if it is too large. SQLite itself does so only while no
  /// reader is active, and not before the next write.
  package func cutJournal() throws(HomeError) {
    var status = stat()
    guard !isInMemory, stat("\(path)-wal", &status) == 0, Int64(status.st_size) > Self.journalSize else { return }
    do {
      try pool.writeWithoutTransaction { database in
        // Fails instead of waiting for readers, because durable changes wait for this connection on the event loop.
        try database.execute(sql: "PRAGMA busy_timeout = 0")
        defer { try? database.execute(sql: "PRAGMA busy_timeout = \(Self.busyTimeout * 1000)") }
        _ = try database.checkpoint(.truncate)
      }
    } catch {
      throw Self.failure(error, path)
    }
  }
}
