import HearthHome
import HomeModel
import HomeText
import MatterClusters
import MatterModel
import Testing

@Suite("Device readings") struct DeviceReadingTests {
  private func text(_ type: DeviceTypeID, _ fill: (inout NodeValues) -> Void) -> String {
    var values = NodeValues()
    fill(&values)
    return DeviceState(values, [DeviceEndpoint(id: 1, deviceTypes: [type])]).text
  }

  private func set<C: Cluster, Value: ModelValue>(
    _ attribute: MatterModel.Attribute<C, Value>, _ value: Value, _ values: inout NodeValues
  ) {
    values[attribute.path(on: 1)] = value.tlv
  }

  @Test("formats sensor values") func sensors() {
    #expect(text(0x0302) { set(TemperatureMeasurement.measuredValue, .value(2150), &$0) } == "21.5 °C")
    #expect(text(0x0307) { set(RelativeHumidityMeasurement.measuredValue, .value(4550), &$0) } == "45.5% humidity")
    #expect(text(0x0106) { set(IlluminanceMeasurement.measuredValue, .value(20_001), &$0) } == "100 lx")
    #expect(text(0x0107) { set(OccupancySensing.occupancy, .occupied, &$0) } == "occupied")
    #expect(text(0x0015) { set(BooleanState.stateValue, true, &$0) } == "closed")
    #expect(text(0x0015) { set(BooleanState.stateValue, false, &$0) } == "open")
    #expect(text(0x0043) { set(BooleanState.stateValue, true, &$0) } == "leak")
    #expect(text(0x0302) { set(TemperatureMeasurement.measuredValue, .null, &$0) }.isEmpty)
  }

  @Test("formats power and the charge of batteries; that of the node is the last") func energy() {
    #expect(text(0x0510) { set(ElectricalPowerMeasurement.activePower, .value(1_000_000), &$0) } == "1000.0 W")
    #expect(text(0x0510) { set(ElectricalPowerMeasurement.activePower, .null, &$0) }.isEmpty)
    var values = NodeValues()
    values[PowerSource.batPercentRemaining.path(on: 0)] = Nullable<UInt8>.value(170).tlv
    values[BooleanState.stateValue.path(on: 1)] = true.tlv
    let endpoints = [DeviceEndpoint(id: 0), DeviceEndpoint(id: 1, deviceTypes: [0x0015])]
    #expect(DeviceState(values, endpoints).text == "closed, battery 85.0%")
  }

  @Test("formats states of locks, thermostats, coverings and fans") func appliances() {
    #expect(
      text(0x000A) {
        set(DoorLock.lockState, .value(.notFullyLocked), &$0)
        set(DoorLock.doorState, .value(.doorOpen), &$0)
      } == "not fully locked, door open")
    #expect(
      text(0x0301) {
        set(Thermostat.localTemperature, .value(2050), &$0)
        set(Thermostat.systemMode, .heat, &$0)
        set(Thermostat.occupiedHeatingSetpoint, 2100, &$0)
        set(Thermostat.occupiedCoolingSetpoint, 2600, &$0)
      } == "20.5 °C, heat, to 21.0 °C")
    #expect(
      text(0x0301) {
        set(Thermostat.systemMode, .auto, &$0)
        set(Thermostat.occupiedHeatingSetpoint, 2100, &$0)
        set(Thermostat.occupiedCoolingSetpoint, 2600, &$0)
      } == "auto, heat to 21.0 °C, cool to 26.0 °C")
    #expect(text(0x0202) { set(WindowCovering.currentPositionLiftPercent100ths, .value(4000), &$0) } == "40% closed")
    #expect(text(0x0202) { set(WindowCovering.currentPositionLiftPercentage, .value(100), &$0) } == "closed")
    #expect(
      text(0x0230) {
        set(
          ClosureControl.overallCurrentState,
          .value(.init(position: .value(.fullyClosed), latch: .value(true), secureState: .value(true))), &$0)
        set(ClosureControl.mainState, .stopped, &$0)
      } == "fully closed, latched")
    #expect(
      text(0x0230) {
        set(
          ClosureControl.overallCurrentState, .value(.init(position: .value(.partiallyOpened), secureState: .null)), &$0
        )
        set(ClosureControl.mainState, .error, &$0)
        set(ClosureControl.currentErrorList, [.physicallyBlocked], &$0)
      } == "partially opened, error: physically blocked")
    #expect(
      text(0x002B) {
        set(FanControl.fanMode, .auto, &$0)
        set(FanControl.percentCurrent, 30, &$0)
      } == "fan auto, 30%")
  }

  @Test("formats states of players and selectors") func media() {
    func player(_ isOn: Bool) -> String {
      text(0x0028) {
        set(OnOff.onOff, isOn, &$0)
        set(MediaPlayback.currentState, isOn ? .playing : .notPlaying, &$0)
        set(MediaPlayback.playbackSpeed, isOn ? -2 : 0, &$0)
        set(Channel.currentChannel, isOn ? .value(.init(majorNumber: 9, minorNumber: 1)) : .null, &$0)
      }
    }
    #expect(player(true) == "on, playing at -2x, channel 9.1")
    #expect(player(false) == "off")
    #expect(
      text(0x0027) {
        set(ModeSelect.supportedModes, [.init(label: "Low", mode: 4, semanticTags: [])], &$0)
        set(ModeSelect.currentMode, 4, &$0)
      } == "Low")
  }

  @Test("formats states of alarms and running appliances") func alarmsAndAppliances() {
    #expect(text(0x0076) { set(SmokeCoAlarm.expressedState, .coAlarm, &$0) } == "CO alarm")
    #expect(text(0x0076) { set(SmokeCoAlarm.expressedState, .normal, &$0) } == "normal")
    #expect(
      text(0x002C) {
        set(AirQuality.airQuality, .veryPoor, &$0)
        set(TemperatureMeasurement.measuredValue, .value(2000), &$0)
      } == "very poor air, 20.0 °C")
    #expect(
      text(0x0075) {
        set(OperationalState.operationalState, .running, &$0)
        set(OperationalState.phaseList, .value(["Washing", "Rinsing"]), &$0)
        set(OperationalState.currentPhase, .value(1), &$0)
      } == "running, Rinsing")
    #expect(text(0x0074) { set(RvcOperationalState.operationalState, .seekingCharger, &$0) } == "seeking charger")
    #expect(text(0x0074) { set(RvcOperationalState.operationalState, .init(0x80), &$0) } == "state 128")
  }

  @Test("formats levels in percent of the maximum") func levels() {
    #expect(
      text(0x0022) {
        set(OnOff.onOff, true, &$0)
        set(LevelControl.currentLevel, .value(40), &$0)
        set(LevelControl.minLevel, 0, &$0)
        set(LevelControl.maxLevel, 100, &$0)
      } == "on 40%")
  }
}
