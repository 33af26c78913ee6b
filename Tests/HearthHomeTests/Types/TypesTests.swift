import HearthHome
import HomeModel
import MatterClusters
import MatterModel
import Testing

@Suite("Device types") struct TypesTests {
  /// A speaker that is also a dimmable light.
  private func speaker() -> SampleHome {
    let home = SampleHome()
    home.add(
      SourceID(5),
      [
        SampleHome.root, SampleHome.endpoint(1, DeviceTypes.speaker),
        SampleHome.endpoint(2, DeviceTypes.dimmableLight, DeviceTypes.powerSource),
      ])
    home.report(
      5, (OnOff.onOff.path(on: 1), true.tlv), (OnOff.onOff.path(on: 2), false.tlv),
      (LevelControl.currentLevel.path(on: 1), UInt8(11).tlv), (LevelControl.currentLevel.path(on: 2), UInt8(22).tlv))
    return home
  }

  // MARK: Endpoints and types

  @Test func findsTypes() throws {
    let types = try #require(SampleHome.withLight().device("5")).types
    #expect(types.get(DimmableLightDeviceType.self)?.endpoint == 1)
    #expect(types.get(OnOffLightDeviceType.self) == nil && types[OnOffLightDeviceType.self] == nil)
    #expect(types.contains(DimmableLightDeviceType.self) && !types.contains(OnOffLightDeviceType.self))
    #expect(types.get(RootNodeDeviceType.self)?.endpoint == 0)
    #expect(types.get(DimmableLightDeviceType.self, on: 0) == nil)
    #expect(types.map(\.name) == ["Root Node", "Dimmable Light"] && types.count == 2)
  }

  @Test func describesCollections() throws {
    let device = try #require(SampleHome.withLight().device("5"))
    #expect("\(device.types)" == "[0/Root Node, 1/Dimmable Light]")
    let light = try #require(device.types.get(DimmableLightDeviceType.self))
    #expect("\(light)" == "Dimmable Light" && "\(light.untyped)" == "Dimmable Light")
    #expect("\(device.types.subscribe(DimmableLightDeviceType.self))" == "DeviceUpdates<DimmableLightDeviceType>")
    #expect(device.types.get(RootNodeDeviceType.self)?.traits.description == "[0/descriptor, 0/basicInformation]")
    #expect("\(device.traits)".hasPrefix("[0/descriptor, 0/basicInformation, 1/"))
  }

  @Test func everyDeviceTypeHasSwiftType() {
    let home = SampleHome()
    home.add(SourceID(5), DeviceTypes.all.enumerated().map { SampleHome.endpoint(EndpointID(UInt16($0)), $1) })
    for type in AllTypes.all {
      let found = home.device("5")?.types.get(type.deviceType.id)
      #expect(found?.deviceType == type.deviceType)
    }
    #expect(Set(AllTypes.all.map { $0.deviceType.id }) == Set(DeviceTypes.all.map(\.id)))
    #expect(AllTypes.all.count == DeviceTypes.all.count)
    #expect(OnOffLightDeviceType.deviceType == DeviceTypes.onOffLight)
    #expect(AllTypes.all.allSatisfy { $0.deviceType.id == $0.deviceTypeID })
    #expect(Set(AllTypes.all.map { $0.identifier }).count == AllTypes.all.count)
    #expect(OnOffLightDeviceType.identifier == "0x00000100")
  }

  /// The names are generated for all clusters; the list has those with code of their own.
  @Test func namedTraitsHaveTheirClusters() throws {
    let home = SampleHome()
    home.add(
      SourceID(5), [DeviceEndpoint(id: 0, deviceTypes: [0x16], servers: ClusterCatalogue.all.map { $0.id })])
    let type = try #require(home.device("5")?.types.get(RootNodeDeviceType.self))
    let all = AllTypes.traits(of: type.matterTraits)
    #expect(all.allSatisfy { $0 != nil } && Set(all.compactMap { $0?.id.cluster }).count == all.count)
    home.apply([.topology(SourceID(5), [DeviceEndpoint(id: 0, deviceTypes: [0x16], servers: [])], .init())])
    let empty = try #require(home.device("5")?.types.get(RootNodeDeviceType.self))
    #expect(AllTypes.traits(of: empty.matterTraits).allSatisfy { $0 == nil })
  }

