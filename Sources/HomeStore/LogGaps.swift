internal import GRDB
internal import Glibc
internal import MatterCrypto
internal import MatterProtocol

/// Sequence numbers of the log that are skipped.
///
/// A commit does not wait for the disk, so a power failure may undo the last changes. If their numbers were reused, an
/// anchor with such a number would miss the changes that have it now. So the first opening after a boot of the machine
/// skips more numbers than can have been lost, and an anchor among them causes a reset.
enum LogGaps {
  /// The length of a gap: more numbers than are used between two boots.
  static let width: Int64 = 1 << 32

  /// Identifies the boot of the machine. If unknown, each opening counts as a boot.
  static let boot: Int64 = {
    var random = SystemRandomSource()
    let unknown = Int64.random(in: .min ... .max, using: &random)
    let descriptor = Glibc.open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return unknown }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = read(descriptor, &bytes, bytes.count)
    guard count > 0 else { return unknown }
    // Uses 64 of the 128 random bits.
    let digits = String(decoding: bytes[..<count].filter { $0 != UInt8(ascii: "-") }.prefix(16), as: UTF8.self)
    return UInt64(digits, radix: 16).map { Int64(bitPattern: $0) } ?? unknown
  }()

  /// Adds a gap if the machine was booted since the last opening. The caller excludes concurrent openings.
  static func note(_ boot: Int64, in pool: some DatabaseWriter) throws {
    let known: Int64? = try pool.read {
      try $0.cachedStatement(sql: "SELECT value FROM meta WHERE key = 'boot'").number()
    }
    guard known != boot else { return }
    try pool.writeWithoutTransaction { database in
      // Waits for the disk: the gap must be durable before a number after it is used.
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

  /// Whether a sequence number was skipped or lost.
  static func contain(_ sequence: Int64, _ database: Database) throws -> Bool {
    try Row.fetchOne(
      database.cachedStatement(sql: "SELECT 1 FROM gap WHERE last < ? AND next > ? LIMIT 1"),
      arguments: [sequence, sequence]) != nil
  }

  /// Returns the sequence number after which there are `count` used numbers, or all of them if there are fewer.
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

  /// Returns the equivalent position before the gaps that contain or directly precede it.
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

  /// Removes the gaps before the beginning of the log.
  static func forget(before sequence: Int64, _ database: Database) throws {
    try database.cachedStatement(sql: "DELETE FROM gap WHERE next <= ?").execute(arguments: [sequence])
  }
}
