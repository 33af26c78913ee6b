internal import Foundation
internal import GRDB
internal import HomeModel
internal import MatterProtocol

/// Writes changes within one transaction: each to the log, and its effect to the tables of the home. Has the same
/// semantics for rows as ``HomeState/apply(_:)`` for values.
struct ChangeWriter {
  private let database: Database
  private let generation: UInt32
  /// The sequence number of the last change in the log.
  private var sequence: Int64
  /// A write cache of clusters, because a report changes several attributes of a cluster, and a batch has several
  /// reports.
  private var clusters: [NodeID: [ClusterPath: StoredCluster]] = [:]
  /// A write cache of the numbers of the last events.
  private var events: [NodeID: UInt64] = [:]
  /// A cache of the devices that the endpoints of nodes belong to.
  private var directories: [NodeID: NodeDirectory] = [:]
  /// The prepared statement for the log.
  private var insertion: Statement?

  private struct StoredCluster {
    var values: ClusterValues
    var version: UInt32?
  }

  /// The devices of the endpoints of a node.
  private struct NodeDirectory {
    var devices: [EndpointID: String] = [:]
    /// The device of endpoints that belong to no other source.
    var main: String?
  }

  init(_ database: Database, generation: UInt32, after sequence: Int64) {
    (self.database, self.generation, self.sequence) = (database, generation, sequence)
  }

  /// - Returns: the update without additions of objects that were added before.
  mutating func write(_ update: HomeUpdate) throws -> HomeUpdate {
    let batch = sequence.saturatingAdd(1)
    var written = update
    written.changes = []
    written.changes.reserveCapacity(update.changes.count)
    for change in update.changes {
      if try exists(change) { continue }
      written.changes.append(change)
      // The owner is queried before the change: a removed source no longer has one.
      var row = try ChangeRow(change, device: try owner(of: change))
      row.name = try removedName(change)
      try log(row, update, batch: batch)
      try apply(change, at: update.time)
    }
    for (node, versions) in update.versions {
      for (path, version) in versions { try store(version, of: path, node) }
    }
    for (device, trial) in update.trials { try store(trial, of: device) }
    return written
  }

  /// Whether the object of an addition already exists.
  private func exists(_ change: HomeChange) throws -> Bool {
    func finds(_ query: String, _ arguments: StatementArguments) throws -> Bool {
      try Row.fetchOne(database.cachedStatement(sql: query), arguments: arguments) != nil
    }
    return switch change {
    case .structureAdded(let structure): try finds("SELECT 1 FROM structure WHERE id = ?", [structure.id])
    case .roomAdded(let room): try finds("SELECT 1 FROM room WHERE id = ?", [room.id])
    case .deviceAdded(let id, _, _, _): try finds("SELECT 1 FROM device WHERE id = ?", [id])
    case .sourceAdded(let source, let device):
      try finds("SELECT 1 FROM source WHERE node = ? AND endpoint = ? AND device = ?", Self.key(source) + [device])
    default: false
    }
  }

  /// Returns the name of the object that a change removes; nil for another change.
  private func removedName(_ change: HomeChange) throws -> String? {
    func name(_ table: String, _ id: String) throws -> String? {
      try database.cachedStatement(sql: "SELECT name FROM \(table) WHERE id = ?").text([id])
    }
    return switch change {
    case .structureRemoved(let id): try name("structure", id)
    case .roomRemoved(let id): try name("room", id)
    case .deviceRemoved(let id): try name("device", id)
    default: nil
    }
  }

  private func store(_ trial: DebounceTrial?, of device: String) throws {
    guard let trial else { return try execute("DELETE FROM trial WHERE device = ?", [device]) }
    try execute(
      """
      INSERT INTO trial (device, state, locality, since)
      SELECT ?, ?, ?, ? WHERE EXISTS (SELECT 1 FROM device WHERE id = ?)
      ON CONFLICT (device) DO UPDATE SET state = excluded.state, locality = excluded.locality, since = excluded.since
      """,
      [
        device, trial.settled.connectivityState.rawValue, trial.settled.dataSourceLocality.rawValue, trial.since,
        device,
      ])
  }

  /// Writes the cached clusters and events, and the contact times.
  mutating func finish(_ contacts: [NodeID: Contact]) throws {
    for (node, clusters) in clusters {
      for (path, cluster) in clusters { try store(cluster, at: path, of: node) }
    }
    clusters = [:]
    for (node, number) in events {
      try execute(
        "INSERT INTO event (node, last) VALUES (?, ?) ON CONFLICT (node) DO UPDATE SET last = excluded.last",
        [HomeDatabase.stored(node), Int64(bitPattern: number)])
    }
    events = [:]
    let statement = try database.cachedStatement(
      sql: """
        INSERT INTO contact (node, last, next) VALUES (?, ?, ?)
        ON CONFLICT (node) DO UPDATE SET last = excluded.last, next = excluded.next
        """)
    for (node, contact) in contacts {
      try statement.execute(arguments: [HomeDatabase.stored(node), contact.last, contact.nextReport])
    }
  }

  // MARK: The log

