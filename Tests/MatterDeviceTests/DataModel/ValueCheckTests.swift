import MatterClusters
import MatterModel
import Testing

@testable import MatterDevice

/// The common check of values from clients, definition files and manual changes.
@Suite("Value checks") struct ValueCheckTests {
  private static let level = LevelControlServer.make().initial(LevelControl.minLevel, 20).initial(
    LevelControl.maxLevel, 100
  ).initial(LevelControl.currentLevel, .value(50))

  private static let color = ColorControlServer.make(range: 150...400)

  @Test(
    "limits a level by MinLevel and MaxLevel",
    arguments: [
      ([0x04, 20], nil), ([0x04, 100], nil), ([0x14], nil), ([0x04, 19], .constraintError),
      ([0x04, 0], .constraintError),
      ([0x04, 101], .constraintError), ([0x04, 255], .constraintError), ([0x05, 0, 1], .constraintError),
      ([0x09], .invalidDataType), ([0x0C, 0], .invalidDataType),
    ] as [([UInt8], StatusCode?)])
  func level(_ value: [UInt8], expected: StatusCode?) {
    for attribute in [LevelControl.currentLevel.id, LevelControl.onLevel.id] {
      #expect(start(Self.level, attribute, value) == expected)
      #expect(manual(Self.level, attribute, value) == expected)
    }
    #expect(write(Self.level, LevelControl.onLevel, value) == expected)
  }

  @Test(
    "limits a light's level to 1 to 254", arguments: [([0x04, 1], true), ([0x04, 0], false), ([0x04, 255], false)])
  func standardLevel(_ value: [UInt8], isAllowed: Bool) {
    let server = LevelControlServer.make()
    #expect((start(server, LevelControl.currentLevel.id, value) == nil) == isAllowed)
    #expect((manual(server, LevelControl.currentLevel.id, value) == nil) == isAllowed)
    #expect(server.range(of: LevelControl.currentLevel.id) == 1...254)
  }

  @Test("limits a color temperature by the light's range")
  func colorTemperature() {
    let id = ColorControl.colorTemperatureMireds.id
    #expect(Self.color.range(of: id) == 150...400)
    #expect(Self.color.range(of: ColorControl.colorTempPhysicalMinMireds.id) == 1...400)
    #expect(Self.color.range(of: ColorControl.colorTempPhysicalMaxMireds.id) == 150...65279)
    #expect(
      start(Self.color, id, UInt16(149).tlv) == .constraintError
        && manual(Self.color, id, UInt16(401).tlv) == .constraintError)
    #expect(start(Self.color, id, UInt16(300).tlv) == nil && manual(Self.color, id, UInt16(300).tlv) == nil)
  }

  @Test("rejects unnamed enumeration values and bitmap bits")
  func names() {
    #expect(start(OnOffServer.make(), OnOff.startUpOnOff.id, [0x04, 7]) == .constraintError)
    #expect(manual(OnOffServer.make(), OnOff.startUpOnOff.id, [0x04, 7]) == .constraintError)
    #expect(write(OnOffServer.make(), OnOff.startUpOnOff, [0x04, 7]) == .constraintError)
    #expect(manual(Self.level, LevelControl.options.id, [0x04, 4]) == .constraintError)
    #expect(write(Self.level, LevelControl.options, [0x04, 4]) == .constraintError)
  }

  @Test("limits a switch's position by the number of positions")
  func positions() {
    let server = SwitchServer.make(features: [Switch.latchingSwitch], positions: 3)
    #expect(server.range(of: Switch.currentPosition.id) == 0...2)
    #expect(start(server, Switch.currentPosition.id, [0x04, 3]) == .constraintError)
  }

  @Test("ignores contradictory limits") func contradiction() {
    let server = LevelControlServer.make().initial(LevelControl.minLevel, 200).initial(LevelControl.maxLevel, 100)
    #expect(start(server, LevelControl.currentLevel.id, [0x04, 150]) == nil)
    #expect(start(server, LevelControl.minLevel.id, [0x04, 200]) == .constraintError)
  }

  @Test("rejects NaN where a number has limits") func notANumber() {
    typealias CO2 = CarbonDioxideConcentrationMeasurement
    for server in AirQualityServers.concentrations where server.id == CO2.id {
      #expect(start(server, CO2.measuredValue.id, Float.nan.tlv) == .constraintError)
      #expect(manual(server, CO2.measuredValue.id, Float.nan.tlv) == .constraintError)
      #expect(manual(server, CO2.measuredValue.id, Float(450).tlv) == nil)
      // A limit that is no number limits nothing.
      let unlimited = server.initial(CO2.maxMeasuredValue, .value(.nan))
      #expect(start(unlimited, CO2.measuredValue.id, Float(1e6).tlv) == nil)
    }
  }

  // MARK: Sources of values

  private func status(_ body: () throws(StatusError) -> Void) -> StatusCode? {
    do throws(StatusError) {
      try body()
      return nil
    } catch { return error.status.code }
  }

  private func start(_ server: ClusterServer, _ attribute: AttributeID, _ value: [UInt8]) -> StatusCode? {
    status { () throws(StatusError) in try server.check(initial: value, for: attribute) }
  }

  private func manual(_ server: ClusterServer, _ attribute: AttributeID, _ value: [UInt8]) -> StatusCode? {
    status { () throws(StatusError) in
      let node = TestNode([server])
      try node.check(ConcreteAttributePath(1, server.id, attribute), value)
    }
  }

  private func write<C: Cluster, Value: ModelValue>(
    _ server: ClusterServer, _ attribute: Attribute<C, Value>, _ value: [UInt8]
  ) -> StatusCode? {
    status { () throws(StatusError) in try TestNode([server]).write(attribute, encoded: value) }
  }
}
