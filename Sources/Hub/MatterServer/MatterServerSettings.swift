internal import Foundation
internal import HomeControl
internal import HomeModel
internal import HomeStore
internal import Logging

/// The settings of the clients. Stored in the database of the home.
struct MatterServerSettings: Codable, Hashable {
  /// The credentials of a Wi-Fi network, which are stored for clients and not used.
  struct WiFi: Codable, Hashable {
    var ssid: String
    var secret: String
  }

  static let defaultID = "default"
  private static let key = "matterServer"

  var fabricLabel: String?
  /// The credentials by id; the ids keep their case.
  var wifi: [String: WiFi] = [:]
  /// The operational datasets in hexadecimal, by id.
  var thread: [String: String] = [:]

  /// Loads the settings. Unreadable ones are replaced by defaults: the home does not depend on them.
  static func load(from database: HomeDatabase, _ logger: Logger) throws(HomeError) -> MatterServerSettings {
    guard let text = try database.setting(key) else { return MatterServerSettings() }
    do { return try JSONDecoder().decode(MatterServerSettings.self, from: Data(text.utf8)) } catch {
      let copy = "\(key).unreadable"
      try database.set(text, for: copy)
      logger.error(
        """
        \(database.path): the setting “\(key)” can't be read and is kept as “\(copy)”; set the fabric label and the \
        credentials again
        """, metadata: ["reason": "\(error)"])
      return MatterServerSettings()
    }
  }

  func store(in database: HomeDatabase) throws {
    let text = String(decoding: try JSONEncoder().encode(self), as: UTF8.self)
    try database.set(text, for: Self.key)
  }

  /// The stored id that equals the given one without case; nil if there is none.
  static func known<Value>(_ id: String, in entries: [String: Value]) -> String? {
    entries.keys.first { $0.lowercased() == id.lowercased() }
  }
}

extension HubServer {
  /// Stores the settings; a failure is logged, since they hold until the server ends.
  func storeSettings() {
    let (settings, logger) = (settings, logger)
    settingsWork.add { [controller] in
      do throws(HomeError) {
        try await controller.withDatabase { try settings.store(in: $0) }
      } catch { logger.error("the settings of the Matter server were not stored: \(error)") }
    }
  }
}
