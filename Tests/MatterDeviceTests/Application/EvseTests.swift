import MatterClusters
import MatterModel
import MatterProtocol
import MatterTLV
import Testing

@testable import MatterDevice

/// The Energy EVSE server, in virtual time.
@Suite("Energy EVSE") struct EvseTests {
  private typealias Evse = EnergyEvse

  /// 2026-01-05, a Monday, at 20:00 UTC, in seconds since 2000.
  private static let evening: UInt64 = 820_958_400

  private func node(
    charge: Double = 50, trip: Int64 = 0, reportsCharge: Bool = false, stored: StoredState = [:]
  ) -> TestNode {
    let vehicle = ElectricVehicle(capacity: 60_000_000, charge: charge, charging: 11_000_000, trip: trip)
    return TestNode([EvseServer.make(vehicle, reportsCharge: reportsCharge), EvseModeServer.make()], stored: stored)
  }

  private func enable(
    _ node: TestNode, until: Nullable<UInt32> = .null, _ lowest: Int64 = 6000, _ highest: Int64 = 60_000
  ) throws {
    try node.invoke(
      Evse.enableCharging,
      .init(chargingEnabledUntil: until, minimumChargeCurrent: lowest, maximumChargeCurrent: highest))
  }

  private func cause(_ code: UInt64, _ node: TestNode) throws { try node.cause(0x0099_0000_0000_0000 | code) }

  private func state(_ node: TestNode) -> Evse.State? { node[Evse.state].wrapped }

  @Test func conforms() {
    for reportsCharge in [false, true] {
      #expect(EvseServer.make(reportsCharge: reportsCharge).violations == [])
    }
    #expect(EvseModeServer.make().violations == [])
    let node = node()
    #expect(state(node) == .notPluggedIn && node[Evse.supplyState] == .disabled)
    #expect(node[Evse.sessionID] == .null && node[Evse.sessionDuration] == .null)
    #expect(node[Evse.sessionEnergyCharged] == .null && node[Evse.chargingEnabledUntil] == .value(0))
  }

  // MARK: Charging

