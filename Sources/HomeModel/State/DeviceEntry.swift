public import Foundation

/// The status of a source of a device.
public struct SourceStatus: Hashable, Sendable, Codable {
  public var connectivity: SourceConnectivity
  /// The reason why the source is offline, or unknown without a hub; otherwise nil.
  public var reason: OfflineReason?
  /// The ``lastContactDate`` in microseconds since 1970.
  package var lastContact: Int64?

  package init(_ connectivity: SourceConnectivity, reason: OfflineReason? = nil, lastContact: Int64? = nil) {
    (self.connectivity, self.reason, self.lastContact) = (connectivity, reason, lastContact)
  }

  public static let unknown = Self(.unknown)

  /// The last contact with a device that its bridge can't reach now. Nil: the last contact with the node, or never.
  public var lastContactDate: Date? { lastContact.map { Date(microseconds: $0) } }

  /// The status of a node that answers: the device itself, or its cloud.
  package static func online(by node: NodeID) -> Self {
    Self(SourceConnectivity(.online, node.isTemporaryLocal ? .remote : .peer))
  }
}

/// A source of a device: its id, description and status.
public struct DeviceSource: Hashable, Sendable, Codable {
  public var id: SourceID
  public var endpoints: [DeviceEndpoint] = []
  public var identity = DeviceIdentity()
  public var status = SourceStatus.unknown

  public init(_ id: SourceID) { self.id = id }

  init(_ id: SourceID, _ endpoints: [DeviceEndpoint], _ identity: DeviceIdentity) {
    (self.id, self.endpoints, self.identity) = (id, endpoints, identity)
  }

  /// The endpoint of the device that has its name and identity.
  package var mainEndpoint: EndpointID { id.endpoint }

  /// The endpoint with this id, nil if it has none.
  public func endpoint(_ id: EndpointID) -> DeviceEndpoint? { endpoints.first { $0.id == id } }
}

/// A stored device: its name, room and sources.
public struct DeviceEntry: Hashable, Sendable, Codable, Identifiable {
  /// The id, that of the first source, constant while the device is in the home.
  public var id: String
  /// The name in the home, at most 60 Unicode code points.
  public var name: String
  /// The id of its room; nil: the room for the entire home.
  public var roomID: String?
  /// The id of its structure.
  public var structureID: String
  /// The sources, in the order of their ids; at least one.
  public var sources: [DeviceSource] = []

  public init(id: String, name: String, roomID: String? = nil, structureID: String) {
    (self.id, self.name, self.roomID, self.structureID) = (id, name, roomID, structureID)
  }

  /// The active source: the nearest reachable one, else the nearest of the others, else the first. A bridged source is
  /// farther than a direct one with the same locality.
  public var active: DeviceSource? { sources.min(by: Self.isNearer) }

  /// The sources in the order of preference, the active one first.
  package var nearestSources: [DeviceSource] { sources.sorted(by: Self.isNearer) }

  private static func isNearer(_ left: DeviceSource, _ right: DeviceSource) -> Bool {
    (rank(left), left.id) < (rank(right), right.id)
  }

  private static func rank(_ source: DeviceSource) -> Int {
    let connectivity = source.status.connectivity
    return (connectivity.connectivityState == .online ? 0 : 100) + 10 * connectivity.dataSourceLocality.distance
      + (source.id.isBridged ? 1 : 0)
  }

  /// Returns the source with this id; nil if the device does not have it.
  public func source(_ id: SourceID) -> DeviceSource? { sources.first { $0.id == id } }
}
