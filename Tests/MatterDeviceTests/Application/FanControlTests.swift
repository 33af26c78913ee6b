import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

/// Modes, percentages, speeds and steps, based on the public certification scripts TC-FAN-2.1 to 3.6.
@Suite("Fan control") struct FanControlTests {
  private static let features = [
    FanControl.auto, FanControl.rocking, FanControl.wind, FanControl.stepFeature, FanControl.airflowDirectionFeature,
  ]
  private let node = TestNode([FanControlServer.make(features: features, speeds: 10)])

  /// Mode, percentage and speed as they are set, and the present percentage and speed.
  private var state: [Int?] {
    [
      Int(node[FanControl.fanMode].rawValue), node[FanControl.percentSetting].wrapped.map { Int($0) },
      node[FanControl.speedSetting].wrapped.map { Int($0) }, Int(node[FanControl.percentCurrent]),
      Int(node[FanControl.speedCurrent]),
    ]
  }

  private func step(_ direction: FanControl.StepDirection, wrap: Bool? = nil, lowestOff: Bool? = nil) throws -> UInt8 {
    try node.invoke(FanControl.step, .init(direction: direction, wrap: wrap, lowestOff: lowestOff))
    return node[FanControl.speedCurrent]
  }

  @Test(arguments: [[], [FanControl.stepFeature], features]) func servesValidValues(_ features: [Feature]) throws {
    for speeds in [3, 10, 100] as [UInt8] {
      let server = FanControlServer.make(features: features, speeds: speeds)
      expectConformance(of: server)
    }
  }

