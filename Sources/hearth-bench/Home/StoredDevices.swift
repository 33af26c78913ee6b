import Foundation
import HearthHome
import MatterClusters
import MatterModel
import MatterProtocol
import Runtime

/// A stored home with many devices, as found by a restart.
struct StoredDevices {
  static let count = 1_000

  let state: StateDirectory

  /// Creates the home in a temporary directory.
  init(_ count: Int = StoredDevices.count) throws {
    state = StateDirectory(
      FileManager.default.temporaryDirectory.appendingPathComponent("hearth-bench-" + UUID().uuidString).path)
    var reducer = HomeReducer()
    var updates: [HomeUpdate] = []
    var time: Int64 = 1_767_225_600_000_000
    for number in 1...count {
      let node = NodeID(UInt64(number))
      time += 1_000
      for input: HomeInput in [
        .report(Self.report(node)), .established(node, deadline: time + 60_000_000),
      ] {
        if let update = reducer.reduce(input, at: time) { updates.append(update) }
      }
    }
    let database = try HomeDatabase.open(state.database)
    try database.commit(updates, contacts: reducer.contacts)
    try database.close()
  }

  func remove() { try? FileManager.default.removeItem(atPath: state.root) }

  /// Returns the first report of a dimmable light.
  private static func report(_ node: NodeID) -> NodeReport {
    var attributes: [AttributeData] = []
    func add<C: Cluster, Value: ModelValue>(_ attribute: Attribute<C, Value>, _ endpoint: EndpointID, _ value: Value) {
      attributes.append(AttributeData(attribute.path(on: endpoint), dataVersion: 1, value: value.tlv))
    }
    func describe(_ endpoint: EndpointID, _ type: DeviceType, _ servers: [ClusterID], _ parts: [EndpointID]) {
      add(Descriptor.deviceTypeList, endpoint, [.init(deviceType: type.id, revision: 1)])
      add(Descriptor.serverList, endpoint, servers)
      add(Descriptor.clientList, endpoint, [])
      add(Descriptor.partsList, endpoint, parts)
    }
    describe(0, DeviceTypes.rootNode, [Descriptor.id, BasicInformation.id], [1])
    add(BasicInformation.vendorName, 0, "Hearth")
    add(BasicInformation.vendorID, 0, 0xFFF1)
    add(BasicInformation.productName, 0, "Dimmable Light")
    add(BasicInformation.productID, 0, 0x8001)
    add(BasicInformation.nodeLabel, 0, "Lamp \(node.rawValue)")
    add(BasicInformation.serialNumber, 0, "S\(node.rawValue)")
    add(BasicInformation.uniqueID, 0, "bench-\(node.rawValue)")
    describe(1, DeviceTypes.dimmableLight, [Identify.id, OnOff.id, LevelControl.id, Descriptor.id], [])
    add(OnOff.onOff, 1, true)
    add(OnOff.globalSceneControl, 1, true)
    add(LevelControl.currentLevel, 1, .value(128))
    add(LevelControl.onLevel, 1, .null)
    add(LevelControl.remainingTime, 1, 0)
    return NodeReport(node, attributes, isWhole: true)
  }

  /// Returns a report of one changed attribute.
  static func change(_ node: NodeID, level: UInt8) -> HomeInput {
    let value = AttributeData(
      LevelControl.currentLevel.path(on: 1), dataVersion: UInt32(level) + 2, value: Nullable<UInt8>.value(level).tlv)
    return .report(NodeReport(node, [value], isWhole: true))
  }

  static func options(_ state: StateDirectory) -> HomeController.Options {
    var options = HomeController.Options(state: state, logger: quiet)
    options.discovery = .off
    return options
  }
}