  @Test func typesAreEqualWithEqualAttributes() throws {
    let home = speaker()
    let before = try #require(home.device("5")).types
    home.apply([.deviceRenamed(id: "5", name: "Radio")])
    let renamed = try #require(home.device("5")).types
    #expect(renamed == before && renamed.get(SpeakerDeviceType.self) == before.get(SpeakerDeviceType.self))
    home.report(5, (OnOff.onOff.path(on: 1), false.tlv))
    let after = try #require(home.device("5")).types
    #expect(after != before && after.get(SpeakerDeviceType.self) != before.get(SpeakerDeviceType.self))
    #expect(after.get(DimmableLightDeviceType.self) == before.get(DimmableLightDeviceType.self))
  }

  @Test func devicesAreHashable() throws {
    let home = speaker()
    let old = try #require(home.device("5"))
    home.apply([.deviceRenamed(id: "5", name: "Radio")])
    let new = try #require(home.device("5"))
    #expect(old.hashValue == new.hashValue && Set([old, old, new]).count == 2)
    #expect([new: 1][new] == 1 && [new: 1][old] == nil)
  }

  @Test func keysTraitsByEndpointAndCluster() throws {
    let device = try #require(speaker().device("5"))
    #expect(device.traits.all(OnOffTrait.self).map(\.endpoint) == [1, 2])
    #expect(device.traits.all(LevelControlTrait.self).map(\.attributes.currentLevel) == [11, 22])
    #expect(device.types.get(SpeakerDeviceType.self)?.matterTraits.onOffTrait?.attributes.onOff == true)
    #expect(device.types.get(DimmableLightDeviceType.self)?.matterTraits.onOffTrait?.attributes.onOff == false)
    #expect(device.traits[OnOffTrait.self, on: 2]?.attributes.onOff == false)
    #expect(device.traits[OnOffTrait.self]?.endpoint == 1)
    #expect(device.traits[OnOffTrait.self, on: 0] == nil)
    let ids = device.traits.ids
    #expect(Set(ids).count == ids.count && ids == ids.sorted() && ids.count == device.traits.count)
  }

  @Test func listsTraitsOfType() throws {
    let device = try #require(speaker().device("5"))
    let type = try #require(device.types.get(SpeakerDeviceType.self))
    #expect(type.traits.contains(OnOffTrait.self) && !type.traits.contains(IdentifyTrait.self))
    #expect(type.traits.contains(OnOff.id))
    #expect(type.traits.map(\.name) == ["OnOff", "LevelControl", "Descriptor"])
    #expect(type.matterTraits.identifyTrait == nil && type.matterTraits.descriptorTrait != nil)
  }

  @Test func findsTypesOnSeveralEndpoints() throws {
    let home = SampleHome()
    home.add(
      SourceID(9),
      [
        SampleHome.root, SampleHome.endpoint(2, DeviceTypes.onOffPlugInUnit),
        SampleHome.endpoint(1, DeviceTypes.onOffPlugInUnit),
      ])
    let types = try #require(home.device("9")).types
    #expect(types.all(OnOffPlugInUnitDeviceType.self).map(\.endpoint) == [1, 2])
    #expect(types.getAll(of: OnOffPlugInUnitDeviceType.self).map(\.endpoint) == [1, 2])
    #expect(types.get(OnOffPluginUnitDeviceType.self)?.endpoint == 1)
    #expect(types.get(OnOffPlugInUnitDeviceType.self, on: 2)?.endpoint == 2)
  }

  @Test func findsManufacturerSpecificType() throws {
    let home = SampleHome()
    let spinner = ExampleOrganization.SpinnerDeviceType.deviceType
    home.add(SourceID(9), [SampleHome.endpoint(1, spinner)])
    let types = try #require(home.device("9")).types
    let type = try #require(types.get(spinner.id))
    #expect(type.deviceType == nil && type.name == "0xFFF10001")
    #expect(type.as(ExampleOrganization.SpinnerDeviceType.self)?.endpoint == 1)
    #expect(type.as(DimmableLightDeviceType.self) == nil)
    #expect(type.traits.contains(ExampleOrganization.SpinnerTrait.self))
  }

  // MARK: Metadata

  @Test func primaryTypeIsFirstApplicationType() {
    func primary(_ types: DeviceTypeID...) -> DeviceTypeID? { DeviceEndpoint(id: 1, deviceTypes: types).primaryType }
    #expect(primary(0x0011, 0x0101, 0x0100) == 0x0101)
    #expect(primary(0x0013, 0x0011) == nil)
    #expect(primary(0x0016, 0x0012) == nil)
    #expect(primary(0x000E) == 0x000E)
    #expect(primary(0xFFF1_0001, 0x0013) == 0xFFF1_0001)
    #expect(primary(0xFFF1_0001, 0x0100) == 0x0100)
  }

