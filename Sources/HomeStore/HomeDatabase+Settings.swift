internal import Foundation
internal import GRDB
package import HomeModel

// The settings of the user.
extension HomeDatabase {
  /// Returns a setting of the user; nil if it is not set.
  package func setting(_ key: String) throws(HomeError) -> String? { try read { try Self.setting(key, $0) } }

  private static func setting(_ key: String, _ database: Database) throws -> String? {
    try database.cachedStatement(sql: "SELECT value FROM setting WHERE key = ?").text([key])
  }

  /// Stores a setting.
  package func set(_ value: String, for key: String) throws(HomeError) {
    try write { try Self.set(value, for: key, $0) }
  }

  private static func set(_ value: String, for key: String, _ database: Database) throws {
    try database.execute(sql: "INSERT OR REPLACE INTO setting (key, value) VALUES (?, ?)", arguments: [key, value])
  }

  // MARK: The settings of the home

  /// The maximum grace time.
  package static let longestGrace: Duration = .seconds(86_400)
  /// The key of the home's settings as JSON.
  private static let homeKey = "home"

  /// Returns the settings of the home.
  package func settings() throws(HomeError) -> HomeSettings { try read { try Self.settings($0) } }

  static func settings(_ database: Database) throws -> HomeSettings {
    guard let text = try setting(homeKey, database) else { return HomeSettings() }
    guard var settings = try? JSONDecoder().decode(HomeSettings.self, from: Data(text.utf8)) else {
      throw DamagedColumn(name: "value", value: "“\(text.prefix(40))” as the settings of the home")
    }
    settings.graceTime = min(max(settings.graceTime, .zero), longestGrace)
    return settings
  }

  /// Changes the settings of the home: interfaces for processes that start later, trust for later pairings.
  /// - Throws: ``HomeError`` `badArguments` for a negative grace time, or one longer than a day.
  package func change(_ changes: HomeSettings.Changes) throws(HomeError) {
    if let grace = changes.graceTime, grace < .zero || grace > Self.longestGrace {
      throw HomeError(.badArguments, "a grace time must be from 0s to 24h")
    }
    try write { database in
      var settings = try Self.settings(database)
      settings.graceTime = changes.graceTime ?? settings.graceTime
      settings.trustsTestDevices = changes.trustsTestDevices ?? settings.trustsTestDevices
      settings.interfaces = changes.interfaces ?? settings.interfaces
      try Self.set(String(decoding: try JSONEncoder().encode(settings), as: UTF8.self), for: Self.homeKey, database)
    }
  }
}
