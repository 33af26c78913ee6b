import MatterClusters
import MatterModel
import Testing

@testable import MatterDevice

extension TestNode {
  /// - Parameter time: Tenths of a second.
  func moveTo(
    _ level: UInt8, _ time: UInt16? = 0, withOnOff: Bool = false, mask: LevelControl.Options = [],
    override: LevelControl.Options = []
  ) throws(StatusError) {
    try invoke(
      withOnOff ? LevelControl.moveToLevelWithOnOff : LevelControl.moveToLevel,
      .init(
        level: level, transitionTime: time.map { .value($0) } ?? .null, optionsMask: mask, optionsOverride: override))
  }

  func move(_ mode: LevelControl.MoveMode, _ rate: UInt8?, withOnOff: Bool = false) throws(StatusError) {
    try invoke(
      withOnOff ? LevelControl.moveWithOnOff : LevelControl.move,
      .init(moveMode: mode, rate: rate.map { .value($0) } ?? .null, optionsMask: [], optionsOverride: []))
  }

  func step(
    _ mode: LevelControl.StepMode, _ size: UInt8, _ time: UInt16? = 0, withOnOff: Bool = false
  ) throws(StatusError) {
    try invoke(
      withOnOff ? LevelControl.stepWithOnOff : LevelControl.step,
      .init(
        stepMode: mode, stepSize: size, transitionTime: time.map { .value($0) } ?? .null, optionsMask: [],
        optionsOverride: []))
  }

  func stop(withOnOff: Bool = false) throws(StatusError) {
    try invoke(
      withOnOff ? LevelControl.stopWithOnOff : LevelControl.stop, .init(optionsMask: [], optionsOverride: []))
  }

  var level: UInt8? { self[LevelControl.currentLevel].wrapped }
  var isOn: Bool { self[OnOff.onOff] }
  var remainingTime: UInt16 { self[LevelControl.remainingTime] }

  /// Returns a light that is on at this level.
  static func lit(at level: UInt8) -> TestNode {
    TestNode(dimmableLight(onOff: OnOffServer.make(isOn: true), level: LevelControlServer.make(level: level)))
  }
}

/// The commands, based on the public certification scripts TC-LVL-2.3 to 6.1, with additional cases.
struct LevelControlTests {
  @Test func movesToLevelOverTransitionTime() throws {
    let node = TestNode.lit(at: 50)
    try node.moveTo(200, 300)
    let expected: [(at: Int64, level: UInt8, rest: UInt16)] = [
      (0, 50, 300), (100, 50, 299), (200, 51, 298), (1000, 55, 290), (10_000, 100, 200), (15_000, 125, 150),
      (20_000, 150, 100), (29_900, 199, 1), (30_000, 200, 0), (35_000, 200, 0),
    ]
    for (at, level, rest) in expected {
      node.wait(at - node.now)
      #expect(node.level == level, "at \(at) ms")
      #expect(node.remainingTime == rest, "at \(at) ms")
    }
    #expect(node.context.node.timers.isEmpty)
  }

  @Test func executesWhileOffOnlyWithOption() throws {
    let cases: [(LevelControl.Options, [UInt8])] = [
      ([], [100, 100, 100, 160]), (.executeIfOff, [100, 120, 120, 160]),
    ]
    for (options, levels) in cases {
      let node = TestNode.lit(at: 1)
      try node.write(LevelControl.options, options)
      try node.moveTo(100)
      #expect(node.level == levels[0])
      try node.invoke(OnOff.off)
      try node.moveTo(120)
      #expect(node.level == levels[1], "\(options)")
      try node.moveTo(140, mask: .executeIfOff)
      #expect(node.level == levels[2], "\(options)")
      try node.moveTo(160, mask: .executeIfOff, override: .executeIfOff)
      #expect(node.level == levels[3], "\(options)")
      try node.step(.up, 10)
      try node.move(.up, 10)
      node.wait(1000)
      #expect(node.level == (options.isEmpty ? 160 : 180), "\(options)")
      #expect(!node.isOn)
    }
  }

