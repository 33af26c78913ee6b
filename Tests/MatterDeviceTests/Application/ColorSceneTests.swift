import MatterClusters
import MatterModel
import Testing

@testable import MatterDevice

/// The color attributes in scenes, based on the public certification script TC-CC-10.1.
struct ColorSceneTests {
  private func grouped(_ node: TestNode = .colorful()) throws -> TestNode {
    try node.invoke(Groups.addGroup, .init(groupID: 1, groupName: ""))
    node.forgetReports()
    return node
  }

  private func color(_ narrow: [AttributeID: UInt8], _ wide: [AttributeID: UInt16] = [:]) -> FieldSet {
    .init(
      clusterID: ColorControl.id,
      attributeValueList: narrow.sorted { $0.key < $1.key }.map { .init(attributeID: $0.key, valueUnsigned8: $0.value) }
        + wide.sorted { $0.key < $1.key }.map { .init(attributeID: $0.key, valueUnsigned16: $0.value) })
  }

  private let mode = ColorControl.enhancedColorMode.id

  @Test func storesColorAttributesInOrder() throws {
    let node = try grouped()
    try node.moveToColor(32_768, 19_660)
    #expect(try node.store(1, 1) == .success)
    let fields = try node.view(1, 1).extensionFieldSetStructs?.first { $0.clusterID == ColorControl.id }
    #expect(
      fields?.attributeValueList.map(\.attributeID) == [0x3, 0x4, 0x4000, 0x1, 0x4002, 0x4003, 0x4004, 0x7, 0x4001])
    #expect(fields?.attributeValueList.first?.valueUnsigned16 == 32_768)
    #expect(fields?.attributeValueList.last?.valueUnsigned8 == 1)
    let white = try grouped(.white())
    #expect(try white.store(1, 1) == .success)
    let less = try white.view(1, 1).extensionFieldSetStructs?.first { $0.clusterID == ColorControl.id }
    #expect(less?.attributeValueList.map(\.attributeID) == [0x7, 0x4001])
  }

  @Test func restoresStoredColor() throws {
    let makes: [(TestNode) throws -> Void] = [
      { try $0.moveToHueAndSaturation(100, 200) }, { try $0.enhancedMoveToHue(12_345) },
      { try $0.moveToColor(20_000, 21_000) }, { try $0.moveToTemperature(321) },
    ]
    for make in makes {
      let node = try grouped()
      try make(node)
      let before = [[UInt16(node.hue), node.enhancedHue, UInt16(node.saturation), node.mireds], node.xy]
      let modes = node.modes
      #expect(try node.store(1, 1) == .success)
      try node.moveToHueAndSaturation(7, 7)
      try node.moveToColor(1000, 1000)
      try node.moveToTemperature(200)
      #expect(node.info()?[3] == 0)
      try node.recall(1, 1)
      #expect(node.info()?[3] == 1)
      #expect(node.modes == modes)
      let after = [[UInt16(node.hue), node.enhancedHue, UInt16(node.saturation), node.mireds], node.xy]
      switch modes[1] {
      case 1: #expect(after[1] == before[1])
      case 2: #expect(after[0][3] == before[0][3])
      default: #expect(after[0][0...2] == before[0][0...2])
      }
    }
  }

  @Test func recallsOnlyValuesOfColorMode() throws {
    let node = try grouped()
    #expect(try node.add(1, 2, fields: [color([mode: 0, 0x1: 0xFE, 0x4002: 0], [0x3: 0, 0x7: 0])]) == .success)
    #expect(try node.add(1, 3, fields: [color([mode: 1, 0x1: 9], [0x3: 16_334, 0x4: 13_067])]) == .success)
    #expect(try node.add(1, 4, fields: [color([mode: 2], [0x7: 175, 0x4: 0])]) == .success)
    #expect(try node.add(1, 5, fields: [color([mode: 3, 0x1: 70], [0x4000: 12_000])]) == .success)
    try node.recall(1, 2)
    #expect(node.saturation == 254)
    #expect(node.modes == [0, 0])
    try node.recall(1, 3)
    #expect(node.xy == [16_334, 13_067])
    try node.recall(1, 4)
    #expect(node.mireds == 175)
    #expect(node.modes == [2, 2])
    try node.recall(1, 5)
    #expect([node.enhancedHue, UInt16(node.saturation)] == [12_000, 70])
    #expect(node.info()?[3] == 1)
  }

  @Test func recallsWithTransitionTime() throws {
    let node = try grouped()
    try node.moveToTemperature(200)
    #expect(try node.add(1, 1, 20_000, fields: [color([mode: 2], [0x7: 400])]) == .success)
    try node.recall(1, 1)
    #expect(node.colorTime == 200)
    node.wait(10_000)
    #expect(node.mireds == 300)
    node.wait(10_000)
    #expect(node.mireds == 400)
    #expect(node.info()?[3] == 1, "its own transition does not invalidate it")
  }

  @Test func recallsColorLoop() throws {
    let node = try grouped()
    let fields = color([mode: 0, 0x1: 50, 0x4002: 1, 0x4003: 1], [0x4004: 5])
    #expect(try node.add(1, 6, fields: [fields]) == .success)
    #expect(try node.add(1, 7, fields: [color([mode: 2, 0x4002: 0], [0x7: 300])]) == .success)
    try node.recall(1, 6)
    #expect(node[ColorControl.colorLoopActive] == 1)
    #expect(node[ColorControl.colorLoopDirection] == .increment)
    #expect(node[ColorControl.colorLoopTime] == 5)
    #expect(node.saturation == 50)
    node.wait(20_000)
    #expect(node.info()?[3] == 1)
    try node.recall(1, 7)
    #expect(node[ColorControl.colorLoopActive] == 0)
    #expect(node.mireds == 300)
    #expect(node.info()?[3] == 1)
    node.wait(5000)
    #expect(node.context.node.timers.isEmpty)
  }

  @Test func invalidatesSceneOnColorChange() throws {
    let changes: [(String, (TestNode) throws -> Void)] = [
      ("hue", { try $0.moveToHue(17) }), ("slow hue", { try $0.moveToHue(17, .up, 6000) }),
      ("saturation", { try $0.moveToSaturation(3) }), ("x and y", { try $0.moveToColor(5, 5) }),
      ("temperature", { try $0.moveToTemperature(200) }), ("step", { try $0.stepTemperature(.up, 1) }),
      ("move", { try $0.enhancedMoveHue(.up, 1) }),
      ("loop", { try $0.loop(.updateAction, .activateFromEnhancedCurrentHue) }),
      ("loop's time", { try $0.loop(.updateTime, .deactivate, .decrement, time: 9) }),
      ("mode", { try $0.moveToColor($0.xy[0], $0.xy[1]) }),
      ("manual", { $0.act(ColorControl.colorTemperatureMireds, 222) }),
    ]
    for (name, change) in changes {
      let node = try grouped()
      #expect(try node.store(1, 1) == .success)
      node.forgetReports()
      try change(node)
      #expect(node.info()?[3] == 0, "\(name)")
      #expect(try node.takeReports(of: ScenesManagement.fabricSceneInfo).count == 1, "\(name)")
    }
    let node = try grouped()
    #expect(try node.store(1, 1) == .success)
    try node.moveToTemperature(250)
    try node.stopColor()
    #expect(node.info()?[3] == 1, "the current color is not a change")
  }

  @Test func rejectsInvalidFields() throws {
    let node = try grouped()
    #expect(
      try node.add(1, 1, fields: [color([0x0: 1])]) == .invalidCommand, "CurrentHue does not have the Scene quality")
    #expect(try node.add(1, 1, fields: [color([0x7: 1])]) == .invalidCommand, "a temperature has two bytes")
    #expect(try node.add(1, 1, fields: [color([:], [0x1: 1])]) == .invalidCommand, "a saturation has one")
    #expect(
      try node.add(1, 1, fields: [color([0x1: 255, mode: 9, 0x4002: 7], [0x3: 65_535, 0x7: 0])]) == .success)
    let values = try #require(try node.view(1, 1).extensionFieldSetStructs?.first).attributeValueList
    #expect(values.compactMap(\.valueUnsigned8) == [254, 3, 1])
    #expect(values.compactMap(\.valueUnsigned16) == [65_279, 140])
    let white = try grouped(.white())
    #expect(try white.add(1, 1, fields: [color([0x1: 1])]) == .invalidCommand)
  }
}
