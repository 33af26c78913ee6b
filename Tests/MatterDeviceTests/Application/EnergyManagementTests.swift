import MatterClusters
import MatterModel
import MatterProtocol
import Synchronization
import Testing

@testable import MatterDevice

/// Device Energy Management, alone and on a charging station, in virtual time.
@Suite("Device Energy Management") struct EnergyManagementTests {
  private typealias DEM = DeviceEnergyManagement
  private typealias Evse = EnergyEvse

  /// 2026-01-05 at 20:00 UTC, in seconds since 2000.
  private static let evening: UInt32 = 820_958_400

  /// A charging station with a half empty vehicle of 60 kWh.
  private func node() -> TestNode {
    let vehicle = ElectricVehicle(capacity: 60_000_000, charge: 50)
    let node = TestNode([
      EvseServer.make(vehicle), EvseModeServer.make(), EvseServer.energyManagement(),
      EnergyManagementModeServer.make(),
    ])
    node.setClock(UInt64(Self.evening))
    return node
  }

  /// Lets the vehicle charge with 16 A, which are 3.68 kW.
  private func charge(_ node: TestNode) throws {
    try node.invoke(
      Evse.enableCharging,
      .init(chargingEnabledUntil: .null, minimumChargeCurrent: 6000, maximumChargeCurrent: 16_000))
    try node.move("cable", "plugged in")
  }

  private func cause(_ code: UInt64, _ node: TestNode) throws { try node.cause(0x0098_0000_0000_0000 | code) }

  private func adjust(
    _ node: TestNode, _ power: Int64, _ seconds: UInt32, _ cause: DEM.AdjustmentCause = .localOptimization
  ) throws {
    try node.invoke(DEM.powerAdjustRequest, .init(power: power, duration: seconds, cause: cause))
  }

  private func pause(
    _ node: TestNode, _ seconds: UInt32, _ cause: DEM.AdjustmentCause = .localOptimization
  ) throws { try node.invoke(DEM.pauseRequest, .init(duration: seconds, cause: cause)) }

  private func shift(
    _ node: TestNode, to start: UInt32, _ cause: DEM.AdjustmentCause = .localOptimization
  ) throws { try node.invoke(DEM.startTimeAdjustRequest, .init(requestedStartTime: start, cause: cause)) }

