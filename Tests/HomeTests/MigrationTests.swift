import Foundation
import GRDB
import MatterModel
import Testing

@testable import Home

/// Databases of every earlier version are migrated without loss.
@Suite("Earlier versions") struct MigrationTests {
  /// The schema of version 1. Must not be changed.
  private static let first = """
    PRAGMA application_id = 1215460456;
    CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
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

  /// The schema changes of the later versions. Must not be changed.
  private static let steps = [
    """
    CREATE TABLE client (
      name TEXT PRIMARY KEY COLLATE NOCASE, role TEXT NOT NULL, token BLOB NOT NULL UNIQUE, created INTEGER NOT NULL
    ) WITHOUT ROWID;
    """,
    "ALTER TABLE structure ADD COLUMN is_primary INTEGER NOT NULL DEFAULT 0;",
    "ALTER TABLE observer ADD COLUMN earliest INTEGER;",
    "CREATE TABLE gap (last INTEGER PRIMARY KEY, next INTEGER NOT NULL);",
    """
    CREATE TABLE trial (
      device TEXT PRIMARY KEY, state TEXT NOT NULL, locality TEXT NOT NULL, since INTEGER NOT NULL
    ) WITHOUT ROWID;
    """,
    "CREATE TABLE wish (node INTEGER PRIMARY KEY, name TEXT, room TEXT, room_name TEXT, structure TEXT);",
    "ALTER TABLE observer ADD COLUMN begun INTEGER;",
    "ALTER TABLE observer ADD COLUMN resumes INTEGER NOT NULL DEFAULT 0;",
    """
    CREATE TABLE cloud_account (
      name TEXT PRIMARY KEY COLLATE NOCASE, address TEXT NOT NULL, token TEXT NOT NULL,
      revision INTEGER NOT NULL, orders INTEGER NOT NULL DEFAULT 0, contact INTEGER, failure TEXT
    ) WITHOUT ROWID;
    CREATE TABLE cloud_device (
      account TEXT NOT NULL COLLATE NOCASE, device TEXT NOT NULL, node INTEGER NOT NULL, endpoint INTEGER NOT NULL,
      description BLOB NOT NULL, PRIMARY KEY (account, device), UNIQUE (node, endpoint)
    ) WITHOUT ROWID;
    CREATE TABLE cloud_number (last INTEGER PRIMARY KEY AUTOINCREMENT);
    """,
  ]

  /// A home with a room, a lamp in it that is on, its log, and an observer, in plain SQL.
  private static let contents = """
    INSERT INTO meta VALUES ('log', 77);
    INSERT INTO structure (position, id, name) VALUES (1, 's', 'House'), (2, 't', 'Cabin');
    INSERT INTO room VALUES (1, 'r', 'Den', 's');
    INSERT INTO device VALUES ('5', 'Lamp', 'r', 's');
    INSERT INTO source (node, endpoint, device, status) VALUES (5, 0, '5', x'066f6e6c696e65047065657200');
    INSERT INTO cluster VALUES (5, 1, 6, 9, x'000109');
    INSERT INTO event VALUES (5, 12);
    INSERT INTO contact VALUES (5, 1000, 2000);
    INSERT INTO log (batch, time, kind, subject, node, endpoint, cluster, element, value, writer)
      VALUES (1, 1, 15, '5', 5, 1, 6, 0, x'08', 1), (2, 2, 15, '5', 5, 1, 6, 0, x'09', 1);
    INSERT INTO observer (definition, sequence) VALUES ('{"filter":{"type":"all"},"command":["true"]}', 1);
    """

  @Test(arguments: 1...10) func migratesFromVersion(_ version: Int) throws {
    let scratch = try TestDatabase()
    let earlier = try DatabaseQueue(path: scratch.path)
    try earlier.writeWithoutTransaction { database in
      try database.execute(sql: Self.first + Self.contents)
      for (index, step) in Self.steps.prefix(version - 1).enumerated() {
        try database.execute(sql: step)
        if index == 1 { try database.execute(sql: "UPDATE structure SET is_primary = 1 WHERE id = 't'") }
      }
      for number in 1...version {
        try database.execute(sql: "INSERT INTO grdb_migrations VALUES (?)", arguments: ["\(number)"])
      }
    }
    try earlier.close()

    let database = try scratch.open()
    let home = try database.load()
    #expect(home.state.structures.map(\.name) == ["House", "Cabin"])
    // Before version 3 the first structure is the primary one.
    #expect(home.state.primaryStructureID == (version < 3 ? "s" : "t"))
    #expect(home.state.rooms == [Room(id: "r", name: "Den", structureID: "s")])
    #expect(home.state.devices["5"]?.name == "Lamp" && home.state.devices["5"]?.roomID == "r")
    #expect(home.state.devices["5"]?.active?.status == SourceStatus(SourceConnectivity(.online, .peer)))
    #expect(home.state.value(5, .init(1, 6, 0)) == [0x09] && home.state.lastEvents[5] == 12)
    #expect(home.contacts == [5: Contact(last: 1000, nextReport: 2000)] && home.versions == [5: [.init(1, 6): 9]])
    #expect(home.anchor.log == 77 && home.trials.isEmpty && home.wishes.isEmpty)
    #expect(try database.clients().isEmpty && database.cloudAccounts().isEmpty && database.cloudNodes().isEmpty)
    let observer = try #require(try database.backgroundDeliveries().first)
    #expect(observer.target == .command(["true"]) && observer.anchor == Anchor(log: 77, sequence: 1, mark: 1))
    #expect(observer.earliest == nil && observer.begun == nil && observer.resumes == 0)
    guard case .samples(let samples, _, true) = try database.samples(after: observer.anchor) else {
      Issue.record("the log was reset")
      return
    }
    #expect(samples.map(\.change) == [.attribute(5, .init(1, 6, 0), value: [0x09])])
    // The result matches a new database.
    try database.commit([HomeUpdate([.deviceRenamed(id: "5", name: "Desk")], at: 3)])
    #expect(try database.samples(after: home.anchor).added.count == 1)
    func form(_ database: HomeDatabase) throws -> [String] {
      try database.read { file in
        try [
          "structure", "observer", "client", "gap", "log", "trial", "wish", "cloud_account", "cloud_device",
          "cloud_number",
        ].flatMap { table in
          try Row.fetchAll(file, sql: "SELECT name, type, \"notnull\" FROM pragma_table_info('\(table)') ORDER BY name")
            .map { "\(table) \($0)" }
        }
      }
    }
    let second = try TestDatabase()
    let fresh = try second.open()
    #expect(try form(database) == form(fresh))
    try fresh.close()
  }
}
