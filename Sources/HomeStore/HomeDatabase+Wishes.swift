package import GRDB
package import HomeModel
package import MatterModel

// What was asked for when devices were paired, until they were heard. A wish goes in the same transaction that a device comes to
// be in, see ``ChangeWriter``.
extension HomeDatabase {
  /// By the nodes that they are for.
  package func wishes() throws(HomeError) -> [NodeID: PairingWish] { try read { try self.wishes($0) } }

  package func wishes(_ database: Database) throws -> [NodeID: PairingWish] {
    var wishes: [NodeID: PairingWish] = [:]
    let rows = try Row.fetchCursor(
      database.cachedStatement(sql: "SELECT node, name, room, room_name, structure FROM wish"))
    while let row = try rows.next() {
      var wish = PairingWish(name: try row.optionalText(1))
      if let id = try row.optionalText(2), let name = try row.optionalText(3), let structure = try row.optionalText(4) {
        wish.room = Room(id: id, name: name, structureID: structure)
      }
      wishes[Self.node(try row.number(0))] = wish
    }
    return wishes
  }

  /// Keeps what is asked for a device, before it is paired.
  /// - Parameters:
  ///   - nodes: that it may become.
  ///   - known: that are in the fabric, or may be: what is kept for any other is for none that will ever come.
  /// - Returns: what is kept for each of them: of what is not said now, what was said when it was tried before.
  package func keep(
    _ wish: PairingWish, for nodes: [NodeID], besides known: Set<NodeID>
  ) throws(HomeError) -> [NodeID: PairingWish] {
    try write { database in
      try self.forgetWishes(besides: known, database)
      for node in nodes {
        try database.execute(
          sql: """
            INSERT INTO wish (node, name, room, room_name, structure) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (node) DO UPDATE SET
              name = coalesce(excluded.name, name), room = coalesce(excluded.room, room),
              room_name = coalesce(excluded.room_name, room_name), structure = coalesce(excluded.structure, structure)
            """,
          arguments: [Self.stored(node), wish.name, wish.room?.id, wish.room?.name, wish.room?.structureID])
      }
      let all = try self.wishes(database)
      return all.filter { nodes.contains($0.key) }
    }
  }

  /// Forgets what is kept for nodes that are devices by now, and for those that are not these.
  package func forgetWishes(besides known: Set<NodeID>) throws(HomeError) {
    try write { try self.forgetWishes(besides: known, $0) }
  }

  private func forgetWishes(besides known: Set<NodeID>, _ database: Database) throws {
    try database.execute(sql: "DELETE FROM wish WHERE node IN (SELECT node FROM source WHERE endpoint = 0)")
    for node in try wishes(database).keys where !known.contains(node) {
      try database.execute(sql: "DELETE FROM wish WHERE node = ?", arguments: [Self.stored(node)])
    }
  }
}
