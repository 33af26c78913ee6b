public import MatterModel
public import MatterProtocol

/// The kinds of samples. See <doc:TheHomeModel>, “Observer queries”.
public enum SampleType: String, Hashable, Sendable, CaseIterable, Codable {
  case attribute
  case event
  /// A source of a device was added, removed, or changed its status.
  case connectivity
  /// Structures, rooms and devices, with their names and types.
  case topology
  case all
}

/// One change of a home in the log: an observer reads each exactly once, in order.
public struct HomeSample: Hashable, Sendable, Codable {
  /// The position after this sample.
  public var anchor: Anchor
  /// The time, in microseconds since 1970.
  public var time: Int64
  /// The change of the home.
  public var change: HomeChange
  /// The device that the change is about, if any.
  public var device: String?
  /// The name of a removed device, room or structure, which is stored nowhere else.
  public var name: String?
  /// The client that made the change; nil: a device.
  public var origin: String?
  /// The number of the update, equal for all changes of one report, command or loss.
  public var update: Int64

  package init(
    anchor: Anchor, time: Int64, change: HomeChange, device: String?, name: String? = nil, origin: String?,
    update: Int64
  ) {
    (self.anchor, self.time, self.change) = (anchor, time, change)
    (self.device, self.name, self.origin, self.update) = (device, name, origin, update)
  }

  /// The sequence number in the log: increasing, with gaps.
  public var sequence: Int64 { anchor.sequence }

  /// The type of the sample; never `all`.
  public var type: SampleType { change.sampleType }

  /// Whether the sample is a removal of an attribute, a device, a room or the like.
  public var isDeletion: Bool { change.isDeletion }

  /// The node of an attribute, event or source.
  public var node: NodeID? { change.source?.node }

  /// The attribute and its new value, for a sample of an attribute.
  public var attribute: (path: ConcreteAttributePath, value: [UInt8]?)? {
    if case .attribute(_, let path, let value) = change { (path, value) } else { nil }
  }

  /// The event, for a sample of an event.
  public var event: EventData? { if case .event(_, let data) = change { data } else { nil } }

  /// The cluster of an attribute or event.
  public var cluster: ClusterID? { attribute?.path.cluster ?? event?.path.cluster }
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

  /// Whether all conditions match this sample.
  public func contains(_ sample: HomeSample) -> Bool { contains(sample.change, device: sample.device) }

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

  private enum CodingKeys: String, CodingKey { case type, devices, endpoints, clusters, attributes }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      try container.decode(SampleType.self, forKey: .type),
      devices: try container.decodeIfPresent(Set<String>.self, forKey: .devices),
      endpoints: try container.decodeIfPresent([UInt16].self, forKey: .endpoints).map {
        Set($0.map { EndpointID($0) })
      },
      clusters: try container.decodeIfPresent([UInt32].self, forKey: .clusters).map { Set($0.map { ClusterID($0) }) },
      attributes: try container.decodeIfPresent([UInt32].self, forKey: .attributes)
        .map { Set($0.map { AttributeID($0) }) })
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(type, forKey: .type)
    try container.encodeIfPresent(devices?.sorted(), forKey: .devices)
    try container.encodeIfPresent(endpoints?.map(\.rawValue).sorted(), forKey: .endpoints)
    try container.encodeIfPresent(clusters?.map(\.rawValue).sorted(), forKey: .clusters)
    try container.encodeIfPresent(attributes?.map(\.rawValue).sorted(), forKey: .attributes)
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

  /// Where it came from: the endpoint is that of the attribute or event itself.
  var source: SourceID? {
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

/// The result of a query after an anchor.
public enum AnchoredResult: Sendable, Codable {
  /// The samples after the anchor.
  /// - Parameters:
  ///   - samples: the samples in order.
  ///   - next: the anchor for the next query.
  ///   - isComplete: whether these are all samples; else more follow after `next`.
  case samples([HomeSample], next: Anchor, isComplete: Bool)
  /// The log does not reach back to the anchor, or not as far as the anchor, or was restored from a copy and continued:
  /// use this home, and continue from its anchor.
  case reset(StoredHome)

  /// The samples of additions and changes.
  public var added: [HomeSample] {
    if case .samples(let samples, _, _) = self { samples.filter { !$0.isDeletion } } else { [] }
  }

  /// The samples of removals.
  public var deleted: [HomeSample] {
    if case .samples(let samples, _, _) = self { samples.filter(\.isDeletion) } else { [] }
  }

  /// The anchor for the next query.
  public var next: Anchor {
    switch self {
    case .samples(_, let next, _): next
    case .reset(let home): home.anchor
    }
  }
}
