import MatterClusters
import MatterModel
import Testing

@testable import MatterDevice

/// The commands, based on the public certification scripts TC-CC-3.1 to 8.1, with additional cases.
struct ColorControlTests {
  @Test func movesHueInRequestedDirection() throws {
    let ways: [(ColorControl.Direction, from: UInt8, to: UInt8, atThird: UInt8)] = [
      (.shortest, 60, 120, 80), (.longest, 60, 120, 250), (.up, 60, 120, 80), (.down, 120, 60, 100),
      (.shortest, 250, 25, 5), (.down, 10, 235, 0), (.up, 120, 60, 185),
    ]
    for (direction, from, to, atThird) in ways {
      let node = TestNode.colorful()
      try node.moveToHue(from)
      #expect(node.hue == from)
      try node.moveToHue(to, direction, 300)
      #expect(node.colorTime == 300)
      node.wait(10_000)
      #expect(node.hue == atThird, "\(direction) from \(from)")
      #expect(node.colorTime == 200)
      node.wait(20_000)
      #expect(node.hue == to)
      #expect(node.enhancedHue >> 8 == UInt16(to))
      #expect(node.colorTime == 0)
      #expect(node.modes == [0, 0])
      #expect(node.context.node.timers.isEmpty)
    }
  }

  @Test func doesNotMoveToCurrentHue() throws {
    for direction in [ColorControl.Direction.shortest, .longest, .up, .down] {
      let node = TestNode.colorful()
      try node.moveToHue(60)
      try node.moveToHue(60, direction, 100)
      #expect(node.colorTime == 0)
      node.wait(5000)
      #expect(node.hue == 60)
    }
  }

  @Test func movesHueUntilStopped() throws {
    let node = TestNode.colorful()
    try node.moveToHue(200)
    try node.moveHue(.up, 5)
    #expect(node.colorTime == 0xFFFF)
    node.wait(5000)
    #expect(node.hue == 225)
    node.wait(15_000)
    #expect(node.hue == 45)
    try node.moveHue(.stop, 0)
    #expect(node.colorTime == 0)
    node.wait(5000)
    #expect(node.hue == 45)
    try node.moveHue(.down, 5)
    node.wait(10_000)
    #expect(node.hue == 250)
    try node.stopColor()
    node.wait(5000)
    #expect(node.hue == 250)
    #expect(node.context.node.timers.isEmpty)
  }

  @Test func wrapsHueSteps() throws {
    let node = TestNode.colorful()
    try node.moveToHue(200)
    try node.stepHue(.up, 80, 200)
    node.wait(5000)
    #expect(node.hue == 220)
    node.wait(15_000)
    #expect(node.hue == 25)
    try node.stepHue(.down, 100, 200)
    node.wait(20_000)
    #expect(node.hue == 180)
  }

  @Test func stopsSaturationAtItsLimits() throws {
    let node = TestNode.colorful()
    try node.moveToSaturation(150)
    try node.moveSaturation(.up, 5)
    #expect(node.colorTime == 208)
    node.wait(10_000)
    #expect(node.saturation == 200)
    node.wait(20_000)
    #expect(node.saturation == 254)
    try node.stepSaturation(.down, 108, 100)
    node.wait(5000)
    #expect(node.saturation == 200)
    node.wait(5000)
    #expect(node.saturation == 146)
    try node.stepSaturation(.up, 216, 100)
    #expect(node.colorTime == 50, "half of the step fits")
    node.wait(5000)
    #expect(node.saturation == 254)
    try node.moveSaturation(.down, 254)
    node.wait(1000)
    #expect(node.saturation == 0)
  }

  @Test func movesHueAndSaturationIndependently() throws {
    let node = TestNode.colorful()
    try node.moveToHueAndSaturation(100, 100)
    try node.moveToHue(200, .shortest, 100)
    node.wait(5000)
    try node.moveToSaturation(200, 100)
    #expect(node.colorTime == 100)
    node.wait(5000)
    #expect(node.hue == 200)
    #expect(node.saturation == 150)
    #expect(node.colorTime == 50)
    node.wait(5000)
    #expect(node.saturation == 200)
    try node.moveHue(.up, 1)
    try node.moveSaturation(.down, 1)
    node.wait(2000)
    try node.moveSaturation(.stop, 0)
    node.wait(2000)
    #expect(node.hue == 202, "stop ends both transitions")
    #expect(node.saturation == 198)
    try node.moveToHueAndSaturation(102, 98, 200)
    node.wait(10_000)
    #expect([node.hue, node.saturation] == [152, 148])
  }

