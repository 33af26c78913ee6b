internal import Foundation
public import MatterModel

/// What was last heard from each device, to be shown while it can't be reached.
///
/// A cache: it is written without the home's lock, the last writer wins, and a broken file is an empty one.
public struct LastValues: Sendable {
  public struct Device: Hashable, Sendable {
    /// Milliseconds since 1970.
    public var lastContact: Int64?
    /// Whether the last attempt to reach it succeeded.
    public var isOnline: Bool?
    /// Why it is not online.
    public var reason: String?
    /// Encoded with an anonymous tag.
    public var values: [ConcreteAttributePath: [UInt8]] = [:]

    public init() {}
  }

  private let path: String
  private var devices: [NodeID: Device]
  private var changed: Set<NodeID> = []

  public init(_ directory: StateDirectory) {
    path = directory.home + "/last.json"
    devices = Self.load(path)
  }

  public subscript(node: NodeID) -> Device {
    get { devices[node] ?? Device() }
    set {
      guard devices[node] != newValue else { return }
      devices[node] = newValue
      changed.insert(node)
    }
  }

  public mutating func forget(_ node: NodeID) {
    devices[node] = nil
    changed.insert(node)
  }

  /// Writes what changed over what the file holds by now.
  public mutating func save() {
    if changed.isEmpty { return }
    var merged = Self.load(path)
    for node in changed { merged[node] = devices[node] }
    var stored: [String: Stored] = [:]
    for (node, device) in merged {
      var values: [String: String] = [:]
      for (path, value) in device.values {
        values["\(path.endpoint.rawValue)/\(path.cluster.rawValue)/\(path.attribute.rawValue)"] = hexadecimal(value)
      }
      stored["\(node.rawValue)"] = Stored(
        lastContact: device.lastContact, online: device.isOnline, reason: device.reason, values: values)
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(stored) else { return }
    try? Files.replace(path, with: data)
    changed = []
  }

  private struct Stored: Codable {
    var lastContact: Int64?
    var online: Bool?
    var reason: String?
    var values: [String: String]
  }

  private static func load(_ path: String) -> [NodeID: Device] {
    guard let data = (try? Files.read(path)) ?? nil,
      let stored = try? JSONDecoder().decode([String: Stored].self, from: data)
    else { return [:] }
    var devices: [NodeID: Device] = [:]
    for (key, entry) in stored {
      guard let number = UInt64(key) else { continue }
      var device = Device()
      device.lastContact = entry.lastContact
      device.isOnline = entry.online
      device.reason = entry.reason
      for (key, text) in entry.values {
        let parts = key.split(separator: "/").compactMap { UInt32($0) }
        guard parts.count == 3, let endpoint = UInt16(exactly: parts[0]), let value = [UInt8](hexadecimal: text) else {
          continue
        }
        device.values[.init(EndpointID(endpoint), ClusterID(parts[1]), AttributeID(parts[2]))] = value
      }
      devices[NodeID(number)] = device
    }
    return devices
  }
}
