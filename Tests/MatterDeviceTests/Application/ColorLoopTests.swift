import MatterClusters
import MatterModel
import Testing

@testable import MatterDevice

/// Color loops and conversion between color models, based on the public certification scripts TC-CC-9.1 to 9.3.
struct ColorLoopTests {
  private func prepared() throws -> TestNode {
    let node = TestNode.colorful()
    try node.enhancedMoveToHue(16_384)
    try node.loop([.updateDirection, .updateTime, .updateStartHue], .deactivate, .decrement, time: 30, start: 160)
    return node
  }

  @Test func updatesOnlyFlaggedFields() throws {
    let node = TestNode.colorful()
    let before = [
      UInt16(node[ColorControl.colorLoopDirection].rawValue), node[ColorControl.colorLoopTime],
      node[ColorControl.colorLoopStartEnhancedHue],
    ]
    #expect(before == [0, 25, 0x2300])
    try node.loop([], .activateFromEnhancedCurrentHue, .increment, time: 7, start: 9)
    #expect(node[ColorControl.colorLoopActive] == 0)
    #expect(node[ColorControl.colorLoopDirection] == .decrement)
    try node.loop(.updateDirection, .activateFromEnhancedCurrentHue, .increment, time: 7, start: 9)
    #expect(node[ColorControl.colorLoopDirection] == .increment)
    #expect(node[ColorControl.colorLoopTime] == 25)
    try node.loop(.updateTime, .activateFromEnhancedCurrentHue, .decrement, time: 7, start: 9)
    #expect(node[ColorControl.colorLoopTime] == 7)
    try node.loop(.updateStartHue, .activateFromEnhancedCurrentHue, .decrement, time: 8, start: 9)
    #expect(node[ColorControl.colorLoopStartEnhancedHue] == 9)
    #expect(node[ColorControl.colorLoopDirection] == .increment)
    #expect(node[ColorControl.colorLoopActive] == 0)
    try node.loop(.updateAction, .deactivate)
    #expect(node[ColorControl.colorLoopActive] == 0)
  }

  @Test(arguments: [ColorControl.ColorLoopDirection.decrement, .increment])
  func loopsAndRestoresStoredHue(direction: ColorControl.ColorLoopDirection) throws {
    let node = try prepared()
    try node.loop([.updateAction, .updateDirection], .activateFromColorLoopStartEnhancedHue, direction)
    #expect(node[ColorControl.colorLoopActive] == 1)
    #expect(node[ColorControl.colorLoopStoredEnhancedHue] == 16_384)
    #expect(node.enhancedHue == 160)
    #expect(node.colorTime == 0xFFFF)
    node.wait(7500)
    #expect(node.enhancedHue == (direction == .increment ? 16_544 : 49_312))
    node.wait(22_500)
    #expect(node.enhancedHue == 160)
    // The value is constant between two steps.
    node.wait(99)
    #expect(node.enhancedHue == 160)
    node.wait(29_901)
    #expect(node.enhancedHue == 160)
    try node.loop(.updateAction, .deactivate)
    #expect(node[ColorControl.colorLoopActive] == 0)
    #expect(node.enhancedHue == 16_384)
    #expect(node.colorTime == 0)
    node.wait(5000)
    #expect(node.enhancedHue == 16_384)
    #expect(node.context.node.timers.isEmpty)
    #expect(node.modes == [0, 3])
  }

  @Test func changesDirectionAndTimeWhileActive() throws {
    let node = try prepared()
    try node.loop(.updateAction, .activateFromEnhancedCurrentHue)
    #expect(node.enhancedHue == 16_384)
    node.wait(3040)
    let turned = node.enhancedHue
    #expect(turned == 9830)
    try node.loop(.updateDirection, .deactivate, .increment)
    node.wait(2960)
    #expect(node.enhancedHue == 16_384, "back at the start")
    try node.loop(.updateTime, .deactivate, .decrement, time: 60)
    node.wait(15_000)
    #expect(node.enhancedHue == 32_768)
    try node.loop(.updateTime, .deactivate, .decrement, time: 0)
    node.wait(15_000)
    #expect(node.enhancedHue == 32_768, "a time of 0 does not move")
    try node.loop(.updateAction, .deactivate)
    #expect(node.enhancedHue == 16_384)
  }

