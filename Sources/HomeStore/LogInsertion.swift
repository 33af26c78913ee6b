internal import GRDB
internal import GRDBSQLite
internal import MatterModel

/// Writes a row of the log. It is the most frequent statement, one for each reported change, so the values are bound
/// directly without intermediate copies.
struct LogInsertion {
  private let statement: Statement
  private let database: Database

  init(_ database: Database) throws {
    self.database = database
    statement = try database.cachedStatement(
      sql: """
        INSERT INTO log (batch, time, kind, subject, node, endpoint, cluster, element, value, name, origin)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """)
  }

  /// - Returns: the sequence number of the row.
  /// - Throws: `DatabaseError`
  func callAsFunction(_ row: ChangeRow, batch: Int64, time: Int64, origin: String?) throws -> Int64 {
    let line = statement.sqliteStatement
    sqlite3_reset(line)
    defer {
      sqlite3_reset(line)
      sqlite3_clear_bindings(line)
    }
    var column: Int32 = 0
    var code = SQLITE_OK
    func note(_ result: Int32) { if result != SQLITE_OK, code == SQLITE_OK { code = result } }
    func bind(_ number: Int64?) {
      column += 1
      note(number.map { sqlite3_bind_int64(line, column, $0) } ?? sqlite3_bind_null(line, column))
    }
    func bind(_ text: String?) {
      column += 1
      guard var text else { return note(sqlite3_bind_null(line, column)) }
      note(
        text.withUTF8 { bytes in
          bytes.withMemoryRebound(to: CChar.self) {
            sqlite3_bind_text(line, column, $0.baseAddress, Int32(truncatingIfNeeded: $0.count), Self.copied)
          }
        })
    }
    func bind(_ bytes: [UInt8]?) {
      column += 1
      guard let bytes else { return note(sqlite3_bind_null(line, column)) }
      // An empty blob is not null.
      guard !bytes.isEmpty else { return note(sqlite3_bind_zeroblob(line, column, 0)) }
      note(
        bytes.withUnsafeBytes {
          sqlite3_bind_blob(line, column, $0.baseAddress, Int32(truncatingIfNeeded: $0.count), Self.copied)
        })
    }
    bind(batch)
    bind(time)
    bind(Int64(row.kind.rawValue))
    bind(row.subject)
    bind(row.node.map { HomeDatabase.stored($0) })
    bind(row.endpoint.map { Int64($0.rawValue) })
    bind(row.cluster.map { Int64($0.rawValue) })
    bind(row.element.map { Int64($0) })
    bind(row.value)
    bind(row.name)
    bind(origin)
    if code == SQLITE_OK { code = sqlite3_step(line) }
    guard code == SQLITE_DONE else {
      throw DatabaseError(resultCode: ResultCode(rawValue: code), message: database.lastErrorMessage)
    }
    return database.lastInsertedRowID
  }

  /// SQLITE_TRANSIENT, a cast in C: SQLite copies the bytes.
  private static var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }
}
