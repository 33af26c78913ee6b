import Foundation
import HearthHome
import HomeModel
import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@Suite("Labeled commands") struct CommandTests {
  /// Records the calls of a trait of a device with one endpoint of the given type.
  private func calls<C>(
    _ type: DeviceType, _ trait: HearthHome.Trait<C>.Type, _ body: (HearthHome.Trait<C>) async throws -> Void
  ) async throws -> [SampleHome.Call] {
    let home = SampleHome()
    home.add(SourceID(5), [SampleHome.root, SampleHome.endpoint(1, type)])
    try await body(try #require(home.device("5")?.traits[trait]))
    return home.calls
  }

  @Test func levelCommandsHaveDefaults() async throws {
    let calls = try await calls(DeviceTypes.dimmableLight, LevelControlTrait.self) { level in
      try await level.moveToLevel(level: 100)
      try await level.moveToLevelWithOnOff(
        level: 1, transitionTime: 20, optionsMask: .executeIfOff, optionsOverride: .executeIfOff)
      try await level.move(moveMode: .down)
      try await level.stop()
    }
    let expected: [[UInt8]] = [
      LevelControl.MoveToLevelRequest(level: 100, transitionTime: .null, optionsMask: [], optionsOverride: []).tlv,
      LevelControl.MoveToLevelRequest(
        level: 1, transitionTime: .value(20), optionsMask: .executeIfOff, optionsOverride: .executeIfOff
      ).tlv,
      LevelControl.MoveRequest(moveMode: .down, rate: .null, optionsMask: [], optionsOverride: []).tlv,
      LevelControl.StopRequest(optionsMask: [], optionsOverride: []).tlv,
    ]
    #expect(calls.map(\.command.fields) == expected)
    #expect(calls.map(\.command.path.command) == [0x00, 0x04, 0x01, 0x03])
  }

  @Test func closureSetsOptionalFields() async throws {
    let calls = try await calls(DeviceTypes.doorLock, DoorLockTrait.self) { lock in
      try await lock.unlockDoor { $0.setPinCode(Data("1234".utf8)) }
      try await lock.unlockWithTimeout(timeout: 5) { $0.pinCode = [0x31] }
      try await lock.lockDoor { _ in }
    }
    let code = OctetString([0x31, 0x32, 0x33, 0x34])
    #expect(
      calls.map(\.command.fields) == [
        DoorLock.UnlockDoorRequest(pinCode: code).tlv,
        DoorLock.UnlockWithTimeoutRequest(timeout: 5, pinCode: [0x31]).tlv, DoorLock.LockDoorRequest().tlv,
      ])
    #expect(calls.map(\.isTimed) == [true, true, true])
  }

  @Test func acceptsRequestStruct() async throws {
    let fields = LevelControl.MoveToLevelRequest(
      level: 7, transitionTime: .null, optionsMask: [], optionsOverride: [])
    let calls = try await calls(DeviceTypes.dimmableLight, LevelControlTrait.self) { level in
      try await level.invoke(LevelControl.moveToLevel, fields)
      #expect(!level.supports(LevelControl.moveToLevel))
    }
    #expect(calls.map(\.command.fields) == [fields.tlv] && calls.map(\.command.path.command) == [0x00])
  }

  @Test func errorKeepsResponseOfDevice() async throws {
    let home = SampleHome()
    home.add(SourceID(5), [SampleHome.root, SampleHome.endpoint(1, DeviceTypes.onOffLight)])
    let trait = try #require(home.device("5")?.traits[GroupsTrait.self])
    var response = Groups.AddGroupResponse()
    response.status = .resourceExhausted
    response.groupID = 77
    let path = CommandPath(endpoint: 1, cluster: Groups.id, command: Groups.addGroup.details.response?.id ?? 0)
    home.answer(CommandData(path, fields: response.tlv))
    do throws(HomeError) {
      try await trait.addGroup(groupID: 77, groupName: "x")
      Issue.record("no error")
    } catch {
      #expect(error.code == .refused)
      #expect(error.response(to: Groups.addGroup)?.groupID == 77)
      #expect(error.response(to: Groups.viewGroup) == nil)
      #expect(error.answer?.path == path)
    }
    #expect(HomeError(.refused, "x").response(to: Groups.addGroup) == nil)
  }

  @Test func colorCommandsEncodeUnits() async throws {
    let calls = try await calls(DeviceTypes.extendedColorLight, ColorControlTrait.self) { color in
      try await color.moveToColorTemperature(colorTemperatureMireds: 370, transitionTime: 10)
      try await color.moveToHueAndSaturation(hue: 1, saturation: 254)
    }
    #expect(
      calls.map(\.command.fields) == [
        ColorControl.MoveToColorTemperatureRequest(
          colorTemperatureMireds: 370, transitionTime: 10, optionsMask: [], optionsOverride: []
        ).tlv,
        ColorControl.MoveToHueAndSaturationRequest(
          hue: 1, saturation: 254, transitionTime: 0, optionsMask: [], optionsOverride: []
        ).tlv,
      ])
  }

  @Test func lockCommandsAreTimed() async throws {
    let calls = try await calls(DeviceTypes.doorLock, DoorLockTrait.self) { lock in
      try await lock.lockDoor()
      try await lock.unlockDoor(pinCode: OctetString(Array("1234".utf8)))
    }
    #expect(calls.map(\.isTimed) == [true, true])
    #expect(calls.map(\.command.fields).first == DoorLock.LockDoorRequest().tlv)
    #expect(
      calls.map(\.command.fields).last == DoorLock.UnlockDoorRequest(pinCode: OctetString(Array("1234".utf8))).tlv)
  }

  @Test func encodesOtherCommands() async throws {
    let scenes = try await calls(DeviceTypes.onOffLight, ScenesManagementTrait.self) { scenes in
      try await scenes.recallScene(groupID: 1, sceneID: 2)
      try await scenes.recallScene(groupID: 1, sceneID: 2, transitionTime: 500)
    }
    #expect(
      scenes.map(\.command.fields) == [
        ScenesManagement.RecallSceneRequest(groupID: 1, sceneID: 2).tlv,
        ScenesManagement.RecallSceneRequest(groupID: 1, sceneID: 2, transitionTime: .value(500)).tlv,
      ])
    let identify = try await calls(DeviceTypes.onOffLight, IdentifyTrait.self) {
      try await $0.identify(identifyTime: 3)
    }
    #expect(identify.map(\.command.fields) == [Identify.IdentifyRequest(identifyTime: 3).tlv])
    let covering = try await calls(DeviceTypes.windowCovering, WindowCoveringTrait.self) {
      try await $0.goToLiftPercentage(liftPercent100thsValue: 5000)
      try await $0.stopMotion()
    }
    #expect(covering.map(\.command.path.command) == [0x05, 0x02])
    let thermostat = try await calls(DeviceTypes.thermostat, ThermostatTrait.self) {
      try await $0.setpointRaiseLower(mode: .heat, amount: -5)
    }
    #expect(thermostat.map(\.command.fields) == [Thermostat.SetpointRaiseLowerRequest(mode: .heat, amount: -5).tlv])
    let fan = try await calls(DeviceTypes.fan, FanControlTrait.self) { try await $0.step(direction: .decrease) }
    #expect(fan.map(\.command.fields) == [FanControl.StepRequest(direction: .decrease).tlv])
    let light = try await calls(DeviceTypes.onOffLight, OnOffTrait.self) {
      try await $0.onWithTimedOff(onOffControl: [], onTime: 30, offWaitTime: 0)
    }
    #expect(light.map(\.command.path.command) == [0x42])
  }
}
