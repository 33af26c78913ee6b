public import Foundation
internal import GRDB
public import HomeModel
public import HomeStore
internal import MatterProtocol
internal import WebClient

/// A persistent observer: a command or webhook that is called when there are new changes, also after a restart. See
/// the article “The home model”, “Observer queries”.
public struct BackgroundDelivery: Hashable, Sendable, Codable, Identifiable {
  /// The target of a delivery.
  public enum Target: Hashable, Sendable, Codable {
    /// A program and its arguments, searched in PATH if it has no slash. Completes with exit status 0.
    case command([String])
    /// A URL that receives JSON in a POST request. Completes with a status of 200 to 299.
    case webhook(String)
  }

  /// The frequency of deliveries.
  public enum Frequency: Hashable, Sendable, Codable {
    case immediate
    /// At most once per period, at its beginning.
    case every(Duration)

    /// At most once per hour.
    public static let hourly = Self.every(.seconds(3600))
    /// At most once per 24 hours.
    public static let daily = Self.every(.seconds(86_400))
    /// At most once per seven days.
    public static let weekly = Self.every(.seconds(604_800))

    /// The minimum time between the beginnings of two deliveries; zero: none.
    public var period: Duration {
      switch self {
      case .immediate: .zero
      case .every(let period): max(period, .zero)
      }
    }
  }

  /// The id, assigned by the database.
  public internal(set) var id: Int64 = 0
  public var filter: SampleFilter
  public var frequency: Frequency
  public var target: Target
  /// The name of the program that enabled the delivery, which enables and disables only its own ones; nil: unknown.
  public internal(set) var program: String?
  /// The position up to which changes were delivered.
  public internal(set) var anchor: Anchor
  /// The number of consecutive failures.
  public internal(set) var strikes = 0
  /// Whether the delivery is suspended after too many failures, until it is resumed. The anchor is kept.
  public internal(set) var isSuspended = false
  /// The ``attemptDate`` in microseconds since 1970.
  package internal(set) var begun: Int64?
  /// The number of times it was resumed, by which the process that makes the deliveries detects it.
  var resumes: Int64 = 0
  /// The reason of the last failure.
  public internal(set) var failure: String?
  /// The ``deliveryDate`` in microseconds since 1970.
  package internal(set) var delivered: Int64?
  /// The ``earliestDate`` in microseconds since 1970.
  package internal(set) var earliest: Int64?

  /// - Parameter anchor: the position after which changes are delivered.
  package init(
    _ filter: SampleFilter, _ frequency: Frequency, to target: Target, after anchor: Anchor, program: String? = nil
  ) {
    self.filter = filter
    self.frequency = frequency
    self.target = target
    self.anchor = anchor
    self.program = program
  }
}

extension BackgroundDelivery {
  /// The begin of the unfinished attempt. If the process that made the attempt was killed, the attempt counts as a failure.
  public var attemptDate: Date? { begun.map { Date(microseconds: $0) } }
  /// The time of the last successful delivery.
  public var deliveryDate: Date? { delivered.map { Date(microseconds: $0) } }
  /// The earliest time of the next delivery, by its period or the back-off after a failure; kept over restarts. Nil: at once.
  public var earliestDate: Date? { earliest.map { Date(microseconds: $0) } }

  /// Whether one program enabled both in the same way.
  fileprivate func isSame(as other: Self) -> Bool {
    program != nil && program == other.program && filter == other.filter && target == other.target
      && frequency.period.nanoseconds == other.frequency.period.nanoseconds
  }
}

/// The members of a delivery that are stored as JSON.
private struct DeliveryDefinition: Codable {
  var filter: SampleFilter
  /// In nanoseconds; nil: immediate. The JSON of a duration has milliseconds.
  var period: Int64?
  var target: BackgroundDelivery.Target
  var program: String?
}

extension HomeDatabase {
  /// The background deliveries, in the order in which they were added.
  public func backgroundDeliveries() throws(HomeError) -> [BackgroundDelivery] {
    try read { try self.deliveries($0) }
  }

  private func deliveries(_ database: Database) throws -> [BackgroundDelivery] {
    let rows = try database.rows(
      """
      SELECT id, definition, sequence, strikes, suspended, failure, delivered, earliest, begun, resumes
      FROM observer ORDER BY id
      """)
    return try Array(rows.map { try self.delivery($0, database) })
  }

