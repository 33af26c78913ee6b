internal import GRDB

/// The form of the file, by version. A migration that was released is never altered: a new one follows it.
enum HomeSchema {
  /// `Hrth`, in the file's head: tells a home from the files of other programs.
  static let applicationID: Int32 = 0x4872_7468

  /// Looks before anything is written whether the file is ours to open.
  static func check(_ path: String) throws {
    var configuration = Configuration()
    configuration.busyMode = .timeout(5)
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    defer { try? queue.close() }
    try queue.read { database in
      let id = try Int32.fetchOne(database, sql: "PRAGMA application_id") ?? 0
      // The list of migrations alone is there when the very first start was killed.
      let isEmpty =
        try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master WHERE tbl_name != 'grdb_migrations'") == 0
      guard id == applicationID || (id == 0 && isEmpty) else {
        throw HomeError(
          .internalError, "\(path) belongs to another program; move it away, or choose another --state")
      }
      if try migrator.hasBeenSuperseded(database) {
        throw HomeError(
          .internalError, "\(path) was written by a later version of hearth; use that one, or choose another --state")
      }
    }
  }

  static func migrate(_ pool: some DatabaseWriter) throws {
    let isUpToDate = try pool.read { try migrator.hasCompletedMigrations($0) }
    if !isUpToDate { try migrator.migrate(pool) }
  }

  /// The log's id: that of the file, or the one that was drawn, where there is none yet.
  /// - Parameter boot: when a new log was begun.
  static func logID(_ pool: some DatabaseWriter, drawing new: UInt32, boot: Int64) throws -> UInt32 {
    let query = "SELECT value FROM meta WHERE key = 'log'"
    // One statement is a moment of its own. A transaction for reading would have SQLite prepare all statements anew, where
    // there is one connection: it says and takes back that nothing is written.
    if let known: UInt32 = try pool.unsafeRead({ try $0.cachedStatement(sql: query).number() }) { return known }
    return try pool.writeWithoutTransaction { database in
      try database.cachedStatement(sql: "INSERT OR IGNORE INTO meta (key, value) VALUES ('log', ?), ('boot', ?)")
        .execute(arguments: [new, boot])
      return try database.cachedStatement(sql: query).number() ?? new
    }
  }

  private static var migrator: DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("1") { database in
      try database.execute(sql: version1)
      try database.execute(sql: "PRAGMA application_id = \(applicationID)")
    }
    migrator.registerMigration("2") { try $0.execute(sql: version2) }
    migrator.registerMigration("3") { try $0.execute(sql: version3) }
    migrator.registerMigration("4") { try $0.execute(sql: version4) }
    migrator.registerMigration("5") { try $0.execute(sql: version5) }
    migrator.registerMigration("6") { try $0.execute(sql: version6) }
    migrator.registerMigration("7") { try $0.execute(sql: version7) }
    migrator.registerMigration("8") { try $0.execute(sql: version8) }
    migrator.registerMigration("9") { try $0.execute(sql: version9) }
    migrator.registerMigration("10") { try $0.execute(sql: version10) }
    return migrator
  }

  /// Accounts at makers' clouds, and their devices with the endpoints that they are. `revision` counts what the user did to an
  /// account, `orders` what was done through it; `contact` is in microseconds since 1970. A number is never given twice.
  private static let version10 = """
    CREATE TABLE cloud_account (
      name TEXT PRIMARY KEY COLLATE NOCASE, address TEXT NOT NULL, token TEXT NOT NULL,
      revision INTEGER NOT NULL, orders INTEGER NOT NULL DEFAULT 0, contact INTEGER, failure TEXT
    ) WITHOUT ROWID;
    CREATE TABLE cloud_device (
      account TEXT NOT NULL COLLATE NOCASE, device TEXT NOT NULL, node INTEGER NOT NULL, endpoint INTEGER NOT NULL,
      description BLOB NOT NULL, PRIMARY KEY (account, device), UNIQUE (node, endpoint)
    ) WITHOUT ROWID;
    CREATE TABLE cloud_number (last INTEGER PRIMARY KEY AUTOINCREMENT);
    """

  /// How often an observer was resumed.
  private static let version9 = "ALTER TABLE observer ADD COLUMN resumes INTEGER NOT NULL DEFAULT 0;"

  /// When an observer was woken that has not ended, in microseconds since 1970.
  private static let version8 = "ALTER TABLE observer ADD COLUMN begun INTEGER;"

  /// What was asked for when a node was paired that has not told yet what it is.
  private static let version7 = """
    CREATE TABLE wish (node INTEGER PRIMARY KEY, name TEXT, room TEXT, room_name TEXT, structure TEXT);
    """

  /// Devices that are otherwise than their settled connectivity says, which this is, and since when, in microseconds since 1970.
  private static let version6 = """
    CREATE TABLE trial (
      device TEXT PRIMARY KEY, state TEXT NOT NULL, locality TEXT NOT NULL, since INTEGER NOT NULL
    ) WITHOUT ROWID;
    """

  /// Numbers of the log that were left out: all between the two.
  private static let version5 = "CREATE TABLE gap (last INTEGER PRIMARY KEY, next INTEGER NOT NULL);"

  /// Before when an observer is not woken again, in microseconds since 1970; null: it may be at once.
  private static let version4 = "ALTER TABLE observer ADD COLUMN earliest INTEGER;"

  /// Which structure is meant where none is named: one of them is, where there are any.
  private static let version3 = """
    ALTER TABLE structure ADD COLUMN is_primary INTEGER NOT NULL DEFAULT 0;
    UPDATE structure SET is_primary = 1 WHERE position = (SELECT min(position) FROM structure);
    """

  /// Who else may use the home. Of a token its hash is kept; times are seconds since 1970.
  private static let version2 = """
    CREATE TABLE client (
      name TEXT PRIMARY KEY COLLATE NOCASE, role TEXT NOT NULL, token BLOB NOT NULL UNIQUE, created INTEGER NOT NULL
    ) WITHOUT ROWID;
    """

  /// Things that have an order have a position; ids of nodes are signed here; `element` is the number of an attribute or
  /// event; times are microseconds since 1970.
  private static let version1 = """
    CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE setting (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

    CREATE TABLE structure (position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL);
    CREATE TABLE room (
      position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL, structure TEXT NOT NULL
    );
    CREATE TABLE device (
      id TEXT PRIMARY KEY, name TEXT NOT NULL, room TEXT, structure TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE source (
      node INTEGER NOT NULL, endpoint INTEGER NOT NULL, device TEXT NOT NULL,
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

    CREATE TABLE log (
      sequence INTEGER PRIMARY KEY AUTOINCREMENT, batch INTEGER NOT NULL, time INTEGER NOT NULL, kind INTEGER NOT NULL,
      subject TEXT, node INTEGER, endpoint INTEGER, cluster INTEGER, element INTEGER, value BLOB,
      origin TEXT, writer INTEGER NOT NULL
    );
    CREATE TABLE observer (
      id INTEGER PRIMARY KEY AUTOINCREMENT, definition TEXT NOT NULL, sequence INTEGER NOT NULL,
      strikes INTEGER NOT NULL DEFAULT 0, suspended INTEGER NOT NULL DEFAULT 0, failure TEXT, delivered INTEGER
    );
    """
}
