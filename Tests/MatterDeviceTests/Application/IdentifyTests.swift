import MatterClusters
import MatterModel
import Testing

@testable import MatterDevice

/// Based on the public certification scripts TC-I-2.2 to 2.4.
struct IdentifyTests {
  @Test func countsDown() throws {
    let node = TestNode()
    try node.invoke(Identify.identify, .init(identifyTime: 60))
    #expect(node[Identify.identifyTime] == 60)
    node.wait(10_000)
    #expect(node[Identify.identifyTime] == 50)
    try node.invoke(Identify.identify, .init(identifyTime: 0))
    #expect(node[Identify.identifyTime] == 0)
    try node.write(Identify.identifyTime, 15)
    node.wait(14_999)
    #expect(node[Identify.identifyTime] == 1)
    node.wait(1)
    #expect(node[Identify.identifyTime] == 0)
    #expect(node.context.node.timers.isEmpty)
    #expect(
      node.events.filter { if case .identify = $0 { true } else { false } } == [
        .identify(1, isIdentifying: true), .identify(1, isIdentifying: false), .identify(1, isIdentifying: true),
        .identify(1, isIdentifying: false),
      ])
  }

  @Test(arguments: [true, false])
  func reportsStartAndEnd(byCommand: Bool) throws {
    let node = TestNode()
    func set(_ time: UInt16) throws {
      if byCommand {
        try node.invoke(Identify.identify, .init(identifyTime: time))
      } else {
        try node.write(Identify.identifyTime, time)
      }
    }
    try set(5)
    try set(10)
    node.wait(12_000)
    let first = try node.takeReports(of: Identify.identifyTime)
    #expect(first.map(\.value) == [5, 10, 0])
    #expect(first.map(\.at) == [0, 0, 10_000])
    try set(5)
    try set(0)
    node.wait(1000)
    #expect(try node.takeReports(of: Identify.identifyTime).map(\.value) == [5, 0])
  }

  @Test func countsTimeOfLateTimer() throws {
    let node = TestNode()
    try node.invoke(Identify.identify, .init(identifyTime: 60))
    node.stall(10_500)
    #expect(node[Identify.identifyTime] == 50)
    node.wait(500)
    #expect(node[Identify.identifyTime] == 49)
    node.stall(100_000)
    #expect(node[Identify.identifyTime] == 0)
    #expect(node.context.node.timers.isEmpty)
  }

  @Test func restartsCountdownWithSameTime() throws {
    let node = TestNode()
    try node.invoke(Identify.identify, .init(identifyTime: 2))
    node.wait(900)
    try node.invoke(Identify.identify, .init(identifyTime: 2))
    node.wait(1999)
    #expect(node[Identify.identifyTime] == 1)
    node.wait(1)
    #expect(node[Identify.identifyTime] == 0)
  }

  @Test func acceptsKnownEffects() throws {
    let node = TestNode()
    for effect in [Identify.EffectIdentifier.blink, .breathe, .okay, .channelChange, .finishEffect, .stopEffect] {
      try node.invoke(Identify.triggerEffect, .init(effectIdentifier: effect, effectVariant: .default))
    }
    try node.invoke(
      Identify.triggerEffect, .init(effectIdentifier: .blink, effectVariant: .init(rawValue: 66)))
    #expect(throws: StatusError(.constraintError)) {
      try node.invoke(
        Identify.triggerEffect, .init(effectIdentifier: .init(rawValue: 3), effectVariant: .default))
    }
    #expect(node.events.filter { if case .note = $0 { true } else { false } }.count == 7)
  }
}
