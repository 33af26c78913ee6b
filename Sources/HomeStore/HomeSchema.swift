internal import GRDB
internal import Glibc
internal import HomeModel

/// The schema of a home's database. There is one version and no migration: a database of another version is refused.
enum HomeSchema {
  /// `Hrth`, stored as the application id of the file, distinguishes homes from databases of other programs.
  private static let applicationID: Int32 = 0x4872_7468
  /// Stored as the user version of the file. Increase it with each change of the schema or of a stored format.
  private static let version: Int32 = 10

  /// Returns whether the database is new, that is, empty. Changes nothing in the file.
  /// - Parameter checksLargeLog: whether a log with more than ``fastLogCount`` changes is also checked, which takes long.
  /// - Throws: ``HomeError`` `internalError` if it belongs to another program, or has another version; an error of the
  ///   database if a checked table is damaged.
  static func isNew(_ path: String, checksLargeLog: Bool = false) throws -> Bool {
    let result: Void? = try read(path) { database in
      let tables = try String.fetchAll(database, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
      for table in tables {
        guard try table != "log" || checksLargeLog || !hasLargeLog(database) else { continue }
        try check(table, database)
      }
      _ = try ControllerTable.load(database)
    }
    return result == nil
  }

  /// Reads a database, which another process may use, and changes nothing in the file.
  /// - Returns: nil if the database is new, that is, missing or empty.
  /// - Throws: ``HomeError`` `internalError` if it belongs to another program, or has another version.
  static func read<R>(_ path: String, _ body: (Database) throws -> R) throws -> R? {
    try checkLogHasDatabase(path)
    guard access(path, F_OK) == 0 else { return nil }
    if let position = try WriteAheadLog.damage(path + "-wal") {
      throw HomeError(
        .internalError,
        """
        \(path)-wal is damaged at byte \(position); restore a copy of it and \(path), or move both away to create a new home
        """)
    }
    var configuration = Configuration()
    configuration.busyMode = .timeout(5)
    // Closing the last writable connection checkpoints the write-ahead log, which changes the file. Without such a log, a
    // writable connection is required to roll back the journal of a first start that was killed.
    configuration.readonly = access(path + "-wal", F_OK) == 0
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    defer { try? queue.close() }
    return try queue.read { database in
      let id = try Int32.fetchOne(database, sql: "PRAGMA application_id") ?? 0
      let found = try Int32.fetchOne(database, sql: "PRAGMA user_version") ?? 0
      if id == 0, found == 0, try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master") == 0 { return nil }
      guard id == applicationID else {
        throw HomeError(
          .internalError, "\(path): belongs to another program; \(remedy(path)), or choose another --state")
      }
      guard found == version else {
        throw HomeError(
          .internalError,
          """
          \(path): made by another version of Hearth (schema \(found); expected \(version)); \(remedy(path)) to create a \
          new home
          """)
      }
      return try body(database)
    }
  }

  /// Refuses a write-ahead log whose database is missing or empty: SQLite would delete the log without an error.
  static func checkLogHasDatabase(_ path: String) throws(HomeError) {
    // SQLite creates the log of a new database after the file has content, so the log is looked up first.
    guard size(path + "-wal") > 0, size(path) == 0 else { return }
    throw HomeError(
      .internalError,
      "\(path) is missing or empty, but \(path)-wal is not; restore a copy of both, or \(remedy(path)) to create a new home"
    )
  }

  /// Returns the size of a file in bytes; 0 if it is missing.
  private static func size(_ path: String) -> Int64 {
    var status = stat()
    return stat(path, &status) == 0 ? Int64(status.st_size) : 0
  }

  /// The advice for a file that can't be opened. Its log must not become that of a new home.
  static func remedy(_ path: String) -> String { "move it and \(path)-wal away" }

  /// The number of changes in a log that is checked at each opening, which takes 20 ms at most.
  private static let fastLogCount = 100_000

  /// Whether opening does not check the log. Compaction removes the oldest changes, so the others are numbered without gaps.
  static func hasLargeLog(_ database: Database) throws -> Bool {
    try Bool.fetchOne(
      database, sql: "SELECT (SELECT max(sequence) FROM log) - (SELECT min(sequence) FROM log) >= ?",
      arguments: [fastLogCount]) ?? false
  }

  /// Checks the structure of a table.
  static func check(_ table: String, _ database: Database) throws {
    let result = try String.fetchOne(database, sql: "PRAGMA quick_check('\(table)')")
    guard result == "ok" else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: result) }
  }

  /// Creates the tables in an empty database, in one transaction.
  static func create(in writer: some DatabaseWriter) throws {
    try writer.write { database in
      try database.execute(sql: tables)
      try database.execute(sql: "PRAGMA application_id = \(applicationID)")
      try database.execute(sql: "PRAGMA user_version = \(version)")
    }
  }

  /// Returns the id of the log, and stores a new one if there is none.
  /// - Parameter new: the id of a new log.
  static func logID(_ pool: some DatabaseWriter, drawing new: UInt32) throws -> UInt32 {
    let query = "SELECT value FROM meta WHERE key = 'log'"
    // A single statement needs no transaction. With a single connection, a read transaction would toggle
    // `PRAGMA query_only`, after which SQLite prepares all cached statements again.
    if let known: UInt32 = try pool.unsafeRead({ try $0.cachedStatement(sql: query).number() }) { return known }
    return try pool.writeWithoutTransaction { database in
      try database.cachedStatement(sql: "INSERT OR IGNORE INTO meta (key, value) VALUES ('log', ?)").execute(
        arguments: [new])
      return try database.cachedStatement(sql: query).number() ?? new
    }
  }

  /// Returns the identity of the home, and stores a new one if there is none.
  /// - Parameter new: the new identity; nil: a random one.
  static func identity(_ pool: some DatabaseWriter, new: String?) throws -> String {
    let query = "SELECT id FROM identity"
    // See logID.
    if let known = try pool.unsafeRead({ try $0.cachedStatement(sql: query).text() }) { return known }
    return try pool.writeWithoutTransaction { database in
      try database.cachedStatement(
        sql: "INSERT INTO identity SELECT coalesce(?, hex(randomblob(16))) WHERE NOT EXISTS (SELECT 1 FROM identity)"
      ).execute(arguments: [new])
      return try database.cachedStatement(sql: query).text() ?? ""
    }
  }

  /// Ordered items have a `position`; node ids are stored as signed integers; times are microseconds since 1970 unless noted.
  ///
  /// - `identity`: a single row with the identity of the home, 32 hexadecimal digits.
  /// - `controller`: keys, certificates, nodes and sessions of the controller; `checksum` is a CRC-32C, see
  ///   `ControllerTable`.
  /// - `structure`: at most one is the primary one, which is used if a request names none.
  /// - `log`: `kind` is the code of a `SampleType`, `element` the id of an attribute or event, `value` the TLV of an
  ///   attribute or the JSON of another change, `name` that of a removed object.
  /// - `opening`: the generation of the changes of the log after the sequence number `start`, see ``Anchor``.
  /// - `observer`: `earliest` is the earliest time of the next delivery, `begun` the begin of the unfinished one, `resumes`
  ///   the number of times it was resumed.
  /// - `client`: `token` is a hash; `created` is in seconds since 1970.
  /// - `trial`: devices whose connectivity differs from the settled one, which is stored here, and since when.
  /// - `cloud_account`: `revision` changes with the address or token.
  /// - `cloud_number`: the last number drawn for a revision or the id of a cloud node; numbers are never reused.
  private static let tables = """
    CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE identity (id TEXT PRIMARY KEY) WITHOUT ROWID;
    CREATE TABLE setting (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE controller (key TEXT PRIMARY KEY, value BLOB NOT NULL, checksum INTEGER NOT NULL) WITHOUT ROWID;

    CREATE TABLE structure (
      position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL, is_primary INTEGER NOT NULL DEFAULT 0
    );
    CREATE TABLE room (
      position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL, structure TEXT NOT NULL
    );
    CREATE TABLE device (
      id TEXT PRIMARY KEY, name TEXT NOT NULL, room TEXT, structure TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE source (
      node INTEGER NOT NULL, endpoint INTEGER NOT NULL, device TEXT NOT NULL, added INTEGER NOT NULL,
      endpoints BLOB, identity BLOB, status BLOB,
      PRIMARY KEY (node, endpoint)
    ) WITHOUT ROWID;
    CREATE INDEX source_device ON source (device);

    CREATE TABLE cluster (
      node INTEGER NOT NULL, endpoint INTEGER NOT NULL, cluster INTEGER NOT NULL,
      version INTEGER, attributes BLOB NOT NULL,
      PRIMARY KEY (node, endpoint, cluster)
    ) WITHOUT ROWID;
    CREATE TABLE event (node INTEGER PRIMARY KEY, last INTEGER NOT NULL);
    CREATE TABLE contact (node INTEGER PRIMARY KEY, last INTEGER, next INTEGER);
    CREATE TABLE trial (
      device TEXT PRIMARY KEY, state TEXT NOT NULL, locality TEXT NOT NULL, since INTEGER NOT NULL
    ) WITHOUT ROWID;

    CREATE TABLE log (
      sequence INTEGER PRIMARY KEY AUTOINCREMENT, batch INTEGER NOT NULL, time INTEGER NOT NULL, kind INTEGER NOT NULL,
      device TEXT, node INTEGER, endpoint INTEGER, cluster INTEGER, element INTEGER, value BLOB,
      name TEXT, origin TEXT
    );
    CREATE TABLE opening (start INTEGER PRIMARY KEY, generation INTEGER NOT NULL);
    CREATE TABLE observer (
      id INTEGER PRIMARY KEY AUTOINCREMENT, definition TEXT NOT NULL, sequence INTEGER NOT NULL,
      strikes INTEGER NOT NULL DEFAULT 0, suspended INTEGER NOT NULL DEFAULT 0, failure TEXT, delivered INTEGER,
      earliest INTEGER, begun INTEGER, resumes INTEGER NOT NULL DEFAULT 0
    );

    CREATE TABLE client (
      name TEXT PRIMARY KEY COLLATE NOCASE, role TEXT NOT NULL, token BLOB NOT NULL UNIQUE, created INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE cloud_account (
      name TEXT PRIMARY KEY COLLATE NOCASE, address TEXT NOT NULL, token TEXT NOT NULL,
      revision INTEGER NOT NULL, contact INTEGER, failure TEXT
    ) WITHOUT ROWID;
    CREATE TABLE cloud_device (
      account TEXT NOT NULL COLLATE NOCASE, device TEXT NOT NULL, node INTEGER NOT NULL, endpoint INTEGER NOT NULL,
      description BLOB NOT NULL, PRIMARY KEY (account, device), UNIQUE (node, endpoint)
    ) WITHOUT ROWID;
    CREATE TABLE cloud_number (last INTEGER PRIMARY KEY AUTOINCREMENT);
    """
}