  @Test func metadataMarksOnePrimaryType() throws {
    let device = try #require(speaker().device("5"))
    #expect(device.types.filter(\.metadata.isPrimaryType).map(\.name) == ["Speaker"])
    #expect(device.types.filter(\.isPrimaryOfEndpoint).map(\.name) == ["Speaker", "Dimmable Light"])
    #expect(device.types.get(PowerSourceDeviceType.self)?.metadata.isPrimaryType == false)
    let home = SampleHome()
    home.add(SourceID(8), [SampleHome.endpoint(1, DeviceTypes.powerSource)])
    #expect(try #require(home.device("8")).types.map(\.metadata.isPrimaryType) == [true])
    // Exactly one, even if there is a utility type on a lower endpoint, or none but utility types.
    home.add(
      SourceID(9),
      [SampleHome.endpoint(2, DeviceTypes.powerSource, DeviceTypes.otaRequestor), SampleHome.root])
    #expect(try #require(home.device("9")).types.filter(\.metadata.isPrimaryType).map(\.name) == ["Root Node"])
  }

  @Test func aggregatesConnectivityOverTraits() throws {
    let home = speaker()
    func device() throws -> HomeDevice { try #require(home.device("5")) }
    #expect(try device().sourceConnectivity == SourceConnectivity(.online, .peer))
    home.apply([.connectivity(SourceID(5), SampleHome.gone)])
    #expect(try device().sourceConnectivity == SourceConnectivity(.offline, .peer))
    #expect(
      try device().types.get(SpeakerDeviceType.self)?.metadata.sourceConnectivity
        == SourceConnectivity(.offline, .peer))
    home.apply([.topology(SourceID(5), [], DeviceIdentity())])
    #expect(try device().sourceConnectivity == .unknown)
  }

  @Test func unreachablePartMakesDevicePartiallyOnline() throws {
    let home = SampleHome()
    var part = SampleHome.endpoint(3, DeviceTypes.dimmableLight, with: [BridgedDeviceBasicInformation.id])
    part.parts = [4]
    home.add(
      SourceID(7, 2),
      [
        SampleHome.endpoint(2, DeviceTypes.bridgedNode), part, SampleHome.endpoint(4, DeviceTypes.onOffLight),
        SampleHome.endpoint(5, DeviceTypes.onOffLight),
      ])
    home.report(7, (BridgedDeviceBasicInformation.reachable.path(on: 3), false.tlv))
    let device = try #require(home.device("7/2"))
    #expect(device.sourceConnectivity == SourceConnectivity(.partiallyOnline, .peer))
    let states = device.types.map(\.metadata.sourceConnectivity.connectivityState)
    #expect(states == [.online, .offline, .offline, .online])
    // The aggregation over types and the one over traits agree.
    #expect(SourceConnectivity(of: device.types.map(\.metadata.sourceConnectivity)) == device.sourceConnectivity)
    #expect(SourceConnectivity(of: device.traits.map(\.metadata.sourceConnectivity)) == device.sourceConnectivity)
  }

  // MARK: Basic information

  @Test func readsBasicInformationOfNode() throws {
    let home = SampleHome.withLight()
    #expect(home.device("5")?.basicInformation?.attributes.vendorName == nil)
    home.report(
      5, (BasicInformation.vendorName.path(on: 0), "Acme".tlv),
      (BasicInformation.vendorID.path(on: 0), VendorID(0xFFF1).tlv),
      (BasicInformation.productName.path(on: 0), "Lamp 3".tlv),
      (BasicInformation.productID.path(on: 0), UInt16(0x8001).tlv),
      (BasicInformation.serialNumber.path(on: 0), "A-1".tlv))
    let trait: BasicInformationTrait = try #require(home.device("5")?.basicInformation)
    #expect(trait.attributes.vendorName == "Acme" && trait.attributes.vendorID == 0xFFF1)
    #expect(trait.attributes.productName == "Lamp 3" && trait.attributes.productID == 0x8001)
    #expect(trait.attributes.serialNumber == "A-1" && trait.id.cluster == BasicInformation.id)
  }

