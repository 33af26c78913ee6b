package import HomeModel
internal import MatterClusters
package import MatterProtocol
package import WebClient

/// A node of a cloud account: a device, or several devices of one product, such as a power strip.
package struct CloudNode: Hashable, Sendable {
  package var node: NodeID
  package var parts: [EndpointID: CloudDevice] = [:]
  /// The maximum number of devices of a node.
  static let mostParts: UInt16 = 64

  /// Whether a cluster corresponds to any of its parts; else it is not a device of the home.
  package var isDevice: Bool { parts.values.contains { !$0.clusters.isEmpty } }

  /// The endpoint whose device reports the battery of the node; others are ignored, because they may contradict it.
  private var batteryEndpoint: EndpointID? { orderedParts.first { $0.value.has("EnergyStorage") }?.key }

  var orderedParts: [(key: EndpointID, value: CloudDevice)] { parts.sorted { $0.key < $1.key } }

  func without(_ ids: [String]) -> CloudNode {
    CloudNode(node: node, parts: parts.filter { !ids.contains($0.value.id) })
  }

  /// The endpoints with their types and clusters, and the identity. The states are reported separately.
  package var description: [AttributeData] {
    let devices = orderedParts
    var root = CloudReport(.root)
    var (types, clusters) = ([DeviceTypes.rootNode], [CloudCluster(BasicInformation.self)])
    if batteryEndpoint != nil {
      let isRechargeable = parts.values.contains { $0.attribute("isRechargeable")?.bool == true }
      types.append(DeviceTypes.powerSource)
      clusters.append(
        CloudCluster(
          PowerSource.self, [PowerSource.battery] + (isRechargeable ? [PowerSource.rechargeable] : [])))
    }
    root.describe(types, clusters, parts: devices.map(\.key))
    if let first = devices.first { root.setBasicInformation(of: first.value) }
    return devices.reduce(into: root.attributes) { attributes, part in
      var report = CloudReport(part.key)
      // One of several devices may be offline while the others are not.
      let bridged = parts.count > 1 ? [CloudCluster(BridgedDeviceBasicInformation.self)] : []
      report.describe(part.value.types, part.value.clusters + bridged)
      part.value.setLimits(&report)
      attributes += report.attributes
    }
  }

  /// The attributes of the node for the states of its devices, by their ids; nil if all are offline. If one of several
  /// is offline, its Reachable attribute says so.
  package func attributes(_ states: [String: JSONValue]) -> [AttributeData]? {
    func isOnline(_ device: CloudDevice) -> Bool { states[device.id].map(CloudIntent.isOnline) ?? false }
    guard parts.values.contains(where: isOnline) else { return nil }
    return orderedParts.flatMap { endpoint, device in
      var report = CloudReport(endpoint)
      if parts.count > 1 { report.set(BridgedDeviceBasicInformation.reachable, isOnline(device)) }
      guard isOnline(device), let state = states[device.id] else { return report.attributes }
      return report.attributes + attributes(state, of: device, on: endpoint)
    }
  }

  package func attributes(_ state: JSONValue, of device: CloudDevice, on endpoint: EndpointID) -> [AttributeData] {
    let attributes = device.attributes(state, on: endpoint)
    return endpoint == batteryEndpoint ? attributes + CloudDevice.battery(state) : attributes
  }
}

/// Collects attributes of an endpoint.
struct CloudReport {
  let endpoint: EndpointID
  private(set) var attributes: [AttributeData] = []

  init(_ endpoint: EndpointID) { self.endpoint = endpoint }

  /// Adds an attribute, unless the value is nil.
  mutating func set<C: Cluster, Value: ModelValue>(_ attribute: Attribute<C, Value>, _ value: Value?) {
    if let value { add(attribute.path(on: endpoint), value) }
  }

  mutating func set<C: Cluster, Value: ModelValue>(_ attribute: Attribute<C, Nullable<Value>>, _ value: Value?) {
    if let value { add(attribute.path(on: endpoint), Nullable(value)) }
  }

  private mutating func add(_ path: ConcreteAttributePath, _ value: some ModelValue) {
    attributes.append(AttributeData(path, dataVersion: 0, value: value.tlv))
  }

  fileprivate mutating func describe(
    _ types: [DeviceType], _ clusters: [CloudCluster], parts: [EndpointID] = []
  ) {
    set(Descriptor.deviceTypeList, types.map { .init(deviceType: $0.id, revision: $0.revision) })
    set(Descriptor.serverList, [Descriptor.id] + clusters.map(\.id))
    set(Descriptor.clientList, [])
    set(Descriptor.partsList, parts)
    for cluster in clusters {
      add(ConcreteAttributePath(endpoint, cluster.id, GlobalAttribute.featureMap), cluster.features)
      add(ConcreteAttributePath(endpoint, cluster.id, GlobalAttribute.clusterRevision), cluster.revision)
      add(ConcreteAttributePath(endpoint, cluster.id, GlobalAttribute.acceptedCommandList), cluster.commands)
    }
  }

  /// Sets the attributes of Basic Information, truncated to their maximum lengths. Matter Core § 11.1.5.
  fileprivate mutating func setBasicInformation(of device: CloudDevice) {
    func info(_ name: String) -> String? { device.json["deviceInfo"]?[name]?.text }
    let identity = device.identity
    set(BasicInformation.nodeLabel, Self.cut(device.name, 32))
    set(BasicInformation.vendorName, Self.cut(info("manufacturer") ?? "", 32))
    set(BasicInformation.productName, Self.cut(info("model") ?? "", 32))
    set(BasicInformation.vendorID, identity.vendorID)
    set(BasicInformation.productID, identity.productID)
    set(BasicInformation.hardwareVersionString, info("hwVersion").map { Self.cut($0, 64) })
    set(BasicInformation.softwareVersionString, info("swVersion").map { Self.cut($0, 64) })
    // A truncated id would not be unique.
    set(BasicInformation.uniqueID, identity.uniqueID.flatMap { $0.utf8.count <= 32 ? $0 : nil })
  }

  /// Truncates a text to a number of bytes.
  private static func cut(_ text: String, _ length: Int) -> String {
    var result = text
    while result.utf8.count > length { result.removeLast() }
    return result
  }
}
