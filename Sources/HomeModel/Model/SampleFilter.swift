internal import MatterProtocol

/// The kinds of samples. See the article “The home model”, “Observer queries”.
public enum SampleType: String, Hashable, Sendable, CaseIterable, Codable {
  case attribute
  case event
  /// A source of a device was added, removed, or changed its status.
  case connectivity
  /// Structures, rooms and devices, with their names and types.
  case topology
  case all
}

/// A filter of samples, whose conditions must all match. A missing condition matches all samples.
public struct SampleFilter: Hashable, Sendable, Codable {
  public var type: SampleType
  /// The ids of devices; nil: all, including samples about no device.
  public var devices: Set<String>?
  /// The endpoints of nodes.
  public var endpoints: Set<EndpointID>?
  /// The clusters of attributes and events; excludes samples of other types.
  public var clusters: Set<ClusterID>?
  /// The attributes; excludes samples of other types.
  public var attributes: Set<AttributeID>?

  public init(
    _ type: SampleType = .all, devices: Set<String>? = nil, endpoints: Set<EndpointID>? = nil,
    clusters: Set<ClusterID>? = nil, attributes: Set<AttributeID>? = nil
  ) {
    self.type = type
    self.devices = devices
    self.endpoints = endpoints
    self.clusters = clusters
    self.attributes = attributes
  }

  /// All samples.
  public static let all = Self()

  /// Whether all conditions match a change of this device.
  package func contains(_ change: HomeChange, device: String?) -> Bool {
    if type != .all, type != change.sampleType { return false }
    if let devices, !(device.map { devices.contains($0) } ?? false) { return false }
    if let endpoints, !(change.source.map { endpoints.contains($0.endpoint) } ?? false) { return false }
    switch change {
    case .attribute(_, let path, _):
      return clusters?.contains(path.cluster) ?? true && attributes?.contains(path.attribute) ?? true
    case .event(_, let data): return clusters?.contains(data.path.cluster) ?? true && attributes == nil
    default: return clusters == nil && attributes == nil
    }
  }
}

extension HomeChange {
  /// The type of the sample for this change; never `all`.
  public var sampleType: SampleType {
    switch self {
    case .attribute: .attribute
    case .event: .event
    case .connectivity: .connectivity
    default: .topology
    }
  }

  /// Whether the change removes something.
  public var isDeletion: Bool {
    switch self {
    case .structureRemoved, .roomRemoved, .deviceRemoved, .sourceRemoved: true
    case .attribute(_, _, let value): value == nil
    default: false
    }
  }

  /// The device that the change names; nil if it names only a node or source, or is not about a device.
  package var device: String? {
    switch self {
    case .deviceAdded(let id, _, _, _), .deviceRemoved(let id), .deviceRenamed(let id, _), .deviceMoved(let id, _),
      .sourceAdded(_, let id):
      id
    default: nil
    }
  }

  /// The node of the change; nil if it has none.
  package var node: NodeID? { source?.node }

  /// The source of the change, with the endpoint of the attribute or event itself.
  package var source: SourceID? {
    switch self {
    case .sourceAdded(let source, _), .sourceRemoved(let source), .topology(let source, _, _),
      .connectivity(let source, _):
      source
    case .attribute(let node, let path, _): SourceID(node, path.endpoint)
    case .event(let node, let data): SourceID(node, data.path.endpoint)
    default: nil
    }
  }
}
