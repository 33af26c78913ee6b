internal import MatterModel

/// The state of one cluster on one endpoint.
struct ClusterState: Sendable {
  let path: ClusterPath
  let server: ClusterServer
  /// Encoded values with anonymous tags, by attribute. Computed attributes have none.
  var values: [AttributeID: [UInt8]] = [:]
  /// Incremented with every change of an attribute. Matter Core § 7.13.2.1.
  var dataVersion: UInt32
  /// Private values of the server that survive a restart.
  var stored: [String: [UInt8]] = [:]
  /// Private values of the server until the restart, by type.
  var scratch: [ObjectIdentifier: any Sendable] = [:]
  /// Sorted, including the global attributes.
  let attributeIDs: [AttributeID]
  /// The encoded values of the global attributes.
  let globals: [AttributeID: [UInt8]]

  init(_ path: ClusterPath, _ server: ClusterServer, dataVersion: UInt32) {
    self.path = path
    self.server = server
    self.dataVersion = dataVersion
    let globalIDs = [
      GlobalAttribute.generatedCommandList, GlobalAttribute.acceptedCommandList, GlobalAttribute.attributeList,
      GlobalAttribute.featureMap, GlobalAttribute.clusterRevision,
    ]
    attributeIDs = server.attributes.keys.sorted() + globalIDs
    let generated = Set(server.commands.values.compactMap { $0.info.response?.id }).sorted()
    globals = [
      GlobalAttribute.generatedCommandList: generated.tlv,
      GlobalAttribute.acceptedCommandList: server.commands.keys.sorted().tlv,
      GlobalAttribute.attributeList: attributeIDs.tlv,
      GlobalAttribute.featureMap: server.features.tlv,
      GlobalAttribute.clusterRevision: server.cluster.revision.tlv,
    ]
    for (id, attribute) in server.attributes where attribute.read == nil { values[id] = attribute.initial }
  }

  /// Returns the declaration of a served attribute, global or not.
  func info(_ id: AttributeID) -> AttributeInfo? {
    server.attributes[id]?.info ?? (globals[id] == nil ? nil : GlobalAttributes.info[id])
  }
}

/// The declarations of the global attributes, which are the same for all clusters. Matter Core § 7.13.
enum GlobalAttributes {
  private enum Declared: Cluster {
    static let id: ClusterID = 0, revision: UInt16 = 0, name = ""
    static let elements: [any ClusterElement] = [
      Attribute<Self, [CommandID]>(GlobalAttribute.generatedCommandList, "GeneratedCommandList", quality: .fixed),
      Attribute<Self, [CommandID]>(GlobalAttribute.acceptedCommandList, "AcceptedCommandList", quality: .fixed),
      Attribute<Self, [AttributeID]>(GlobalAttribute.attributeList, "AttributeList", quality: .fixed),
      Attribute<Self, UInt32>(GlobalAttribute.featureMap, "FeatureMap", quality: .fixed),
      Attribute<Self, UInt16>(GlobalAttribute.clusterRevision, "ClusterRevision", quality: .fixed),
    ]
  }
  static let info = Dictionary(uniqueKeysWithValues: Declared.attributes.map { ($0.id, $0) })
}
