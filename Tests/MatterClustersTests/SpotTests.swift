import ClusterLanguage
import MatterClusters
import MatterModel
import MatterTLV
import Testing

/// Compares declarations with facts copied manually from the specification.
struct SpotTests {
  struct Fact: Sendable, CustomTestStringConvertible {
    var cluster: UInt32
    var revision: UInt16
    var attribute: UInt32
    var name: String
    var schema: Schema
    var quality: Quality = []
    var read: Privilege = .view
    var write: Privilege?
    var initial: [UInt8]?
    var testDescription: String { "\(ClusterID(cluster)) \(name)" }
  }

  static let facts: [Fact] = [
    .init(
      cluster: 0x06, revision: 6, attribute: 0x0000, name: "OnOff", schema: .boolean, quality: [.nonVolatile, .scene],
      initial: [0x08]),
    .init(
      cluster: 0x06, revision: 6, attribute: 0x4000, name: "GlobalSceneControl", schema: .boolean, initial: [0x09]),
    .init(
      cluster: 0x06, revision: 6, attribute: 0x4003, name: "StartUpOnOff",
      schema: .nullable(.enumeration(bits: 8, names: [0: "Off", 1: "On", 2: "Toggle"])), quality: .nonVolatile,
      write: .manage, initial: [0x14]),
    .init(
      cluster: 0x08, revision: 6, attribute: 0x0000, name: "CurrentLevel", schema: .nullable(.unsigned(bits: 8)),
      quality: [.nonVolatile, .scene, .quieter], initial: [0x14]),
    .init(
      cluster: 0x08, revision: 6, attribute: 0x0011, name: "OnLevel", schema: .nullable(.unsigned(bits: 8)),
      write: .operate, initial: [0x14]),
    .init(
      cluster: 0x08, revision: 6, attribute: 0x4000, name: "StartUpCurrentLevel",
      schema: .nullable(.unsigned(bits: 8)), quality: .nonVolatile, write: .manage, initial: [0x14]),
    .init(
      cluster: 0x1D, revision: 3, attribute: 0x0001, name: "ServerList", schema: .list(.unsigned(bits: 32)),
      quality: .fixed, initial: [0x16, 0x18]),
    .init(
      cluster: 0x1F, revision: 2, attribute: 0x0000, name: "ACL",
      schema: .list(AccessControl.AccessControlEntryStruct.schema), quality: [.fabricScoped, .fabricSensitive],
      read: .administer, write: .administer, initial: [0x16, 0x18]),
    .init(
      cluster: 0x28, revision: 5, attribute: 0x0005, name: "NodeLabel", schema: .string, quality: .nonVolatile,
      write: .manage),
    .init(
      cluster: 0x28, revision: 5, attribute: 0x0006, name: "Location", schema: .string, quality: .nonVolatile,
      write: .administer, initial: [0x0C, 2, 0x58, 0x58]),
    .init(cluster: 0x28, revision: 5, attribute: 0x0012, name: "UniqueID", schema: .string, quality: .fixed),
    .init(
      cluster: 0x101, revision: 9, attribute: 0x0026, name: "SupportedOperatingModes",
      schema: .bitmap(
        bits: 16, names: [0: "Normal", 1: "Vacation", 2: "Privacy", 3: "NoRemoteLockUnlock", 4: "Passage"],
        isInverted: true), quality: .fixed, initial: [0x05, 0xF6, 0xFF]),
    .init(
      cluster: 0x81, revision: 1, attribute: 0x0001, name: "DefaultOpenDuration",
      schema: .nullable(.unsigned(bits: 32)), quality: .nonVolatile, write: .operate),
    .init(
      cluster: 0x102, revision: 6, attribute: 0x000A, name: "OperationalStatus",
      schema: .bitmap(bits: 8, names: [0: "Global", 1: "Global", 2: "Lift", 3: "Lift", 4: "Tilt", 5: "Tilt"]),
      initial: [0x04, 0]),
    .init(
      cluster: 0x200, revision: 4, attribute: 0x0021, name: "ControlMode",
      schema: .enumeration(bits: 8, names: PumpConfigurationAndControl.ControlMode.names), quality: .nonVolatile,
      write: .manage, initial: [0x04, 0]),
    .init(
      cluster: 0x201, revision: 9, attribute: 0x0050, name: "Presets",
      schema: .list(Thermostat.PresetStruct.schema), quality: [.nonVolatile, .atomic], write: .manage,
      initial: [0x16, 0x18]),
    .init(
      cluster: 0x300, revision: 7, attribute: 0x400A, name: "ColorCapabilities",
      schema: .bitmap(
        bits: 16, names: [0: "HueSaturation", 1: "EnhancedHue", 2: "ColorLoop", 3: "XY", 4: "ColorTemperature"])),
    .init(
      cluster: 0x400, revision: 3, attribute: 0x0004, name: "LightSensorType",
      schema: .nullable(.enumeration(bits: 8, names: [0: "Photodiode", 1: "CMOS"])), initial: [0x14]),
    .init(
      cluster: 0x406, revision: 5, attribute: 0x0002, name: "OccupancySensorTypeBitmap",
      schema: .bitmap(bits: 8, names: [0: "PIR", 1: "Ultrasonic", 2: "PhysicalContact"]), quality: .fixed),
    .init(
      cluster: 0x30, revision: 2, attribute: 0x0000, name: "Breadcrumb", schema: .unsigned(bits: 64),
      write: .administer, initial: [0x04, 0]),
    .init(
      cluster: 0x31, revision: 2, attribute: 0x0001, name: "Networks",
      schema: .list(NetworkCommissioning.NetworkInfoStruct.schema), read: .administer, initial: [0x16, 0x18]),
    .init(
      cluster: 0x33, revision: 2, attribute: 0x0001, name: "RebootCount", schema: .unsigned(bits: 16),
      quality: .nonVolatile),
    .init(
      cluster: 0x3C, revision: 1, attribute: 0x0001, name: "AdminFabricIndex", schema: .nullable(.unsigned(bits: 8)),
      initial: [0x14]),
    .init(
      cluster: 0x3E, revision: 2, attribute: 0x0000, name: "NOCs",
      schema: .list(OperationalCredentials.NOCStruct.schema),
      quality: [.nonVolatile, .changesOmitted, .fabricScoped], read: .administer,
      initial: [0x16, 0x18]),
    .init(
      cluster: 0x3E, revision: 2, attribute: 0x0001, name: "Fabrics",
      schema: .list(OperationalCredentials.FabricDescriptorStruct.schema), quality: [.nonVolatile, .fabricScoped],
      initial: [0x16, 0x18]),
    .init(
      cluster: 0x3F, revision: 2, attribute: 0x0000, name: "GroupKeyMap",
      schema: .list(GroupKeyManagement.GroupKeyMapStruct.schema), quality: [.nonVolatile, .fabricScoped],
      write: .manage, initial: [0x16, 0x18]),
    .init(
      cluster: 0x03, revision: 6, attribute: 0x0000, name: "IdentifyTime", schema: .unsigned(bits: 16),
      quality: .quieter, write: .operate, initial: [0x04, 0]),
  ]

