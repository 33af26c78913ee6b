import MatterClusters
import MatterModel
import MatterTLV
import Testing

@Suite("Comparison of a node with the declarations") struct DeviceCheckTests {
  /// The attribute values of a node.
  private struct Node {
    var values: [ConcreteAttributePath: [UInt8]] = [:]

    /// Adds the mandatory elements of a cluster.
    mutating func serve<C: Cluster>(
      _ cluster: C.Type, on endpoint: EndpointID, features: UInt32 = 0, _ more: [AttributeID: [UInt8]] = [:]
    ) {
      let facts = ConformanceFacts(features: features)
      var attributes = more
      for info in cluster.attributes where info.conformance.requires(facts) && more[info.id] == nil {
        attributes[info.id] = info.initial ?? UInt8(0).tlv
      }
      let commands = cluster.commands.filter { $0.conformance.requires(facts) }
      let globals: [AttributeID] = [0xFFF8, 0xFFF9, 0xFFFB, 0xFFFC, 0xFFFD]
      attributes[0xFFF8] = Set(commands.compactMap { $0.response?.id }).sorted().tlv
      attributes[0xFFF9] = commands.map(\.id).tlv
      attributes[0xFFFB] = (attributes.keys.filter { $0 < 0xF000 }.sorted() + globals).tlv
      attributes[0xFFFC] = features.tlv
      attributes[0xFFFD] = cluster.revision.tlv
      for (id, value) in attributes { values[ConcreteAttributePath(endpoint, C.id, id)] = value }
    }

    mutating func describe(_ endpoint: EndpointID, _ type: DeviceType, _ servers: [ClusterID]) {
      let types = [DeviceTypeStruct(deviceType: type.id, revision: type.revision)]
      serve(
        Descriptor.self, on: endpoint, [0: types.tlv, 1: ([Descriptor.id] + servers).tlv, 2: type.clients.tlv])
    }

    /// The value of an attribute; nil if the server lacks it.
    subscript<C: Cluster, Value: ModelValue>(_ endpoint: EndpointID, _ attribute: Attribute<C, Value>) -> [UInt8]? {
      get { values[attribute.path(on: endpoint)] }
      set { values[attribute.path(on: endpoint)] = newValue }
    }

    subscript(_ endpoint: EndpointID, _ cluster: ClusterID, _ attribute: AttributeID) -> [UInt8]? {
      get { values[ConcreteAttributePath(endpoint, cluster, attribute)] }
      set { values[ConcreteAttributePath(endpoint, cluster, attribute)] = newValue }
    }

    var violations: [String] { DeviceCheck(values).findings.filter(\.isViolation).map(\.description) }
    var remarks: [String] { DeviceCheck(values).findings.filter { !$0.isViolation }.map(\.description) }
  }

  /// An endpoint that is a light switch, which serves Identify and can switch itself on.
  private func node(_ change: (inout Node) -> Void = { _ in }) -> Node {
    var node = Node()
    node.describe(1, DeviceTypes.onOffLightSwitch, [Identify.id, OnOff.id])
    node.serve(Identify.self, on: 1)
    node.serve(OnOff.self, on: 1, features: OnOff.lighting.mask)
    change(&node)
    return node
  }

  @Test func acceptsConformingNode() {
    #expect(node().violations == [])
    #expect(node().remarks == [])
  }

