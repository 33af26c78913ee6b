import MatterClusters
import MatterModel
import MatterProtocol
import MatterTLV
import Testing

@testable import MatterDevice

/// Batteries and their Power Source server, in virtual time.
@Suite("Battery") struct BatteryTests {
  private func at(_ seconds: Int64) -> Instant { .zero + .seconds(seconds) }

  // MARK: The value

  @Test func drainsOverTime() {
    var battery = Battery(.aa, quantity: 2, lifetime: .seconds(200))
    #expect(battery.halfPercent == 200 && battery.voltage == 3000 && battery.timeRemaining == 200)
    // The charge is rounded up, so that only an empty battery has 0.
    let first = battery.nextChange
    #expect(first.map { $0 > at(1) && $0 < at(1) + .milliseconds(1) } == true)
    battery.advance(to: at(1))
    #expect(battery.halfPercent == 199)
    battery.advance(to: at(100))
    #expect(battery.halfPercent == 100 && battery.voltage == 2400 && battery.timeRemaining == 100)
    #expect(battery.level == .ok)
    battery.advance(to: at(170))
    #expect(battery.halfPercent == 30 && battery.level == .warning)
    battery.advance(to: at(190))
    #expect(battery.halfPercent == 10 && battery.level == .critical)
    battery.advance(to: at(1_000_000))
    #expect(battery.halfPercent == 0 && battery.voltage == 1800 && battery.nextChange == nil)
  }

  @Test("has the same charge however often it is advanced") func isDeterministic() {
    var often = Battery(.cr123A, charge: 83, lifetime: .seconds(86_400 * 700))
    var once = often
    var changes = 0
    while let next = often.nextChange {
      let before = often.halfPercent
      often.advance(to: next)
      #expect(often.halfPercent == before - 1)
      changes += 1
    }
    #expect(changes == 166)
    once.advance(to: at(86_400 * 350))
    var halfway = Battery(.cr123A, charge: 83, lifetime: .seconds(86_400 * 700))
    for day in 1...350 as ClosedRange<Int64> { halfway.advance(to: at(86_400 * day)) }
    #expect(halfway == once)
  }

  @Test func drainsWithUse() {
    var battery = Battery(.cr2032, charge: 50, drainPerUse: 0.5)
    battery.use(3, at: at(10))
    #expect(battery.halfPercent == 97 && battery.nextChange == nil)
    battery.use(.max, at: at(20))
    #expect(battery.halfPercent == 0)
  }

  @Test func charges() {
    var battery = Battery(.lithiumIon, charge: 50, lifetime: .seconds(1000), chargingTime: .seconds(100))
    battery.setOnCharger(true, at: at(0))
    #expect(battery.chargeState == .isCharging && battery.timeToFull == 50 && battery.timeRemaining == nil)
    battery.advance(to: at(25))
    #expect(battery.halfPercent == 150)
    while let next = battery.nextChange { battery.advance(to: next) }
    #expect(battery.chargeState == .isAtFullCharge && battery.halfPercent == 200 && battery.voltage == 4200)
    battery.setOnCharger(false, at: at(60))
    battery.advance(to: at(560))
    #expect(battery.chargeState == .isNotCharging && battery.halfPercent == 100)
    // Other batteries can't be charged.
    var cell = Battery(.aa, charge: 50)
    cell.setOnCharger(true, at: at(0))
    cell.advance(to: at(100_000))
    #expect(cell.halfPercent == 100 && cell.chargeState == .isNotCharging)
  }

  // MARK: The server

  @Test(arguments: Battery.Cell.all) func conforms(_ cell: Battery.Cell) {
    for lifetime in [nil, Duration.seconds(86_400)] {
      let server = PowerSourceServer.make(Battery(cell, lifetime: lifetime))
      expectConformance(of: server)
    }
  }

