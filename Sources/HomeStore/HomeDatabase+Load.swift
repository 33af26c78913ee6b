internal import Foundation
package import GRDB
public import HomeModel
package import MatterProtocol
internal import MatterTLV

/// A home as loaded from the database.
public struct StoredHome: Sendable, Codable {
  public var state: HomeState
  /// The times of last contact, by node.
  public var contacts: [NodeID: Contact] = [:]
  /// The data versions of completely known clusters, by node: a subscription with these versions receives only later
  /// changes.
  public var versions: [NodeID: [ClusterPath: UInt32]] = [:]
  /// The devices whose changed connectivity has not settled yet, by their ids.
  package var trials: [String: DebounceTrial] = [:]
  /// The position of the state in the log.
  public var anchor: Anchor

  /// The members that a hub sends to its clients.
  private enum CodingKeys: String, CodingKey { case state, contacts, anchor }

  package init(state: HomeState, contacts: [NodeID: Contact] = [:], anchor: Anchor) {
    (self.state, self.contacts, self.anchor) = (state, contacts, anchor)
  }
}

extension HomeDatabase {
  /// What commands read from a home without its controller.
  package struct Names: Sendable {
    /// The home without the attribute values of its devices.
    package var state: HomeState
    package var controller: StoredState
    package var interfaces: [String]
  }

  /// Reads an existing file, which another process may own, and changes nothing in it.
  /// - Returns: nil if the file is empty.
  /// - Throws: ``HomeError`` `internalError` if the file can't be read, belongs to another program, or has another version
  ///   of the schema.
  package static func names(in path: String) throws(HomeError) -> Names? {
    do {
      return try HomeSchema.read(path) {
        Names(state: try names($0), controller: try ControllerTable.load($0), interfaces: try settings($0).interfaces)
      }
    } catch { throw failure(error, path) }
  }

  /// Loads the whole home, in one transaction.
  package func load() throws(HomeError) -> StoredHome { try read { try self.load($0) } }

  package func load(_ database: Database) throws -> StoredHome {
    var home = StoredHome(state: try Self.names(database), anchor: try end(database))
    try database.rows("SELECT node, endpoint, cluster, version, attributes FROM cluster ORDER BY node").forEach { row in
      let node = Self.node(try row.number(0))
      let path = ClusterPath(EndpointID(try row.number(1)), ClusterID(try row.number(2)))
      let values = try ClusterValues(stored: try row.bytes(4))
      if !values.entries.isEmpty { home.state.restore(values, of: path, on: node) }
      if let version = try row.optionalNumber(3, as: UInt32.self) { home.versions[node, default: [:]][path] = version }
    }
    try database.rows("SELECT node, last FROM event").forEach { row in
      home.state.restore(lastEvent: UInt64(bitPattern: try row.number(1)), of: Self.node(try row.number(0)))
    }
    home.contacts = try contacts(database)
    try database.rows("SELECT device, state, locality, since FROM trial").forEach { row in
      guard let state = ConnectivityState(rawValue: try row.text(1)),
        let locality = DataSourceLocality(rawValue: try row.text(2))
      else { throw DamagedBlob() }
      home.trials[try row.text(0)] = DebounceTrial(
        settled: SourceConnectivity(state, locality), since: try row.number(3))
    }
    return home
  }

  private func contacts(_ database: Database) throws -> [NodeID: Contact] {
    var contacts: [NodeID: Contact] = [:]
    try database.rows("SELECT node, last, next FROM contact").forEach { row in
      contacts[Self.node(try row.number(0))] = Contact(
        last: try row.optionalNumber(1), nextReport: try row.optionalNumber(2))
    }
    return contacts
  }

  /// The home without its values: structures, rooms and devices with their sources.
  static func names(_ database: Database) throws -> HomeState {
    var state = HomeState()
    try database.rows("SELECT id, name FROM structure ORDER BY position").forEach { row in
      state.apply(.structureAdded(Structure(id: try row.text(0), name: try row.text(1))))
    }
    let primary = try database.cachedStatement(sql: "SELECT id FROM structure WHERE is_primary").text()
    if let primary { state.apply(.primaryStructureChosen(id: primary)) }
    try database.rows("SELECT id, name, structure FROM room ORDER BY position").forEach { row in
      state.apply(.roomAdded(Room(id: try row.text(0), name: try row.text(1), structureID: try row.text(2))))
    }
    try database.rows("SELECT id, name, room, structure FROM device").forEach { row in
      state.apply(
        .deviceAdded(
          id: try row.text(0), name: try row.text(1), roomID: try row.optionalText(2), structureID: try row.text(3)))
    }
    try database.rows("SELECT node, endpoint, device, endpoints, identity, status FROM source").forEach { row in
      let source = SourceID(node(try row.number(0)), EndpointID(try row.number(1)))
      state.apply(.sourceAdded(source, device: try row.text(2)))
      if let endpoints = try endpoints(row, 3), let identity = try row.optionalBytes(4) {
        state.apply(.topology(source, endpoints, try DeviceIdentity(stored: [Nullable<String>](tlv: identity))))
      }
      if let status = try row.optionalBytes(5) {
        state.apply(.connectivity(source, try SourceStatus(stored: [Nullable<String>](tlv: status))))
      }
    }
    return state
  }

  /// Returns the times when the nodes were added, in microseconds since 1970.
  package func additionTimes() throws(HomeError) -> [NodeID: Int64] {
    try read { database in
      var times: [NodeID: Int64] = [:]
      let rows = try database.rows("SELECT node, added FROM source WHERE endpoint = 0")
      while let row = try rows.next() { times[Self.node(try row.number(0))] = try row.number(1) }
      return times
    }
  }

  /// Decodes the endpoints of a source; nil if they are not known yet.
  package static func endpoints(_ row: Row, _ index: Int) throws -> [DeviceEndpoint]? {
    guard let bytes = try row.optionalBytes(index) else { return nil }
    return try [[[UInt32]]](tlv: bytes).map { try DeviceEndpoint(stored: $0) }
  }

  /// Returns the position at the end of the log.
  package func end(_ database: Database) throws -> Anchor {
    try anchor(at: try lastSequence(database), database)
  }

  /// Returns the position after the change with this sequence number.
  package func anchor(at sequence: Int64, _ database: Database) throws -> Anchor {
    Anchor(log: logID, sequence: sequence, generation: try generation(of: sequence, database))
  }

  /// Returns the generation of the change with this sequence number; nil at the beginning.
  private func generation(of sequence: Int64, _ database: Database) throws -> UInt32? {
    try database.cachedStatement(
      sql: "SELECT generation FROM opening WHERE start < ? ORDER BY start DESC LIMIT 1"
    ).number([sequence])
  }

  /// Returns the sequence number of the last logged change, even if it has been compacted.
  func lastSequence(_ database: Database) throws -> Int64 {
    let statement = try database.cachedStatement(sql: "SELECT seq FROM sqlite_sequence WHERE name = 'log'")
    return try statement.number() ?? 0
  }
}
