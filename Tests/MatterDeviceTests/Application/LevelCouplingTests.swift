import MatterClusters
import MatterModel
import Testing

@testable import MatterDevice

/// The coupling of On/Off and the level, § 1.6.4.1.1, and restarts.
struct LevelCouplingTests {
  /// (milliseconds, level, OnOff, RemainingTime)
  private func expect(
    _ node: TestNode, from start: Int64, _ table: [(Int64, UInt8, Bool, UInt16)], _ comment: String = ""
  ) {
    for (at, level, isOn, rest) in table {
      node.wait(start + at - node.now)
      #expect(node.level == level, "\(comment) at \(at) ms")
      #expect(node.isOn == isOn, "\(comment) at \(at) ms")
      #expect(node.remainingTime == rest, "\(comment) at \(at) ms")
    }
  }

  @Test func keepsLevelWithoutTransitionTimes() throws {
    let node = TestNode.lit(at: 100)
    for isOn in [false, true, true, false, false, true] {
      try node.invoke(isOn ? OnOff.on : OnOff.off)
      #expect(node.isOn == isOn)
      #expect(node.level == 100)
    }
    let levels = node.reports.filter { $0.path.cluster == LevelControl.id }
    #expect(levels.isEmpty)
  }

  @Test func fadesOverOnOffTransitionTime() throws {
    let node = TestNode.lit(at: 101)
    try node.write(LevelControl.onOffTransitionTime, 20)
    try node.invoke(OnOff.off)
    expect(
      node, from: 0, [(0, 101, true, 20), (1000, 51, true, 10), (1900, 6, true, 1), (2000, 101, false, 0)], "off")
    try node.invoke(OnOff.on)
    expect(
      node, from: 2000, [(0, 1, true, 20), (1000, 51, true, 10), (1900, 96, true, 1), (2000, 101, true, 0)], "on")
  }

  @Test func usesSeparateOnAndOffTimes() throws {
    let node = TestNode.lit(at: 101)
    try node.write(LevelControl.onOffTransitionTime, 500)
    try node.write(LevelControl.onTransitionTime, .value(10))
    try node.write(LevelControl.offTransitionTime, .value(30))
    try node.invoke(OnOff.off)
    expect(node, from: 0, [(2900, 5, true, 1), (3000, 101, false, 0)], "off")
    try node.invoke(OnOff.toggle)
    expect(node, from: 3000, [(500, 51, true, 5), (1000, 101, true, 0)], "on")
    try node.moveTo(1, nil)
    #expect(node.remainingTime == 500, "a command without a time uses OnOffTransitionTime")
  }

  @Test func turnsOnWithOnLevel() throws {
    let node = TestNode.lit(at: 101)
    try node.write(LevelControl.onLevel, .value(201))
    try node.invoke(OnOff.on)
    #expect(node.level == 101, "already on")
    try node.invoke(OnOff.off)
    #expect(node.level == 1, "with OnLevel the level is not restored")
    try node.invoke(OnOff.on)
    #expect(node.level == 201)
    try node.write(LevelControl.onOffTransitionTime, 10)
    try node.invoke(OnOff.off)
    expect(node, from: 0, [(500, 101, true, 5), (1000, 1, false, 0)])
    try node.invoke(OnOff.on)
    expect(node, from: 1000, [(500, 101, true, 5), (1000, 201, true, 0)])
  }

  @Test func reversesFade() throws {
    let node = TestNode.lit(at: 101)
    try node.write(LevelControl.onOffTransitionTime, 20)
    try node.invoke(OnOff.off)
    node.wait(1000)
    try node.invoke(OnOff.off)
    #expect(node.remainingTime == 10, "the fade continues")
    try node.invoke(OnOff.on)
    expect(node, from: 1000, [(0, 51, true, 20), (1000, 76, true, 10), (2000, 101, true, 0), (5000, 101, true, 0)])
    try node.invoke(OnOff.off)
    node.wait(2000)
    try node.invoke(OnOff.on)
    node.wait(1000)
    try node.invoke(OnOff.off)
    expect(node, from: 9000, [(1000, 26, true, 10), (2000, 101, false, 0)], "restores the target of the fade")
  }

  @Test func endsFadeOnCommand() throws {
    let node = TestNode.lit(at: 101)
    try node.write(LevelControl.offTransitionTime, .value(20))
    try node.invoke(OnOff.off)
    node.wait(1000)
    try node.moveTo(200, 10)
    expect(node, from: 1000, [(1000, 200, true, 0), (5000, 200, true, 0)])
  }

  @Test func turnsOffBeforeRestoringLevel() throws {
    let node = TestNode.lit(at: 101)
    try node.write(LevelControl.offTransitionTime, .value(10))
    try node.invoke(OnOff.off)
    node.wait(2000)
    let last = node.events.suffix(3).compactMap { event in
      if case .attributeChanged(let path, _) = event { path.attribute == 0 ? path.cluster : nil } else { nil }
    }
    #expect(last == [OnOff.id, LevelControl.id], "otherwise the light would flash")
  }

  @Test func doesNotCoupleWithoutFeature() throws {
    let level = LevelControlServer.make(features: [], level: 100)
    let node = TestNode(TestNode.dimmableLight(level: level))
    try node.write(LevelControl.onOffTransitionTime, 20)
    try node.invoke(OnOff.on)
    #expect(node.isOn)
    try node.moveTo(1, withOnOff: true)
    try node.invoke(OnOff.off)
    #expect(!node.isOn)
    // ExecuteIfOff is not set.
    try node.moveTo(50)
    #expect(node.level == 1)
    #expect(!node.serves(LevelControl.remainingTime))
  }

  // MARK: Restarts

  @Test(
    arguments: [
      (Nullable<UInt8>.null, UInt8(100)), (.value(0), 1), (.value(1), 1), (.value(77), 77), (.value(254), 254),
    ])
  func appliesStartUpCurrentLevel(setting: Nullable<UInt8>, becomes: UInt8) throws {
    let node = TestNode.lit(at: 100)
    try node.moveTo(100, 0)
    try node.write(LevelControl.startUpCurrentLevel, setting)
    try node.write(LevelControl.onLevel, .value(200))
    try node.moveTo(100, 0)
    try node.moveTo(101, 0)
    try node.moveTo(100, 0)
    let later = node.restarted()
    #expect(later.level == becomes)
    #expect(later[LevelControl.startUpCurrentLevel] == setting)
  }

  @Test func dropsTransitionOnRestart() throws {
    let node = TestNode()
    try node.invoke(OnOff.on)
    try node.moveTo(154, 100)
    node.wait(5000)
    let later = node.restarted()
    #expect(later.level == 204)
    #expect(later.isOn)
    #expect(later.remainingTime == 0)
    later.wait(10_000)
    #expect(later.level == 204)
  }

  @Test func clampsInitialLevel() {
    for (initial, expected) in [(Nullable<UInt8>.null, 10), (.value(0), 10), (.value(254), 200), (.value(50), 50)] {
      let server = LevelControlServer.make().initial(LevelControl.currentLevel, initial)
        .initial(LevelControl.minLevel, 10).initial(LevelControl.maxLevel, 200)
      #expect(TestNode(TestNode.dimmableLight(level: server)).level == UInt8(expected))
    }
  }
}
