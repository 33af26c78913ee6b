internal import GRDB
internal import Glibc
internal import MatterCrypto
internal import MatterProtocol

/// Numbers of the log that are never given.
///
/// A commit does not wait for the disk, so that a loss of power may take the last changes back. Somebody may have their numbers
/// in an anchor; if they were given again, what they stand for then would be missed without a sign. So the first one who opens
/// a home after the machine was started leaves many numbers out, more than can have been lost, and anchors among them are
/// answered with a reset.
enum LogGaps {
  /// So many numbers are left out: more than are ever given between two starts of a machine.
  static let width: Int64 = 1 << 32

  /// This run of the machine. Where it can't be told, none is like the one before.
  static let boot: Int64 = {
    var random = SystemRandomSource()
    let unknown = Int64.random(in: .min ... .max, using: &random)
    let descriptor = Glibc.open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return unknown }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = read(descriptor, &bytes, bytes.count)
    guard count > 0 else { return unknown }
    // 128 random bits, of which 64 are enough.
    let digits = String(decoding: bytes[..<count].filter { $0 != UInt8(ascii: "-") }.prefix(16), as: UTF8.self)
    return UInt64(digits, radix: 16).map { Int64(bitPattern: $0) } ?? unknown
  }()

  /// Leaves numbers out where the machine was started since the file was opened last. To be called while nobody else opens it.
  static func note(_ boot: Int64, in pool: some DatabaseWriter) throws {
    let known: Int64? = try pool.read {
      try $0.cachedStatement(sql: "SELECT value FROM meta WHERE key = 'boot'").number()
    }
    guard known != boot else { return }
    try pool.writeWithoutTransaction { database in
      // This one waits for the disk: before anybody has a number behind the gap, the gap is there for good.
      try database.execute(sql: "PRAGMA synchronous = FULL")
      defer { try? database.execute(sql: "PRAGMA synchronous = NORMAL") }
      try database.inTransaction(.immediate) {
        let last: Int64? = try database.cachedStatement(sql: "SELECT seq FROM sqlite_sequence WHERE name = 'log'")
          .number()
        let next = (last ?? 0).saturatingAdd(width)
        try database.execute(sql: "INSERT INTO gap (last, next) VALUES (?, ?)", arguments: [last ?? 0, next])
        try database.execute(
          sql: last == nil
            ? "INSERT INTO sqlite_sequence (seq, name) VALUES (?, 'log')"
            : "UPDATE sqlite_sequence SET seq = ? WHERE name = 'log'", arguments: [next])
        try database.execute(
          sql: """
            INSERT INTO meta (key, value) VALUES ('boot', ?)
            ON CONFLICT (key) DO UPDATE SET value = excluded.value
            """, arguments: [boot])
        return .commit
      }
    }
  }

  /// Whether a number was left out, or was taken back before.
  static func contain(_ sequence: Int64, _ database: Database) throws -> Bool {
    try Row.fetchOne(
      database.cachedStatement(sql: "SELECT 1 FROM gap WHERE last < ? AND next > ? LIMIT 1"),
      arguments: [sequence, sequence]) != nil
  }

  /// The number behind which there are so many numbers that were given; at most as many as there are.
  static func place(_ count: Int64, before last: Int64, _ database: Database) throws -> Int64 {
    var (place, rest) = (last, count)
    let gaps = try Row.fetchCursor(
      database.cachedStatement(sql: "SELECT last, next FROM gap ORDER BY last DESC"))
    while let gap = try gaps.next() {
      let (last, next): (Int64, Int64) = (try gap.number(0), try gap.number(1))
      let given = place.saturatingSubtract(next)
      if given >= rest { break }
      rest = rest.saturatingSubtract(given)
      place = last
    }
    return max(0, place.saturatingSubtract(rest))
  }

  /// The same place before the gaps that it is behind or in: nothing is between them.
  static func before(_ sequence: Int64, _ database: Database) throws -> Int64 {
    var place = sequence
    let gaps = try Row.fetchCursor(
      database.cachedStatement(sql: "SELECT last, next FROM gap ORDER BY last DESC"))
    while let gap = try gaps.next() {
      let (last, next): (Int64, Int64) = (try gap.number(0), try gap.number(1))
      if last < place, place <= next { place = last }
    }
    return place
  }

  /// Forgets those that are before the log.
  static func forget(before sequence: Int64, _ database: Database) throws {
    try database.cachedStatement(sql: "DELETE FROM gap WHERE next <= ?").execute(arguments: [sequence])
  }
}
