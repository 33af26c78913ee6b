import MatterClusters
import MatterModel
import Testing

@testable import MatterDevice

/// Recalling scenes, based on the public certification scripts TC-S-2.2 to 2.5 and TC-OO-2.7.
struct SceneRecallTests {
  @Test func recallsStoredScene() throws {
    let node = try TestNode.grouped()
    #expect(try node.store(1, 1) == .success)
    #expect(node.info() == [1, 1, 1, 1, 6])
    try node.moveTo(200, withOnOff: true)
    #expect(node.info() == [1, 1, 1, 0, 6])
    try node.recall(1, 1)
    #expect(node.level == 100)
    #expect(node.info() == [1, 1, 1, 1, 6])
    let later = node.restarted()
    #expect(later.info() == [1, 1, 1, 0, 6], "invalid after a restart")
    try later.moveTo(200, withOnOff: true)
    try later.recall(1, 1)
    #expect(later.level == 100)
  }

  @Test func recallsWithTransitionTime() throws {
    let node = try TestNode.grouped()
    #expect(try node.add(1, 1, 20_000) == .success)
    #expect(try node.store(1, 1) == .success)
    for (time, milliseconds) in [(nil, 20_000), (.value(5000), 5000), (.some(.null), 20_000), (.value(0), 0)]
      as [(Nullable<UInt32>?, Int64)]
    {
      try node.moveTo(200, withOnOff: true)
      try node.recall(1, 1, time)
      #expect(node.info() == [1, 1, 1, 1, 6])
      node.wait(milliseconds / 2)
      if milliseconds > 0 { #expect(node.level == 150) }
      node.wait(milliseconds / 2)
      #expect(node.level == 100)
      #expect(node.remainingTime == 0)
      #expect(node.info() == [1, 1, 1, 1, 6], "its own transition does not invalidate it")
    }
  }

  @Test func turnsOnAtStartAndOffAtEnd() throws {
    let node = try TestNode.grouped()
    try node.invoke(OnOff.off)
    #expect(try node.store(1, 1) == .success)
    #expect(try node.add(1, 2, 1000, fields: [.onOff(1)]) == .success)
    try node.recall(1, 2)
    #expect(node.isOn)
    #expect(node[OnOff.globalSceneControl])
    node.wait(2000)
    #expect(node.isOn)
    try node.recall(1, 1, .value(3000))
    node.wait(2900)
    #expect(node.isOn)
    node.wait(100)
    #expect(!node.isOn)
    #expect(node.info() == [2, 1, 1, 1, 5])
  }

  @Test func invalidatesSceneOnOtherCommands() throws {
    let interferences: [(String, (TestNode) throws -> Void)] = [
      ("on", { try $0.invoke(OnOff.on) }), ("off", { try $0.invoke(OnOff.off) }),
      ("level", { try $0.moveTo(17) }), ("slow level", { try $0.moveTo(17, 6000) }),
      ("step", { try $0.step(.down, 1) }),
    ]
    for (name, interfere) in interferences {
      let node = try TestNode.grouped()
      #expect(try node.add(1, 1, fields: [.onOff(0), .level(200)]) == .success)
      try node.recall(1, 1, .value(10_000))
      node.wait(1000)
      node.forgetReports()
      try interfere(node)
      #expect(node.info() == [1, 1, 1, 0, 6], "\(name)")
      #expect(try node.takeReports(of: ScenesManagement.fabricSceneInfo).count == 1, "\(name)")
    }
    let node = try TestNode.grouped()
    #expect(try node.add(1, 1, fields: [.onOff(0), .level(200)]) == .success)
    try node.recall(1, 1, .value(10_000))
    try node.invoke(OnOff.on)
    node.wait(20_000)
    #expect(node.isOn, "the scene no longer turns it off")
  }

  @Test func invalidatesScenesOfOtherFabricsOnRecall() throws {
    let node = try TestNode.grouped()
    #expect(try node.store(1, 1) == .success)
    #expect(try node.store(1, 1, fabric: 2) == .success)
    #expect(node.info()?[3] == 1, "storing does not affect other fabrics")
    #expect(node.info(2)?[3] == 1)
    try node.recall(1, 1, fabric: 2)
    #expect(node.info()?[3] == 0)
    #expect(node.info(2)?[3] == 1)
    try node.moveTo(5)
    #expect(node.info(2)?[3] == 0)
  }

  @Test func invalidatesChangedOrRemovedScene() throws {
    let node = try TestNode.grouped()
    #expect(try node.store(1, 1) == .success)
    #expect(try node.add(1, 2) == .success)
    #expect(node.info() == [2, 1, 1, 1, 5])
    #expect(try node.add(1, 1, fields: [.level(3)]) == .success)
    #expect(node.info() == [2, 1, 1, 0, 5])
    #expect(try node.store(1, 1) == .success)
    #expect(try node.remove(1, 2) == .success)
    #expect(node.info() == [1, 1, 1, 1, 6])
    #expect(try node.remove(1, 1) == .success)
    #expect(node.info() == [0, 1, 1, 0, 7])
  }

  @Test func ignoresLevelOutOfRange() throws {
    let node = try TestNode.grouped()
    #expect(try node.add(1, 1, fields: [.level(0)]) == .success)
    try node.recall(1, 1)
    #expect(node.level == 100)
  }

  @Test func endsFadeOnRecall() throws {
    let node = try TestNode.grouped()
    try node.write(LevelControl.offTransitionTime, .value(20))
    #expect(try node.add(1, 1, fields: [.onOff(1)]) == .success)
    try node.invoke(OnOff.off)
    node.wait(1000)
    try node.recall(1, 1)
    node.wait(5000)
    #expect(node.isOn)
    #expect(node.level == 100)
    #expect(node.info()?[3] == 1)
  }

  @Test func storesAndRecallsGlobalScene() throws {
    let node = try TestNode.grouped()
    #expect(try node.store(1, 1) == .success)
    try node.invoke(OnOff.offWithEffect, .init(effectIdentifier: .delayedAllOff, effectVariant: 0))
    #expect(node.info() == [2, 1, 1, 0, 5])
    #expect(try node.membership(0) == [5, 0])
    #expect(try node.view(0, 0).extensionFieldSetStructs?.tlv == [FieldSet.onOff(1), .level(100)].tlv)
    try node.invoke(OnOff.onWithRecallGlobalScene)
    #expect(node.info() == [2, 0, 0, 1, 5])
  }
}
