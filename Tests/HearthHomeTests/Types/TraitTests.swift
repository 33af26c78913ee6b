import HearthHome
import HomeModel
import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@Suite("Traits") struct TraitTests {
  @Test func readsAttributesByName() throws {
    let device = try #require(SampleHome.withLight().device("5"))
    let light = try #require(device.types.get(DimmableLightDeviceType.self))
    #expect(light.matterTraits.onOffTrait?.attributes.onOff == true)
    let level = light.matterTraits.levelControlTrait?.attributes.currentLevel
    #expect(level == 128)
    #expect(
      device.types.get(DimmableLightDeviceType.self)?.matterTraits.levelControlTrait?.attributes.currentLevel == 128)
  }

  @Test func readsAttributesOfTraitDirectly() throws {
    let device = try #require(SampleHome.withLight().device("5"))
    #expect(device.traits[OnOffTrait.self]?.onOff == true)
    let level: Matter.LevelControlTrait = try #require(device.traits[Matter.LevelControlTrait.self])
    // Nullable: 128, null and unknown.
    #expect(level.currentLevel == 128 && level.onLevel == nil && level.startUpCurrentLevel == nil)
  }

  @Test func distinguishesNullFromUnknown() throws {
    let device = try #require(SampleHome.withLight().device("5"))
    let level = try #require(device.traits[LevelControlTrait.self])
    #expect(level.attributes.onLevel == nil)
    #expect(level.attributes[LevelControl.onLevel] == .null)
    #expect(level.attributes.startUpCurrentLevel == nil)
    #expect(level.attributes[LevelControl.startUpCurrentLevel] == nil)
  }

  @Test func ignoresValuesOfWrongType() throws {
    let home = SampleHome.withLight()
    home.report(5, (OnOff.onOff.path(on: 1), UInt8(1).tlv), (LevelControl.currentLevel.path(on: 1), "x".tlv))
    let device = try #require(home.device("5"))
    #expect(device.traits[OnOffTrait.self]?.attributes.onOff == nil)
    #expect(device.traits[LevelControlTrait.self]?.attributes.currentLevel == nil)
  }

  @Test func traitIsASnapshot() throws {
    let home = SampleHome.withLight()
    let old = try #require(home.device("5")?.traits[OnOffTrait.self])
    home.report(5, (OnOff.onOff.path(on: 1), false.tlv))
    let new = try #require(home.device("5")?.traits[OnOffTrait.self])
    #expect(old.attributes.onOff == true && new.attributes.onOff == false)
    #expect(old.id == new.id && old != new)
    #expect(old.id.device == "5" && old.id.endpoint == 1 && old.id.cluster == OnOff.id)
    #expect("\(old.id)" == "5, 1/onOff")
  }

  @Test func supportFollowsGlobalAttributes() throws {
    let home = SampleHome.withLight()
    let before = try #require(home.device("5")?.traits[OnOffTrait.self])
    #expect(before.supports(OnOff.onOff) && !before.supports(OnOff.toggle) && !before.supports(OnOff.lighting))
    func path(_ id: AttributeID) -> ConcreteAttributePath { ConcreteAttributePath(1, OnOff.id, id) }
    home.report(
      5, (path(GlobalAttribute.featureMap), OnOff.lighting.mask.tlv),
      (path(GlobalAttribute.clusterRevision), UInt16(6).tlv),
      (path(GlobalAttribute.attributeList), [OnOff.onOff.id, OnOff.onTime.id].tlv),
      (path(GlobalAttribute.acceptedCommandList), [OnOff.off.id, OnOff.toggle.id].tlv),
      (path(GlobalAttribute.generatedCommandList), [CommandID]().tlv))
    let trait = try #require(home.device("5")?.traits[OnOffTrait.self])
    #expect(trait.attributes.featureMap == .lighting && trait.attributes.clusterRevision == 6)
    #expect(trait.attributes.featureMap == FeatureMap(OnOff.lighting))
    #expect(trait.attributes.featureMap?.contains(.offOnly) == false && trait.attributes.featureMap?.rawValue == 1)
    #expect(trait.attributes.attributeList == [0x0000, 0x4001])
    #expect(trait.attributes.acceptedCommandList == [0, 2] && trait.attributes.generatedCommandList == [])
    #expect(trait.supports(OnOff.onTime) && !trait.supports(OnOff.offWaitTime))
    #expect(trait.toggle.isSupported && !trait.on.isSupported)
    #expect(trait.supports(OnOff.lighting) && !trait.supports(OnOff.offOnly))
  }

  @Test func marksStaleValues() throws {
    let home = SampleHome.withLight()
    #expect(home.device("5")?.traits[OnOffTrait.self]?.isStale == false)
    home.apply([.connectivity(SourceID(5), SampleHome.gone)])
    let trait = try #require(home.device("5")?.traits[OnOffTrait.self])
    #expect(trait.isStale && trait.attributes.onOff == true)
    #expect(trait.metadata.sourceConnectivity == SourceConnectivity(.offline, .peer))
    home.apply([.connectivity(SourceID(5), .unknown)])
    #expect(home.device("5")?.traits[OnOffTrait.self]?.isStale == true)
  }

  // MARK: Commands

  @Test func invokesCommandsAsMethods() async throws {
    let home = SampleHome.withLight()
    let trait = try #require(home.device("5")?.traits[OnOffTrait.self])
    try await trait.toggle()
    try await trait.on()
    #expect(
      home.calls == [
        SampleHome.Call(
          command: CommandData(OnOff.toggle.path(on: 1)), isTimed: false, device: "5", source: SourceID(5), timeout: nil
        ),
        SampleHome.Call(
          command: CommandData(OnOff.on.path(on: 1)), isTimed: false, device: "5", source: SourceID(5), timeout: nil),
      ])
  }

  @Test func waitingSetsTimeout() async throws {
    let home = SampleHome()
    home.add(SourceID(5), status: .unknown, [SampleHome.root, SampleHome.endpoint(1, DeviceTypes.onOffLight)])
    let trait = try #require(home.device("5")?.traits[OnOffTrait.self])
    #expect(trait.metadata.sourceConnectivity.dataSourceLocality == .unspecified)
    home.answer(nil, failure: HomeError(.unreachable, "nothing reaches it"))
    let error = await #expect(throws: HomeError.self) { try await trait.on() }
    #expect(error?.code == .unreachable)
    home.answer(nil)
    try await trait.waiting(.seconds(5)).on()
    try await trait.waiting(.seconds(2)).write(OnOff.onTime, 7)
    #expect(home.calls.map(\.timeout) == [nil, .seconds(5)])
    #expect(home.writes.map(\.timeout) == [.seconds(2)])
  }

  @Test func sendsTimedCommands() async throws {
    let home = SampleHome()
    home.add(SourceID(8), [SampleHome.root, SampleHome.endpoint(1, DeviceTypes.doorLock)])
    let lock = try #require(home.device("8")?.types.get(DoorLockDeviceType.self)?.matterTraits.doorLockTrait)
    try await lock.invoke(DoorLock.unlockDoor, .init())
    #expect(home.calls.map(\.isTimed) == [true])
  }

  @Test func throwsFailureInResponse() async throws {
    let home = SampleHome.withLight()
    let scenes = try #require(home.device("5")?.traits[ScenesManagementTrait.self])
    let path = CommandPath(endpoint: 1, cluster: ScenesManagement.id, command: 0x04)
    home.answer(CommandData(path, fields: ScenesManagement.StoreSceneResponse().tlv))
    let stored = try await scenes.invoke(ScenesManagement.storeScene, .init(groupID: 1, sceneID: 2))
    #expect(stored.status == .success)
    home.answer(
      CommandData(
        path,
        fields: ScenesManagement.StoreSceneResponse(status: .resourceExhausted, groupID: 1, sceneID: 2).tlv))
    let error = await #expect(throws: HomeError.self) {
      try await scenes.invoke(ScenesManagement.storeScene, .init(groupID: 1, sceneID: 2))
    }
    #expect(error?.code == .refused)
    home.answer(nil)
    await #expect(throws: HomeError.self) {
      try await scenes.invoke(ScenesManagement.storeScene, .init(groupID: 1, sceneID: 2))
    }
    home.answer(CommandData(path, fields: [0x15, 0x18]))
    await #expect(throws: HomeError.self) {
      try await scenes.invoke(ScenesManagement.storeScene, .init(groupID: 1, sceneID: 2))
    }
  }

  // MARK: Writes

  @Test func writesAttributesTogether() async throws {
    let home = SampleHome.withLight()
    let level = try #require(home.device("5")?.traits[LevelControlTrait.self])
    try await level.update {
      $0.onLevel = 100
      $0.setOnLevel(200)
      $0.setOnTransitionTime(nil)
      $0.options = .executeIfOff
      $0.defaultMoveRate = 5
      $0[LevelControl.defaultMoveRate] = nil
    }
    let written = try #require(home.writes.first)
    #expect(
      written.writes == [
        AttributeWrite(LevelControl.onLevel.path(on: 1), value: UInt8(200).tlv),
        AttributeWrite(LevelControl.onTransitionTime.path(on: 1), value: Nullable<UInt16>.null.tlv),
        AttributeWrite(LevelControl.options.path(on: 1), value: LevelControl.Options.executeIfOff.tlv),
      ])
    #expect(!written.isTimed)
  }

  @Test func rejectsReadOnlyAttributes() async throws {
    let home = SampleHome.withLight()
    let level = try #require(home.device("5")?.traits[LevelControlTrait.self])
    let error = await #expect(throws: HomeError.self) {
      try await level.update {
        $0.onLevel = 200
        $0.minLevel = 3
      }
    }
    #expect(error?.code == .badArguments && error?.message.contains("MinLevel") == true)
    #expect(home.writes.isEmpty)
    try await level.update { _ in }
    #expect(home.writes.isEmpty)
  }

  // MARK: Manufacturer-specific clusters

  @Test func supportsManufacturerSpecificCluster() async throws {
    let home = SampleHome()
    home.add(
      SourceID(9),
      [SampleHome.root, SampleHome.endpoint(1, ExampleOrganization.SpinnerDeviceType.deviceType)])
    home.report(9, (Spinner.speed.path(on: 1), UInt16(33).tlv))
    let type = try #require(home.device("9")?.types.get(ExampleOrganization.SpinnerDeviceType.self))
    let spinner = try #require(type.traits[ExampleOrganization.SpinnerTrait.self])
    #expect(type.traits.contains(ExampleOrganization.SpinnerTrait.self))
    #expect(spinner.attributes.speed == 33 && spinner.attributes.direction == nil)
    let path = CommandPath(endpoint: 1, cluster: Spinner.id, command: 0x01)
    var response = Spinner.SpinResponse()
    response.speed = 45
    home.answer(CommandData(path, fields: response.tlv))
    #expect(try await spinner.spin(.init(speed: 45)).speed == 45)
    // The response is decoded by the declaration alone.
    response.status = 1
    home.answer(CommandData(path, fields: response.tlv))
    await #expect(throws: HomeError.self) { try await spinner.spin(.init(speed: 46)) }
    #expect(home.calls.map(\.command.fields) == [45, 46].map { Spinner.SpinRequest(speed: $0).tlv })
  }
}