  private func forecast(_ node: TestNode) throws -> DEM.ForecastStruct { try #require(node[DEM.forecast].wrapped) }

  private func reason(_ node: TestNode) -> DEM.PowerAdjustReason? {
    node[DEM.powerAdjustmentCapability].wrapped?.cause
  }

  @Test func conforms() {
    let node = node()
    #expect(EvseServer.energyManagement().violations == [] && EnergyManagementModeServer.make().violations == [])
    #expect(node[DEM.esaType] == .evse && node[DEM.esaState] == .online && !node[DEM.esaCanGenerate])
    #expect(node[DEM.absMinPower] == 1_380_000 && node[DEM.absMaxPower] == 7_360_000)
    #expect(node[DEM.powerAdjustmentCapability] == .null && node[DEM.forecast] == .null)
    let only = [DEM.powerAdjustment]
    let storage = EnergyManagementServer.make(.init(.batteryStorage, -5...5, features: only)) { _, _ in }
    #expect(storage.violations == [])
  }

  // MARK: Power adjustment

  /// The steps of TC_DEM_2_2.
  @Test("adjusts the power of a test") func adjustsPower() throws {
    let node = node()
    try cause(0x00, node)
    let entry = try #require(node[DEM.powerAdjustmentCapability].wrapped?.powerAdjustCapability.wrapped?.first)
    #expect(node[DEM.esaState] == .online && reason(node) == .noAdjustment)
    try adjust(node, entry.maxPower, entry.minDuration)
    #expect(node[DEM.esaState] == .powerAdjustActive && reason(node) == .localOptimizationAdjustment)
    #expect(try node.payloads(of: DEM.powerAdjustStart).count == 1)
    try node.invoke(DEM.cancelPowerAdjustRequest)
    #expect(try node.payloads(of: DEM.powerAdjustEnd).map(\.cause) == [.cancelled])
    #expect(node[DEM.esaState] == .online && reason(node) == .noAdjustment)
    #expect(throws: StatusError(.invalidInState)) { try node.invoke(DEM.cancelPowerAdjustRequest) }
    for (power, seconds) in [
      (entry.maxPower + 1, entry.minDuration), (entry.minPower, entry.maxDuration + 1),
      (entry.minPower - 1, entry.maxDuration), (entry.maxPower, entry.minDuration - 1),
    ] {
      #expect(throws: StatusError(.constraintError)) { try adjust(node, power, seconds) }
    }
    #expect(throws: StatusError(.constraintError)) {
      try adjust(node, entry.minPower, entry.minDuration, .init(rawValue: 9))
    }
    try adjust(node, entry.minPower, entry.minDuration)
    node.wait(2000)
    try adjust(node, entry.maxPower, entry.minDuration, .gridOptimization)
    #expect(try node.payloads(of: DEM.powerAdjustStart).count == 2)
    #expect(reason(node) == .gridOptimizationAdjustment)
    node.wait(5000)
    try cause(0x02, node)
    #expect(node[DEM.optOutState] == .localOptOut && node[DEM.esaState] == .powerAdjustActive)
    #expect(throws: StatusError(.constraintError)) { try adjust(node, entry.maxPower, entry.maxDuration) }
    try cause(0x03, node)
    #expect(node[DEM.optOutState] == .optOut && node[DEM.esaState] == .online && reason(node) == .noAdjustment)
    // 2 s at 5 kW and 5 s at 30 kW.
    #expect(
      try node.payloads(of: DEM.powerAdjustEnd).last == .init(cause: .userOptOut, duration: 7, energyUse: 44_444))
    try cause(0x04, node)
    #expect(node[DEM.optOutState] == .noOptOut)
    try adjust(node, entry.maxPower, 10)
    node.wait(10_000)
    #expect(
      try node.payloads(of: DEM.powerAdjustEnd).last == .init(cause: .normalCompletion, duration: 10, energyUse: 83_333)
    )
    try cause(0x01, node)
    #expect(node[DEM.powerAdjustmentCapability] == .null)
  }

  @Test("adjusts the power of the charge") func adjustsCharge() throws {
    let node = node()
    #expect(throws: StatusError(.constraintError)) { try adjust(node, 2_000_000, 600) }
    try charge(node)
    #expect(
      node[DEM.powerAdjustmentCapability].wrapped?.powerAdjustCapability
        == .value([
          .init(minPower: 1_380_000, maxPower: 3_680_000, minDuration: 60, maxDuration: 86_400)
        ]))
    node.wait(3_600_000)
    try adjust(node, 2_000_000, 1800)
    node.wait(3_600_000)
    // An hour and a half at 3.68 kW, half an hour at 2 kW.
    #expect(node[Evse.sessionEnergyCharged] == .value(6_520_000))
    #expect(
      try node.payloads(of: DEM.powerAdjustEnd) == [
        .init(cause: .normalCompletion, duration: 1800, energyUse: 1_000_000)
      ])
    // A fault ends the adjustment.
    try adjust(node, 2_000_000, 1800)
    try node.press(Evse.faultState, .groundFault)
    #expect(node[DEM.esaState] == .fault && node[DEM.forecast] == .null)
    #expect(try node.payloads(of: DEM.powerAdjustEnd).last?.cause == .fault)
    try node.press(Evse.faultState, .noError)
    #expect(node[DEM.esaState] == .online)
    node.wait(3_600_000)
    #expect(node[Evse.sessionEnergyCharged] == .value(10_200_000))
  }

  @Test("reports a changed capability at most every ten seconds") func reportsQuietly() throws {
    let node = node()
    try charge(node)
    node.wait(60_000)
    _ = try node.takeReports(of: DEM.powerAdjustmentCapability)
    for current in [15_000, 14_000, 13_000] as [Int64] {
      try node.write(Evse.userMaximumChargeCurrent, current)
      node.wait(1000)
    }
    node.wait(10_000)
    #expect(try node.takeReports(of: DEM.powerAdjustmentCapability).count == 2)
    try adjust(node, 2_000_000, 600)
    #expect(try node.takeReports(of: DEM.powerAdjustmentCapability).count == 1, "a command is reported at once")
  }

  // MARK: Start time

  /// The steps of TC_DEM_2_3.
  @Test("shifts the start of a test") func shiftsStart() throws {
    let node = node()
    #expect(throws: StatusError(.failure)) { try shift(node, to: Self.evening) }
    try cause(0x05, node)
    let first = try forecast(node)
    let earliest = try #require(first.earliestStartTime?.wrapped)
    let latest = try #require(first.latestEndTime)
    #expect(earliest < first.startTime && latest > first.endTime)
    #expect(first.forecastUpdateReason == .internalOptimization && first.forecastID == 1)
    try cause(0x02, node)
    #expect(throws: StatusError(.constraintError)) { try shift(node, to: earliest) }
    #expect(try forecast(node) == first)
    try cause(0x04, node)
    try shift(node, to: earliest)
    let second = try forecast(node)
    #expect(second.startTime == earliest && second.endTime == earliest + first.endTime - first.startTime)
    #expect(second.forecastUpdateReason == .localOptimization && second.forecastID == 2)
    try cause(0x02, node)
    #expect(try forecast(node).forecastUpdateReason == .internalOptimization)
    try shift(node, to: first.startTime + latest - first.endTime, .gridOptimization)
    #expect(try forecast(node).endTime == latest)
    #expect(try forecast(node).forecastUpdateReason == .gridOptimization)
    try node.invoke(DEM.cancelRequest)
    #expect(try forecast(node).startTime == first.startTime)
    try cause(0x04, node)
    #expect(throws: StatusError(.constraintError)) { try shift(node, to: earliest - 1) }
    #expect(throws: StatusError(.constraintError)) { try shift(node, to: first.startTime + latest - first.endTime + 1) }
    #expect(throws: StatusError(.constraintError)) { try shift(node, to: .max) }
    #expect(throws: StatusError(.invalidInState)) { try node.invoke(DEM.cancelRequest) }
    try cause(0x06, node)
    #expect(node[DEM.forecast] == .null)
    #expect(throws: StatusError(.failure)) { try node.invoke(DEM.cancelRequest) }
  }

  @Test("shifts the start of the charge") func shiftsCharge() throws {
    let node = node()
    try node.invoke(EnergyEvseMode.changeToMode, .init(newMode: 1))
    // 7.36 kWh until 06:00: two hours at 3.68 kW.
    try node.invoke(
      Evse.setTargets,
      .init(chargingTargetSchedules: [
        .init(
          dayOfWeekForSequence: .init(rawValue: 0x7F),
          chargingTargets: [.init(targetTimeMinutesPastMidnight: 360, addedEnergy: 7_360_000)])
      ]))
    try charge(node)
    let morning = Self.evening + 10 * 3600
    let planned = try forecast(node)
    #expect(planned.startTime == morning - 7200 && planned.endTime == morning && planned.latestEndTime == morning)
    #expect(planned.activeSlotNumber == .null && planned.earliestStartTime == .some(.null))
    #expect(planned.slots.first?.nominalEnergy == 7_360_000 && planned.slots.first?.nominalPower == 3_680_000)
    #expect(throws: StatusError(.failure), "not yet active") { try pause(node, 600) }
    try shift(node, to: Self.evening + 3600)
    #expect(node[Evse.nextChargeStartTime] == .value(Self.evening + 3600))
    #expect(try forecast(node).startTime == Self.evening + 3600)
    #expect(try forecast(node).forecastUpdateReason == .localOptimization)
    node.wait(1800_000)
    #expect(node[Evse.state] == .value(.pluggedInDemand))
    try node.invoke(DEM.cancelRequest)
    #expect(try forecast(node).startTime == morning - 7200)
    try shift(node, to: Self.evening + 3600, .gridOptimization)
    node.wait(1800_000)
    #expect(node[Evse.state] == .value(.pluggedInCharging))
    let active = try forecast(node)
    #expect(active.activeSlotNumber == .value(0) && active.endTime == Self.evening + 3 * 3600)
    node.wait(3 * 3_600_000)
    #expect(node[Evse.sessionEnergyCharged] == .value(7_360_000))
  }

  // MARK: Pauses

  /// The steps of TC_DEM_2_4.
  @Test("pauses a test") func pausesTest() throws {
    let node = node()
    try cause(0x07, node)
    let first = try forecast(node)
    let slot = try #require(first.slots.first)
    let (shortest, longest) = (try #require(slot.minPauseDuration), try #require(slot.maxPauseDuration))
    #expect(first.isPausable && first.activeSlotNumber == .value(0))
    #expect(first.slots.map(\.slotIsPausable) == [true, false] && shortest > 1)
    for seconds in [shortest - 1, longest + 1] {
      #expect(throws: StatusError(.constraintError)) { try pause(node, seconds) }
    }
    try cause(0x03, node)
    #expect(throws: StatusError(.constraintError)) { try pause(node, shortest, .gridOptimization) }
    try pause(node, shortest)
    #expect(try node[DEM.esaState] == .paused && node.payloads(of: DEM.paused).count == 1)
    try cause(0x02, node)
    #expect(node[DEM.esaState] == .online && node[DEM.optOutState] == .optOut)
    #expect(try node.payloads(of: DEM.resumed).map(\.cause) == [.userOptOut])
    #expect(try forecast(node).forecastUpdateReason == .internalOptimization)
    try cause(0x04, node)
    try pause(node, shortest)
    #expect(try forecast(node).forecastUpdateReason == .localOptimization)
    try node.invoke(DEM.resumeRequest)
    #expect(try forecast(node).forecastUpdateReason == .internalOptimization)
    try pause(node, shortest)
    node.wait(Int64(shortest) * 1000)
    #expect(try node.payloads(of: DEM.resumed).map(\.cause) == [.userOptOut, .cancelled, .normalCompletion])
    try cause(0x08, node)
    #expect(try forecast(node).activeSlotNumber == .value(1))
    #expect(throws: StatusError(.failure)) { try pause(node, shortest) }
    #expect(throws: StatusError(.invalidInState)) { try node.invoke(DEM.resumeRequest) }
    try cause(0x09, node)
    #expect(node[DEM.forecast] == .null)
    // TC_DEM_2_9.
    try cause(0x0F, node)
    let reported = try #require(try forecast(node).slots.first)
    #expect(
      reported.nominalPower != nil && reported.minPower != nil && reported.maxPower != nil
        && reported.nominalEnergy != nil && reported.manufacturerESAState == nil)
    try cause(0x10, node)
    #expect(throws: StatusError(.invalidCommand)) { try cause(0x11, node) }
  }

  @Test("pauses the charge") func pausesCharge() throws {
    let node = node()
    try charge(node)
    node.wait(3_600_000)
    try pause(node, 1800)
    #expect(node[Evse.state] == .value(.pluggedInDemand) && node[DEM.esaState] == .paused)
    let forecast = try #require(node[DEM.forecast].wrapped)
    #expect(forecast.slots.map(\.remainingSlotTime) == [forecast.endTime - Self.evening - 3600 - 1800])
    #expect(throws: StatusError(.invalidInState)) { try adjust(node, 2_000_000, 600) }
    node.wait(600_000)
    try pause(node, 1800)
    #expect(try node.payloads(of: DEM.paused).count == 1)
    node.wait(3_000_000)
    #expect(node[Evse.state] == .value(.pluggedInCharging))
    // An hour, and the last twenty minutes of the second one.
    #expect(node[Evse.sessionEnergyCharged] == .value(3_680_000 * 4 / 3))
    #expect(try node.payloads(of: DEM.resumed).map(\.cause) == [.normalCompletion])
    #expect(try node.payloads(of: Evse.energyTransferStopped).map(\.reason) == [.evseStopped])
  }

  // MARK: The user

  @Test("the mode is the opt-out of the user") func optsOut() throws {
    let node = node()
    try charge(node)
    try adjust(node, 2_000_000, 600)
    for (mode, choice) in [(1, .gridOptOut), (2, .localOptOut), (3, .optOut), (4, .optOut), (0, .noOptOut)]
      as [(UInt8, DEM.OptOutState)]
    {
      #expect(try node.invoke(DeviceEnergyManagementMode.changeToMode, .init(newMode: mode))?.status == 0)
      #expect(node[DEM.optOutState] == choice)
      if mode == 1 { #expect(node[DEM.esaState] == .powerAdjustActive) }
    }
    #expect(try node.payloads(of: DEM.powerAdjustEnd).map(\.cause) == [.userOptOut])
    try node.press(DEM.optOutState, .gridOptOut)
    #expect(throws: StatusError(.constraintError)) { try adjust(node, 2_000_000, 600, .gridOptimization) }
    try adjust(node, 2_000_000, 600)
  }

  // MARK: Batteries and solar arrays

  @Test("adjusts the power of a battery") func adjustsBattery() throws {
    typealias Power = ElectricalPowerMeasurement
    let battery = StorageBattery(capacity: 10_000_000, charge: 50, charging: 4_000_000, discharging: 2_000_000)
    let node = TestNode([
      StorageServer.make(battery), StorageServer.power(ElectricalPowerServer.make(), isLeading: true),
      StorageServer.energyManagement(battery),
    ])
    #expect(node[DEM.esaType] == .batteryStorage && node[DEM.esaCanGenerate] && node[DEM.absMinPower] == -2_000_000)
    node.act(Power.activePower, .value(1_000_000))
    #expect(
      node[DEM.powerAdjustmentCapability].wrapped?.powerAdjustCapability
        == .value([
          .init(minPower: -2_000_000, maxPower: 4_000_000, minDuration: 1, maxDuration: 86_400)
        ]))
    try adjust(node, -1_500_000, 3600)
    #expect(node[Power.activePower] == .value(-1_500_000))
    node.act(Power.activePower, .value(2_000_000))
    #expect(node[Power.activePower] == .value(-1_500_000), "the request applies after the adjustment")
    node.wait(3_600_000)
    #expect(
      try node.payloads(of: DEM.powerAdjustEnd) == [
        .init(cause: .normalCompletion, duration: 3600, energyUse: -1_500_000)
      ])
    #expect(node[Power.activePower] == .value(2_000_000) && node[PowerSource.batPercentRemaining] == .value(70))
    // A full battery can only be discharged.
    node.act(PowerSource.batPercentRemaining, .value(200))
    #expect(throws: StatusError(.constraintError)) { try adjust(node, 1000, 60) }
    try adjust(node, -2_000_000, 60)
  }

  @Test("curtails a solar array") func curtailsArray() throws {
    typealias Power = ElectricalPowerMeasurement
    let array = SolarArray(peak: 5_000_000, latitude: 48, clouds: 0)
    let node = TestNode([ElectricalPowerServer.make().measuring(array), array.energyManagement()])
    // 2026-06-21 at 12:00 UTC.
    node.setClock(1_782_000_000 + 43_200 - 946_684_800)
    node.wait(60_000)
    let noon = try #require(node[Power.activePower].wrapped)
    #expect(noon < -4_600_000 && node[DEM.absMinPower] == -5_000_000 && node[DEM.absMaxPower] == 0)
    try adjust(node, -1_000_000, 600)
    #expect(node[Power.activePower] == .value(-1_000_000))
    node.wait(300_000)
    #expect(node[Power.activePower] == .value(-1_000_000))
    try adjust(node, 0, 600)
    #expect(node[Power.activePower] == .value(0))
    try node.invoke(DEM.cancelPowerAdjustRequest)
    #expect(node[Power.activePower].wrapped ?? 0 < -4_600_000)
    #expect(try node.payloads(of: DEM.powerAdjustEnd).map(\.energyUse) == [-83_333])
    #expect(throws: StatusError(.constraintError)) { try adjust(node, -5_000_001, 60) }
    #expect(throws: StatusError(.constraintError)) { try adjust(node, 1, 60) }
  }

  @Test("limits a heat pump, which then heats less") func limitsHeatPump() throws {
    typealias Power = ElectricalPowerMeasurement
    let shares = Mutex<[Double]>([])
    let thermostat = HeatPumpEnergy.adjusting(ThermostatServer.make(heats: true, cools: false)) { context in
      let wanted: Int64 = context[Thermostat.systemMode] == .off ? 0 : 2_000_000
      let share = HeatPumpEnergy.take(wanted, in: &context)
      shares.withLock { $0.append(share) }
    }
    .onTest(0xFF, "run") { context in _ = HeatPumpEnergy.take(2_000_000, in: &context) }
    let node = TestNode([HeatPumpEnergy.management(upTo: 3_000_000), ElectricalPowerServer.make(), thermostat])
    #expect(node[DEM.esaType] == .spaceHeating && node[DEM.absMaxPower] == 3_000_000)
    #expect(throws: StatusError(.constraintError)) { try adjust(node, 1_000_000, 600) }
    try node.cause(0x0201_0000_0000_00FF)
    #expect(node[Power.activePower] == .value(2_000_000))
    try adjust(node, 1_000_000, 600)
    #expect(node[Power.activePower] == .value(1_000_000) && shares.withLock { $0.last } == 0.5)
    #expect(throws: StatusError(.constraintError)) { try adjust(node, 500_000, 600) }
    node.wait(600_000)
    #expect(node[Power.activePower] == .value(2_000_000) && shares.withLock { $0.last } == 1)
    #expect(try node.payloads(of: DEM.powerAdjustEnd).map(\.energyUse) == [166_666])
  }
}