  private mutating func log(_ row: ChangeRow, _ update: HomeUpdate, batch: Int64) throws {
    // Prepared once, because a report has many changes and the statement is long.
    let insert =
      try insertion
      ?? database.cachedStatement(
        sql: """
          INSERT INTO log (batch, time, kind, device, node, endpoint, cluster, element, value, name, origin)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
          """)
    if insertion == nil { try beginGeneration() }
    insertion = insert
    try insert.execute(arguments: [
      batch, update.time, row.type.code, row.device, row.node.map { HomeDatabase.stored($0) },
      row.endpoint?.rawValue, row.cluster?.rawValue, row.element, row.value.map { Data($0) }, row.name, update.origin,
    ])
    sequence = database.lastInsertedRowID
  }

  /// Stores where the generation begins, with its first change.
  private func beginGeneration() throws {
    try execute(
      """
      INSERT OR REPLACE INTO opening (start, generation)
      SELECT ?, ? WHERE ? IS NOT (SELECT generation FROM opening ORDER BY start DESC LIMIT 1)
      """, [sequence, generation, generation])
  }

  /// Returns the device of a change that names only a node or source.
  private mutating func owner(of change: HomeChange) throws -> String? {
    switch change {
    case .attribute(let node, let path, _): try owner(of: node, path.endpoint)
    case .event(let node, let data): try owner(of: node, data.path.endpoint)
    case .sourceRemoved(let source), .topology(let source, _, _), .connectivity(let source, _):
      try database.cachedStatement(sql: "SELECT device FROM source WHERE node = ? AND endpoint = ?").text(
        Self.key(source))
    default: nil
    }
  }

  private mutating func owner(of node: NodeID, _ endpoint: EndpointID) throws -> String? {
    if directories[node] == nil { directories[node] = try directory(of: node) }
    return directories[node]?.devices[endpoint] ?? directories[node]?.main
  }

  private func directory(of node: NodeID) throws -> NodeDirectory {
    var directory = NodeDirectory()
    try database.rows(
      "SELECT endpoint, device, endpoints FROM source WHERE node = ?", [HomeDatabase.stored(node)]
    ).forEach { row in
      let device = try row.text(1)
      if try row.number(0) == EndpointID.root.rawValue { directory.main = device }
      for endpoint in try HomeDatabase.endpoints(row, 2) ?? [] { directory.devices[endpoint.id] = device }
    }
    return directory
  }

  // MARK: The home

  private mutating func apply(_ change: HomeChange, at time: Int64) throws {
    switch change {
    case .structureAdded(let structure):
      try execute(
        """
        INSERT OR IGNORE INTO structure (id, name, is_primary)
        VALUES (?, ?, NOT EXISTS (SELECT 1 FROM structure WHERE is_primary))
        """, [structure.id, structure.name])
    case .structureRenamed(let id, let name): try execute("UPDATE structure SET name = ? WHERE id = ?", [name, id])
    case .structureRemoved(let id):
      try execute("DELETE FROM structure WHERE id = ?", [id])
      try execute(
        """
        UPDATE structure SET is_primary = 1 WHERE position = (SELECT min(position) FROM structure)
        AND NOT EXISTS (SELECT 1 FROM structure WHERE is_primary)
        """, [])
    case .primaryStructureChosen(let id):
      try execute(
        "UPDATE structure SET is_primary = (id = ?) WHERE EXISTS (SELECT 1 FROM structure WHERE id = ?)", [id, id])
    case .roomAdded(let room):
      try execute(
        "INSERT OR IGNORE INTO room (id, name, structure) VALUES (?, ?, ?)", [room.id, room.name, room.structureID])
    case .roomRenamed(let id, let name): try execute("UPDATE room SET name = ? WHERE id = ?", [name, id])
    case .roomRemoved(let id): try execute("DELETE FROM room WHERE id = ?", [id])
    case .deviceAdded(let id, let name, let room, let structure):
      try execute(
        "INSERT OR IGNORE INTO device (id, name, room, structure) VALUES (?, ?, ?, ?)", [id, name, room, structure])
    case .deviceRemoved(let id): try removeDevice(id)
    case .deviceRenamed(let id, let name): try execute("UPDATE device SET name = ? WHERE id = ?", [name, id])
    case .deviceMoved(let id, let room): try execute("UPDATE device SET room = ? WHERE id = ?", [room, id])
    case .sourceAdded(let source, let device):
      directories[source.node] = nil
      try execute(
        """
        INSERT INTO source (node, endpoint, device, added)
        SELECT ?, ?, ?, ? WHERE EXISTS (SELECT 1 FROM device WHERE id = ?)
        ON CONFLICT (node, endpoint) DO UPDATE SET device = excluded.device
        """, Self.key(source) + [device, time, device])
    case .sourceRemoved(let source): try removeSource(source)
    case .topology(let source, let endpoints, let identity):
      directories[source.node] = nil
      try execute(
        "UPDATE source SET endpoints = ?, identity = ? WHERE node = ? AND endpoint = ?",
        [Data(endpoints.map(\.stored).tlv), Data(identity.stored.tlv)] + Self.key(source))
    case .connectivity(let source, let status):
      try execute(
        "UPDATE source SET status = ? WHERE node = ? AND endpoint = ?",
        [Data(status.stored.tlv)] + Self.key(source))
    case .attribute(let node, let path, let value):
      try withCluster(ClusterPath(path.endpoint, path.cluster), of: node) {
        $0.values[path.attribute] = value
        // Without a new version, the next subscription must report the cluster again.
        $0.version = nil
      }
    case .event(let node, let event): events[node] = max(try events[node] ?? lastEvent(of: node), event.number)
    }
  }

