internal import Foundation
internal import GRDB
package import HomeModel
package import MatterProtocol
internal import Runtime

/// The table with the state of the controller. Each entry has a checksum, because SQLite does not detect damaged values.
enum ControllerTable {
  /// - Throws: ``DamagedColumn`` if an entry differs from the one that was stored.
  static func load(_ database: Database) throws -> StoredState {
    var state: StoredState = [:]
    try database.rows("SELECT key, value, checksum FROM controller").forEach { row in
      let (key, value) = (try row.text(0), try row.bytes(1))
      guard try row.number(2) == checksum(key, value) else {
        throw DamagedColumn(name: "value", value: "bytes that differ from the checksum of “\(key)”")
      }
      state[key] = value
    }
    return state
  }

  static func write(_ changes: some Sequence<StoreChange>, _ database: Database) throws {
    for change in changes {
      guard let value = change.value else {
        try database.cachedStatement(sql: "DELETE FROM controller WHERE key = ?").execute(arguments: [change.key])
        continue
      }
      try database.cachedStatement(sql: "INSERT OR REPLACE INTO controller (key, value, checksum) VALUES (?, ?, ?)")
        .execute(arguments: [change.key, Data(value), checksum(change.key, value)])
    }
  }

  private static func checksum(_ key: String, _ value: [UInt8]) -> UInt32 {
    CRC32C.checksum(Array(key.utf8) + [0] + value)
  }
}

extension HomeDatabase {
  package func controllerState() throws(HomeError) -> StoredState { try read { try ControllerTable.load($0) } }
}
