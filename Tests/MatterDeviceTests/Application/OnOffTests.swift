import MatterClusters
import MatterModel
import Testing

@testable import MatterDevice

extension TestNode {
  fileprivate func onWithTimedOff(
    _ onTime: UInt16, _ offWaitTime: UInt16, onlyWhenOn: Bool
  ) throws(StatusError) {
    try invoke(
      OnOff.onWithTimedOff,
      .init(onOffControl: onlyWhenOn ? .acceptOnlyWhenOn : [], onTime: onTime, offWaitTime: offWaitTime))
  }

  fileprivate func offWithEffect(
    _ effect: OnOff.EffectIdentifier = .delayedAllOff, variant: UInt8 = 0
  ) throws(StatusError) {
    try invoke(OnOff.offWithEffect, .init(effectIdentifier: effect, effectVariant: variant))
  }

  /// OnOff, OnTime and OffWaitTime.
  fileprivate var times: [UInt16] { [self[OnOff.onOff] ? 1 : 0, self[OnOff.onTime], self[OnOff.offWaitTime]] }
}

/// Based on the public certification scripts TC-OO-2.2 to 2.6, with additional cases.
struct OnOffTests {
  @Test func turnsOnOffAndToggles() throws {
    let node = TestNode()
    let steps: [(Command<OnOff, NoFields, NoFields>, Bool)] = [
      (OnOff.off, false), (OnOff.on, true), (OnOff.on, true), (OnOff.off, false), (OnOff.off, false),
      (OnOff.toggle, true), (OnOff.toggle, false),
    ]
    for (command, expected) in steps {
      try node.invoke(command)
      node.wait(1000)
      #expect(node[OnOff.onOff] == expected, "\(command.details.name)")
    }
    #expect(try node.takeReports(of: OnOff.onOff).map(\.value) == [true, false, true, false])
  }

  @Test func updatesGlobalSceneControl() throws {
    let node = TestNode()
    func expect(_ isOn: Bool, _ control: Bool, _ comment: Comment) {
      node.wait(1000)
      #expect(node[OnOff.onOff] == isOn, comment)
      #expect(node[OnOff.globalSceneControl] == control, comment)
    }
    try node.invoke(OnOff.on)
    expect(true, true, "2")
    try node.offWithEffect()
    expect(false, false, "3")
    try node.invoke(OnOff.onWithRecallGlobalScene)
    expect(true, true, "4")
    try node.offWithEffect()
    expect(false, false, "5a")
    try node.invoke(OnOff.on)
    expect(true, true, "5c")
    try node.offWithEffect(.dyingLight)
    expect(false, false, "6")
    try node.invoke(OnOff.on)
    try node.invoke(OnOff.onWithRecallGlobalScene)
    expect(true, true, "7")
    #expect(node.times == [1, 0, 0])
  }

  @Test func restoresLevelFromGlobalScene() throws {
    let node = TestNode()
    try node.invoke(OnOff.on)
    try node.invoke(
      LevelControl.moveToLevel, .init(level: 77, transitionTime: .value(0), optionsMask: [], optionsOverride: []))
    try node.offWithEffect()
    try node.invoke(
      LevelControl.moveToLevel,
      .init(level: 11, transitionTime: .value(0), optionsMask: .executeIfOff, optionsOverride: .executeIfOff))
    try node.invoke(OnOff.onWithRecallGlobalScene)
    #expect(node[OnOff.onOff])
    #expect(node[LevelControl.currentLevel] == .value(77))
  }

  @Test func rejectsUnknownEffectButAcceptsUnknownVariant() throws {
    let node = TestNode(TestNode.dimmableLight(onOff: OnOffServer.make(isOn: true)))
    #expect(throws: StatusError(.constraintError)) { try node.offWithEffect(.init(rawValue: 2)) }
    #expect(node[OnOff.onOff])
    try node.offWithEffect(.dyingLight, variant: 66)
    #expect(!node[OnOff.onOff])
  }

