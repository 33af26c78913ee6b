internal import MatterClusters
internal import MatterModel

/// The state of one cluster on one endpoint.
struct ClusterState: Sendable {
  let path: ClusterPath
  let server: ClusterServer
  /// Encoded values with anonymous tags of stored attributes that were set. The others have their initial values. A list
  /// of few, which takes less memory than a dictionary.
  private var changed: [(attribute: AttributeID, value: [UInt8])] = []
  /// Incremented with every change of an attribute. Matter Core § 7.13.2.1.
  var dataVersion: UInt32
  /// Private values of the server that survive a restart.
  var stored: [String: [UInt8]] = [:]
  /// Private values of the server until the restart, by type.
  var scratch: [ObjectIdentifier: any Sendable] = [:]

  init(_ path: ClusterPath, _ server: ClusterServer, dataVersion: UInt32) {
    self.path = path
    self.server = server
    self.dataVersion = dataVersion
  }

  /// The encoded value of a stored attribute; nil if the attribute is computed or not served.
  subscript(_ attribute: AttributeID) -> [UInt8]? {
    get {
      if let value = changedValue(attribute) { return value }
      guard let served = server.attributes[attribute], served.read == nil else { return nil }
      return server.initial(of: attribute, served)
    }
    set {
      let index = changed.firstIndex { $0.attribute == attribute }
      switch (index, newValue?.trimmed) {
      case (let index?, let value?): changed[index].value = value
      case (nil, let value?): changed.append((attribute, value))
      case (let index?, nil): changed.remove(at: index)
      case (nil, nil): break
      }
    }
  }

  /// The value of an attribute that was set.
  func changedValue(_ attribute: AttributeID) -> [UInt8]? {
    for known in changed where known.attribute == attribute { return known.value }
    return nil
  }

  /// Sorted, the global attributes last.
  var attributeIDs: [AttributeID] { server.globals.attributeIDs }

  /// Returns the declaration of a served attribute, global or not.
  func info(_ id: AttributeID) -> AttributeInfo? { server.attributes[id]?.info ?? GlobalAttributes.info[id] }
}

/// The global attributes, whose declarations are the same for all clusters. Matter Core § 7.13.
enum GlobalAttributes {
  static let info = Dictionary(uniqueKeysWithValues: Descriptor.globalAttributes.map { ($0.id, $0) })
  /// Sorted.
  static let ids = info.keys.sorted()

  /// The global attributes of a server.
  final class Served: Sendable {
    /// The ids of all attributes, sorted, the global ones last.
    let attributeIDs: [AttributeID]
    /// The encoded values of the global attributes.
    let values: [AttributeID: [UInt8]]

    init(_ server: ClusterServer) {
      attributeIDs = server.attributeIDs + ids
      values = [
        GlobalAttribute.generatedCommandList:
          Set(server.commands.values.compactMap { $0.info.response?.id }).sorted().tlv,
        GlobalAttribute.acceptedCommandList: server.commands.keys.sorted().tlv,
        GlobalAttribute.attributeList: attributeIDs.tlv,
        GlobalAttribute.featureMap: server.features.tlv,
        GlobalAttribute.clusterRevision: server.cluster.revision.tlv,
      ]
    }
  }
}
