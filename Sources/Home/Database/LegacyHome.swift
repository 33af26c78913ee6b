internal import Foundation
internal import GRDB
internal import Glibc
internal import MatterModel

/// The JSON files of earlier versions: `home.json` with names, rooms and descriptions of devices, and `last.json` with
/// last known values. Migrated into the database once.
public struct LegacyHome: Sendable {
  private let directory: StateDirectory
  private var names: String { directory.home + "/home.json" }
  private var values: String { directory.home + "/last.json" }

  public init(_ directory: StateDirectory) { self.directory = directory }

  /// Whether there is anything to take over.
  var isThere: Bool { access(names, F_OK) == 0 || access(values, F_OK) == 0 }

  /// Migrates the files into the database, if they exist and were not migrated before, and adds the suffix `.migrated`
  /// to their names. May be interrupted at any point: the next call continues.
  /// - Parameters:
  ///   - database: should be empty; existing contents are kept.
  ///   - time: now, in microseconds since 1970.
  /// - Returns: whether a file was migrated.
  /// - Throws: ``HomeError`` `internalError` if `home.json` can't be read.
  @discardableResult
  public func migrate(into database: HomeDatabase, at time: Int64) throws(HomeError) -> Bool {
    guard isThere else { return false }
    let legacy = try LegacyNames.read(names) ?? LegacyNames()
    let last = LegacyValues(values)
    let update = HomeUpdate(changes(legacy, last), at: time)
    let contacts = contacts(legacy, last)
    let isNew = try database.write { stored in
      try stored.execute(sql: "INSERT OR IGNORE INTO meta (key, value) VALUES ('legacy', 1)")
      guard stored.changesCount > 0 else { return false }
      var writer = ChangeWriter(stored, writer: database.writer, after: try database.lastSequence(stored))
      _ = try writer.write(update)
      try writer.finish(contacts)
      return true
    }
    for path in [names, values] where access(path, F_OK) == 0 {
      guard rename(path, path + ".migrated") == 0 else {
        throw HomeError(.internalError, "\(path) can't be renamed: \(systemError())")
      }
    }
    return isNew
  }

  private func changes(_ legacy: LegacyNames, _ last: LegacyValues) -> [HomeChange] {
    let structure = HomeReducer.firstStructure
    var changes: [HomeChange] = [.structureAdded(structure)]
    var rooms: [String: String] = [:]
    for (index, name) in legacy.rooms.enumerated() {
      let room = Room(id: "\(structure.id)/\(index + 1)", name: name, structureID: structure.id)
      rooms[name] = room.id
      changes.append(.roomAdded(room))
    }
    for device in legacy.devices {
      guard let node = device.nodeID else { continue }
      let source = SourceID(node)
      changes += [
        .deviceAdded(
          id: source.description, name: device.name, roomID: device.room.flatMap { rooms[$0] },
          structureID: structure.id),
        .sourceAdded(source, device: source.description),
        .topology(source, device.endpoints.map(\.endpoint), device.identity),
      ]
      for (path, value) in last.values(node) { changes.append(.attribute(node, path, value: value)) }
    }
    return changes
  }

  private func contacts(_ legacy: LegacyNames, _ last: LegacyValues) -> [NodeID: Contact] {
    var contacts: [NodeID: Contact] = [:]
    for node in legacy.devices.compactMap(\.nodeID) {
      // It was kept in milliseconds.
      guard let time = last.lastContact(node)?.multipliedReportingOverflow(by: 1000), !time.overflow else { continue }
      contacts[node] = Contact(last: time.partialValue)
    }
    return contacts
  }
}