  @Test func turnsOffAfterOnTime() throws {
    let node = TestNode()
    try node.invoke(OnOff.on)
    try node.onWithTimedOff(300, 300, onlyWhenOn: true)
    #expect(node.times == [1, 300, 300], "9")
    for _ in 0..<3 {
      node.wait(10_000)
      try node.onWithTimedOff(300, 300, onlyWhenOn: true)
    }
    #expect(node.times == [1, 300, 300], "10")
    node.wait(10_000)
    #expect(node.times == [1, 200, 300], "10 s of OnTime have elapsed")
    try node.offWithEffect()
    #expect(node.times == [0, 0, 300], "11")
    node.wait(10_000)
    try node.onWithTimedOff(300, 300, onlyWhenOn: true)
    #expect(node.times == [0, 0, 200], "12: ignored while off, and the countdown continues")
    node.wait(10_000)
    try node.invoke(OnOff.on)
    #expect(node.times == [1, 0, 0], "13")
    node.wait(10_000)
    try node.onWithTimedOff(300, 300, onlyWhenOn: true)
    node.wait(10_000)
    try node.invoke(OnOff.off)
    #expect(node.times == [0, 0, 300], "14")
    node.wait(29_900)
    #expect(node.times == [0, 0, 1])
    node.wait(100)
    #expect(node.times == [0, 0, 0], "15")
    try node.onWithTimedOff(300, 300, onlyWhenOn: true)
    #expect(node.times == [0, 0, 0], "16: accepted only when on")
    try node.invoke(OnOff.on)
    try node.onWithTimedOff(300, 300, onlyWhenOn: true)
    node.wait(29_900)
    #expect(node.times == [1, 1, 300])
    node.wait(100)
    #expect(node.times == [0, 0, 0], "17: no OffWaitTime after OnTime has elapsed")
  }

  @Test func turnsOnWithTimedOff() throws {
    let node = TestNode()
    try node.onWithTimedOff(300, 300, onlyWhenOn: false)
    #expect(node.times == [1, 300, 300], "18")
    node.wait(10_000)
    try node.onWithTimedOff(100, 300, onlyWhenOn: false)
    #expect(node.times == [1, 200, 300], "the longer OnTime is used")
    try node.invoke(OnOff.off)
    #expect(node.times == [0, 0, 300], "20")
    try node.onWithTimedOff(300, 300, onlyWhenOn: false)
    node.wait(10_000)
    #expect(node.times == [0, 0, 200], "21: stays off during OffWaitTime")
    try node.onWithTimedOff(300, 50, onlyWhenOn: false)
    #expect(node.times == [0, 0, 50], "the shorter OffWaitTime is used")
    try node.invoke(OnOff.on)
    #expect(node.times == [1, 0, 0], "22")
    try node.onWithTimedOff(300, 300, onlyWhenOn: false)
    try node.invoke(OnOff.off)
    node.wait(40_000)
    #expect(node.times == [0, 0, 0], "23")
    try node.onWithTimedOff(300, 300, onlyWhenOn: false)
    #expect(node.times == [1, 300, 300], "24")
    node.wait(40_000)
    #expect(node.times == [0, 0, 0], "24c")
  }

  @Test func countsTimeOfLateTimer() throws {
    let node = TestNode()
    try node.onWithTimedOff(300, 300, onlyWhenOn: false)
    node.stall(10_050)
    #expect(node.times == [1, 200, 300])
    node.wait(50)
    #expect(node.times == [1, 199, 300])
    try node.invoke(OnOff.off)
    node.stall(10_050)
    #expect(node.times[2] == 200)
    node.stall(100_000)
    #expect(node.times == [0, 0, 0])
    #expect(node.context.node.timers.isEmpty)
  }

  @Test func doesNotStartCountdownOnWrite() throws {
    let node = TestNode()
    try node.write(OnOff.offWaitTime, 30)
    node.wait(5000)
    #expect(node.times == [0, 0, 30])
    try node.write(OnOff.offWaitTime, 0)
    try node.invoke(OnOff.on)
    try node.write(OnOff.onTime, 30)
    node.wait(5000)
    #expect(node.times == [1, 30, 0])
    try node.onWithTimedOff(10, 0, onlyWhenOn: true)
    try node.write(OnOff.onTime, 20)
    node.wait(1900)
    #expect(node.times == [1, 1, 0], "a write changes a running countdown")
    node.wait(100)
    #expect(node.times == [0, 0, 0])
  }