  @Test func limitsChromaticity() throws {
    let node = TestNode.colorful()
    try node.moveToColor(33000, 26000)
    try node.moveColor(-100, 100)
    node.wait(10_000)
    #expect(node.xy == [32000, 27000])
    try node.stopColor()
    node.wait(1000)
    #expect(node.xy == [32000, 27000])
    try node.stepColor(-20_000, -6000, 200)
    node.wait(10_000)
    #expect(node.xy == [22_000, 24_000])
    node.wait(10_000)
    #expect(node.xy == [12_000, 21_000])
    try node.stepColor(-32_000, 0, 320)
    #expect(node.colorTime == 120)
    node.wait(32_000)
    #expect(node.xy == [0, 21_000])
    try node.moveColor(32_767, 0)
    node.wait(5000)
    #expect(node.xy == [65279, 21_000])
    try node.moveColor(-1, -1)
    try node.moveColor(0, 0)
    node.wait(5000)
    #expect(node.xy == [65279, 21_000])
    #expect(node.modes == [1, 1])
  }

  @Test func limitsTemperatureByLightAndCommand() throws {
    let node = TestNode.white()
    try node.moveToTemperature(320)
    try node.moveTemperature(.up, 9)
    #expect(node.colorTime == 200)
    node.wait(10_000)
    #expect(node.mireds == 410)
    node.wait(10_000)
    #expect(node.mireds == 500)
    try node.moveTemperature(.down, 65535)
    node.wait(100)
    #expect(node.mireds == 140)
    try node.stepTemperature(.up, 100, 100)
    node.wait(5000)
    #expect(node.mireds == 190)
    node.wait(5000)
    #expect(node.mireds == 240)
    try node.stepTemperature(.up, 100, within: (200, 300))
    #expect(node.mireds == 300)
    try node.stepTemperature(.up, 50, within: (0, 250))
    #expect(node.mireds == 300, "a limit below the current value has no effect")
    try node.moveTemperature(.down, 1000, within: (280, 0))
    node.wait(1000)
    #expect(node.mireds == 280)
    try node.moveToTemperature(10)
    #expect(node.mireds == 140)
    try node.moveToTemperature(65279)
    #expect(node.mireds == 500)
    #expect(node.modes == [2, 2])
  }

  @Test func movesEnhancedHue() throws {
    let node = TestNode.colorful()
    try node.enhancedMoveToHue(6000)
    #expect(node.modes == [0, 3])
    #expect(node.hue == 23)
    try node.enhancedMoveToHue(54_000, .longest, 300)
    node.wait(10_000)
    #expect(node.enhancedHue == 22_000)
    node.wait(20_000)
    #expect(node.enhancedHue == 54_000)
    try node.enhancedMoveToHue(65_535)
    #expect(node.hue == 254)
    try node.enhancedMoveHue(.up, 500)
    node.wait(10_000)
    #expect(node.enhancedHue == 4999)
    try node.enhancedMoveHue(.stop, 0)
    try node.enhancedStepHue(.down, 6000, 300)
    node.wait(30_000)
    #expect(node.enhancedHue == 64_535)
    let request = ColorControl.EnhancedMoveToHueAndSaturationRequest(
      enhancedHue: 16_000, saturation: 80, transitionTime: 0, optionsMask: [], optionsOverride: [])
    try node.invoke(ColorControl.enhancedMoveToHueAndSaturation, request)
    #expect(node.enhancedHue == 16_000)
    #expect(node.saturation == 80)
    try node.moveToHue(30)
    #expect(node.modes == [0, 0])
    #expect(node.enhancedHue == 30 * 257)
  }

  @Test func rejectsInvalidCommands() throws {
    let node = TestNode.colorful()
    let constraint: [(TestNode) throws -> Void] = [
      { try $0.moveToHue(255) }, { try $0.moveToHue(1, .up, 65535) }, { try $0.moveToSaturation(255) },
      { try $0.moveToHueAndSaturation(255, 1) }, { try $0.moveToHueAndSaturation(1, 255) },
      { try $0.moveToColor(65280, 1) }, { try $0.moveToColor(1, 65280) }, { try $0.moveToColor(1, 1, 65535) },
      { try $0.stepColor(1, 1, 65535) }, { try $0.moveToTemperature(65280) }, { try $0.moveToTemperature(1, 65535) },
      { try $0.moveTemperature(.up, 1, within: (65280, 0)) }, { try $0.stepTemperature(.up, 1, within: (0, 65280)) },
      { try $0.enhancedMoveToHue(1, .up, 65535) }, { try $0.enhancedStepHue(.up, 1, 65535) },
      { try $0.write(ColorControl.options, .init(rawValue: 2)) },
      { try $0.write(ColorControl.startUpColorTemperatureMireds, .value(0)) },
      { try $0.write(ColorControl.startUpColorTemperatureMireds, .value(65280)) },
    ]
    for (index, request) in constraint.enumerated() {
      #expect(throws: StatusError(.constraintError), "constraint \(index)") { try request(node) }
    }
    let invalid: [(TestNode) throws -> Void] = [
      { try $0.moveToHue(1, .init(rawValue: 4)) }, { try $0.moveHue(.up, 0) }, { try $0.moveHue(.down, 0) },
      { try $0.moveHue(.init(rawValue: 2), 1) }, { try $0.stepHue(.up, 0) }, { try $0.stepHue(.init(rawValue: 0), 1) },
      { try $0.moveSaturation(.up, 0) }, { try $0.moveSaturation(.init(rawValue: 9), 1) },
      { try $0.stepSaturation(.down, 0) }, { try $0.stepSaturation(.init(rawValue: 2), 1) },
      { try $0.stepColor(0, 0) }, { try $0.moveTemperature(.down, 0) }, { try $0.stepTemperature(.up, 0) },
      { try $0.moveTemperature(.init(rawValue: 2), 1) }, { try $0.stepTemperature(.init(rawValue: 2), 1) },
      { try $0.enhancedMoveToHue(1, .init(rawValue: 4)) }, { try $0.enhancedMoveHue(.up, 0) },
      { try $0.enhancedStepHue(.up, 0) }, { try $0.loop([], .init(rawValue: 3)) },
      { try $0.loop([], .deactivate, .init(rawValue: 2)) },
    ]
    for (index, request) in invalid.enumerated() {
      #expect(throws: StatusError(.invalidCommand), "invalid \(index)") { try request(node) }
    }
    #expect(node.modes == [2, 2], "rejected commands change nothing")
    #expect(node.context.node.timers.isEmpty)
  }

