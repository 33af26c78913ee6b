internal import Foundation
internal import MatterModel

/// Where a home's names are kept: `home.json` in the state directory, replaced whole with each change.
public struct HomeStore: Sendable {
  public let directory: StateDirectory
  private var path: String { directory.home + "/home.json" }

  public init(_ directory: StateDirectory) { self.directory = directory }

  /// The home's names; empty where nothing was paired yet.
  public func load() throws(HomeError) -> HomeRegistry {
    guard let data = try Files.read(path) else { return HomeRegistry() }
    do {
      return try JSONDecoder().decode(StoredRegistry.self, from: data).registry()
    } catch {
      throw HomeError(
        .internalError, "\(path) is not a home that this version can read; mend it, or move it away to start afresh",
        cause: error)
    }
  }

  public func save(_ registry: HomeRegistry) throws(HomeError) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    let data: Data
    do {
      data = try encoder.encode(StoredRegistry(registry))
    } catch {
      throw HomeError(.internalError, "the home's names can't be encoded", cause: error)
    }
    try Files.replace(path, with: data)
  }

  /// Changes the names under the home's lock: reads, calls `body`, writes.
  public func change<R: Sendable>(
    _ body: (inout HomeRegistry) throws(HomeError) -> R
  ) async throws(HomeError) -> R {
    let lock = try await HomeLock.acquire(directory)
    var registry = try load()
    let result = try body(&registry)
    try save(registry)
    _ = consume lock
    return result
  }
}

/// The file's form.
private struct StoredRegistry: Codable {
  struct Endpoint: Codable {
    var id: UInt16
    var types: [UInt32]
    var servers: [UInt32]
    var clients: [UInt32]?
    var parts: [UInt16]?
  }
  struct Device: Codable {
    var node: String
    var name: String
    var room: String?
    var endpoints: [Endpoint]
    var vendorID: UInt16?
    var productID: UInt16?
    var vendorName: String?
    var productName: String?
    var serialNumber: String?
    var uniqueID: String?
    var softwareVersion: String?
  }
  struct Unreadable: Error {}

  var version = 1
  var rooms: [String]
  var devices: [Device]

  init(_ registry: HomeRegistry) {
    rooms = registry.rooms
    devices = registry.devices.map { record in
      Device(
        node: record.id, name: record.name, room: record.room,
        endpoints: record.endpoints.map {
          Endpoint(
            id: $0.id.rawValue, types: $0.deviceTypes.map(\.rawValue), servers: $0.servers.map(\.rawValue),
            clients: $0.clients.map(\.rawValue), parts: $0.parts.map(\.rawValue))
        },
        vendorID: record.vendorID?.rawValue, productID: record.productID, vendorName: record.vendorName,
        productName: record.productName, serialNumber: record.serialNumber, uniqueID: record.uniqueID,
        softwareVersion: record.softwareVersion)
    }
  }

  func registry() throws -> HomeRegistry {
    guard version == 1 else { throw Unreadable() }
    var registry = HomeRegistry()
    for room in rooms { _ = try registry.addRoom(room) }
    for device in devices {
      guard let node = UInt64(device.node) else { throw Unreadable() }
      var record = DeviceRecord(nodeID: NodeID(node), name: device.name, room: device.room)
      record.endpoints = device.endpoints.map {
        .init(
          id: EndpointID($0.id), deviceTypes: $0.types.map { DeviceTypeID($0) },
          servers: $0.servers.map { ClusterID($0) }, clients: ($0.clients ?? []).map { ClusterID($0) },
          parts: ($0.parts ?? []).map { EndpointID($0) })
      }
      record.vendorID = device.vendorID.map { VendorID($0) }
      record.productID = device.productID
      record.vendorName = device.vendorName
      record.productName = device.productName
      record.serialNumber = device.serialNumber
      record.uniqueID = device.uniqueID
      record.softwareVersion = device.softwareVersion
      try registry.put(record)
    }
    return registry
  }
}