  private mutating func removeDevice(_ id: String) throws {
    let rows = try Row.fetchAll(
      database.cachedStatement(sql: "SELECT node, endpoint FROM source WHERE device = ?"), arguments: [id])
    for row in rows {
      try removeSource(SourceID(HomeDatabase.node(try row.number(0)), EndpointID(try row.number(1))))
    }
    try execute("DELETE FROM trial WHERE device = ?", [id])
    try execute("DELETE FROM device WHERE id = ?", [id])
  }

  private mutating func removeSource(_ source: SourceID) throws {
    directories[source.node] = nil
    let query = try database.cachedStatement(sql: "SELECT endpoints FROM source WHERE node = ? AND endpoint = ?")
    guard let row = try Row.fetchOne(query, arguments: Self.key(source)) else { return }
    let node = HomeDatabase.stored(source.node)
    for endpoint in try HomeDatabase.endpoints(row, 0) ?? [] {
      for path in clusters[source.node, default: [:]].keys where path.endpoint == endpoint.id {
        clusters[source.node]?[path] = nil
      }
      try execute("DELETE FROM cluster WHERE node = ? AND endpoint = ?", [node, endpoint.id.rawValue])
    }
    try execute("DELETE FROM source WHERE node = ? AND endpoint = ?", Self.key(source))
    let others = try database.cachedStatement(sql: "SELECT 1 FROM source WHERE node = ? LIMIT 1")
    if try Int.fetchOne(others, arguments: [node]) == nil {
      // Removing the last source of a node also removes its values.
      clusters[source.node] = nil
      events[source.node] = nil
      try execute("DELETE FROM cluster WHERE node = ?", [node])
      try execute("DELETE FROM event WHERE node = ?", [node])
      try execute("DELETE FROM contact WHERE node = ?", [node])
    }
  }

  // MARK: Clusters

  private mutating func withCluster(
    _ path: ClusterPath, of node: NodeID, _ body: (inout StoredCluster) -> Void
  ) throws {
    var cluster = try clusters[node]?[path] ?? stored(path, of: node)
    clusters[node]?[path] = nil
    body(&cluster)
    clusters[node, default: [:]][path] = cluster
  }

  private func lastEvent(of node: NodeID) throws -> UInt64 {
    let statement = try database.cachedStatement(sql: "SELECT last FROM event WHERE node = ?")
    return UInt64(bitPattern: try statement.number([HomeDatabase.stored(node)]) ?? 0)
  }

  private func stored(_ path: ClusterPath, of node: NodeID) throws -> StoredCluster {
    let statement = try database.cachedStatement(
      sql: "SELECT version, attributes FROM cluster WHERE node = ? AND endpoint = ? AND cluster = ?")
    guard let row = try Row.fetchOne(statement, arguments: Self.key(path, of: node)) else {
      return StoredCluster(values: ClusterValues())
    }
    return StoredCluster(values: try ClusterValues(stored: try row.bytes(1)), version: try row.optionalNumber(0))
  }

  /// Stores the data version of a cluster with known attributes.
  private mutating func store(_ version: UInt32, of path: ClusterPath, _ node: NodeID) throws {
    guard clusters[node]?[path] == nil else {
      clusters[node]?[path]?.version = version
      return
    }
    try execute(
      "UPDATE cluster SET version = ? WHERE node = ? AND endpoint = ? AND cluster = ?",
      [version] + Self.key(path, of: node))
  }

  private func store(_ cluster: StoredCluster, at path: ClusterPath, of node: NodeID) throws {
    // A cluster without attributes is not stored: its version would prevent it from being reported again.
    if cluster.values.entries.isEmpty {
      try execute(
        "DELETE FROM cluster WHERE node = ? AND endpoint = ? AND cluster = ?", Self.key(path, of: node))
      return
    }
    try execute(
      """
      INSERT INTO cluster (node, endpoint, cluster, version, attributes) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (node, endpoint, cluster) DO UPDATE SET version = excluded.version, attributes = excluded.attributes
      """, Self.key(path, of: node) + [cluster.version, Data(cluster.values.stored)])
  }

  // MARK: Statements

  private func execute(_ sql: String, _ arguments: StatementArguments) throws {
    try database.cachedStatement(sql: sql).execute(arguments: arguments)
  }

  private static func key(_ source: SourceID) -> StatementArguments {
    [HomeDatabase.stored(source.node), source.endpoint.rawValue]
  }

  private static func key(_ path: ClusterPath, of node: NodeID) -> StatementArguments {
    [HomeDatabase.stored(node), path.endpoint.rawValue, path.cluster.rawValue]
  }
}
