internal import Foundation
internal import GRDB
internal import HomeModel
internal import MatterModel
internal import MatterProtocol

/// Writes changes within one transaction: each into the log, and what they make of the home into its tables. Does with
/// rows exactly what ``HomeState/apply(_:)`` does with values.
struct ChangeWriter {
  private let database: Database
  private let writer: Int64
  /// The number of the last change in the log.
  private(set) var sequence: Int64
  /// Clusters as they will be at the end: a report changes several attributes of one, and a batch has several reports.
  private var clusters: [NodeID: [ClusterPath: StoredCluster]] = [:]
  /// The numbers of the last events as they will be at the end.
  private var events: [NodeID: UInt64] = [:]
  /// The devices that nodes' endpoints belong to, as far as they were asked for.
  private var directories: [NodeID: NodeDirectory] = [:]
  /// Writes one line of the log.
  private var insertion: LogInsertion?

  private struct StoredCluster {
    var values: ClusterValues
    var version: UInt32?
  }

  /// Whose an endpoint is.
  private struct NodeDirectory {
    var devices: [EndpointID: String] = [:]
    /// Of what no source claims.
    var main: String?
  }

  init(_ database: Database, writer: Int64, after sequence: Int64) {
    self.database = database
    self.writer = writer
    self.sequence = sequence
  }

  /// - Returns: the update without what is there already, since another process heard the same before, and the devices that
  ///   its changes are about.
  mutating func write(_ update: HomeUpdate) throws -> (update: HomeUpdate, devices: [String?]) {
    let batch = sequence.saturatingAdd(1)
    var written = update
    written.changes = []
    written.changes.reserveCapacity(update.changes.count)
    var devices: [String?] = []
    devices.reserveCapacity(update.changes.count)
    for change in update.changes {
      if try isThere(change) { continue }
      written.changes.append(change)
      // Whose it is has to be asked before the change: a source that is removed is nobody's afterwards.
      var row = ChangeRow(change, device: try owner(of: change))
      try row.nameRemoved { table, id in
        try database.cachedStatement(sql: "SELECT name FROM \(table) WHERE id = ?").text([id])
      }
      devices.append(row.kind.isOfDevice ? row.subject : nil)
      try log(row, update, batch: batch)
      try apply(change)
    }
    for (node, versions) in update.versions {
      for (path, version) in versions {
        try withCluster(path, of: node) { $0.version = version }
      }
    }
    for (device, trial) in update.trials { try store(trial, of: device) }
    return (written, devices)
  }

  /// Whether something that is to be added was added before.
  private func isThere(_ change: HomeChange) throws -> Bool {
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

  /// Writes what was put off.
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
    // Looked up once: a report has many changes, and the text is long.
    let insert = try insertion ?? LogInsertion(database)
    insertion = insert
    sequence = try insert(row, batch: batch, time: update.time, origin: update.origin, writer: writer)
  }

  /// The device that a change is about, where it is said by the place that it came from.
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
    let rows = try Row.fetchCursor(
      database.cachedStatement(sql: "SELECT endpoint, device, endpoints FROM source WHERE node = ?"),
      arguments: [HomeDatabase.stored(node)])
    while let row = try rows.next() {
      let device = try row.text(1)
      if try row.number(0) == EndpointID.root.rawValue { directory.main = device }
      for endpoint in try HomeDatabase.endpoints(row, 2) ?? [] { directory.devices[endpoint.id] = device }
    }
    return directory
  }

  // MARK: The home

  private mutating func apply(_ change: HomeChange) throws {
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
        INSERT INTO source (node, endpoint, device)
        SELECT ?, ?, ? WHERE EXISTS (SELECT 1 FROM device WHERE id = ?)
        ON CONFLICT (node, endpoint) DO UPDATE SET device = excluded.device
        """, Self.key(source) + [device, device])
      // The device has the name and the room that were asked for it.
      if !source.isBridged { try execute("DELETE FROM wish WHERE node = ?", [HomeDatabase.stored(source.node)]) }
    case .sourceRemoved(let source): try removeSource(source)
    case .topology(let source, let endpoints, let identity):
      directories[source.node] = nil
      var endpointWriter = BlobWriter()
      endpointWriter.write(endpoints) { $1.write(to: &$0) }
      var identityWriter = BlobWriter()
      identity.write(to: &identityWriter)
      try execute(
        "UPDATE source SET endpoints = ?, identity = ? WHERE node = ? AND endpoint = ?",
        [endpointWriter.data, identityWriter.data] + Self.key(source))
    case .connectivity(let source, let status):
      var writer = BlobWriter()
      status.write(to: &writer)
      try execute("UPDATE source SET status = ? WHERE node = ? AND endpoint = ?", [writer.data] + Self.key(source))
    case .attribute(let node, let path, let value):
      try withCluster(ClusterPath(path.endpoint, path.cluster), of: node) {
        $0.values[path.attribute] = value
        // Unless the version comes with it, the next report is to say what the cluster is.
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
      // The values of a node go with the last that needs them.
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
    var reader = BlobReader(try row.optionalBytes(1) ?? [])
    return StoredCluster(values: try ClusterValues(from: &reader), version: try row.optionalNumber(0))
  }

  private func store(_ cluster: StoredCluster, at path: ClusterPath, of node: NodeID) throws {
    // A cluster has attributes: one without any is not there, and its version would keep it from being told again.
    if cluster.values.entries.isEmpty {
      try execute(
        "DELETE FROM cluster WHERE node = ? AND endpoint = ? AND cluster = ?", Self.key(path, of: node))
      return
    }
    var writer = BlobWriter()
    cluster.values.write(to: &writer)
    try execute(
      """
      INSERT INTO cluster (node, endpoint, cluster, version, attributes) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (node, endpoint, cluster) DO UPDATE SET version = excluded.version, attributes = excluded.attributes
      """, Self.key(path, of: node) + [cluster.version, writer.data])
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
