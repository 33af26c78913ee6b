import HearthHome
import HomeModel
import MatterClusters
import MatterModel
import MatterProtocol

/// The attributes of a node, for reports: endpoints, device types, and a few values.
struct NodeModel {
  struct Endpoint {
    var types: [DeviceTypeID]
    var parts: [EndpointID] = []
    /// The clusters except Descriptor.
    var clusters: [ClusterID: [AttributeID: [UInt8]]] = [:]
  }

  let node: NodeID
  var endpoints: [EndpointID: Endpoint] = [:]

  init(_ node: NodeID, parts: [EndpointID] = []) {
    self.node = node
    endpoints[0] = Endpoint(types: [DeviceTypes.rootNode.id], parts: parts)
    endpoints[0]?.clusters[BasicInformation.id] = [:]
  }

  subscript(path: ConcreteAttributePath) -> [UInt8]? {
    get { endpoints[path.endpoint]?.clusters[path.cluster]?[path.attribute] }
    set { endpoints[path.endpoint]?.clusters[path.cluster, default: [:]][path.attribute] = newValue }
  }

  mutating func addLight(_ id: EndpointID, isOn: Bool = true) {
    endpoints[id] = Endpoint(types: [DeviceTypes.onOffLight.id])
    self[OnOff.onOff.path(on: id)] = isOn.tlv
  }

  /// Adds a bridged light, or, with parts, a bridged device of several endpoints.
  mutating func addBridged(
    _ id: EndpointID, _ label: String? = nil, parts: [EndpointID] = [], isReachable: Bool = true,
    uniqueID: String? = nil
  ) {
    endpoints[id] = Endpoint(types: [DeviceTypes.bridgedNode.id], parts: parts)
    if parts.isEmpty {
      endpoints[id]?.types.append(DeviceTypes.onOffLight.id)
      self[OnOff.onOff.path(on: id)] = true.tlv
    }
    self[BridgedDeviceBasicInformation.reachable.path(on: id)] = isReachable.tlv
    if let label { self[BridgedDeviceBasicInformation.nodeLabel.path(on: id)] = label.tlv }
    if let uniqueID { self[BridgedDeviceBasicInformation.uniqueID.path(on: id)] = uniqueID.tlv }
  }

  /// A node with one light.
  static func lamp(_ node: NodeID, uniqueID: String? = nil, vendor: VendorID? = nil) -> NodeModel {
    var model = NodeModel(node, parts: [1])
    model.addLight(1)
    if let uniqueID { model[BasicInformation.uniqueID.path(on: 0)] = uniqueID.tlv }
    if let vendor { model[BasicInformation.vendorID.path(on: 0)] = vendor.tlv }
    return model
  }

  /// A bridge with two lights behind it: endpoints 2 and 3.
  static func bridge(_ node: NodeID) -> NodeModel {
    var model = NodeModel(node, parts: [1, 2, 3])
    model.endpoints[1] = Endpoint(types: [DeviceTypes.aggregator.id], parts: [2, 3])
    model.addBridged(2, "Left")
    model.addBridged(3, "Right")
    return model
  }

  // MARK: Reports

  func attributes(of id: EndpointID) -> [AttributeData] {
    guard let endpoint = endpoints[id] else { return [] }
    func data(_ path: ConcreteAttributePath, _ value: [UInt8]) -> AttributeData {
      AttributeData(path, dataVersion: 1, value: value)
    }
    let servers = (Array(endpoint.clusters.keys) + [Descriptor.id]).sorted()
    let types = endpoint.types.map { DeviceTypeStruct(deviceType: $0, revision: 1) }
    var result = [
      data(Descriptor.deviceTypeList.path(on: id), types.tlv), data(Descriptor.serverList.path(on: id), servers.tlv),
      data(Descriptor.clientList.path(on: id), [ClusterID]().tlv),
      data(Descriptor.partsList.path(on: id), endpoint.parts.tlv),
    ]
    for (cluster, values) in endpoint.clusters.sorted(by: { $0.key < $1.key }) {
      for (attribute, value) in values.sorted(by: { $0.key < $1.key }) {
        result.append(data(.init(id, cluster, attribute), value))
      }
    }
    return result
  }

  /// A report of all endpoints, or of the given ones.
  func report(of ids: [EndpointID]? = nil, events: [EventData] = [], isWhole: Bool = true) -> HomeInput {
    let attributes = (ids ?? endpoints.keys.sorted()).flatMap { self.attributes(of: $0) }
    return .report(NodeReport(node, attributes, events: events, isWhole: isWhole))
  }

  static func shutDown(_ number: UInt64) -> EventData {
    EventData(
      .init(0, BasicInformation.id, BasicInformation.shutDown.id), number: number, priority: .critical,
      timestamp: .epoch(number), payload: nil)
  }

  /// A report of one attribute.
  static func report(_ node: NodeID, _ path: ConcreteAttributePath, _ value: [UInt8]) -> HomeInput {
    .report(NodeReport(node, [AttributeData(path, dataVersion: 2, value: value)], isWhole: true))
  }
}

/// A reducer that checks at each step that the returned changes describe the whole transition.
struct CheckedReducer {
  private(set) var reducer: HomeReducer
  private(set) var log: [HomeUpdate] = []
  /// Inputs whose changes did not produce the new state.
  private(set) var faults: [String] = []
  var time: Int64 = 1_000_000

  init(grace: Duration = .zero) { reducer = HomeReducer(grace: grace) }

  var state: HomeState { reducer.state }

  @discardableResult mutating func process(_ input: HomeInput, after: Int64 = 1_000) -> HomeUpdate? {
    time += after
    var expected = state
    let update = reducer.reduce(input, at: time)
    for change in update?.changes ?? [] { expected.apply(change) }
    if expected != state { faults.append("\(input)") }
    if let update { log.append(update) }
    return update
  }

  /// Adds a node, with a full report and a subscription. The name of the room is its id.
  mutating func meet(_ model: NodeModel, name: String? = nil, roomID: String? = nil) {
    process(model.commissioned(name: name, roomID: roomID))
    process(model.report())
    process(.established(model.node, deadline: time + 60_000_000))
  }

  func status(_ device: String) -> SourceStatus? { state.devices[device]?.active?.status }
  func connectivity(_ device: String) -> ConnectivityState? { status(device)?.connectivity.connectivityState }
  var ids: [String] { state.orderedDevices.map(\.id) }
}

extension NodeModel {
  /// The commissioning of the node; the name of the room is its id.
  func commissioned(name: String? = nil, roomID: String? = nil) -> HomeInput {
    commissioned(DevicePlacement(name: name, room: roomID.map { Room(id: $0, name: $0, structureID: "home") }))
  }

  func commissioned(_ placement: DevicePlacement) -> HomeInput {
    guard case .report(let report) = self.report(of: Array(endpoints.keys), isWhole: false) else { return .started }
    return .commissioned(report, placement)
  }
}
