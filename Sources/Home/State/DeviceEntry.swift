public import MatterModel

/// How one way to a device is doing.
public struct SourceStatus: Hashable, Sendable {
  public var connectivity: SourceConnectivity
  /// Why it is offline; nil while it is not.
  public var reason: OfflineReason?
  /// When a device was last reached that its bridge does not reach now, in microseconds since 1970. Nil: when its node was, or
  /// never.
  public var lastContact: Int64?

  public init(_ connectivity: SourceConnectivity, reason: OfflineReason? = nil, lastContact: Int64? = nil) {
    (self.connectivity, self.reason, self.lastContact) = (connectivity, reason, lastContact)
  }

  public static let unknown = Self(.unknown)

  /// A node that answers: itself, or the cloud that tells of it.
  static func online(by node: NodeID) -> Self {
    Self(SourceConnectivity(.online, node.isTemporaryLocal ? .remote : .peer))
  }
}

/// One way to a device: where it is found, and what it is there.
public struct DeviceSource: Hashable, Sendable {
  public var id: SourceID
  public var endpoints: [DeviceEndpoint] = []
  public var identity = DeviceIdentity()
  public var status = SourceStatus.unknown

  public init(_ id: SourceID) { self.id = id }

  /// The endpoint that stands for the device: where its name and maker are told.
  public var mainEndpoint: EndpointID { id.endpoint }

  /// The endpoint with this id, nil if it has none.
  public func endpoint(_ id: EndpointID) -> DeviceEndpoint? { endpoints.first { $0.id == id } }
}

/// A device as the home keeps it: the name and room that people gave it, and the ways to it.
public struct DeviceEntry: Hashable, Sendable, Identifiable {
  /// The first way it was seen by; stays the same as long as the device is in the home.
  public var id: String
  /// The home's name for it, 60 Unicode code points at most.
  public var name: String
  /// Nil: the room for the entire home.
  public var roomID: String?
  /// The building that it is in.
  public var structureID: String
  /// In the order of their ids; at least one.
  public var sources: [DeviceSource] = []

  public init(id: String, name: String, roomID: String? = nil, structureID: String) {
    (self.id, self.name, self.roomID, self.structureID) = (id, name, roomID, structureID)
  }

  /// The way that counts: the nearest that works, else the nearest of the others, else the first. What has a bridge in between
  /// is farther than the device itself, by the same kind of route.
  public var active: DeviceSource? {
    sources.min { left, right in
      let ranks = (Self.rank(left), Self.rank(right))
      return ranks.0 == ranks.1 ? left.id < right.id : ranks.0 < ranks.1
    }
  }

  private static func rank(_ source: DeviceSource) -> Int {
    let connectivity = source.status.connectivity
    return (connectivity.connectivityState == .online ? 0 : 100) + 10 * connectivity.dataSourceLocality.distance
      + (source.id.isBridged ? 1 : 0)
  }

  /// The way with this id, nil if it is none of its own.
  public func source(_ id: SourceID) -> DeviceSource? { sources.first { $0.id == id } }
}
