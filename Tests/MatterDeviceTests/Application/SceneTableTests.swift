import MatterClusters
import MatterModel
import Testing

@testable import MatterDevice

/// The scene table, based on the public certification scripts TC-S-2.2, 2.3, 2.5 and 2.6.
struct SceneTableTests {
  @Test func returnsStatusOfInvalidRequests() throws {
    let node = try TestNode.grouped()
    #expect(try node.removeAll(1) == .success)
    #expect(try node.removeAll(99) == .invalidCommand)
    #expect(try node.membership(1) == [7])
    let none = try node.invoke(ScenesManagement.getSceneMembership, .init(groupID: 99))
    #expect(none?.status == .invalidCommand)
    #expect(none?.capacity == .null)
    #expect(none?.sceneList == nil)
    #expect(try node.store(99, 1) == .invalidCommand)
    #expect(try node.store(99, 255) == .constraintError)
    #expect(try node.view(99, 1).status == .invalidCommand)
    #expect(try node.view(1, 254).status == .notFound)
    #expect(try node.view(1, 255).status == .constraintError)
    #expect(try node.view(1, 254).sceneName == nil)
    #expect(try node.add(99, 1) == .invalidCommand)
    #expect(try node.add(1, 255) == .constraintError)
    #expect(try node.add(1, 1, 60_000_001) == .constraintError)
    #expect(try node.add(1, 1, name: "12345678901234567") == .constraintError)
    #expect(try node.add(1, 1, 60_000_000, name: "1234567890123456") == .success)
    #expect(try node.remove(99, 1) == .invalidCommand)
    #expect(try node.remove(99, 255) == .constraintError)
    #expect(try node.remove(1, 1) == .success)
    #expect(try node.remove(1, 1) == .notFound)
    #expect(throws: StatusError(.constraintError)) { try node.recall(1, 255) }
    #expect(throws: StatusError(.constraintError)) { try node.recall(1, 1, .value(60_000_001)) }
    #expect(throws: StatusError(.invalidCommand)) { try node.recall(99, 1) }
    #expect(throws: StatusError(.notFound)) { try node.recall(1, 1) }
    #expect(try node.copy((99, 1), (1, 2)) == .invalidCommand)
    #expect(try node.copy((1, 1), (99, 2)) == .invalidCommand)
    #expect(try node.copy((1, 254), (1, 2)) == .notFound)
    #expect(try node.copy((1, 255), (1, 2)) == .constraintError)
    #expect(try node.copy((1, 1), (1, 255)) == .constraintError)
  }

  @Test func returnsAddedScene() throws {
    let node = try TestNode.grouped()
    #expect(try node.add(1, 1, 1000, name: "Scene1", fields: [.onOff(1), .level(100)]) == .success)
    let scene = try node.view(1, 1)
    #expect(scene.status == .success)
    #expect(scene.transitionTime == 1000)
    #expect(scene.sceneName == "Scene1")
    #expect(scene.extensionFieldSetStructs?.tlv == [FieldSet.onOff(1), .level(100)].tlv)
    #expect(try node.membership(1) == [6, 1])
    #expect(try node.store(1, 1) == .success)
    #expect(try node.view(1, 1).transitionTime == 1000, "storing keeps the transition time")
    #expect(try node.view(1, 1).sceneName == "Scene1")
    #expect(try node.store(1, 2) == .success)
    #expect(try node.view(1, 2).transitionTime == 0)
    #expect(try node.view(1, 2).sceneName == "")
    #expect(try node.restarted().view(1, 1).sceneName == "Scene1", "the table is restored")
  }

  private static let fieldCases: [(given: [FieldSet], kept: [FieldSet]?)] = [
    ([], []), ([.onOff(0), .level(1)], [.onOff(0), .level(1)]), ([.level(254), .onOff(1)], [.level(254), .onOff(1)]),
    // Out of range: null if the attribute is nullable, else false.
    ([.onOff(2), .level(0)], [.onOff(0), .level(255)]), ([.level(255)], [.level(255)]),
    // Duplicates: the last one is used.
    ([.level(10), .onOff(1), .level(20)], [.onOff(1), .level(20)]),
    (
      [
        .init(
          clusterID: LevelControl.id,
          attributeValueList: [
            .init(attributeID: 0, valueUnsigned8: 10), .init(attributeID: 0, valueUnsigned8: 30),
          ])
      ], [.level(30)]
    ),
    // A cluster that the endpoint does not serve is omitted; one without scenes is an error.
    (
      [.init(clusterID: 0x0300, attributeValueList: [.init(attributeID: 3, valueUnsigned16: 1)]), .onOff(1)],
      [.onOff(1)]
    ),
    ([.init(clusterID: Identify.id, attributeValueList: [.init(attributeID: 0, valueUnsigned16: 1)])], nil),
    // Unknown attributes, attributes without the Scene quality, values of another type, and none or two values.
    ([.init(clusterID: OnOff.id, attributeValueList: [.init(attributeID: 0x4011, valueUnsigned8: 1)])], nil),
    ([.init(clusterID: OnOff.id, attributeValueList: [.init(attributeID: 0x4001, valueUnsigned16: 1)])], nil),
    ([.init(clusterID: OnOff.id, attributeValueList: [.init(attributeID: 0, valueUnsigned16: 1)])], nil),
    ([.init(clusterID: OnOff.id, attributeValueList: [.init(attributeID: 0)])], nil),
    (
      [
        .init(
          clusterID: OnOff.id, attributeValueList: [.init(attributeID: 0, valueUnsigned8: 1, valueUnsigned16: 1)])
      ], nil
    ),
    ([.init(clusterID: OnOff.id, attributeValueList: [])], []),
  ]

