import MatterClusters
import MatterModel
import Testing

@testable import MatterDevice

typealias FieldSet = ScenesManagement.ExtensionFieldSetStruct

extension FieldSet {
  static func onOff(_ value: UInt8) -> Self {
    .init(clusterID: OnOff.id, attributeValueList: [.init(attributeID: 0, valueUnsigned8: value)])
  }
  static func level(_ value: UInt8) -> Self {
    .init(clusterID: LevelControl.id, attributeValueList: [.init(attributeID: 0, valueUnsigned8: value)])
  }
}

extension TestNode {
  /// A light in groups 1 and 2 of fabrics 1 to 3.
  static func grouped() throws -> TestNode {
    let node = TestNode.lit(at: 100)
    for fabric in 1...3 as ClosedRange<UInt8> {
      for group in 1...2 as ClosedRange<UInt16> {
        try node.invoke(
          Groups.addGroup, .init(groupID: GroupID(group), groupName: ""), fabric: FabricIndex(fabric))
      }
    }
    node.forgetReports()
    return node
  }

  func forgetReports() { _ = try? takeReports(of: ScenesManagement.fabricSceneInfo) }

  func add(
    _ group: GroupID, _ scene: UInt8, _ time: UInt32 = 0, name: String = "Scene", fields: [FieldSet] = [],
    fabric: FabricIndex = 1
  ) throws -> StatusCode? {
    let answer = try invoke(
      ScenesManagement.addScene,
      .init(
        groupID: group, sceneID: scene, transitionTime: time, sceneName: name, extensionFieldSetStructs: fields),
      fabric: fabric)
    #expect(answer?.groupID == group)
    #expect(answer?.sceneID == scene)
    return answer?.status
  }

  func view(
    _ group: GroupID, _ scene: UInt8, fabric: FabricIndex = 1
  ) throws -> ScenesManagement.ViewSceneResponse {
    try #require(try invoke(ScenesManagement.viewScene, .init(groupID: group, sceneID: scene), fabric: fabric))
  }

  func store(_ group: GroupID, _ scene: UInt8, fabric: FabricIndex = 1) throws -> StatusCode? {
    try invoke(ScenesManagement.storeScene, .init(groupID: group, sceneID: scene), fabric: fabric)?.status
  }

  func recall(
    _ group: GroupID, _ scene: UInt8, _ time: Nullable<UInt32>? = nil, fabric: FabricIndex = 1
  ) throws(StatusError) {
    try invoke(
      ScenesManagement.recallScene, .init(groupID: group, sceneID: scene, transitionTime: time), fabric: fabric)
  }

  func remove(_ group: GroupID, _ scene: UInt8) throws -> StatusCode? {
    try invoke(ScenesManagement.removeScene, .init(groupID: group, sceneID: scene))?.status
  }

  func removeAll(_ group: GroupID, fabric: FabricIndex = 1) throws -> StatusCode? {
    try invoke(ScenesManagement.removeAllScenes, .init(groupID: group), fabric: fabric)?.status
  }

  func copy(
    _ from: (GroupID, UInt8), _ to: (GroupID, UInt8), all: Bool = false
  ) throws -> StatusCode? {
    let answer = try invoke(
      ScenesManagement.copyScene,
      .init(
        mode: all ? .copyAllScenes : [], groupIdentifierFrom: from.0, sceneIdentifierFrom: from.1,
        groupIdentifierTo: to.0, sceneIdentifierTo: to.1))
    #expect(answer?.groupIdentifierFrom == from.0)
    #expect(answer?.sceneIdentifierFrom == from.1)
    return answer?.status
  }

  /// The capacity and the scenes of a group.
  func membership(_ group: GroupID, fabric: FabricIndex = 1) throws -> [UInt8]? {
    let answer = try invoke(ScenesManagement.getSceneMembership, .init(groupID: group), fabric: fabric)
    guard answer?.status == .success, let capacity = answer?.capacity.wrapped, let list = answer?.sceneList else {
      return nil
    }
    return [capacity] + list
  }

  /// SceneCount, CurrentScene, CurrentGroup, SceneValid and RemainingCapacity.
  func info(_ fabric: FabricIndex = 1) -> [Int]? {
    self[ScenesManagement.fabricSceneInfo].first { $0.fabricIndex == fabric }.map {
      [
        Int($0.sceneCount), Int($0.currentScene), Int($0.currentGroup.rawValue), $0.sceneValid ? 1 : 0,
        Int($0.remainingCapacity),
      ]
    }
  }
}