  /// Stores a delivery, unless its program has enabled it before. `ObserverCenter` starts it when it reloads the
  /// deliveries.
  /// - Returns: the delivery with its id, or the stored one, which keeps its anchor.
  /// - Throws: ``HomeError`` `badArguments` for an invalid target.
  @discardableResult
  public func add(_ delivery: BackgroundDelivery) throws(HomeError) -> BackgroundDelivery {
    guard delivery.anchor.log == logID else {
      throw HomeError(.badArguments, "the anchor \(delivery.anchor) is from the log of another home than \(path)")
    }
    var period: Int64?
    if case .every(let time) = delivery.frequency {
      guard time > .zero else { throw HomeError(.badArguments, "a period must be longer than 0s") }
      period = time.nanoseconds
    }
    switch delivery.target {
    case .command(let command):
      guard command.first?.isEmpty == false else { throw HomeError(.badArguments, "there is no command to run") }
    case .webhook(let address):
      guard WebAddress(address) != nil else {
        throw HomeError(
          .badArguments, "“\(address)” is not an address that begins with http:// or https://, without a user")
      }
    }
    let definition = DeliveryDefinition(
      filter: delivery.filter, period: period, target: delivery.target, program: delivery.program)
    return try write { database in
      if let known = try self.deliveries(database).first(where: { $0.isSame(as: delivery) }) { return known }
      let text = String(decoding: try JSONEncoder().encode(definition), as: UTF8.self)
      try database.execute(
        sql: "INSERT INTO observer (definition, sequence) VALUES (?, ?)", arguments: [text, delivery.anchor.sequence])
      var result = delivery
      result.id = database.lastInsertedRowID
      return result
    }
  }

  /// Clears the failures of an observer: if it is suspended or in its back-off, it is called at once with all changes
  /// since its anchor.
  /// - Returns: false if there was no failure; then nothing changes.
  /// - Throws: ``HomeError`` `notFound`.
  @discardableResult
  public func resumeBackgroundDelivery(_ id: Int64) throws(HomeError) -> Bool {
    try write { database in
      guard try Row.fetchOne(database, sql: "SELECT 1 FROM observer WHERE id = ?", arguments: [id]) != nil else {
        throw HomeError(.notFound, "there is no observer \(id)")
      }
      try database.execute(
        sql: """
          UPDATE observer
          SET suspended = 0, strikes = 0, failure = NULL, earliest = NULL, begun = NULL, resumes = resumes + 1
          WHERE id = ? AND (suspended OR strikes > 0)
          """, arguments: [id])
      return database.changesCount > 0
    }
  }

  /// Removes a background delivery.
  /// - Throws: ``HomeError`` `notFound`.
  public func removeBackgroundDelivery(_ id: Int64) throws(HomeError) {
    try write { database in
      try database.execute(sql: "DELETE FROM observer WHERE id = ?", arguments: [id])
      guard database.changesCount > 0 else { throw HomeError(.notFound, "there is no observer \(id)") }
    }
  }

  /// Stores the progress of a delivery. Has no effect if it was removed, and keeps failures cleared if it was resumed
  /// meanwhile.
  /// - Parameter endsAttempt: whether the last attempt has ended.
  package func record(_ delivery: BackgroundDelivery, endsAttempt: Bool = true) throws(HomeError) {
    try write { database in
      try database.execute(
        sql: "UPDATE observer SET sequence = ?, delivered = ?, begun = iif(?, NULL, begun) WHERE id = ?",
        arguments: [delivery.anchor.sequence, delivery.delivered, endsAttempt, delivery.id])
      try database.execute(
        sql: "UPDATE observer SET strikes = ?, suspended = ?, failure = ?, earliest = ? WHERE id = ? AND resumes = ?",
        arguments: [
          delivery.strikes, delivery.isSuspended, delivery.failure, delivery.earliest, delivery.id, delivery.resumes,
        ])
    }
  }

  /// Stores the begin of an attempt. Until its end is stored it counts as failed, see ``BackgroundDelivery/begun``.
  /// - Parameters:
  ///   - begun: nil: the attempt was withdrawn, which is not a failure of the target.
  ///   - earliest: the earliest time of the next delivery; nil: unchanged.
  package func record(begun: Int64?, earliest: Int64? = nil, of id: Int64) throws(HomeError) {
    try write { database in
      try database.execute(
        sql: "UPDATE observer SET begun = ?, earliest = coalesce(?, earliest) WHERE id = ?",
        arguments: [begun, earliest, id])
    }
  }

  private func delivery(_ row: Row, _ database: Database) throws -> BackgroundDelivery {
    let definition = try JSONDecoder().decode(DeliveryDefinition.self, from: Data(try row.text(1).utf8))
    var delivery = BackgroundDelivery(
      definition.filter, definition.period.map { .every(.nanoseconds($0)) } ?? .immediate, to: definition.target,
      after: try anchor(at: row.number(2), database), program: definition.program)
    delivery.id = try row.number(0)
    delivery.strikes = try row.number(3)
    delivery.isSuspended = try row.number(4, as: Int64.self) != 0
    delivery.failure = try row.optionalText(5)
    delivery.delivered = try row.optionalNumber(6)
    delivery.earliest = try row.optionalNumber(7)
    delivery.begun = try row.optionalNumber(8)
    delivery.resumes = try row.number(9)
    return delivery
  }
}
