package import GRDB
package import HomeModel

extension HomeDatabase {
  /// Returns the position at the end of the log.
  package func anchor() throws(HomeError) -> Anchor { try read { try self.end($0) } }

  /// Returns the samples after an anchor.
  /// - Parameters:
  ///   - anchor: the position; nil: the beginning of the log.
  ///   - limit: the maximum number of samples; 0: no limit.
  /// - Returns: the samples, or a reset with the whole home if the log no longer reaches back to the anchor: there is
  ///   never an undetected gap.
  /// - Throws: ``HomeError`` `badArguments` for an anchor of another log, and for a negative limit.
  package func samples(
    after anchor: Anchor?, _ filter: SampleFilter = .all, limit: Int = 10_000
  ) throws(HomeError) -> AnchoredResult {
    let anchor = anchor ?? Anchor(log: logID, sequence: 0)
    try checkOrigin(of: anchor)
    guard limit >= 0 else { throw HomeError(.badArguments, "a limit of \(limit) samples; expected 0 (all) or more") }
    return try read { database in
      guard try self.isCovered(anchor, database) else { return .reset(try self.load(database)) }
      let (condition, arguments) = Self.condition(filter)
      let rows = try Row.fetchCursor(
        database, sql: "SELECT \(Self.columns) FROM log WHERE sequence > ?\(condition) ORDER BY sequence LIMIT ?",
        arguments: [anchor.sequence] + arguments + [limit == 0 ? -1 : limit &+ 1])
      var samples: [HomeSample] = []
      while let row = try rows.next() {
        if limit > 0, samples.count == limit {
          return .samples(samples, next: samples.last?.anchor ?? anchor, isComplete: false)
        }
        samples.append(try self.sample(row))
      }
      return .samples(samples, next: try self.end(database), isComplete: true)
    }
  }

  /// Returns whether a sample after an anchor matches the filter; true if the log begins after the anchor.
  package func hasSamples(after anchor: Anchor, _ filter: SampleFilter) throws(HomeError) -> Bool {
    try read { database in
      guard try self.isCovered(anchor, database) else { return true }
      let (condition, arguments) = Self.condition(filter)
      return try Row.fetchOne(
        database, sql: "SELECT 1 FROM log WHERE sequence > ?\(condition) LIMIT 1",
        arguments: [anchor.sequence] + arguments) != nil
    }
  }

  // MARK: Anchors

  private func checkOrigin(of anchor: Anchor) throws(HomeError) {
    guard anchor.log == logID else {
      throw HomeError(
        .badArguments, "the anchor \(anchor) is from the log of another home than \(path); start without an anchor")
    }
  }

  /// Returns whether the log contains all changes after the anchor. An anchor beyond its end, or of another generation, is
  /// behind changes that were lost in a power failure or by restoring a copy.
  private func isCovered(_ anchor: Anchor, _ database: Database) throws -> Bool {
    let compacted: Int64? = try database.cachedStatement(sql: "SELECT value FROM meta WHERE key = 'compacted'").number()
    return try anchor.sequence >= compacted ?? 0 && anchor.sequence <= lastSequence(database)
      && anchor == self.anchor(at: anchor.sequence, database)
  }

  // MARK: Rows

  private static let columns = """
    sequence, batch, time, kind, device, node, endpoint, cluster, element, value, name, origin,
    (SELECT generation FROM opening WHERE start < sequence ORDER BY start DESC LIMIT 1)
    """

  private func sample(_ row: Row) throws -> HomeSample {
    let code = try row.number(3, as: Int.self)
    guard let type = SampleType.allCases.first(where: { $0.code == code }), type != .all else { throw DamagedBlob() }
    var change = ChangeRow(type, device: try row.optionalText(4))
    change.node = try row.optionalNumber(5).map { Self.node($0) }
    change.endpoint = try row.optionalNumber(6).map { EndpointID($0) }
    change.cluster = try row.optionalNumber(7).map { ClusterID($0) }
    change.element = try row.optionalNumber(8)
    change.value = try row.optionalBytes(9)
    return HomeSample(
      anchor: Anchor(log: logID, sequence: try row.number(0), generation: try row.optionalNumber(12)),
      time: try row.number(2), change: try change.change(), device: change.device,
      name: try row.optionalText(10), origin: try row.optionalText(11), update: try row.number(1))
  }

  /// The filter for SQLite: an `AND` and its conditions, which are equivalent to ``SampleFilter/contains(_:device:)``.
  package static func condition(_ filter: SampleFilter) -> (sql: String, arguments: StatementArguments) {
    var sql = ""
    var arguments: StatementArguments = []
    func require(_ column: String, in values: [any DatabaseValueConvertible]) {
      sql += " AND \(column) IN (\(repeatElement("?", count: values.count).joined(separator: ", ")))"
      arguments += StatementArguments(values)
    }
    if filter.type != .all { require("kind", in: [filter.type.code]) }
    if let devices = filter.devices { require("device", in: devices.sorted()) }
    if let endpoints = filter.endpoints { require("endpoint", in: endpoints.map(\.rawValue)) }
    if let clusters = filter.clusters { require("cluster", in: clusters.map(\.rawValue)) }
    if let attributes = filter.attributes {
      require("kind", in: [SampleType.attribute.code])
      require("element", in: attributes.map(\.rawValue))
    }
    return (sql, arguments)
  }
}
