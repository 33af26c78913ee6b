internal import GRDB
package import HomeModel

// The settings of the user.
extension HomeDatabase {
  /// Returns a setting of the user, such as the grace time; nil if it is not set.
  package func setting(_ key: String) throws(HomeError) -> String? { try read { try Self.setting(key, $0) } }

  private static func setting(_ key: String, _ database: Database) throws -> String? {
    try database.cachedStatement(sql: "SELECT value FROM setting WHERE key = ?").text([key])
  }

  /// Stores a setting; nil removes it.
  package func set(_ value: String?, for key: String) throws(HomeError) {
    try write { database in
      if let value {
        try database.execute(
          sql: "INSERT INTO setting (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
          arguments: [key, value])
      } else {
        try database.execute(sql: "DELETE FROM setting WHERE key = ?", arguments: [key])
      }
    }
  }

  // MARK: Grace time

  /// The maximum grace time.
  package static let longestGrace: Duration = .seconds(86_400)
  /// In milliseconds.
  private static let graceKey = "grace"

  /// Returns the stored grace time; nil if none was set.
  package func grace() throws(HomeError) -> Duration? {
    try setting(Self.graceKey).flatMap { Int64($0) }.map { min(.milliseconds(max(0, $0)), Self.longestGrace) }
  }

  /// Stores the grace time; nil removes it.
  /// - Throws: ``HomeError`` `badArguments` for a negative time, or one longer than a day.
  package func setGrace(_ grace: Duration?) throws(HomeError) {
    guard let grace else { return try set(nil, for: Self.graceKey) }
    guard grace >= .zero, grace <= Self.longestGrace else {
      throw HomeError(.badArguments, "a grace time must be from 0s to 24h")
    }
    let (seconds, attoseconds) = grace.components
    try set(String(seconds * 1000 + attoseconds / 1_000_000_000_000_000), for: Self.graceKey)
  }

  // MARK: Interfaces

  private static let interfacesKey = "interfaces"

  /// Returns the names of the stored interfaces; empty if none were set.
  package func interfaces() throws(HomeError) -> [String] { try read { try Self.interfaces($0) } }

  static func interfaces(_ database: Database) throws -> [String] {
    (try setting(interfacesKey, database) ?? "").split(separator: " ").map(String.init)
  }

  /// Stores the names of the interfaces, effective for processes that start later.
  package func setInterfaces(_ names: [String]) throws(HomeError) {
    try set(names.isEmpty ? nil : names.joined(separator: " "), for: Self.interfacesKey)
  }

  // MARK: Trust

  private static let trustKey = "trust"
  private static let productionOnly = "production"

  /// Whether devices with public test certificates are accepted. True by default; false for a damaged setting.
  package func trustsTestDevices() throws(HomeError) -> Bool { try setting(Self.trustKey) == nil }

  /// Sets whether devices with public test certificates are accepted, effective for later pairings.
  package func setTrustsTestDevices(_ isTrusting: Bool) throws(HomeError) {
    try set(isTrusting ? nil : Self.productionOnly, for: Self.trustKey)
  }
}
