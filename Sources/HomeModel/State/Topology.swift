internal import MatterClusters
internal import MatterProtocol

/// The devices that a node consists of, from its Descriptor clusters: the node itself, and one device for each bridged
/// node. Matter Core § 9.2 and § 9.12.
struct Topology: Equatable {
  /// The sources in the order of their ids, beginning with the node itself.
  private(set) var sources: [DeviceSource] = []
  /// The listed endpoints whose description is unknown.
  private(set) var undescribed: Set<EndpointID> = []
  /// Whether all listed endpoints are described.
  var isComplete: Bool { undescribed.isEmpty }
  /// The endpoints that the node no longer lists.
  private(set) var strayEndpoints: [EndpointID] = []

  init(_ node: NodeID, _ values: NodeValues) {
    var endpoints: [EndpointID: DeviceEndpoint] = [:]
    for id in values.endpointIDs {
      if let endpoint = Self.endpoint(id, values) { endpoints[id] = endpoint }
    }
    let listed = Self.closure(of: .root, endpoints)
    undescribed = listed.filter { endpoints[$0] == nil }
    strayEndpoints = values.endpointIDs.filter { !listed.contains($0) }
    // The innermost bridged node that an endpoint is part of owns it.
    var owner: [EndpointID: EndpointID] = [:]
    let bridged =
      listed
      .filter { $0 != .root && endpoints[$0]?.deviceTypes.contains(DeviceTypes.bridgedNode.id) == true }
      .map { (id: $0, parts: Self.closure(of: $0, endpoints)) }
      .sorted { $0.parts.count == $1.parts.count ? $0.id < $1.id : $0.parts.count > $1.parts.count }
    for (id, parts) in bridged { for part in parts { owner[part] = id } }
    // Bridged nodes that list each other are two devices, and a part can't own the node.
    for (id, _) in bridged { owner[id] = id }
    owner[.root] = .root
    for id in [.root] + bridged.map(\.id).sorted() where endpoints[id] != nil {
      let own = listed.filter { owner[$0] ?? .root == id }.sorted().compactMap { endpoints[$0] }
      sources.append(DeviceSource(SourceID(node, id), own, DeviceIdentity(values, of: id)))
    }
  }

  private static func endpoint(_ id: EndpointID, _ values: NodeValues) -> DeviceEndpoint? {
    guard let types = values.value(Descriptor.deviceTypeList, on: id) else { return nil }
    var unique: [DeviceTypeID] = []
    for type in types where !unique.contains(type.deviceType) { unique.append(type.deviceType) }
    return DeviceEndpoint(
      id: id, deviceTypes: unique, servers: values.value(Descriptor.serverList, on: id) ?? [],
      clients: values.value(Descriptor.clientList, on: id) ?? [],
      parts: values.value(Descriptor.partsList, on: id) ?? [])
  }

  /// Returns an endpoint and all its descendants.
  private static func closure(of start: EndpointID, _ endpoints: [EndpointID: DeviceEndpoint]) -> Set<EndpointID> {
    var result: Set<EndpointID> = []
    var open = [start]
    while let next = open.popLast() {
      if result.insert(next).inserted { open += endpoints[next]?.parts ?? [] }
    }
    return result
  }

  /// Whether the topology depends on the attributes of the cluster.
  static func isPart(_ cluster: ClusterID) -> Bool {
    cluster == Descriptor.id || cluster == BasicInformation.id || cluster == BridgedDeviceBasicInformation.id
  }

  /// Whether the attribute is one of the mandatory lists of the Descriptor cluster. Matter Core § 9.5.6.
  static func isList(_ path: ConcreteAttributePath) -> Bool {
    path.cluster == Descriptor.id && path.attribute <= Descriptor.partsList.id
  }

  /// Whether a value of one of the mandatory lists has the right type.
  static func isValid(_ list: AttributeID, _ value: [UInt8]) -> Bool {
    switch list {
    case Descriptor.deviceTypeList.id: (try? [DeviceTypeStruct](tlv: value)) != nil
    case Descriptor.partsList.id: (try? [EndpointID](tlv: value)) != nil
    default: (try? [ClusterID](tlv: value)) != nil
    }
  }
}

extension DeviceIdentity {
  /// From Basic Information of a node, or from Bridged Device Basic Information of a bridged endpoint.
  package init(_ values: NodeValues, of endpoint: EndpointID) {
    self.init()
    // Bridged Device Basic Information has the ids and types of Basic Information: Matter Core § 9.13.
    let cluster = endpoint == .root ? BasicInformation.id : BridgedDeviceBasicInformation.id
    func value<Value: ModelValue>(_ attribute: Attribute<BasicInformation, Value>) -> Value? {
      values[.init(endpoint, cluster, attribute.id)].flatMap { try? Value(tlv: $0) }
    }
    func text(_ attribute: Attribute<BasicInformation, String>) -> String? {
      value(attribute).flatMap { $0.isEmpty ? nil : $0 }
    }
    vendorID = value(BasicInformation.vendorID)
    productID = value(BasicInformation.productID)
    vendorName = text(BasicInformation.vendorName)
    productName = text(BasicInformation.productName)
    productLabel = text(BasicInformation.productLabel)
    nodeLabel = text(BasicInformation.nodeLabel)
    serialNumber = text(BasicInformation.serialNumber)
    uniqueID = text(BasicInformation.uniqueID)
    softwareVersion = text(BasicInformation.softwareVersionString)
  }

  /// The first allowed name that the device reports.
  var ownName: String? {
    HomeNames.allowed(nodeLabel) ?? HomeNames.allowed(productLabel) ?? HomeNames.allowed(productName)
  }
}