  @Test func reportsMissingElements() {
    let node = node {
      $0[1, OnOff.onTime] = nil
      let listed: [AttributeID] = [0, 0x4000, 0x4002, 0x4003, 0xFFF8, 0xFFF9, 0xFFFB, 0xFFFC, 0xFFFD]
      $0[1, OnOff.id, 0xFFFB] = listed.tlv
      $0[1, OnOff.id, 0xFFF9] = ([0, 1, 2, 0x40, 0x41] as [CommandID]).tlv
    }
    #expect(
      node.violations == [
        "endpoint 1, OnOff: attribute OnTime (0x4001) is missing; mandatory with feature LT",
        "endpoint 1, OnOff: command OnWithTimedOff (0x42) is missing; mandatory with feature LT",
      ])
  }

  @Test func reportsSetpointsWithinDeadBand() {
    func node(_ cooling: Int16) -> Node {
      var node = Node()
      node.describe(1, DeviceTypes.thermostat, [Identify.id, Thermostat.id])
      node.serve(Identify.self, on: 1)
      let features = [Thermostat.heating, Thermostat.cooling, Thermostat.autoMode].reduce(0) { $0 | $1.mask }
      let setpoints = [
        Thermostat.occupiedHeatingSetpoint.id: Int16(2000).tlv, Thermostat.occupiedCoolingSetpoint.id: cooling.tlv,
      ]
      node.serve(Thermostat.self, on: 1, features: features, setpoints)
      return node
    }
    let finding =
      "endpoint 1, Thermostat: expected OccupiedCoolingSetpoint (21.9 °C) at least MinSetpointDeadBand above "
      + "OccupiedHeatingSetpoint (20.0 °C)"
    #expect(node(2190).violations.contains(finding), "\(node(2190).violations)")
    #expect(!node(2200).violations.contains { $0.contains("MinSetpointDeadBand above") })
  }

  @Test func comparesAttributeListWithAttributes() {
    let node = node {
      $0[1, OnOff.onTime] = nil
      $0[1, OnOff.id, 0x4004] = true.tlv
      $0[1, OnOff.id, 0xFFFA] = [EventID]().tlv
    }
    #expect(
      node.violations == [
        "endpoint 1, OnOff: attribute OnTime (0x4001) is in AttributeList, but not readable",
        "endpoint 1, OnOff: attribute 0x4004 is missing from AttributeList",
        "endpoint 1, OnOff: attribute 0xFFFA is missing from AttributeList",
        "endpoint 1, OnOff: attribute 0x4004 is not declared",
      ])
    let incomplete = self.node { $0[1, OnOff.id, 0xFFFC] = nil }
    #expect(
      incomplete.violations.contains("endpoint 1, OnOff: attribute FeatureMap (0xFFFC) is missing; mandatory"))
  }

  @Test func reportsWrongValues() {
    let node = node {
      $0[1, OnOff.onOff] = Nullable<Bool>.null.tlv
      $0[1, OnOff.startUpOnOff] = UInt8(7).tlv
      $0[1, Identify.identifyTime] = UInt32(70_000).tlv
    }
    #expect(
      node.violations == [
        "endpoint 1, Identify: attribute IdentifyTime (0x0000) is 70000; expected uint16",
        "endpoint 1, OnOff: attribute OnOff (0x0000) is null; expected bool",
        "endpoint 1, OnOff: attribute StartUpOnOff (0x4003) has the unknown value 7",
      ])
  }

  @Test func comparesClustersWithDeviceTypes() {
    let node = node {
      $0.describe(1, DeviceTypes.dimmableLight, [Identify.id, OnOff.id, Groups.id, ScenesManagement.id])
      $0.serve(Switch.self, on: 1, features: Switch.latchingSwitch.mask, [0: UInt8(2).tlv])
    }
    #expect(
      node.violations == [
        "endpoint 1, Groups: is in ServerList, but has no readable attribute",
        "endpoint 1, ScenesManagement: is in ServerList, but has no readable attribute",
        "endpoint 1, Switch: is missing from ServerList",
        "endpoint 1: cluster LevelControl is missing; mandatory for Dimmable Light",
        "endpoint 1, Identify: TriggerEffect is missing; mandatory for Dimmable Light",
      ])
    var light = Node()
    light.describe(1, DeviceTypes.onOffLight, [Identify.id, OnOff.id])
    light.serve(Identify.self, on: 1)
    light.serve(OnOff.self, on: 1)
    #expect(
      light.violations.filter { !$0.contains("cluster") } == [
        "endpoint 1, Identify: TriggerEffect is missing; mandatory for On/Off Light",
        "endpoint 1, OnOff: LT is missing; mandatory for On/Off Light",
      ])
    // A device type that is listed twice is checked once.
    light[1, Descriptor.deviceTypeList] =
      [
        DeviceTypeStruct(deviceType: 0x0100, revision: 3),
        DeviceTypeStruct(deviceType: 0x0100, revision: 3),
      ].tlv
    #expect(light.violations.count { $0.contains("LT is missing") } == 1)
    var controller = self.node()
    controller[1, Descriptor.clientList] = [Identify.id].tlv
    #expect(
      controller.violations == ["endpoint 1: client cluster OnOff is missing; mandatory for On/Off Light Switch"])
  }

  @Test func checksEndpoints() {
    var node = node()
    node.serve(Identify.self, on: 2)
    node.describe(3, DeviceTypes.rootNode, [])
    node[1, Descriptor.deviceTypeList] = [DeviceTypeStruct]().tlv
    #expect(
      node.violations.filter { !$0.contains("mandatory for Root Node") } == [
        "endpoint 1: has no device type",
        "endpoint 1, Descriptor: attribute DeviceTypeList (0x0000) has a wrong number of entries; expected at least 1",
        "endpoint 2: cluster Descriptor is missing",
        "endpoint 3: is a Root Node; expected endpoint 0 only",
      ])
    var root = Node()
    root.describe(0, DeviceTypes.aggregator, [])
    #expect(root.violations == ["endpoint 0: is not a Root Node"])
  }

  /// Other revisions may have other rules.
  @Test func remarksOnOtherRevisions() {
    var node = node {
      $0[1, OnOff.id, 0xFFFD] = UInt16(99).tlv
      $0[1, OnOff.id, 0xFFF9] = ([0, 1, 2, 0x40, 0x41] as [CommandID]).tlv
      $0[1, OnOff.onOff] = UInt8(1).tlv
      $0[1, Descriptor.deviceTypeList] = [DeviceTypeStruct(deviceType: 0x0101, revision: 2)].tlv
    }
    #expect(node.violations == [])
    #expect(
      node.remarks == [
        "endpoint 1: device type Dimmable Light has revision 2; checked against 3",
        "endpoint 1: cluster Groups is missing; mandatory for Dimmable Light",
        "endpoint 1: cluster ScenesManagement is missing; mandatory for Dimmable Light",
        "endpoint 1: cluster LevelControl is missing; mandatory for Dimmable Light",
        "endpoint 1, Identify: TriggerEffect is missing; mandatory for Dimmable Light",
        "endpoint 1, OnOff: has revision 99; checked against 6",
        "endpoint 1, OnOff: command OnWithTimedOff (0x42) is missing; mandatory with feature LT",
        "endpoint 1, OnOff: attribute OnOff (0x0000) is 1; expected bool",
      ])
    node[1, Descriptor.deviceTypeList] = [DeviceTypeStruct(deviceType: 0x7777, revision: 1)].tlv
    #expect(node.remarks.first == "endpoint 1: device type 0x00007777 is unknown; not checked")
  }

  @Test func namesUnknownClusters() {
    let node = node {
      $0[1, 0xFFF1_FC00, 0] = true.tlv
      $0[1, Descriptor.serverList] = [Descriptor.id, Identify.id, OnOff.id, 0xFFF1_FC00].tlv
    }
    #expect(node.violations == [])
    #expect(node.remarks == ["endpoint 1, cluster 0xFFF1FC00: is unknown; not checked"])
  }
}
