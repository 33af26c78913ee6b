internal import Foundation
internal import GRDB
internal import Glibc
internal import MatterModel

/// What earlier versions kept of a home in files of JSON: `home.json` with names, rooms and what devices are, `last.json`
/// with what they said last. Taken over into the database once.
public struct LegacyHome: Sendable {
  private let directory: StateDirectory
  private var names: String { directory.home + "/home.json" }
  private var values: String { directory.home + "/last.json" }

  public init(_ directory: StateDirectory) { self.directory = directory }

  /// Takes the files over, where there are any and it was not done yet, and gives them the ending `.migrated`. May be
  /// killed at any moment: the next call does the rest.
  /// - Parameters:
  ///   - database: is to be empty; what it has already stays.
  ///   - time: now, in microseconds since 1970.
  /// - Returns: whether something was taken over.
  /// - Throws: ``HomeError`` `internalError` where `home.json` can't be read.
  @discardableResult
  public func migrate(into database: HomeDatabase, at time: Int64) throws(HomeError) -> Bool {
    guard access(names, F_OK) == 0 || access(values, F_OK) == 0 else { return false }
    let registry = try HomeStore(directory).load()
    let update = HomeUpdate(changes(registry, LastValues(directory)), at: time)
    let contacts = contacts(registry, LastValues(directory))
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

  private func changes(_ registry: HomeRegistry, _ last: LastValues) -> [HomeChange] {
    let structure = HomeReducer.firstStructure
    var changes: [HomeChange] = [.structureAdded(structure)]
    var rooms: [String: String] = [:]
    for (index, name) in registry.rooms.enumerated() {
      let room = Room(id: "\(structure.id)/\(index + 1)", name: name, structureID: structure.id)
      rooms[name] = room.id
      changes.append(.roomAdded(room))
    }
    for record in registry.devices {
      let source = SourceID(record.nodeID)
      changes += [
        .deviceAdded(
          id: source.description, name: record.name, roomID: record.room.flatMap { rooms[$0] },
          structureID: structure.id),
        .sourceAdded(source, device: source.description),
        .topology(source, record.endpoints.map { DeviceEndpoint($0) }, DeviceIdentity(record)),
      ]
      for (path, value) in last[record.nodeID].values.sorted(by: { $0.key < $1.key }) {
        changes.append(.attribute(record.nodeID, path, value: value))
      }
    }
    return changes
  }

  private func contacts(_ registry: HomeRegistry, _ last: LastValues) -> [NodeID: Contact] {
    var contacts: [NodeID: Contact] = [:]
    for record in registry.devices {
      // It was kept in milliseconds.
      guard let time = last[record.nodeID].lastContact?.multipliedReportingOverflow(by: 1000), !time.overflow else {
        continue
      }
      contacts[record.nodeID] = Contact(last: time.partialValue)
    }
    return contacts
  }
}

extension DeviceEndpoint {
  fileprivate init(_ endpoint: DeviceRecord.Endpoint) {
    self.init(
      id: endpoint.id, deviceTypes: endpoint.deviceTypes, servers: endpoint.servers, clients: endpoint.clients,
      parts: endpoint.parts)
  }
}

extension DeviceIdentity {
  fileprivate init(_ record: DeviceRecord) {
    self.init()
    vendorID = record.vendorID
    productID = record.productID
    vendorName = record.vendorName
    productName = record.productName
    serialNumber = record.serialNumber
    uniqueID = record.uniqueID
    softwareVersion = record.softwareVersion
  }
}
