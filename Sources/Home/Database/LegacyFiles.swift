internal import Foundation
internal import MatterModel

/// `home.json` of earlier versions: names, rooms, and what devices are.
struct LegacyNames: Codable {
  struct Endpoint: Codable {
    var id: UInt16
    var types: [UInt32]
    var servers: [UInt32]
    var clients: [UInt32]?
    var parts: [UInt16]?

    var endpoint: DeviceEndpoint {
      DeviceEndpoint(
        id: EndpointID(id), deviceTypes: types.map { DeviceTypeID($0) }, servers: servers.map { ClusterID($0) },
        clients: (clients ?? []).map { ClusterID($0) }, parts: (parts ?? []).map { EndpointID($0) })
    }
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

    /// Nil where it is no number: there is no device without a node.
    var nodeID: NodeID? { UInt64(node).map { NodeID($0) } }

    var identity: DeviceIdentity {
      var identity = DeviceIdentity()
      identity.vendorID = vendorID.map { VendorID($0) }
      identity.productID = productID
      identity.vendorName = vendorName
      identity.productName = productName
      identity.serialNumber = serialNumber
      identity.uniqueID = uniqueID
      identity.softwareVersion = softwareVersion
      return identity
    }
  }

  var version = 1
  var rooms: [String] = []
  var devices: [Device] = []

  /// - Returns: nil where there is no such file.
  /// - Throws: ``HomeError`` `internalError` where it can't be read: to go on would lose all names.
  static func read(_ path: String) throws(HomeError) -> LegacyNames? {
    guard let data = try Files.read(path) else { return nil }
    guard let names = try? JSONDecoder().decode(LegacyNames.self, from: data), names.version == 1 else {
      throw HomeError(
        .internalError, "\(path) is not a home that this version can read; repair it, or move it away to start anew")
    }
    return names
  }
}

/// `last.json` of earlier versions: what was heard last, by node. A cache: a broken one is an empty one.
struct LegacyValues {
  private struct Stored: Codable {
    var lastContact: Int64?
    var values: [String: String]
  }

  private var devices: [String: Stored] = [:]

  init(_ path: String) {
    guard let data = (try? Files.read(path)) ?? nil,
      let stored = try? JSONDecoder().decode([String: Stored].self, from: data)
    else { return }
    devices = stored
  }

  /// In milliseconds since 1970.
  func lastContact(_ node: NodeID) -> Int64? { devices["\(node.rawValue)"]?.lastContact }

  /// In the order of their paths.
  func values(_ node: NodeID) -> [(path: ConcreteAttributePath, value: [UInt8])] {
    var values: [(path: ConcreteAttributePath, value: [UInt8])] = []
    for (key, text) in devices["\(node.rawValue)"]?.values ?? [:] {
      let parts = key.split(separator: "/").compactMap { UInt32($0) }
      guard parts.count == 3, let endpoint = UInt16(exactly: parts[0]), let value = [UInt8](hexadecimal: text) else {
        continue
      }
      values.append((.init(EndpointID(endpoint), ClusterID(parts[1]), AttributeID(parts[2])), value))
    }
    return values.sorted { $0.path < $1.path }
  }
}
