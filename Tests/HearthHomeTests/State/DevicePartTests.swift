import HearthHome
import HomeControl
import HomeModel
import MatterClusters
import MatterModel
import MatterProtocol
import Testing

/// Devices with several sources that offer different traits. See the article “The home model”, “Sources of a device”.
@Suite("Device parts", .timeLimit(.minutes(10))) struct DevicePartTests {
  private static let cloudNode = NodeID.temporaryLocal(1)
  private let own = SourceID(5), cloud = SourceID(cloudNode)
  private let peer = SourceConnectivity(.online, .peer), remote = SourceConnectivity(.online, .remote)
  private let mixed = SourceConnectivity(.online, .mixed)

  /// The lamp over Matter: On/Off and Groups on endpoint 1.
  private static var lamp: NodeModel {
    var lamp = NodeModel.lamp(5, uniqueID: "u")
    lamp.endpoints[1]?.clusters[Groups.id] = [:]
    return lamp
  }

  /// The same lamp at a cloud, which also offers colors: endpoint 4 by default.
  private static func colorLamp(_ endpoint: EndpointID = 4) -> NodeModel {
    var lamp = NodeModel(cloudNode, parts: [endpoint])
    lamp[BasicInformation.uniqueID.path(on: 0)] = "u".tlv
    lamp.addLight(endpoint, isOn: false)
    lamp.endpoints[endpoint]?.types = [DeviceTypes.extendedColorLight.id]
    lamp[ColorControl.currentHue.path(on: endpoint)] = UInt8(40).tlv
    return lamp
  }

  private func home(_ models: NodeModel...) -> CheckedReducer {
    var home = CheckedReducer()
    for model in models { home.meet(model) }
    return home
  }

  private func device(_ home: CheckedReducer, through access: SampleHome = SampleHome()) throws -> HomeDevice {
    home.reducer.device(try #require(home.state.devices["5"]), through: access)
  }

  private func trait(_ device: HomeDevice, _ cluster: ClusterID) -> String? {
    device.traits.first { $0.id.cluster == cluster }.map {
      let connectivity = $0.metadata.sourceConnectivity
      return "\($0.endpoint) \(connectivity.connectivityState) \(connectivity.dataSourceLocality)"
    }
  }

  // MARK: Requests

  @Test func requestGoesToNearestSource() throws {
    var home = home(Self.lamp, Self.colorLamp())
    let toggle = CommandData(OnOff.toggle.path(on: 1))
    let request = HomeRequest.invokeDevice(device: "5", source: own, command: toggle, isTimed: false, timeout: nil)
    guard case .invoke(5, let command, false) = try request.placed(in: home.state) else {
      Issue.record("expected a command of the node")
      return
    }
    #expect(command == toggle)
    home.process(.lost(5, .timedOut))
    guard case .invoke(Self.cloudNode, let other, false) = try request.placed(in: home.state) else {
      Issue.record("expected a command of the cloud")
      return
    }
    #expect(other.path.endpoint == 4)
    #expect(request.node == nil && HomeRequest.status.node == nil)
    #expect(throws: HomeError.self) {
      try HomeRequest.invokeDevice(device: "9", source: nil, command: toggle, isTimed: false, timeout: nil)
        .placed(in: home.state)
    }
  }

  // MARK: Traits

  @Test func traitOfCloudIsVisibleWhileMatterWorks() throws {
    let device = try device(home(Self.lamp, Self.colorLamp()))
    #expect(device.source?.id == own && device.sourceConnectivity == mixed)
    #expect(trait(device, OnOff.id) == "1 online peer" && trait(device, ColorControl.id) == "1 online remote")
    #expect(device.traits.filter { $0.id.cluster == OnOff.id }.count == 1)
    #expect(device.traits[OnOffTrait.self]?.onOff == true)
    let light = try #require(device.types.get(ExtendedColorLightDeviceType.self))
    #expect(light.endpoint == 1 && light.metadata.sourceConnectivity == mixed)
    #expect(light.matterTraits.colorControlTrait?.currentHue == 40 && light.matterTraits.onOffTrait?.onOff == true)
    let metadata = device.types.get(OnOffLightDeviceType.self)?.metadata
    #expect(metadata?.isPrimaryType == true && metadata?.sourceConnectivity == mixed)
    #expect(device.types.get(RootNodeDeviceType.self)?.metadata.sourceConnectivity == peer)
    #expect(device.types.count { $0.metadata.isPrimaryType } == 1)
    #expect(device.traits.ids.allSatisfy { $0.device == "5" })
    #expect(
      device.traits.ids.map { ClusterPath($0.endpoint, $0.cluster) }
        == [Descriptor.id, BasicInformation.id].sorted().map { ClusterPath(0, $0) }
        + [Groups.id, OnOff.id, Descriptor.id, ColorControl.id].sorted().map { ClusterPath(1, $0) })
  }

  @Test func lossOfMatterLeavesDevicePartiallyOnline() throws {
    var home = home(Self.lamp, Self.colorLamp())
    let before = try device(home)
    home.process(.lost(5, .timedOut))
    let away = try device(home)
    #expect(away != before && away.source?.id == cloud)
    #expect(away.sourceConnectivity == SourceConnectivity(.partiallyOnline, .mixed))
    #expect(home.reducer.settledConnectivity(of: "5") == away.sourceConnectivity)
    // The endpoints have the numbers of the cloud now.
    #expect(trait(away, OnOff.id) == "4 online remote" && trait(away, ColorControl.id) == "4 online remote")
    #expect(trait(away, Groups.id) == "4 offline peer" && away.traits[OnOffTrait.self]?.onOff == false)
    #expect(away.traits[GroupsTrait.self]?.metadata.offlineReason == .timedOut)
    // The traits of a root node are those of the active source.
    #expect(away.types.get(RootNodeDeviceType.self)?.metadata.sourceConnectivity == remote)
    home.process(.lost(Self.cloudNode, .cloudUnreachable))
    #expect(try device(home).sourceConnectivity == SourceConnectivity(.offline, .mixed))
    #expect(try trait(device(home), ColorControl.id) == "1 offline remote")
    home.process(.established(5, deadline: 7))
    #expect(try device(home).sourceConnectivity == SourceConnectivity(.partiallyOnline, .mixed))
    home.process(.established(Self.cloudNode, deadline: 7))
    #expect(try device(home) == before)
    #expect(home.faults.isEmpty)
  }

  @Test func requestsGoToSourceOfTrait() async throws {
    let access = SampleHome()
    let home = home(Self.lamp, Self.colorLamp())
    let device = try device(home, through: access)
    try await device.traits[OnOffTrait.self]?.on()
    try await device.traits[ColorControlTrait.self]?.moveToHue(hue: 3, direction: .shortest)
    #expect(access.calls.map(\.source) == [own, cloud])
    #expect(access.calls.map(\.command.path.endpoint) == [1, 4] && access.calls.map(\.device) == ["5", "5"])
    try await device.traits[ColorControlTrait.self]?.write(ColorControl.options, [])
    #expect(access.writes.last?.writes.first?.path.endpoint == 4)
  }

  @Test func requestsOfOldValuesFollowTheirTraits() throws {
    var home = home(Self.lamp, Self.colorLamp())
    func place(_ endpoint: EndpointID, _ cluster: ClusterID, by old: SourceID?) throws -> String {
      let device = try #require(home.state.devices["5"])
      let found = try home.state.place(of: [(ClusterPath(endpoint, cluster), nil)], of: device, by: old)
      return "\(found.source.id == cloud ? "cloud" : "matter") \(found.paths.map { "\($0.endpoint)" }.joined())"
    }
    #expect(try place(1, OnOff.id, by: own) == "matter 1" && place(4, OnOff.id, by: cloud) == "matter 1")
    #expect(try place(4, ColorControl.id, by: cloud) == "cloud 4")
    #expect(try place(1, OnOff.id, by: nil) == "matter 1")
    home.process(.lost(5, .timedOut))
    #expect(try place(1, OnOff.id, by: own) == "cloud 4" && place(4, OnOff.id, by: cloud) == "cloud 4")
    #expect(try place(1, Groups.id, by: own) == "matter 1")
  }

  /// The requests fail, because neither the node nor the account exists; the error names what was addressed.
  @Test func controllerUsesSourceOfTrait() async throws {
    let open = try await OpenHome(Self.lamp, Self.colorLamp())
    let device = try await open.device("5")
    func message(_ body: () async throws -> Void) async -> String? {
      do {
        try await body()
        return nil
      } catch { return HomeError(error).message }
    }
    let colors = try #require(device.traits[ColorControlTrait.self])
    #expect(await message { try await colors.moveToHue(hue: 3, direction: .shortest) }?.contains("cloud") == true)
    #expect(await message { try await colors.write(ColorControl.options, []) }?.contains("cloud") == true)
    #expect(await message { try await device.traits[OnOffTrait.self]?.on() }?.contains("node 5 ") == true)
    await open.home.close()
  }

  // MARK: Endpoints

  /// The endpoint of a sensor and that of the lamp have the same number.
  @Test func endpointWithoutCounterpartHasNextNumber() throws {
    var sensor = Self.colorLamp(1)
    sensor.endpoints[1]?.types = [DeviceTypes.temperatureSensor.id]
    sensor.endpoints[1]?.clusters = [TemperatureMeasurement.id: [0: Nullable<Int16>.value(2150).tlv]]
    let device = try device(home(Self.lamp, sensor))
    #expect(
      device.types.map { "\($0.endpoint) \($0.name)" } == ["0 Root Node", "1 On/Off Light", "2 Temperature Sensor"])
    #expect(device.types.map(\.metadata.sourceConnectivity) == [peer, peer, remote])
    #expect(device.types.map(\.metadata.isPrimaryType) == [false, true, false])
    #expect(device.traits[TemperatureMeasurementTrait.self, on: 2]?.measuredValue == 2150)
    #expect(device.traits[TemperatureMeasurementTrait.self, on: 1] == nil)
    #expect(device.traits.all(DescriptorTrait.self).map(\.endpoint) == [0, 1])
  }

  /// One of two lights of the cloud must not be taken for the only light of the device.
  @Test func endpointWithSeveralCounterpartsIsSeparate() throws {
    var lights = Self.colorLamp()
    lights.endpoints[0]?.parts = [4, 6]
    lights.addLight(6)
    let device = try device(home(Self.lamp, lights))
    #expect(trait(device, OnOff.id) == "1 online peer" && trait(device, ColorControl.id) == "2 online remote")
    #expect(device.types.get(OnOffLightDeviceType.self)?.metadata.sourceConnectivity == peer)
  }

  @Test func batteryOfCloudIsAddedOnce() throws {
    var (lamp, battery) = (Self.lamp, Self.colorLamp())
    battery.endpoints[0]?.types.append(DeviceTypes.powerSource.id)
    battery[PowerSource.batPercentRemaining.path(on: 0)] = Nullable<UInt8>.value(100).tlv
    let device = try device(home(lamp, battery))
    #expect(trait(device, PowerSource.id) == "2 online remote")
    #expect(device.types.get(PowerSourceDeviceType.self)?.endpoint == 2)
    lamp[PowerSource.batPercentRemaining.path(on: 1)] = Nullable<UInt8>.value(80).tlv
    let known = try self.device(home(lamp, battery))
    #expect(known.traits.all(PowerSourceTrait.self).map(\.batPercentRemaining) == [80])
  }

  @Test func bridgeAddsOnlyTraitsOfDevice() throws {
    var bridge = NodeModel.bridge(7)
    bridge.addBridged(2, "Left", uniqueID: "u")
    bridge.endpoints[2]?.clusters[Identify.id] = [:]
    let device = try device(home(Self.lamp, bridge))
    #expect(device.parts.additions.keys.map { $0 } == [ClusterPath(1, Identify.id)])
    #expect(device.types.map(\.name) == ["Root Node", "On/Off Light"] && device.sourceConnectivity == peer)
  }

  /// The number after the highest one must not overflow.
  @Test func omitsEndpointWithoutNumber() throws {
    var (lamp, sensor) = (NodeModel(5, parts: [0xFFFF]), Self.colorLamp())
    lamp[BasicInformation.uniqueID.path(on: 0)] = "u".tlv
    lamp.addLight(0xFFFF)
    sensor.endpoints[4]?.types = [DeviceTypes.fan.id]
    #expect(try device(home(lamp, sensor)).parts.additions.isEmpty)
  }

  // MARK: Observers

  @Test func observersReceiveAdditionalTraits() async throws {
    let open = try await OpenHome(Self.lamp)
    let changes = open.home.devices().stream().makeAsyncIterator()
    await open.meet(Self.colorLamp())
    let colors = try await open.device("5").types.subscribe(ExtendedColorLightDeviceType.self).makeAsyncIterator()
    let hue = ColorControl.currentHue.path(on: 4), isOn = OnOff.onOff.path(on: 4)
    await open.process(NodeModel.report(Self.cloudNode, hue, UInt8(50).tlv))
    // The device has this trait from another source.
    await open.process(NodeModel.report(Self.cloudNode, isOn, true.tlv))
    await open.process(NodeModel.report(5, OnOff.onOff.path(on: 1), false.tlv))
    await open.process(.lost(Self.cloudNode, .cloudUnreachable))
    func text(_ light: ExtendedColorLightDeviceType) -> String {
      let traits = light.matterTraits
      return "\(traits.colorControlTrait?.currentHue ?? 0) \(traits.onOffTrait?.onOff == true) "
        + "\(light.metadata.sourceConnectivity.connectivityState)"
    }
    await open.home.close()
    #expect(
      await rest(colors, of: DeviceUpdates<ExtendedColorLightDeviceType>.self).map(text) == [
        "40 true online", "50 true online", "50 false online", "50 false partiallyOnline",
      ])
    let seen = await rest(changes, of: CollectionChanges<HomeDevice>.self).map { change in
      guard case .updated(let old, let new) = change else { return "\(change)" }
      return "\(old.traits.contains(ColorControlTrait.self)) \(new.traits.contains(ColorControlTrait.self)) "
        + "\(new.sourceConnectivity.connectivityState) \(new.sourceConnectivity.dataSourceLocality)"
    }
    #expect(seen == ["false true partiallyOnline peer", "true true online mixed", "true true partiallyOnline mixed"])
  }

  @Test func delegatesReceivePathsOfDevice() async throws {
    let open = try await OpenHome(Self.lamp, Self.colorLamp())
    let client = await RecordingClient(open.home)
    await open.process(NodeModel.report(Self.cloudNode, OnOff.onOff.path(on: 4), true.tlv))
    await open.process(NodeModel.report(Self.cloudNode, ColorControl.currentHue.path(on: 4), UInt8(50).tlv))
    #expect(await client.delegate.waits(for: "Device 5 1/colorControl.currentHue = 50"))
    #expect(client.delegate.messages == ["Device 5 1/colorControl.currentHue = 50"])
    await open.home.close()
  }
}