  /// The steps of TC_EEVSE_2_2.
  @Test("charges while the vehicle asks for energy and the supply is enabled") func charges() throws {
    let node = node()
    node.setClock(Self.evening)
    try cause(0x00, node)
    try cause(0x02, node)
    #expect(state(node) == .pluggedInNoDemand && node[Evse.sessionID] == .value(1))
    #expect(try node.payloads(of: Evse.evConnected).map(\.sessionID) == [1])
    let until = UInt32(Self.evening) + 120
    try enable(node, until: .value(until))
    try cause(0x04, node)
    #expect(state(node) == .pluggedInCharging && node[Evse.supplyState] == .chargingEnabled)
    #expect(node[Evse.chargingEnabledUntil] == .value(until) && node[Evse.minimumChargeCurrent] == 6000)
    #expect(node[Evse.maximumChargeCurrent] == 32_000)
    let started = try node.payloads(of: Evse.energyTransferStarted)
    #expect(started == [.init(sessionID: 1, state: .pluggedInCharging, maximumCurrent: 32_000)])
    node.wait(121_000)
    #expect(state(node) == .pluggedInDemand && node[Evse.supplyState] == .disabled)
    // Two minutes at 7.36 kW.
    #expect(
      try node.payloads(of: Evse.energyTransferStopped) == [
        .init(sessionID: 1, state: .pluggedInCharging, reason: .evseStopped, energyTransferred: 245_333)
      ])
    #expect(node[Evse.chargingEnabledUntil] == .value(0) && node[Evse.maximumChargeCurrent] == 0)
    try enable(node, 6000, 12_000)
    #expect(state(node) == .pluggedInCharging && node[Evse.maximumChargeCurrent] == 12_000)
    try node.write(Evse.userMaximumChargeCurrent, 6000)
    #expect(node[Evse.maximumChargeCurrent] == 6000)
    try cause(0x05, node)
    #expect(state(node) == .pluggedInNoDemand)
    try cause(0x04, node)
    try enable(node, 6000, 12_000)
    #expect(try node.payloads(of: Evse.energyTransferStarted).count == 3)
    try cause(0x05, node)
    #expect(try node.payloads(of: Evse.energyTransferStopped).map(\.reason) == [.evseStopped, .evStopped, .evStopped])
    try cause(0x03, node)
    #expect(state(node) == .notPluggedIn && node[Evse.supplyState] == .chargingEnabled)
    #expect(node[Evse.sessionID] == .value(1) && node[Evse.sessionDuration] == .value(121))
    let ended = try node.payloads(of: Evse.evNotDetected)
    #expect(ended.map(\.state) == [.pluggedInNoDemand] && ended.map(\.sessionDuration) == [121])
    try cause(0x02, node)
    try cause(0x04, node)
    #expect(node[Evse.sessionID] == .value(2) && node[Evse.sessionDuration] == .value(0))
    try node.invoke(Evse.disable)
    #expect(node[Evse.supplyState] == .disabled && state(node) == .pluggedInDemand)
    #expect(try node.payloads(of: Evse.energyTransferStopped).last?.reason == .evseStopped)
  }

  @Test("charges the vehicle exactly until it is full") func chargesExactly() throws {
    let node = node(charge: 75)
    try enable(node, 6000, 16_000)
    try node.move("cable", "plugged in")
    #expect(state(node) == .pluggedInCharging)
    // 15 kWh at 3.68 kW: 14,673.9 s.
    node.wait(14_673_000)
    #expect(state(node) == .pluggedInCharging)
    #expect(node[Evse.sessionEnergyCharged] == .value(3_680_000 * 14_673 / 3600))
    node.wait(1000)
    #expect(state(node) == .pluggedInNoDemand && node[Evse.sessionEnergyCharged] == .value(15_000_000))
    let stopped = try node.payloads(of: Evse.energyTransferStopped)
    #expect(stopped.map(\.energyTransferred) == [15_000_000] && stopped.map(\.reason) == [.evStopped])
    node.wait(3_600_000)
    try node.move("cable", "unplugged")
    node.wait(3_600_000)
    #expect(node[Evse.sessionEnergyCharged] == .value(15_000_000))
    #expect(node[Evse.sessionDuration] == .value(18_274))
  }

  @Test("a trip takes energy between two sessions") func takesTrips() throws {
    let node = node(charge: 100, trip: 7_360_000)
    try enable(node)
    try node.press(Evse.state, .value(.pluggedInDemand))
    // The first time is a trip also.
    node.wait(3_700_000)
    #expect(node[Evse.sessionEnergyCharged] == .value(7_360_000) && state(node) == .pluggedInNoDemand)
    try node.press(Evse.state, .value(.notPluggedIn))
    try node.press(Evse.state, .value(.pluggedInNoDemand))
    #expect(state(node) == .pluggedInNoDemand)
    try node.press(Evse.state, .value(.pluggedInDemand))
    #expect(state(node) == .pluggedInCharging && node[Evse.sessionID] == .value(2))
  }

  @Test("limits the current to that of the circuit, the user and the command") func limitsCurrent() throws {
    let node = node()
    try node.move("cable", "plugged in")
    try enable(node, 6000, 20_000)
    #expect(node[Evse.maximumChargeCurrent] == 20_000)
    try node.write(Evse.userMaximumChargeCurrent, 10_000)
    node.wait(3_600_000)
    #expect(node[Evse.maximumChargeCurrent] == 10_000 && node[Evse.sessionEnergyCharged] == .value(2_300_000))
    node.act(Evse.circuitCapacity, 8000)
    #expect(node[Evse.maximumChargeCurrent] == 8000)
    // Less than a vehicle needs.
    try node.write(Evse.userMaximumChargeCurrent, 3000)
    #expect(state(node) == .pluggedInDemand)
    #expect(throws: StatusError(.constraintError)) { try node.write(Evse.userMaximumChargeCurrent, -1) }
    try node.write(Evse.userMaximumChargeCurrent, 32_000)
    node.act(Evse.circuitCapacity, 32_000)
    let slow = try node.invoke(EnergyEvseMode.changeToMode, .init(newMode: 2))
    #expect(slow?.status == 0 && node[Evse.maximumChargeCurrent] == 6000)
  }

  @Test("rejects commands that it can't execute") func rejects() throws {
    let node = node()
    for (lowest, highest) in [(5999, 16_000), (16_000, 6000), (6000, 5000), (-1, .max)] as [(Int64, Int64)] {
      #expect(throws: StatusError(.constraintError)) { try enable(node, lowest, highest) }
    }
    #expect(throws: StatusError(.constraintError)) { try node.move("charge", "150%") }
    #expect(throws: StatusError(.constraintError)) { try node.move("charge", "full") }
    #expect(throws: StatusError(.constraintError)) { try node.move("reader", "0x0") }
    #expect(throws: StatusError(.constraintError)) { try node.move("cable", "cut") }
    #expect(throws: StatusError(.constraintError)) { try node.press(Evse.state, .value(.fault)) }
    try node.move("reader", "04A2B3C4")
    #expect(try node.payloads(of: Evse.rfid).map(\.uid.bytes) == [[0x04, 0xA2, 0xB3, 0xC4]])
  }

  @Test("continues the session after a restart") func resumes() throws {
    let before = node()
    before.setClock(Self.evening)
    try before.move("cable", "plugged in")
    try enable(before, 6000, 16_000)
    before.wait(3_600_000)
    try before.write(Evse.userMaximumChargeCurrent, 20_000)
    let after = node(stored: before.stored)
    #expect(state(after) == .pluggedInCharging && after[Evse.sessionID] == .value(1))
    #expect(after[Evse.maximumChargeCurrent] == 16_000)
    #expect(after[Evse.sessionEnergyCharged] == .value(3_680_000))
    after.wait(3_600_000)
    #expect(after[Evse.sessionEnergyCharged] == .value(7_360_000) && after[Evse.sessionDuration] == .value(7200))
    try after.move("cable", "unplugged")
    #expect(state(node(stored: after.stored)) == .notPluggedIn)
  }

  // MARK: Faults and diagnostics

  /// The steps of TC_EEVSE_2_4.
  @Test("a fault interrupts the charge") func interruptsCharge() throws {
    let node = node()
    try enable(node)
    try node.move("cable", "plugged in")
    node.wait(3_600_000)
    try cause(0x10, node)
    #expect(state(node) == .fault && node[Evse.supplyState] == .disabledError && node[Evse.faultState] == .groundFault)
    #expect(throws: StatusError(.failure)) { try enable(node) }
    #expect(throws: StatusError(.failure)) { try node.invoke(Evse.disable) }
    node.wait(3_600_000)
    #expect(node[Evse.sessionEnergyCharged] == .value(7_360_000))
    try cause(0x11, node)
    try node.press(Evse.faultState, .overTemperature)
    try cause(0x12, node)
    #expect(state(node) == .pluggedInCharging && node[Evse.supplyState] == .chargingEnabled)
    #expect(
      try node.payloads(of: Evse.fault) == [
        .init(
          sessionID: .value(1), state: .pluggedInCharging, faultStatePreviousState: .noError,
          faultStateCurrentState: .groundFault),
        .init(
          sessionID: .value(1), state: .fault, faultStatePreviousState: .groundFault,
          faultStateCurrentState: .overTemperature),
        .init(
          sessionID: .value(1), state: .fault, faultStatePreviousState: .overTemperature,
          faultStateCurrentState: .noError),
      ])
    #expect(try node.payloads(of: Evse.energyTransferStarted).count == 1)
    #expect(try node.payloads(of: Evse.energyTransferStopped).isEmpty)
    // Unplugged during a fault.
    try cause(0x10, node)
    try node.move("cable", "unplugged")
    #expect(try node.payloads(of: Evse.energyTransferStopped).map(\.reason) == [.other])
    try cause(0x12, node)
    #expect(state(node) == .notPluggedIn)
  }

  /// The steps of TC_EEVSE_2_5.
  @Test func diagnoses() throws {
    let node = node()
    try enable(node)
    #expect(throws: StatusError(.failure)) { try node.invoke(Evse.startDiagnostics) }
    try node.invoke(Evse.disable)
    #expect(throws: StatusError.self) { try cause(0x20, node) }
    try node.invoke(Evse.startDiagnostics)
    #expect(node[Evse.supplyState] == .disabledDiagnostics)
    #expect(throws: StatusError(.failure)) { try enable(node) }
    try cause(0x20, node)
    #expect(node[Evse.supplyState] == .disabled)
    try node.invoke(Evse.startDiagnostics)
    node.wait(60_000)
    #expect(node[Evse.supplyState] == .disabled)
  }

  // MARK: Reports

  /// The steps of TC_EEVSE_2_6.
  @Test("reports the session with its events and once a minute") func reportsSession() throws {
    let node = node()
    try enable(node, 6000, 12_000)
    try node.move("cable", "plugged in")
    _ = try node.takeReports(of: Evse.sessionDuration)
    node.wait(12_000)
    #expect(node.reports.filter { $0.path.attribute == Evse.sessionEnergyCharged.id }.count <= 2)
    #expect(node.reports.filter { $0.path.attribute == Evse.sessionID.id }.isEmpty)
    try node.invoke(Evse.disable)
    try node.move("cable", "unplugged")
    #expect(try node.takeReports(of: Evse.sessionDuration).last?.value == .value(12))
    try node.move("cable", "plugged in")
    #expect(try node.takeReports(of: Evse.sessionEnergyCharged).map(\.value) == [.value(0)])
    try enable(node)
    _ = try node.takeReports(of: Evse.sessionDuration)
    node.wait(600_000)
    let count = try node.takeReports(of: Evse.sessionEnergyCharged).count
    #expect((9...16).contains(count))
  }

  // MARK: Targets

  private func schedule(
    _ days: UInt8, _ targets: [Evse.ChargingTargetStruct]
  ) -> Evse.ChargingTargetScheduleStruct {
    .init(dayOfWeekForSequence: .init(rawValue: days), chargingTargets: targets)
  }

  private func target(_ minutes: UInt16, soc: UInt8? = nil, energy: Int64? = nil) -> Evse.ChargingTargetStruct {
    .init(targetTimeMinutesPastMidnight: minutes, targetSoC: soc, addedEnergy: energy)
  }

  private func set(_ schedules: [Evse.ChargingTargetScheduleStruct], _ node: TestNode) throws {
    try node.invoke(Evse.setTargets, .init(chargingTargetSchedules: schedules))
  }

  /// The attributes of the next charge.
  private struct Next: Equatable {
    let start: UInt32?
    let target: UInt32?
    let energy: Int64?
    let soc: UInt8?

    init(_ start: UInt32?, _ target: UInt32?, _ energy: Int64?, _ soc: UInt8?) {
      (self.start, self.target, self.energy, self.soc) = (start, target, energy, soc)
    }
  }

  private func next(_ node: TestNode) -> Next {
    Next(
      node[Evse.nextChargeStartTime].wrapped, node[Evse.nextChargeTargetTime].wrapped,
      node[Evse.nextChargeRequiredEnergy].wrapped, node[Evse.nextChargeTargetSoC].wrapped)
  }

  private func targets(_ node: TestNode) throws -> [Evse.ChargingTargetScheduleStruct]? {
    try node.invoke(Evse.getTargets, NoFields())?.chargingTargetSchedules
  }

  /// The steps of TC_EEVSE_2_3.
  @Test("plans the next charge by the targets") func plansCharge() throws {
    let node = node()
    node.setClock(Self.evening)
    try cause(0x00, node)
    try cause(0x06, node)
    try cause(0x02, node)
    #expect(try next(node) == Next(nil, nil, nil, nil) && targets(node) == [])
    let midnight = UInt32(Self.evening) + 4 * 3600
    try set([schedule(0x7F, [target(1439, energy: 25_000_000)])], node)
    #expect(next(node) == Next(nil, nil, nil, nil), "not enabled")
    try enable(node)
    // 25 kWh at 7.36 kW take 12,229 s.
    #expect(next(node) == Next(midnight - 60 - 12_229, midnight - 60, 25_000_000, nil))
    #expect(try targets(node) == [schedule(0x7F, [target(1439, energy: 25_000_000)])])
    try set([schedule(0x7F, [target(1, soc: 100)])], node)
    #expect(next(node) == Next(UInt32(Self.evening), midnight + 60, nil, 100))
    let ten = (0..<10).map { target(60 + 120 * UInt16($0), soc: 100, energy: 2_500_000) }
    try set([schedule(0x40, ten)], node)
    try set([schedule(0x01, [])], node)
    #expect(
      try targets(node) == [schedule(0x3E, [target(1, soc: 100)]), schedule(0x40, ten), schedule(0x01, [])])
    try node.invoke(Evse.clearTargets)
    #expect(try next(node) == Next(nil, nil, nil, nil) && targets(node) == [])
  }

  @Test("rejects invalid targets") func rejectsTargets() throws {
    let node = node()
    let good = target(60, soc: 100, energy: 1)
    for (schedules, status) in [
      ([schedule(0x01, [good]), schedule(0x01, [good])], .constraintError),
      ([schedule(0x40, Array(repeating: good, count: 11))], .resourceExhausted),
      ([schedule(0, [good])], .constraintError),
      ([schedule(0x80, [good])], .constraintError),
      ([schedule(1, [target(1440, soc: 100)])], .constraintError),
      ([schedule(1, [target(1, soc: 80)])], .constraintError),
      ([schedule(1, [target(1, energy: -1)])], .constraintError),
      ([schedule(1, [target(1)])], .failure),
      ((0..<8).map { _ in schedule(1, []) }, .constraintError),
    ] as [([Evse.ChargingTargetScheduleStruct], StatusCode)] {
      #expect(throws: StatusError(status)) { try set(schedules, node) }
    }
    #expect(try targets(node) == [])
    let smart = self.node(reportsCharge: true)
    #expect(throws: StatusError(.invalidCommand)) { try set([schedule(1, [target(1, energy: 1)])], smart) }
    #expect(throws: StatusError(.constraintError)) { try set([schedule(1, [target(1, soc: 101)])], smart) }
  }

  @Test("follows the targets in the mode Time of use") func followsTargets() throws {
    let node = node()
    node.setClock(Self.evening)
    try node.invoke(EnergyEvseMode.changeToMode, .init(newMode: 1))
    // Every day at 07:00, but on Tuesdays at 06:00.
    try set([schedule(0x7F, [target(420, energy: 7_360_000)])], node)
    try set([schedule(0x04, [target(360, energy: 14_720_000)])], node)
    try enable(node)
    try node.move("cable", "plugged in")
    #expect(state(node) == .pluggedInDemand)
    let morning = UInt32(Self.evening) + 10 * 3600
    #expect(next(node) == Next(morning - 7200, morning, 14_720_000, nil))
    node.wait(8 * 3_600_000 - 1000)
    #expect(state(node) == .pluggedInDemand)
    node.wait(1000)
    #expect(state(node) == .pluggedInCharging)
    node.wait(3_600_000)
    #expect(next(node).start == morning - 7200 && node[Evse.sessionEnergyCharged] == .value(7_360_000))
    node.wait(3_600_000 - 1)
    #expect(state(node) == .pluggedInCharging)
    node.wait(1)
    #expect(state(node) == .pluggedInDemand && node[Evse.sessionEnergyCharged] == .value(14_720_000))
    // On Wednesday, from 06:00 to 07:00.
    #expect(next(node) == Next(morning + 24 * 3600, morning + 25 * 3600, 7_360_000, nil))
    node.wait(26 * 3_600_000)
    // The vehicle was half empty.
    #expect(node[Evse.sessionEnergyCharged] == .value(22_080_000))
    try node.invoke(EnergyEvseMode.changeToMode, .init(newMode: 0))
    #expect(state(node) == .pluggedInCharging)
  }

  /// The steps of TC_EEVSE_2_7.
  @Test("follows the state of charge that the vehicle reports") func followsStateOfCharge() throws {
    let node = node(reportsCharge: true)
    node.setClock(Self.evening)
    #expect(node[Evse.stateOfCharge] == .null)
    try cause(0x00, node)
    try cause(0x02, node)
    #expect(node[Evse.stateOfCharge] == .value(50) && node[Evse.batteryCapacity] == .value(60_000_000))
    try cause(0x30, node)
    #expect(node[Evse.stateOfCharge] == .value(20) && node[Evse.batteryCapacity] == .value(70_000_000))
    try set([schedule(0x7F, [target(1439, soc: 80, energy: 25_000_000)])], node)
    try enable(node)
    let end = UInt32(Self.evening) + 4 * 3600 - 60
    // 42 kWh take longer than four hours.
    #expect(next(node) == Next(UInt32(Self.evening), end, nil, 80))
    try node.invoke(Evse.disable)
    #expect(next(node) == Next(nil, nil, nil, nil))
    try cause(0x31, node)
    #expect(node[Evse.stateOfCharge] == .value(95))
    try enable(node)
    #expect(next(node) == Next(nil, end, nil, 80))
    try node.invoke(Evse.disable)
    try cause(0x32, node)
    #expect(node[Evse.stateOfCharge] == .null && node[Evse.batteryCapacity] == .null)
    try enable(node)
    #expect(next(node) == Next(end - 12_229, end, 25_000_000, nil))
    // The charge of the vehicle follows the energy.
    let other = self.node(reportsCharge: true)
    try other.move("cable", "plugged in")
    try enable(other, 6000, 16_000)
    other.wait(3 * 3_600_000)
    #expect(other[Evse.stateOfCharge] == .value(68))
    try other.move("charge", "90%")
    #expect(other[Evse.stateOfCharge] == .value(90))
  }
}