  @Test(arguments: [(UInt16(0xFFFF), UInt16(50)), (50, 0xFFFF), (0xFFFF, 0xFFFF)])
  func doesNotCountInfiniteTimes(onTime: UInt16, offWaitTime: UInt16) throws {
    let node = TestNode()
    try node.onWithTimedOff(onTime, offWaitTime, onlyWhenOn: false)
    node.wait(100_000)
    #expect(node.times == [1, onTime, offWaitTime])
    #expect(node.context.node.timers.isEmpty)
  }

  @Test func stopsCountdownAtInfiniteTime() throws {
    let node = TestNode()
    try node.onWithTimedOff(50, 50, onlyWhenOn: false)
    node.wait(1000)
    try node.write(OnOff.onTime, 0xFFFF)
    node.wait(100_000)
    #expect(node.times == [1, 0xFFFF, 50])
    try node.write(OnOff.onTime, 0)
    #expect(node.context.node.timers.isEmpty)
  }

  @Test func startsOffWaitAfterFade() throws {
    let node = TestNode()
    try node.write(LevelControl.offTransitionTime, .value(20))
    try node.onWithTimedOff(10, 0, onlyWhenOn: false)
    node.wait(1000)
    #expect(node.times == [1, 0, 0], "OnTime has elapsed; fades for two seconds")
    node.wait(2000)
    #expect(node.times == [0, 0, 0])
    try node.onWithTimedOff(100, 30, onlyWhenOn: false)
    try node.invoke(OnOff.off)
    node.wait(1900)
    #expect(node.times == [1, 0, 30])
    node.wait(1100)
    #expect(node.times == [0, 0, 20])
    node.wait(2000)
    #expect(node.times == [0, 0, 0])
  }

  @Test func appliesManualSwitching() throws {
    let node = TestNode()
    try node.offWithEffect()
    try node.onWithTimedOff(100, 30, onlyWhenOn: false)
    node.act(OnOff.onOff, false)
    #expect(node.times == [0, 0, 30])
    node.wait(1000)
    #expect(node.times == [0, 0, 20])
    try node.offWithEffect()
    node.act(OnOff.onOff, true)
    #expect(node.times == [1, 0, 0])
    #expect(node[OnOff.globalSceneControl])
  }

  @Test(
    arguments: [
      (Nullable<OnOff.StartUpOnOff>.value(.off), true, false), (.value(.off), false, false),
      (.value(.on), false, true), (.value(.on), true, true), (.value(.toggle), true, false),
      (.value(.toggle), false, true), (.null, true, true), (.null, false, false),
    ])
  func appliesStartUpOnOff(setting: Nullable<OnOff.StartUpOnOff>, was: Bool, becomes: Bool) throws {
    let node = TestNode()
    try node.write(OnOff.startUpOnOff, setting)
    try node.invoke(was ? OnOff.on : OnOff.off)
    try node.write(OnOff.onTime, 5)
    let later = node.restarted()
    #expect(later[OnOff.onOff] == becomes)
    #expect(later[OnOff.startUpOnOff] == setting)
    #expect(later[OnOff.globalSceneControl])
    #expect(later.times.dropFirst() == [0, 0])
  }

  @Test func rejectsUnknownStartUpOnOff() throws {
    let node = TestNode()
    #expect(throws: StatusError(.constraintError)) { try node.write(OnOff.startUpOnOff, .value(.init(rawValue: 3))) }
    #expect(node[OnOff.startUpOnOff] == .null)
  }

  @Test func rejectsOnWithOffOnlyFeature() throws {
    let node = TestNode([OnOffServer.make(features: [OnOff.offOnly], isOn: true)])
    #expect(throws: StatusError(.unsupportedCommand)) { try node.invoke(OnOff.on) }
    #expect(throws: StatusError(.unsupportedCommand)) { try node.invoke(OnOff.toggle) }
    try node.invoke(OnOff.off)
    #expect(!node[OnOff.onOff])
  }

  @Test func conforms() {
    #expect(OnOffServer.make().violations == [])
    #expect(OnOffServer.make(features: []).violations == [])
    #expect(!TestNode([OnOffServer.make(features: [])]).accepts(OnOff.onWithTimedOff))
    #expect(LevelControlServer.make().violations == [])
    #expect(ScenesManagementServer.make().violations == [])
    #expect(GroupsServer.make().violations == [])
    #expect(IdentifyServer.make(.none).violations == [])
  }
}
