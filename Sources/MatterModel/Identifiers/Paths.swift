/// One attribute of one cluster of one endpoint.
public struct ConcreteAttributePath: Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
  public var endpoint: EndpointID
  public var cluster: ClusterID
  public var attribute: AttributeID

  public init(_ endpoint: EndpointID, _ cluster: ClusterID, _ attribute: AttributeID) {
    (self.endpoint, self.cluster, self.attribute) = (endpoint, cluster, attribute)
  }

  public static func < (left: Self, right: Self) -> Bool {
    (left.endpoint, left.cluster, left.attribute) < (right.endpoint, right.cluster, right.attribute)
  }
  public var description: String { "\(endpoint)/\(cluster)/\(attribute)" }
}

/// One cluster of one endpoint.
public struct ClusterPath: Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
  public var endpoint: EndpointID
  public var cluster: ClusterID

  public init(_ endpoint: EndpointID, _ cluster: ClusterID) { (self.endpoint, self.cluster) = (endpoint, cluster) }

  /// Combines both into one word, which is hashed faster than two.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(UInt64(endpoint.rawValue) << 32 | UInt64(cluster.rawValue))
  }

  public static func < (left: Self, right: Self) -> Bool {
    (left.endpoint, left.cluster) < (right.endpoint, right.cluster)
  }
  public var description: String { "\(endpoint)/\(cluster)" }
}

/// Attributes to read, write or subscribe to; nil is a wildcard. Matter Core § 8.9.2, § 10.6.2.
public struct AttributePath: Hashable, Sendable, Codable {
  public var endpoint: EndpointID?
  public var cluster: ClusterID?
  public var attribute: AttributeID?

  public init(endpoint: EndpointID? = nil, cluster: ClusterID? = nil, attribute: AttributeID? = nil) {
    (self.endpoint, self.cluster, self.attribute) = (endpoint, cluster, attribute)
  }

  /// Whether more than one attribute may match.
  public var isWildcard: Bool { endpoint == nil || cluster == nil || attribute == nil }

  /// Whether the path includes the attribute.
  public func matches(_ path: ConcreteAttributePath) -> Bool {
    (endpoint == nil || endpoint == path.endpoint) && (cluster == nil || cluster == path.cluster)
      && (attribute == nil || attribute == path.attribute)
  }
}

/// A command of a cluster; a nil endpoint is a wildcard (group commands). Matter Core § 10.6.11.
public struct CommandPath: Hashable, Sendable, Codable {
  public var endpoint: EndpointID?
  public var cluster: ClusterID
  public var command: CommandID

  public init(endpoint: EndpointID?, cluster: ClusterID, command: CommandID) {
    (self.endpoint, self.cluster, self.command) = (endpoint, cluster, command)
  }
}

/// Events to read or subscribe to; nil is a wildcard. Matter Core § 10.6.8.
public struct EventPath: Hashable, Sendable, Codable {
  public var endpoint: EndpointID?
  public var cluster: ClusterID?
  public var event: EventID?
  /// Whether the event is reported at once instead of with the next report.
  public var isUrgent: Bool

  public init(
    endpoint: EndpointID? = nil, cluster: ClusterID? = nil, event: EventID? = nil, isUrgent: Bool = false
  ) {
    (self.endpoint, self.cluster, self.event, self.isUrgent) = (endpoint, cluster, event, isUrgent)
  }
}