  @Test func ignoresOtherCommands() throws {
    let node = try prepared()
    try node.loop(.updateAction, .activateFromEnhancedCurrentHue)
    try node.stopColor()
    try node.moveToHue(1)
    try node.moveToColor(1, 1)
    try node.moveToTemperature(200)
    try node.moveHue(.stop, 0)
    try node.moveToSaturation(77)
    try node.moveSaturation(.up, 10)
    node.wait(1000)
    try node.stopColor()
    node.wait(14_000)
    #expect(node[ColorControl.colorLoopActive] == 1)
    #expect(node.enhancedHue == 49_152, "half of the circle")
    #expect(node.saturation == 87)
    #expect(node.modes == [0, 3])
    // A second activation keeps the stored hue.
    try node.loop(.updateAction, .activateFromColorLoopStartEnhancedHue)
    #expect(node.enhancedHue == 160)
    #expect(node[ColorControl.colorLoopStoredEnhancedHue] == 16_384)
  }

  @Test func resumesAfterRestart() throws {
    let node = try prepared()
    try node.loop(.updateAction, .activateFromEnhancedCurrentHue)
    node.wait(15_000)
    let later = node.restartedInColor()
    #expect(later[ColorControl.colorLoopActive] == 1)
    #expect(later.enhancedHue == 49_152)
    later.wait(7500)
    #expect(later.enhancedHue == 32_768)
    try later.loop(.updateAction, .deactivate)
    #expect(later.enhancedHue == 16_384)
  }

  // MARK: Models

  @Test func convertsColorOnModeChange() throws {
    let node = TestNode.colorful()
    // The red primary.
    try node.moveToHueAndSaturation(0, 254)
    try node.moveColor(1, 0)
    try node.stopColor()
    #expect(node.modes == [1, 1])
    #expect(abs(Int(node.xy[0]) - 41_943) < 100 && abs(Int(node.xy[1]) - 21_627) < 100, "\(node.xy)")
    #expect([node.hue, node.saturation] == [0, 254], "the other models keep their values")
    // The green primary, converted to hue and saturation.
    try node.moveToColor(19_661, 39_322)
    try node.stepSaturation(.down, 1)
    #expect(node.modes == [0, 0])
    #expect((84...86).contains(node.hue), "\(node.hue)")
    #expect(node.saturation == 253)
    // White of 2700 K.
    try node.moveToTemperature(370)
    try node.moveColor(1, 0)
    try node.stopColor()
    #expect(abs(Int(node.xy[0]) - 30_120) < 200 && abs(Int(node.xy[1]) - 26_900) < 200, "\(node.xy)")
    try node.stepTemperature(.up, 1)
    #expect((365...375).contains(node.mireds), "\(node.mireds)")
    try node.stepSaturation(.up, 1)
    #expect((15...30).contains(node.hue), "warm white has an orange hue: \(node.hue)")
    #expect((90...200).contains(node.saturation), "\(node.saturation)")
    // The color temperature of blue is clamped to the coldest one.
    try node.moveToColor(9830, 3932)
    try node.stepTemperature(.up, 1)
    #expect(node.mireds == 141)
  }

  @Test func startsAllModelsWithSameWhite() {
    let node = TestNode.colorful(mireds: 370)
    #expect(node.mireds == 370)
    #expect(node.modes == [2, 2])
    #expect(abs(Int(node.xy[0]) - 30_120) < 200 && abs(Int(node.xy[1]) - 26_900) < 200, "\(node.xy)")
    #expect((15...30).contains(node.hue))
    #expect(node.hue == UInt8(node.enhancedHue >> 8))
  }
}
