internal import GRDB
internal import Glibc
package import HomeModel
internal import MatterProtocol
internal import Synchronization

// The log does not grow for ever: it is bounded in number, in age, and in what the file takes of the disk.
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
      // The youngest that goes; never in the middle of an update.
      let last = try self.lastSequence(database)
      let firstKept: Int64? = try database.cachedStatement(
        sql: "SELECT sequence FROM log WHERE time >= ? ORDER BY sequence LIMIT 1"
      ).number([time])
      let limit = max(
        try LogGaps.place(Int64(clamping: max(count, 0)), before: last, database),
        firstKept.map { $0.saturatingSubtract(1) } ?? last)
      let divided: Int64? = try database.cachedStatement(
        sql: "SELECT batch FROM log WHERE sequence = ? AND batch <= ?"
      ).number([limit.saturatingAdd(1), limit])
      let end = try LogGaps.before(divided.map { $0.saturatingSubtract(1) } ?? limit, database)
      let mark = try self.mark(at: end, database)
      try database.cachedStatement(sql: "DELETE FROM log WHERE sequence <= ?").execute(arguments: [end])
      let removed = database.changesCount
      if removed > 0 {
        try self.noteCompaction(upTo: end, mark, database)
      }
      // What belongs to nobody comes of reports on their way while a device was removed: not worth a look each time.
      guard removed > 0 || !self.isSwept.exchange(true, ordering: .relaxed) else { return removed }
      for table in ["cluster", "event", "contact"] {
        try database.cachedStatement(sql: "DELETE FROM \(table) WHERE node NOT IN (SELECT node FROM source)").execute()
      }
      return removed
    }
  }

  /// The log begins behind a place from now on.
  /// - Parameter mark: of the change there, for those who have it in an anchor; nil: nobody has.
  func noteCompaction(upTo end: Int64, _ mark: UInt32?, _ database: Database) throws {
    try database.execute(
      sql: "INSERT OR REPLACE INTO meta (key, value) VALUES ('compacted', ?), ('compactedMark', ?)",
      arguments: [end, mark.map { Int64($0) } ?? Self.unmarked])
    try LogGaps.forget(before: end, database)
  }

  /// Where there is no mark of a change.
  private static let unmarked: Int64 = -1

  /// Of the last change that is not in the log any more, if it is this one.
  func compactedMark(at sequence: Int64, _ database: Database) throws -> UInt32? {
    let value: Int64? = try database.cachedStatement(
      sql: """
        SELECT value FROM meta WHERE key = 'compactedMark'
        AND EXISTS (SELECT 1 FROM meta WHERE key = 'compacted' AND value = ?)
        """
    ).number([sequence])
    return value.flatMap { UInt32(exactly: $0) }
  }

  /// The same, and shorter still where the file is too large: half of the log goes, the older one, until it takes three quarters of
  /// that at most. What is known of the devices stays. The file becomes shorter by ``giveBack(beyond:)`` alone.
  /// - Parameter size: how large the file may be, in bytes.
  @discardableResult
  package func compact(keeping count: Int, since time: Int64, within size: Int64) throws(HomeError) -> Int {
    var removed = try compact(keeping: count, since: time)
    guard try fileSize().all > size else { return removed }
    var half = count
    while try fileSize().used > size / 4 * 3 {
      let left = try read { try Int.fetchOne($0, sql: "SELECT count(*) FROM log") ?? 0 }
      guard left > 0 else { break }
      // Less each time, also where nothing went: an update is kept whole or not at all.
      half = min(half, left) / 2
      removed += try compact(keeping: half)
    }
    return removed
  }

  /// What the file takes, and what of that has anything in it, in bytes.
  func fileSize() throws(HomeError) -> (all: Int64, used: Int64) {
    try read { database in
      func number(_ name: String) throws -> Int64 { try Int64.fetchOne(database, sql: "PRAGMA \(name)") ?? 0 }
      let page = try number("page_size")
      let pages = try number("page_count")
      return (pages * page, (pages - (try number("freelist_count"))) * page)
    }
  }

  /// Takes over what was written last, and cuts off its file where that is larger than it has to be. SQLite does so by itself, but not
  /// while anybody reads, and then not before somebody writes again; and all that ``giveBack(beyond:)`` writes goes there.
  package func cutJournal() throws(HomeError) {
    var status = stat()
    guard !isPassing, stat("\(path)-wal", &status) == 0, Int64(status.st_size) > Self.journalSize else { return }
    do { try pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) } } catch {
      throw Self.failure(error, path)
    }
  }

  /// What is empty is filled before the file grows. Where it is much of a file that is too large, it is given back: for that all of
  /// the file is written anew.
  /// - Parameter size: how large the file may be, in bytes.
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