  @Test func executesWhileOffOnlyWithOption() throws {
    for (options, expected) in [([], [40, 40, 40, 80]), (.executeIfOff, [40, 50, 50, 80])]
      as [(ColorControl.Options, [UInt8])]
    {
      let node = TestNode.colorful()
      try node.write(ColorControl.options, options)
      try node.moveToHue(40)
      #expect(node.hue == expected[0])
      try node.invoke(OnOff.off)
      try node.moveToHue(50)
      #expect(node.hue == expected[1], "\(options)")
      try node.moveToHue(70, mask: .executeIfOff)
      #expect(node.hue == expected[2], "\(options)")
      try node.moveToHue(80, mask: .executeIfOff, override: .executeIfOff)
      #expect(node.hue == expected[3], "\(options)")
      #expect(throws: StatusError(.invalidCommand)) { try node.moveHue(.up, 0) }
    }
    let node = TestNode.colorful(isOn: false)
    try node.moveToColor(1, 1)
    try node.moveColor(1, 1)
    try node.stepColor(1, 1)
    try node.moveToTemperature(300)
    try node.moveTemperature(.up, 9)
    try node.stepTemperature(.up, 9)
    try node.enhancedMoveToHue(9)
    try node.enhancedMoveHue(.up, 9)
    try node.loop(.updateAction, .activateFromEnhancedCurrentHue)
    try node.moveSaturation(.up, 9)
    node.wait(1000)
    #expect(node.modes == [2, 2])
    #expect(node.mireds == 250)
    #expect(node[ColorControl.colorLoopActive] == 0)
  }

  @Test func servesOnlySupportedFeatures() {
    let node = TestNode.white()
    #expect(!node.serves(ColorControl.currentHue))
    #expect(!node.serves(ColorControl.currentX))
    #expect(!node.serves(ColorControl.primary1X))
    #expect(!node.accepts(ColorControl.moveToColor))
    #expect(node.accepts(ColorControl.stopMoveStep))
    #expect(node[ColorControl.colorCapabilities] == .colorTemperature)
    #expect(node[ColorControl.numberOfPrimaries] == .value(0))
    #expect(TestNode.colorful()[ColorControl.colorCapabilities].rawValue == 0x1F)
    for features in [ColorControlServer.everything, [ColorControl.colortemperature], [ColorControl.xy]] {
      #expect(ColorControlServer.make(features: features).violations.isEmpty)
    }
  }

  @Test func restoresColorAfterRestart() throws {
    let node = TestNode.colorful()
    try node.moveToColor(32_768, 19_660, 100)
    node.wait(20_000)
    let later = node.restartedInColor()
    #expect(later.xy == [32_768, 19_660])
    #expect(later.modes == [1, 1])
    #expect(later.colorTime == 0)
    try later.write(ColorControl.startUpColorTemperatureMireds, .value(300))
    let again = later.restartedInColor()
    #expect(again.mireds == 300)
    #expect(again.modes == [2, 2])
    try again.write(ColorControl.startUpColorTemperatureMireds, .value(9000))
    #expect(again.restartedInColor().mireds == 500, "clamped to the warmest")
    try again.write(ColorControl.startUpColorTemperatureMireds, .null)
    try again.enhancedMoveToHue(1234)
    #expect(again.restartedInColor().enhancedHue == 1234)
    #expect(again.restartedInColor().modes == [0, 3])
  }

  @Test func appliesManualChanges() throws {
    let node = TestNode.colorful()
    try node.moveToHue(10, .up, 100)
    node.act(ColorControl.colorTemperatureMireds, 333)
    node.wait(20_000)
    #expect(node.mireds == 333)
    #expect(node.modes == [2, 2])
    #expect(node.hue != 10)
    node.act(ColorControl.currentHue, 99)
    #expect(node.modes == [0, 0])
    #expect(node.enhancedHue == 99 * 257)
  }
}