  @Test func readsBasicInformationOfBridgedDevice() throws {
    let home = SampleHome()
    home.add(SourceID(7), [SampleHome.root, SampleHome.endpoint(1, DeviceTypes.aggregator)])
    home.add(SourceID(7, 3), [SampleHome.endpoint(3, DeviceTypes.bridgedNode, DeviceTypes.onOffLight)])
    home.report(
      7, (BasicInformation.vendorName.path(on: 0), "Bridges Ltd".tlv),
      (BridgedDeviceBasicInformation.vendorName.path(on: 3), "Acme".tlv),
      (BridgedDeviceBasicInformation.serialNumber.path(on: 3), "B-2".tlv))
    let device = try #require(home.device("7/3"))
    #expect(device.basicInformation?.attributes.vendorName == "Acme")
    #expect(device.basicInformation?.attributes.serialNumber == "B-2")
    #expect(device.basicInformation?.id.cluster == BridgedDeviceBasicInformation.id)
    #expect(device.types.get(OnOffLightDeviceType.self)?.matterTraits.basicInformationTrait?.endpoint == 3)
    // The bridged device has no endpoints of the bridge.
    #expect(Set(device.traits.map(\.endpoint)) == [3] && Set(device.types.map(\.endpoint)) == [3])
    #expect(home.device("7")?.types.contains(AggregatorDeviceType.self) == true)
    #expect(home.device("7")?.basicInformation?.attributes.vendorName == "Bridges Ltd")
  }

  // MARK: Families

  @Test func lightFamilyHasFourTypes() throws {
    #expect(
      DeviceFamily.light.types == [
        OnOffLightDeviceType.deviceType.id, DimmableLightDeviceType.deviceType.id,
        ColorTemperatureLightDeviceType.deviceType.id, ExtendedColorLightDeviceType.deviceType.id,
      ])
    #expect(try #require(SampleHome.withLight().device("5")).isLight)
    let home = SampleHome()
    home.add(SourceID(6), [SampleHome.endpoint(1, DeviceTypes.onOffLightSwitch)])
    let device = try #require(home.device("6"))
    #expect(!device.isLight && device.types.contains(.switch))
    #expect(speaker().device("5")?.types.all(in: .light).map(\.endpoint) == [2])
  }

  @Test func findsFamiliesByName() {
    #expect(DeviceFamily.named("Lights") == .light && DeviceFamily.named("switches") == .switch)
    #expect(DeviceFamily.named("lamp") == nil)
    #expect(Set(DeviceFamily.all.map(\.name)).count == DeviceFamily.all.count)
    #expect(DeviceFamily.of(DeviceTypes.contactSensor.id) == [.sensor])
  }

  @Test func findsDevicesByTrait() {
    let home = speaker()
    home.add(SourceID(6), [SampleHome.endpoint(1, DeviceTypes.contactSensor)])
    #expect(home.devices.filter { $0.traits.contains(LevelControlTrait.self) }.map(\.id) == ["5"])
    #expect(home.devices.filter { $0.traits.contains(BooleanStateTrait.self) }.map(\.id) == ["6"])
    #expect(home.devices.filter { $0.traits.contains(DescriptorTrait.self) }.map(\.id) == ["5", "6"])
    #expect(home.devices.filter { $0.types.contains(.sensor) }.map(\.id) == ["6"])
  }

  // MARK: Changes of metadata

  @Test func metadataChangesForFiveReasonsOnly() throws {
    let home = speaker()
    home.apply([.roomAdded(Room(id: "r", name: "Kitchen", structureID: "s"))])
    var last = try #require(home.device("5"))
    func hasChanged(_ changes: HomeChange...) throws -> Bool {
      home.apply(changes)
      let new = try #require(home.device("5"))
      defer { last = new }
      return new != last
    }
    let endpoints = try #require(last.source).endpoints
    #expect(try hasChanged(.connectivity(SourceID(5), SampleHome.gone)))
    #expect(try hasChanged(.deviceRenamed(id: "5", name: "Radio")))
    #expect(try hasChanged(.deviceMoved(id: "5", roomID: "r")))
    var more = endpoints
    more[1].servers.append(Identify.id)
    #expect(try hasChanged(.topology(SourceID(5), more, DeviceIdentity())))
    var other = more
    other[2].deviceTypes = [DeviceTypes.dimmableLight.id]
    #expect(try hasChanged(.topology(SourceID(5), other, DeviceIdentity())))
    // Other changes don't affect equality.
    #expect(try !hasChanged(.attribute(5, OnOff.onOff.path(on: 1), value: false.tlv)))
    var same = other
    same[1].servers.reverse()
    same.swapAt(0, 2)
    #expect(try !hasChanged(.topology(SourceID(5), same, DeviceIdentity())))
    #expect(try !hasChanged(.connectivity(SourceID(5), SourceStatus(SampleHome.gone.connectivity, reason: .noAddress))))
    var identity = DeviceIdentity()
    identity.softwareVersion = "2"
    #expect(try !hasChanged(.topology(SourceID(5), same, identity)))
    // Devices with equal contents but different ids are not equal.
    home.add(SourceID(8), name: "Radio", room: "r", status: SampleHome.gone, same)
    #expect(home.device("8") != home.device("5"))
  }
}