  @Test(arguments: facts)
  func declaresAttribute(_ fact: Fact) throws {
    guard let cluster = ClusterCatalogue.cluster(ClusterID(fact.cluster)) else {
      Issue.record("not in the catalogue")
      return
    }
    let attribute = cluster.attribute(AttributeID(fact.attribute))
    let info = try #require(attribute)
    #expect(cluster.revision == fact.revision)
    #expect(info.name == fact.name)
    #expect(info.schema == fact.schema)
    #expect(info.quality == fact.quality)
    #expect(info.read == fact.read)
    #expect(info.write == fact.write)
    #expect(info.initial == fact.initial)
  }

  @Test func declaresCommands() {
    #expect(OperationalCredentials.addNOC.details.id == 0x06)
    #expect(OperationalCredentials.addNOC.details.response?.id == 0x08)
    #expect(OperationalCredentials.addNOC.details.privilege == .administer)
    #expect(OperationalCredentials.updateNOC.details.quality == .fabricScoped)
    #expect(AdministratorCommissioning.openCommissioningWindow.details.quality == .timed)
    #expect(AdministratorCommissioning.revokeCommissioning.details.id == 0x02)
    #expect(GeneralCommissioning.armFailSafe.details.response?.id == 0x01)
    #expect(GeneralCommissioning.commissioningComplete.details.quality == .fabricScoped)
    #expect(Groups.addGroup.details.privilege == .manage)
    #expect(Groups.viewGroup.details.privilege == .operate)
    #expect(Identify.identify.details.privilege == .manage)
    #expect(OnOff.off.details.response == nil && OnOff.off.details.privilege == .operate)
    let offOnly = ConformanceFacts(features: OnOff.offOnly.mask)
    #expect(OnOff.on.details.conformance.decision(offOnly).requirement == .notAllowed)
  }

  /// MoveToLevel to 128 without a transition time, as encoded by the public SDK.
  @Test func encodesRequest() throws {
    var request = LevelControl.MoveToLevelRequest(
      level: 128, transitionTime: .value(0), optionsMask: [], optionsOverride: [])
    #expect(request.tlv == [0x15, 0x24, 0, 128, 0x24, 1, 0, 0x24, 2, 0, 0x24, 3, 0, 0x18])
    request.optionsMask = .executeIfOff
    #expect(try LevelControl.MoveToLevelRequest(tlv: request.tlv) == request)
  }

  @Test func encodesAccessControlEntry() throws {
    let entry = AccessControl.AccessControlEntryStruct(
      privilege: .administer, authMode: .case, subjects: .value([112_233]), targets: .null, fabricIndex: 1)
    #expect(
      entry.tlv == [
        0x15, 0x24, 1, 5, 0x24, 2, 2, 0x36, 3, 0x06, 0x69, 0xB6, 0x01, 0x00, 0x18, 0x34, 4, 0x24, 254, 1, 0x18,
      ])
    #expect(try AccessControl.AccessControlEntryStruct(tlv: entry.tlv) == entry)
    let schema = AccessControl.AccessControlEntryStruct.schema
    #expect(
      schema.text(of: entry.tlv)
        == "{privilege: Administer, authMode: CASE, subjects: [112233], targets: null, fabricIndex: 1}")
  }
}
