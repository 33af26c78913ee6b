internal import MatterClusters
public import MatterModel
public import MatterProtocol

/// What tells a trait from all others of a home: two of the same cluster may be on two endpoints of one device.
public struct TraitID: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The ``HomeDevice/id`` of its device.
  public var device: String
  public var endpoint: EndpointID
  public var cluster: ClusterID

  public init(device: String, endpoint: EndpointID, cluster: ClusterID) {
    (self.device, self.endpoint, self.cluster) = (device, endpoint, cluster)
  }

  public static func < (left: Self, right: Self) -> Bool {
    (left.device, left.endpoint, left.cluster) < (right.device, right.endpoint, right.cluster)
  }

  /// `5, 1/onOff`.
  public var description: String { "\(device), \(endpoint)/\(ElementNames.cluster(cluster))" }
}

/// What is known of a trait besides its attributes.
public struct TraitMetadata: Hashable, Sendable {
  /// Of the subscription that feeds it, and of the bridged device that it belongs to.
  public var sourceConnectivity: SourceConnectivity
  /// Why it is offline, if it is: for the reason that its device is, or since the bridge does not reach this part of it.
  public var offlineReason: OfflineReason?

  public init(sourceConnectivity: SourceConnectivity, offlineReason: OfflineReason? = nil) {
    (self.sourceConnectivity, self.offlineReason) = (sourceConnectivity, offlineReason)
  }
}

/// A cluster of an endpoint as it was at one moment, whichever cluster it is; ``Trait`` knows its attributes by name.
/// See <doc:TheHomeModel>, “Objects”.
public struct AnyTrait: Sendable, Identifiable, Equatable {
  public let id: TraitID
  public let metadata: TraitMetadata
  let values: ClusterValues
  let home: any HomeAccess
  /// The way whose endpoints its own is one of: the device may be reached by another one by now.
  let way: SourceID
  /// How long its commands wait for a device that can't be reached; nil: not at all.
  var timeout: Duration?

  init(
    _ id: TraitID, by way: SourceID, _ metadata: TraitMetadata, _ values: ClusterValues, home: any HomeAccess
  ) {
    self.id = id
    self.way = way
    self.metadata = metadata
    self.values = values
    self.home = home
  }

  /// The same trait, with the same attributes, reached as well.
  public static func == (left: Self, right: Self) -> Bool {
    left.id == right.id && left.metadata == right.metadata && left.values == right.values
  }

  public var endpoint: EndpointID { id.endpoint }
  /// `OnOff`, or its number where the project does not know it.
  public var name: String { ClusterCatalogue.cluster(id.cluster)?.name ?? "\(id.cluster)" }
  /// Whether its attributes are what was known last, and not what is the case now: nothing reaches it, or nothing has yet.
  public var isStale: Bool { metadata.sourceConnectivity.connectivityState != .online }

  /// The last known value of an attribute, one element with an anonymous tag.
  public func value(_ attribute: AttributeID) -> [UInt8]? { values[attribute] }
  /// The attributes of which a value is known, in the order of their ids.
  public var knownAttributes: [AttributeID] { values.entries.map(\.attribute) }

  func value<Value: ModelValue>(_ attribute: AttributeID, as _: Value.Type = Value.self) -> Value? {
    values[attribute].flatMap { try? Value(tlv: $0) }
  }

  // MARK: What it can do

  /// The bits of its FeatureMap. Matter Core § 7.13.2.
  public var featureMap: UInt32? { value(GlobalAttribute.featureMap) }
  /// Matter Core § 7.13.1.
  public var clusterRevision: UInt16? { value(GlobalAttribute.clusterRevision) }
  /// Matter Core § 7.13.3.
  public var attributeList: [AttributeID]? { value(GlobalAttribute.attributeList) }
  /// Matter Core § 7.13.4.
  public var acceptedCommandList: [CommandID]? { value(GlobalAttribute.acceptedCommandList) }
  /// Matter Core § 7.13.5.
  public var generatedCommandList: [CommandID]? { value(GlobalAttribute.generatedCommandList) }

  /// Whether the device says that it has the attribute; false while nobody knows.
  public func supports(_ attribute: AttributeID) -> Bool {
    attributeList?.contains(attribute) ?? (values[attribute] != nil)
  }

  /// Whether the device says that it takes the command; false while nobody knows.
  public func supports(_ command: CommandID) -> Bool { acceptedCommandList?.contains(command) ?? false }

  /// Whether the device says that it has the feature; false while nobody knows.
  public func supports(_ feature: Feature) -> Bool { (featureMap ?? 0) & feature.mask != 0 }

  // MARK: Commands and writes

  /// The same trait, whose commands and writes wait so long for a device that can't be reached.
  public func waiting(_ timeout: Duration) -> Self {
    var copy = self
    copy.timeout = timeout
    return copy
  }

  /// Invokes a command by its number.
  /// - Parameters:
  ///   - fields: a structure with an anonymous tag.
  ///   - isTimed: whether it has to be a timed interaction.
  /// - Returns: the response command, nil where the answer is a status alone.
  /// - Throws: ``HomeError`` `unreachable` at once where nothing reaches the device, unless ``waiting(_:)`` was asked for;
  ///   `refused` or `accessDenied` for what the device says; where the device is reached another way by now than when this
  ///   value was made, `notFound` or `ambiguousTarget` if nothing by that way is sure to be this trait.
  @discardableResult
  public func invoke(
    _ command: CommandID, fields: [UInt8] = NoFields().tlv, isTimed: Bool = false
  ) async throws(HomeError) -> CommandData? {
    let path = CommandPath(endpoint: id.endpoint, cluster: id.cluster, command: command)
    return try await home.invoke(
      CommandData(path, fields: fields), isTimed: isTimed, of: id.device, by: way, timeout: timeout)
  }

  /// Writes attributes by their numbers, in one request.
  /// - Parameter values: one element with an anonymous tag for each.
  /// - Throws: as ``invoke(_:fields:isTimed:)``; what the device says of the first write that it refuses.
  public func write(_ values: [(AttributeID, [UInt8])], isTimed: Bool = false) async throws(HomeError) {
    guard !values.isEmpty else { return }
    let writes = values.map { attribute, value in
      AttributeWrite(ConcreteAttributePath(id.endpoint, id.cluster, attribute), value: value)
    }
    try await home.write(writes, isTimed: isTimed, of: id.device, by: way, timeout: timeout)
  }
}