  @Test func modesHaveSpeeds() throws {
    var found: [[Int?]] = []
    for mode in [FanControl.FanMode.low, .medium, .high, .auto, .off, .on, .smart] {
      try node.write(FanControl.fanMode, mode)
      found.append(state)
    }
    #expect(
      found == [
        [1, 30, 3, 30, 3], [2, 60, 6, 60, 6], [3, 100, 10, 100, 10], [5, nil, nil, 30, 3], [0, 0, 0, 0, 0],
        [3, 100, 10, 100, 10], [5, nil, nil, 30, 3],
      ])
  }

  @Test(
    "a fan has the modes of its sequence",
    arguments: [
      (FanControl.FanModeSequence.offLowHigh, [FanControl.FanMode.off, .low, .high, .high]),
      (.offHigh, [.off, .high, .high, .high]), (.offLowMedHigh, [.off, .low, .medium, .high]),
    ]) func followsSequence(_ sequence: FanControl.FanModeSequence, _ modes: [FanControl.FanMode]) throws
  {
    let server = FanControlServer.make(features: [], speeds: 9).initial(FanControl.fanModeSequence, sequence)
    let node = TestNode([server])
    for mode in [FanControl.FanMode.low, .medium] where !modes.contains(mode) {
      #expect(node.status { try node.write(FanControl.fanMode, mode) } == .constraintError)
    }
    let found = try ([0, 3, 6, 9] as [UInt8]).map { speed in
      try node.write(FanControl.speedSetting, .value(speed))
      return node[FanControl.fanMode]
    }
    #expect(found == modes)
    // Each mode has a speed that belongs to it.
    for mode in Set(modes) {
      try node.write(FanControl.fanMode, mode)
      #expect(node[FanControl.fanMode] == mode)
    }
    #expect(throws: StatusError.self) {
      try server.check(initial: FanControl.FanModeSequence.offLowHighAuto.tlv, for: FanControl.fanModeSequence.id)
    }
  }

  @Test("percentages change speed and mode in the same direction") func percentages() throws {
    var found: [[Int]] = []
    for percent in Array(0...100) + Array((0..<100).reversed()) as [UInt8] {
      try node.write(FanControl.percentSetting, .value(percent))
      #expect(node[FanControl.percentSetting] == .value(percent) && node[FanControl.percentCurrent] == percent)
      found.append(state.compactMap { $0 })
    }
    for (before, after) in zip(found[...100], found[1...100]) {
      #expect(zip(before, after).allSatisfy { $0 <= $1 })
    }
    for (before, after) in zip(found[100...], found[101...]) {
      #expect(zip(before, after).allSatisfy { $0 >= $1 })
    }
    #expect(found[1] == [1, 1, 1, 1, 1] && found[31] == [2, 31, 4, 31, 4] && found.last == [0, 0, 0, 0, 0])
  }

  @Test("each speed is a report of the percentage, and each mode one of the mode") func speeds() throws {
    for speed in 1...10 as ClosedRange<UInt8> { try node.write(FanControl.speedSetting, .value(speed)) }
    let reports = node.reports
    #expect(reports.count { $0.path.attribute == FanControl.percentSetting.id } == 10)
    #expect(reports.count { $0.path.attribute == FanControl.fanMode.id } == 3)
    #expect(node.status { try node.write(FanControl.speedSetting, .value(11)) } == .constraintError)
    #expect(node.status { try node.write(FanControl.percentSetting, .value(101)) } == .constraintError)
  }

  @Test func rejectsNullAndUnsupportedValues() throws {
    #expect(node.status { try node.write(FanControl.percentSetting, .null) } == .invalidInState)
    #expect(node.status { try node.write(FanControl.speedSetting, .null) } == .invalidInState)
    #expect(node.status { try node.write(FanControl.fanMode, .init(7)) } == .constraintError)
    #expect(node.status { try node.write(FanControl.rockSetting, .rockRound) } == .constraintError)
    #expect(node.status { try node.write(FanControl.windSetting, .init(rawValue: 4)) } == .constraintError)
    try node.write(FanControl.rockSetting, [.rockLeftRight, .rockUpDown])
    try node.write(FanControl.windSetting, .naturalWind)
    try node.write(FanControl.airflowDirection, .reverse)
    #expect(node[FanControl.airflowDirection] == .reverse)
    let hood = TestNode([FanControlServer.make(features: [], speeds: 4)])
    #expect(node.status { try hood.write(FanControl.fanMode, .auto) } == .constraintError)
    try hood.write(FanControl.fanMode, .smart)
    #expect(hood[FanControl.fanMode] == .high)
  }

  @Test func steps() throws {
    try node.write(FanControl.percentSetting, .value(50))
    #expect(try step(.increase) == 6)
    #expect(try step(.decrease) == 5)
    try node.write(FanControl.speedSetting, .value(10))
    #expect(try step(.increase, wrap: false) == 10)
    #expect(try step(.increase, wrap: true, lowestOff: false) == 1)
    #expect(try step(.decrease, wrap: false, lowestOff: false) == 1)
    #expect(try step(.decrease, wrap: true, lowestOff: false) == 10)
    #expect(try step(.increase, wrap: true, lowestOff: true) == 0)
    #expect(try step(.decrease, wrap: true, lowestOff: true) == 10)
    try node.write(FanControl.speedSetting, .value(1))
    // The lowest step is off unless the command says otherwise.
    #expect(try step(.decrease) == 0)
    #expect(node[FanControl.fanMode] == .off)
    #expect(try step(.decrease, lowestOff: false) == 0)
    try node.write(FanControl.fanMode, .auto)
    #expect(try step(.increase) == 4)
    #expect(node.status { _ = try step(.init(2)) } == .constraintError)
  }

  @Test func followsItsKnobAndRestarts() throws {
    node.act(FanControl.fanMode, .medium)
    #expect(state == [2, 60, 6, 60, 6])
    node.act(FanControl.percentSetting, .value(85))
    #expect(state == [3, 85, 9, 85, 9])
    try node.write(FanControl.rockSetting, .rockLeftRight)
    let restarted = TestNode([FanControlServer.make(features: Self.features, speeds: 10)], stored: node.stored)
    #expect(restarted[FanControl.percentCurrent] == 85 && restarted[FanControl.fanMode] == .high)
    #expect(restarted[FanControl.rockSetting] == .rockLeftRight)
    try restarted.write(FanControl.fanMode, .off)
    let off = TestNode([FanControlServer.make(features: Self.features, speeds: 10)], stored: restarted.stored)
    #expect(off[FanControl.percentCurrent] == 0 && off[FanControl.fanMode] == .off)
  }
}