  @Test(arguments: fieldCases.indices) func validatesAndClampsFields(index: Int) throws {
    let (given, kept) = Self.fieldCases[index]
    let node = try TestNode.grouped()
    #expect(try node.add(1, 1, fields: given) == (kept == nil ? .invalidCommand : .success))
    #expect(try node.view(1, 1).extensionFieldSetStructs?.tlv == kept?.tlv)
  }

  @Test func copiesScenes() throws {
    let node = try TestNode.grouped()
    #expect(try node.add(1, 1, 1000, name: "Scene1", fields: [.level(100)]) == .success)
    #expect(try node.copy((1, 1), (1, 2)) == .success)
    #expect(try node.membership(1) == [5, 1, 2])
    #expect(try node.copy((1, 255), (2, 255), all: true) == .success, "copying all scenes ignores the scene ids")
    #expect(try node.membership(2) == [3, 1, 2])
    #expect(try node.copy((2, 2), (2, 3)) == .success)
    #expect(try node.view(2, 3).sceneName == "Scene1")
    #expect(try node.view(2, 3).extensionFieldSetStructs?.tlv == [FieldSet.level(100)].tlv)
    #expect(try node.copy((2, 0), (1, 0), all: true) == .success)
    #expect(try node.membership(1) == [1, 1, 2, 3])
    #expect(try node.copy((1, 0), (0, 0), all: true) == .resourceExhausted)
    #expect(try node.membership(0) == [1], "no partial change")
    #expect(try node.removeAll(1) == .success)
    #expect(try node.membership(1) == [4])
    #expect(try node.removeAll(2) == .success)
    #expect(try node.membership(2) == [7])
  }

  @Test func limitsCapacityPerFabric() throws {
    let node = try TestNode.grouped()
    for fabric in 1...3 as ClosedRange<UInt8> {
      #expect(try node.removeAll(0, fabric: FabricIndex(fabric)) == .success)
      #expect(node.info(FabricIndex(fabric)) == [0, 0, 0, 0, 7])
    }
    for scene in 1...7 as ClosedRange<UInt8> {
      #expect(try node.add(0, scene) == .success)
      #expect(node.info() == [Int(scene), 0, 0, 0, 7 - Int(scene)])
    }
    #expect(try node.add(0, 8) == .resourceExhausted)
    #expect(try node.store(0, 8) == .resourceExhausted)
    #expect(try node.copy((0, 1), (0, 8)) == .resourceExhausted)
    #expect(try node.add(0, 7, 5) == .success, "an existing scene needs no capacity")
    node.forgetReports()
    for scene in 1...7 as ClosedRange<UInt8> { #expect(try node.add(0, scene, fabric: 2) == .success) }
    #expect(node.info(3) == [0, 0, 0, 0, 2])
    #expect(
      try node.takeReports(of: ScenesManagement.fabricSceneInfo).count == 7,
      "reported because the third fabric's capacity changed")
    #expect(try node.add(0, 8, fabric: 2) == .resourceExhausted)
    #expect(try node.add(0, 1, fabric: 3) == .success)
    #expect(try node.add(0, 2, fabric: 3) == .success)
    #expect(try node.add(0, 3, fabric: 3) == .resourceExhausted)
    #expect(try node.remove(0, 1) == .success)
    #expect(node.info() == [6, 0, 0, 0, 1])
    #expect(node.info(3) == [2, 0, 0, 0, 1])
    node.removeFabric(2)
    #expect(node.info(2) == nil)
    #expect(node.info(3) == [2, 0, 0, 0, 5])
    #expect(try node.membership(0, fabric: 2) == [7])
  }

  @Test func hidesScenesOfOtherFabrics() throws {
    let node = try TestNode.grouped()
    #expect(try node.store(1, 1) == .success)
    #expect(try node.view(1, 1, fabric: 2).status == .notFound)
    #expect(throws: StatusError(.notFound)) { try node.recall(1, 1, fabric: 2) }
    #expect(try node.membership(1, fabric: 2) == [7])
    #expect(try node.removeAll(1, fabric: 2) == .success)
    #expect(try node.membership(1) == [6, 1])
  }

  @Test func removesScenesOfRemovedGroup() throws {
    let node = try TestNode.grouped()
    for (group, scene) in [(0, 5), (1, 1), (1, 2), (2, 3)] as [(GroupID, UInt8)] {
      #expect(try node.store(group, scene) == .success)
    }
    #expect(try node.store(1, 1, fabric: 2) == .success)
    #expect(node.info() == [4, 3, 2, 1, 3])
    try node.invoke(Groups.removeGroup, .init(groupID: 2))
    #expect(node.info() == [3, 3, 2, 0, 4], "the current scene was removed")
    try node.invoke(Groups.removeAllGroups)
    #expect(try node.membership(1) == nil)
    #expect(try node.membership(0) == [6, 5], "group 0 is not affected")
    #expect(try node.membership(1, fabric: 2) == [6, 1])
  }
}