  @Test func rejectsUnknownOptions() throws {
    let node = TestNode()
    #expect(throws: StatusError(.constraintError)) {
      try node.write(LevelControl.options, .init(rawValue: 4))
    }
    try node.write(LevelControl.options, [.executeIfOff, .coupleColorTempToLevel])
    #expect(node[LevelControl.options].rawValue == 3)
  }

  @Test func movesAtRateToLimit() throws {
    let node = TestNode.lit(at: 50)
    try node.move(.up, 5)
    #expect(node.remainingTime == 408)
    for (at, level) in [(10_000, 100), (20_000, 150), (30_000, 200), (40_800, 254), (49_000, 254)] {
      node.wait(Int64(at) - node.now)
      #expect(node.level == UInt8(level), "at \(at) ms")
    }
    try node.moveTo(1)
    #expect(throws: StatusError(.invalidCommand)) { try node.move(.up, 0) }
    #expect(throws: StatusError(.invalidCommand)) { try node.move(.init(rawValue: 2), 5) }
    node.wait(5000)
    #expect(node.level == 1)
    #expect(node.isOn)
  }

  @Test func movesAtDefaultRate() throws {
    let node = TestNode.lit(at: 54)
    #expect(throws: StatusError(.constraintError)) { try node.write(LevelControl.defaultMoveRate, .value(0)) }
    try node.write(LevelControl.defaultMoveRate, .value(20))
    try node.move(.up, nil)
    node.wait(5000)
    #expect(node.level == 154)
    try node.write(LevelControl.defaultMoveRate, .null)
    try node.move(.down, nil)
    #expect(node.level == 1, "as fast as possible")
  }

  @Test func shortensStepAtLimit() throws {
    let node = TestNode.lit(at: 50)
    try node.step(.up, 150, 300)
    for (at, level) in [(10_000, 100), (20_000, 150), (30_000, 200), (35_000, 200)] {
      node.wait(Int64(at) - node.now)
      #expect(node.level == UInt8(level), "at \(at) ms")
    }
    try node.step(.up, 108, 100)
    #expect(node.remainingTime == 50, "half of the step fits")
    node.wait(5000)
    #expect(node.level == 254)
    try node.step(.up, 10, 100)
    #expect(node.remainingTime == 0, "already at the limit")
    try node.step(.down, 54, nil)
    #expect(node.level == 200, "as fast as possible")
    try node.step(.down, 250)
    #expect(node.level == 1)
    #expect(node.isOn)
    #expect(throws: StatusError(.invalidCommand)) { try node.step(.up, 0) }
    #expect(throws: StatusError(.invalidCommand)) { try node.step(.init(rawValue: 7), 1) }
  }

  @Test(arguments: [false, true]) func stopsAtCurrentLevel(withOnOff: Bool) throws {
    let node = TestNode.lit(at: 50)
    try node.move(.up, 5)
    node.wait(5000)
    _ = try node.takeReports(of: LevelControl.currentLevel)
    node.wait(300)
    try node.stop(withOnOff: withOnOff)
    #expect(node.level == 76)
    #expect(node.remainingTime == 0)
    #expect(try node.takeReports(of: LevelControl.currentLevel).map(\.value) == [.value(76)])
    node.wait(5000)
    #expect(node.level == 76)
    #expect(node.context.node.timers.isEmpty)
  }

  @Test func clampsLevels() throws {
    let light = LevelControlServer.make(level: 100).initial(LevelControl.minLevel, 10)
      .initial(LevelControl.maxLevel, 200)
    let node = TestNode(TestNode.dimmableLight(onOff: OnOffServer.make(isOn: true), level: light))
    try node.moveTo(254)
    #expect(node.level == 200)
    try node.moveTo(0)
    #expect(node.level == 10)
    #expect(throws: StatusError(.constraintError)) { try node.moveTo(255) }
    try node.move(.up, 254)
    node.wait(2000)
    #expect(node.level == 200)
    for level: UInt8 in [9, 201] {
      #expect(throws: StatusError(.constraintError)) { try node.write(LevelControl.onLevel, .value(level)) }
    }
    try node.write(LevelControl.onLevel, .value(10))
    try node.write(LevelControl.onLevel, .null)
  }

  @Test func replacesRunningTransition() throws {
    let node = TestNode.lit(at: 50)
    try node.moveTo(250, 100)
    node.wait(5000)
    try node.moveTo(50, 50)
    #expect(node.level == 150)
    node.wait(2500)
    #expect(node.level == 100)
    node.wait(2500)
    #expect(node.level == 50)
    node.wait(5000)
    #expect(node.level == 50)
  }

  // MARK: With On/Off

  @Test func turnsOnWithCoupledCommands() throws {
    for command in 0..<3 {
      let node = TestNode(TestNode.dimmableLight(level: LevelControlServer.make(level: 20)))
      switch command {
      case 0: try node.moveTo(50, withOnOff: true)
      case 1: try node.move(.up, 10, withOnOff: true)
      default: try node.step(.up, 50, withOnOff: true)
      }
      #expect(node.isOn)
      #expect(node.level == [50, 20, 70][command])
      #expect(node[OnOff.globalSceneControl])
    }
  }

  @Test func turnsOffAtLowestLevel() throws {
    for command in 0..<3 {
      let node = TestNode.lit(at: 101)
      switch command {
      case 0: try node.moveTo(0, 100, withOnOff: true)
      case 1: try node.move(.down, 10, withOnOff: true)
      default: try node.step(.down, 200, 200, withOnOff: true)
      }
      node.wait(9900)
      #expect(node.isOn)
      #expect(node.level == 2)
      node.wait(100)
      #expect(!node.isOn)
      #expect(node.level == 1)
      #expect(node.remainingTime == 0)
    }
  }

  @Test func staysOffAtLowestLevel() throws {
    let node = TestNode(TestNode.dimmableLight(level: LevelControlServer.make(level: 1)))
    try node.moveTo(1, withOnOff: true)
    try node.move(.down, 10, withOnOff: true)
    #expect(!node.isOn)
  }

  // MARK: Reports

  @Test func reportsOncePerSecondAndAtEnd() throws {
    let node = TestNode.lit(at: 1)
    try node.moveTo(254, 100, withOnOff: true)
    node.wait(30_000)
    let levels = node.reports.filter { $0.path == LevelControl.currentLevel.path(on: 1) }
    #expect(levels.map(\.milliseconds) == (1...10).map { $0 * 1000 }, "once per second and at the end")
    #expect(try levels.map { try Nullable<UInt8>(tlv: $0.value) }.last == .value(254))
    let times = try node.takeReports(of: LevelControl.remainingTime)
    #expect(times.map(\.value) == [100, 0])

    try node.moveTo(1, 100)
    node.wait(5000)
    try node.moveTo(1, 150)
    node.wait(20_000)
    let more = try node.takeReports(of: LevelControl.remainingTime)
    #expect(more.map(\.value) == [100, 150, 0])
  }

  @Test(arguments: [(10, [0]), (11, [11, 0])] as [(UInt16, [UInt16])])
  func doesNotReportShortTransitions(time: UInt16, reported: [UInt16]) throws {
    let node = TestNode.lit(at: 50)
    try node.moveTo(100, time)
    node.wait(3000)
    #expect(try node.takeReports(of: LevelControl.remainingTime).map(\.value) == reported)
  }

  @Test func reportsUnreportedLevelAtEnd() throws {
    let node = TestNode.lit(at: 50)
    try node.moveTo(60, 9)
    node.wait(890)
    #expect(node.level == 58)
    #expect(try node.takeReports(of: LevelControl.currentLevel).isEmpty)
    try node.moveTo(58)
    #expect(try node.takeReports(of: LevelControl.currentLevel).map(\.value) == [.value(58)])
    try node.moveTo(58)
    #expect(try node.takeReports(of: LevelControl.currentLevel).isEmpty, "reported once")
  }

  @Test func reportsSlowTransitionsOnlyOnChange() throws {
    let node = TestNode.lit(at: 50)
    try node.moveTo(52, 100)
    node.wait(20_000)
    let reports = try node.takeReports(of: LevelControl.currentLevel)
    #expect(reports.map(\.at) == [5000, 10_000])
    #expect(reports.map(\.value) == [.value(51), .value(52)])
  }
}
