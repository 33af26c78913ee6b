internal import MatterClusters
public import MatterProtocol

/// The id of a trait in a home: device, endpoint and cluster.
public struct TraitID: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The ``HomeDevice/id`` of its device.
  public var device: String
  public var endpoint: EndpointID
  public var cluster: ClusterID

  public static func < (left: Self, right: Self) -> Bool {
    (left.device, left.endpoint, left.cluster) < (right.device, right.endpoint, right.cluster)
  }

  /// `5, 1/onOff`.
  public var description: String { "\(device), \(endpoint)/\(ElementNames.cluster(cluster))" }
}

/// A snapshot of any cluster of an endpoint; ``Trait`` has named attributes. See <doc:TheHomeModel>, “Objects”.
public struct AnyTrait: Sendable, Identifiable, Equatable {
  public let id: TraitID
  public let metadata: TraitMetadata
  package let values: ClusterValues
  package let home: any HomeAccess
  /// The source of the value, and its endpoint there. The trait may come from another source at the time of a request.
  package let source: SourceID
  let sourceEndpoint: EndpointID
  /// The time for which its commands wait for an unreachable device; nil: they fail at once.
  package var timeout: Duration?

  /// Compares the ids, attributes and connectivity.
  public static func == (left: Self, right: Self) -> Bool {
    left.id == right.id && left.metadata == right.metadata && left.values == right.values
  }

  public var endpoint: EndpointID { id.endpoint }
  /// `OnOff`, or the number of an unknown cluster.
  public var name: String { ClusterCatalogue.cluster(id.cluster)?.name ?? "\(id.cluster)" }
  /// Whether the attributes may be outdated because the device is not online.
  public var isStale: Bool { metadata.sourceConnectivity.connectivityState != .online }

  /// Returns the last known value of an attribute, as one TLV element with an anonymous tag.
  public func value(_ attribute: AttributeID) -> [UInt8]? { values[attribute] }
  /// The attributes with a known value, in the order of their ids.
  public var knownAttributes: [AttributeID] { values.entries.map(\.attribute) }

  package func value<Value: ModelValue>(_ attribute: AttributeID, as _: Value.Type = Value.self) -> Value? {
    values[attribute].flatMap { try? Value(tlv: $0) }
  }

  // MARK: Supported elements

  /// Whether the device reports the attribute as supported; false if unknown.
  public func supports(_ attribute: AttributeID) -> Bool {
    value(GlobalAttribute.attributeList, as: [AttributeID].self)?.contains(attribute) ?? (values[attribute] != nil)
  }

  /// Whether the device reports the command as accepted; false if unknown.
  public func supports(_ command: CommandID) -> Bool {
    value(GlobalAttribute.acceptedCommandList, as: [CommandID].self)?.contains(command) ?? false
  }

  /// Whether the device reports the feature as supported; false if unknown.
  public func supports(_ feature: Feature) -> Bool {
    (value(GlobalAttribute.featureMap) ?? UInt32(0)) & feature.mask != 0
  }

  // MARK: Commands and writes

  /// Returns the same trait with a timeout for which commands and writes wait for an unreachable device.
  public func waiting(_ timeout: Duration) -> Self { modified(self) { $0.timeout = timeout } }

  /// Invokes a command by its number.
  /// - Parameters:
  ///   - fields: a TLV structure with an anonymous tag.
  ///   - isTimed: whether to use a timed interaction.
  /// - Returns: the response command, or nil if the response is only a status.
  /// - Throws: ``HomeError`` `unreachable` at once if the device is unreachable, unless ``waiting(_:)`` was used;
  ///   `refused` or `accessDenied` for an error status; `notFound` or `ambiguousTarget` if the trait came from another
  ///   source at the time of this value, and no present source has a certain counterpart.
  @discardableResult
  public func invoke(
    _ command: CommandID, fields: [UInt8] = NoFields().tlv, isTimed: Bool = false
  ) async throws(HomeError) -> CommandData? {
    let path = CommandPath(endpoint: sourceEndpoint, cluster: id.cluster, command: command)
    return try await home.invoke(
      CommandData(path, fields: fields), isTimed: isTimed, of: id.device, by: source, timeout: timeout)
  }

  /// Writes attributes by their numbers, in one request.
  /// - Parameter values: the attributes, each with one TLV element with an anonymous tag.
  /// - Throws: as ``invoke(_:fields:isTimed:)``; the status of the first rejected write.
  public func write(_ values: [(AttributeID, [UInt8])], isTimed: Bool = false) async throws(HomeError) {
    guard !values.isEmpty else { return }
    let writes = values.map { attribute, value in
      AttributeWrite(ConcreteAttributePath(sourceEndpoint, id.cluster, attribute), value: value)
    }
    try await home.write(writes, isTimed: isTimed, of: id.device, by: source, timeout: timeout)
  }
}
