internal import Foundation
internal import GRDB
package import HomeModel
internal import MatterCrypto

// The invited clients.
extension HomeDatabase {
  /// Invites a client.
  /// - Parameter time: now, in seconds since 1970.
  /// - Returns: the client and its token of 32 hexadecimal digits, which is not stored.
  /// - Throws: ``HomeError`` `badArguments` for an invalid name, or one that another client has.
  package func invite(_ name: String, _ role: HomeRole, at time: Int64) throws(HomeError) -> (
    client: InvitedClient, token: String
  ) {
    let name = try HomeNames.checked(name).name
    var random = SystemRandomSource()
    let token = random.bytes(16).hexadecimal
    let client = InvitedClient(name: name, role: role, created: time, tokenHash: InvitedClient.hash(token))
    try write(isDurable: true) { database in
      // NOCASE of SQLite compares only ASCII letters case-insensitively.
      if let taken = try Self.clientNames(database).first(where: { HomeNames.same($0, name) }) {
        throw HomeError(.badArguments, "there is a client “\(taken)” already; take another name, or revoke it first")
      }
      try database.execute(
        sql: "INSERT INTO client (name, role, token, created) VALUES (?, ?, ?, ?)",
        arguments: [name, role.rawValue, Data(client.tokenHash), time])
    }
    return (client, token)
  }

  /// Returns the invited clients, ordered by name, except those whose row is damaged: they have no access.
  package func clients() throws(HomeError) -> [InvitedClient] {
    try read { database in
      try Row.fetchAll(database, sql: "SELECT name, role, token, created FROM client ORDER BY name")
        .compactMap { try? Self.client($0) }
    }
  }

  private static func client(_ row: Row) throws -> InvitedClient {
    guard let role = HomeRole(rawValue: try row.text(1)), let hash = try row.optionalBytes(2),
      hash.count == InvitedClient.hash("").count
    else { throw DamagedBlob() }
    return InvitedClient(name: try row.text(0), role: role, created: try row.number(3), tokenHash: hash)
  }

  /// Returns the names of all clients, also of those whose row is damaged.
  private static func clientNames(_ database: Database) throws -> [String] {
    try Row.fetchAll(database, sql: "SELECT name FROM client ORDER BY name").compactMap { try? $0.text(0) }
  }

  /// Revokes a client's invitation, also one whose row is damaged.
  /// - Throws: ``HomeError`` `notFound` with similar names.
  package func revoke(_ name: String) throws(HomeError) -> InvitedClient {
    let names = try read { try Self.clientNames($0) }
    guard let known = names.first(where: { HomeNames.same($0, name) }) else {
      throw HomeError.unknown("there is no client “\(name)”", name, in: names)
    }
    let client =
      try clients().first { $0.name == known }
      ?? InvitedClient(name: known, role: .guest, created: 0, tokenHash: [])
    try write(isDurable: true) { try $0.execute(sql: "DELETE FROM client WHERE name = ?", arguments: [known]) }
    return client
  }
}

extension InvitedClient {
  package static func hash(_ token: String) -> [UInt8] { Hash.sha256(Array("hearth client \(token)".utf8)) }

  /// Returns whether this is the client's token, in constant time.
  package func has(_ token: String) -> Bool { constantTimeEqual(tokenHash, Self.hash(token)) }
}
