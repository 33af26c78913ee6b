import MatterClusters
import MatterModel
import Testing

@testable import MatterDevice

/// Reports of the color attributes, based on the public certification script TC-CC-2.2.
struct ColorReportTests {
  @Test func reportsOncePerSecondAndAtEnd() throws {
    let node = TestNode.colorful()
    try node.moveTemperature(.down, 65535)
    node.wait(1000)
    _ = try node.takeReports(of: ColorControl.colorTemperatureMireds)
    let start = node.now
    try node.moveToTemperature(500, 100)
    node.wait(20_000)
    let times = node.reports.filter { $0.path == ColorControl.remainingTime.path(on: 1) }
    #expect(try times.map { try UInt16(tlv: $0.value) } == [100, 0])
    let reports = try node.takeReports(of: ColorControl.colorTemperatureMireds)
    #expect(reports.map { $0.at - start } == (1...10).map { $0 * 1000 })
    #expect(reports.last?.value == 500)
    #expect(reports.first?.value == 176)
  }

  @Test func limitsReportsOfEveryColorAttribute() throws {
    let kinds: [(ConcreteAttributePath, (TestNode) throws -> Void)] = [
      (ColorControl.currentHue.path(on: 1), { try $0.moveToHue(127, .up, 100) }),
      (ColorControl.enhancedCurrentHue.path(on: 1), { try $0.enhancedMoveToHue(30_000, .up, 100) }),
      (ColorControl.currentSaturation.path(on: 1), { try $0.moveToSaturation(200, 100) }),
      (ColorControl.currentX.path(on: 1), { try $0.moveToColor(13_107, 13_107, 100) }),
      (ColorControl.currentY.path(on: 1), { try $0.moveToColor(13_107, 13_107, 100) }),
    ]
    for (path, move) in kinds {
      let node = TestNode.colorful()
      try node.moveToHueAndSaturation(0, 0)
      try node.moveToColor(32_768, 19_660)
      _ = try node.takeReports(of: ColorControl.colorMode)
      try move(node)
      node.wait(20_000)
      let reports = node.reports.filter { $0.path == path }
      #expect((10...11).contains(reports.count), "\(path): \(reports.map(\.milliseconds))")
      #expect(reports.last?.milliseconds == 10_000)
    }
  }

  @Test func reportsRemainingTimeOnCommands() throws {
    let node = TestNode.white(500)
    try node.moveToTemperature(250, 100)
    node.wait(5000)
    try node.moveToTemperature(500, 150)
    node.wait(20_000)
    #expect(try node.takeReports(of: ColorControl.remainingTime).map(\.value) == [100, 150, 0])
    try node.moveToTemperature(250, 100)
    node.wait(1000)
    try node.moveToTemperature(260, 95)
    try node.stopColor()
    #expect(try node.takeReports(of: ColorControl.remainingTime).map(\.value) == [100, 0])
  }

  @Test(arguments: [(9, []), (10, [0]), (11, [11, 0])] as [(UInt16, [UInt16])])
  func doesNotReportShortTransitions(time: UInt16, reported: [UInt16]) throws {
    let node = TestNode.white()
    try node.moveToTemperature(300, time)
    node.wait(3000)
    #expect(try node.takeReports(of: ColorControl.remainingTime).map(\.value) == reported)
  }

  @Test func reportsUnreportedValueAtEnd() throws {
    let node = TestNode.white(200)
    try node.moveToTemperature(300, 9)
    node.wait(450)
    let quiet = node.mireds
    #expect(quiet > 200)
    #expect(try node.takeReports(of: ColorControl.colorTemperatureMireds).isEmpty)
    try node.stopColor()
    #expect(try node.takeReports(of: ColorControl.colorTemperatureMireds).map(\.value) == [quiet])
    try node.moveToTemperature(quiet)
    #expect(try node.takeReports(of: ColorControl.colorTemperatureMireds).isEmpty, "reported once")
  }

  @Test func limitsReportsOfColorLoop() throws {
    let node = TestNode.colorful()
    try node.enhancedMoveToHue(100)
    try node.loop([.updateAction, .updateTime], .activateFromEnhancedCurrentHue, time: 30)
    _ = try node.takeReports(of: ColorControl.enhancedCurrentHue)
    node.wait(60_000)
    #expect(try node.takeReports(of: ColorControl.enhancedCurrentHue).count == 60)
  }

  // MARK: With the level

  @Test func couplesColorTemperatureToLevel() throws {
    let node = TestNode.white()
    try node.invoke(
      LevelControl.moveToLevel, .init(level: 1, transitionTime: .value(0), optionsMask: [], optionsOverride: []))
    #expect(node.mireds == 250, "not without the option")
    try node.write(LevelControl.options, .coupleColorTempToLevel)
    try node.moveTo(254)
    #expect(node.mireds == 140)
    try node.moveTo(1)
    #expect(node.mireds == 500)
    try node.moveTo(128)
    #expect(node.mireds == 319)
    #expect(node.level == 128)
    try node.moveToTemperature(200)
    #expect(node.level == 128, "only the level is coupled")
    try node.moveTo(254, mask: .coupleColorTempToLevel)
    #expect(node.mireds == 200, "the command's options take precedence")
    try node.write(LevelControl.options, [])
    try node.moveTo(1, 100, mask: .coupleColorTempToLevel, override: .coupleColorTempToLevel)
    _ = try node.takeReports(of: ColorControl.colorTemperatureMireds)
    node.wait(20_000)
    #expect(node.mireds == 500)
    let reports = try node.takeReports(of: ColorControl.colorTemperatureMireds)
    #expect((9...12).contains(reports.count))
    #expect(reports.last?.value == 500)
  }

  @Test func couplesOnlyInColorTemperatureMode() throws {
    let node = TestNode.colorful()
    try node.write(LevelControl.options, .coupleColorTempToLevel)
    try node.moveToHue(30)
    let mireds = node.mireds
    try node.moveTo(1)
    #expect(node.mireds == mireds)
    #expect(node.hue == 30)
  }
}