  @Test func reportsChargeAtMostEveryTenSeconds() throws {
    let node = TestNode([PowerSourceServer.make(Battery(.aa, lifetime: .seconds(400)))])
    node.wait(30_500)
    #expect(node[PowerSource.batPercentRemaining] == .value(185))
    let reports = try node.takeReports(of: PowerSource.batPercentRemaining)
    #expect((2...4).contains(reports.count))
    #expect(zip(reports, reports.dropFirst()).allSatisfy { $1.at - $0.at >= 10_000 })
    // The last change is reported in the end.
    node.act(PowerSource.batPercentRemaining, .value(40))
    node.act(PowerSource.batPercentRemaining, .value(39))
    node.wait(10_001)
    #expect(try node.takeReports(of: PowerSource.batPercentRemaining).last.map { $0.value.wrapped ?? 0 < 40 } == true)
  }

  @Test func needsReplacementWhenCritical() throws {
    let node = TestNode([PowerSourceServer.make(Battery(.cr123A, charge: 16, lifetime: .seconds(100 * 86_400)))])
    #expect(node[PowerSource.batChargeLevel] == .ok)
    node.wait(2 * 86_400_000)
    #expect(node[PowerSource.batChargeLevel] == .warning && !node[PowerSource.batReplacementNeeded])
    node.wait(10 * 86_400_000)
    #expect(node[PowerSource.batChargeLevel] == .critical && node[PowerSource.batReplacementNeeded])
    #expect(try node.takeReports(of: PowerSource.batReplacementNeeded).map(\.value) == [true])
    // A new battery.
    node.act(PowerSource.batPercentRemaining, .value(200))
    #expect(node[PowerSource.batChargeLevel] == .ok && !node[PowerSource.batReplacementNeeded])
    #expect(node[PowerSource.batVoltage] == .value(3000))
    // The charge survives a restart.
    node.act(PowerSource.batPercentRemaining, .value(77))
    let again = TestNode(
      [PowerSourceServer.make(Battery(.cr123A, charge: 16, lifetime: .seconds(100 * 86_400)))], stored: node.stored)
    #expect(again[PowerSource.batPercentRemaining] == .value(77))
  }

  @Test func chargesOnCharger() {
    let node = TestNode([
      PowerSourceServer.make(Battery(.lithiumIon, charge: 10, lifetime: .seconds(86_400), chargingTime: .seconds(3600)))
    ])
    #expect(node[PowerSource.batChargeState] == .isNotCharging)
    node.act(PowerSource.batChargeState, .isCharging)
    #expect(node[PowerSource.batTimeToFullCharge] == .value(3240))
    node.wait(3_300_000)
    #expect(node[PowerSource.batChargeState] == .isAtFullCharge && node[PowerSource.batTimeToFullCharge] == .null)
    node.act(PowerSource.batChargeState, .isNotCharging)
    node.wait(43_201_000)
    #expect(node[PowerSource.batPercentRemaining] == .value(100))
  }

  @Test func warnsAlarmOfLowBattery() {
    let battery = PowerSourceServer.make(Battery(.cr123A, charge: 20))
    let node = TestNode([SmokeCoAlarmServer.make(), battery])
    #expect(node[SmokeCoAlarm.batteryAlert] == .normal)
    node.act(PowerSource.batPercentRemaining, .value(20))
    #expect(node[SmokeCoAlarm.batteryAlert] == .warning && node[SmokeCoAlarm.expressedState] == .batteryAlert)
    node.act(PowerSource.batPercentRemaining, .value(4))
    #expect(node[SmokeCoAlarm.batteryAlert] == .critical)
    node.act(PowerSource.batPercentRemaining, .value(200))
    #expect(node[SmokeCoAlarm.expressedState] == .normal)
  }

  @Test func usesChargeForReportedChanges() throws {
    var lab = try Lab(
      endpoints: [
        Lab.light,
        EndpointDefinition(
          0, deviceTypes: [DeviceTypes.powerSource], servers: [PowerSourceServer.make(Battery(.aa, drainPerUse: 1))]),
      ], isCommissionable: false)
    for isOn in [true, false, false, true] {
      try lab.device.act(set: OnOff.onOff, isOn, on: 1, at: lab.now)
      lab.settle()
    }
    // The third one changes nothing.
    #expect(lab.device.value(PowerSource.batPercentRemaining, on: 0) == .value(194))
    lab.advance(by: .seconds(3600))
    #expect(lab.device.value(PowerSource.batPercentRemaining, on: 0) == .value(194))
    lab.crash()
    #expect(lab.device.value(PowerSource.batPercentRemaining, on: 0) == .value(194))
  }
}
