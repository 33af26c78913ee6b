public import MatterModel
public import MatterProtocol

/// The kinds of samples that one can ask for. See <doc:TheHomeModel>, “Observer queries”.
public enum SampleType: String, Hashable, Sendable, CaseIterable, Codable {
  case attribute
  case event
  /// A way to a device came, went, or changed its reason.
  case connectivity
  /// Structures, rooms, devices, their names and what they are.
  case topology
  case all
}

/// One change of a home, as the log keeps it for good: an observer reads each exactly once, in order.
public struct HomeSample: Hashable, Sendable {
  /// The place behind this sample.
  public var anchor: Anchor
  /// In microseconds since 1970.
  public var time: Int64
  /// What happened.
  public var change: HomeChange
  /// The device that it happened to, if it did to one.
  public var device: String?
  /// What it was called, of a device, a room or a structure that is removed: it is found nowhere else any more. Nil in a log
  /// that an earlier version wrote.
  public var name: String?
  /// The client whose call it was; nil: nobody's, a device did it.
  public var origin: String?
  /// The same for all that belonged together: one report, one command, one loss.
  public var update: Int64

  package init(
    anchor: Anchor, time: Int64, change: HomeChange, device: String?, name: String? = nil, origin: String?,
    update: Int64
  ) {
    (self.anchor, self.time, self.change) = (anchor, time, change)
    (self.device, self.name, self.origin, self.update) = (device, name, origin, update)
  }

  /// Grows with each sample of a log; has gaps.
  public var sequence: Int64 { anchor.sequence }

  /// Never `all`.
  public var type: SampleType { change.sampleType }

  /// Whether it tells that something is gone: an attribute, a device, a room.
  public var isDeletion: Bool { change.isDeletion }

  /// The node that it came from, of an attribute, an event or a source.
  public var node: NodeID? { change.source?.node }

  /// The attribute and its new value, of an attribute's sample.
  public var attribute: (path: ConcreteAttributePath, value: [UInt8]?)? {
    if case .attribute(_, let path, let value) = change { (path, value) } else { nil }
  }

  /// Of an event's sample.
  public var event: EventData? { if case .event(_, let data) = change { data } else { nil } }

  /// The cluster of an attribute or event.
  public var cluster: ClusterID? { attribute?.path.cluster ?? event?.path.cluster }
}

/// Which samples are wanted: those that every condition lets through. An empty or missing condition lets all through.
public struct SampleFilter: Hashable, Sendable, Codable {
  public var type: SampleType
  /// Ids of devices; nil: of all, and what is about none.
  public var devices: Set<String>?
  /// Endpoints of nodes.
  public var endpoints: Set<EndpointID>?
  /// Clusters of attributes and events: samples of other types are not let through.
  public var clusters: Set<ClusterID>?
  /// Attributes: samples of other types are not let through.
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

  /// Whether every condition lets this sample through.
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
  /// Never `all`.
  public var sampleType: SampleType {
    switch self {
    case .attribute: .attribute
    case .event: .event
    case .connectivity: .connectivity
    default: .topology
    }
  }

  /// Whether it tells that something is gone.
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

/// What happened after an anchor.
public enum AnchoredResult: Sendable {
  /// - Parameters:
  ///   - samples: in the order they happened.
  ///   - next: the anchor to ask with the next time.
  ///   - isComplete: whether these are all; else there are more behind `next`.
  case samples([HomeSample], next: Anchor, isComplete: Bool)
  /// The log goes no further back than this home, never came as far as the anchor, or is one that others went on with from a copy: take the home, and go on from its
  /// anchor.
  case reset(StoredHome)

  /// What was added or altered.
  public var added: [HomeSample] {
    if case .samples(let samples, _, _) = self { samples.filter { !$0.isDeletion } } else { [] }
  }

  /// What is gone.
  public var deleted: [HomeSample] {
    if case .samples(let samples, _, _) = self { samples.filter(\.isDeletion) } else { [] }
  }

  /// The anchor to ask with the next time.
  public var next: Anchor {
    switch self {
    case .samples(_, let next, _): next
    case .reset(let home): home.anchor
    }
  }
}
