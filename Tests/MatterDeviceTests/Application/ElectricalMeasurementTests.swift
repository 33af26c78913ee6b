import MatterClusters
import MatterModel
import MatterProtocol
import MatterTLV
import Testing

@testable import MatterDevice

/// Electrical Power Measurement and Electrical Energy Measurement, in virtual time.
@Suite("Electrical measurement") struct ElectricalMeasurementTests {
  private typealias Power = ElectricalPowerMeasurement
  private typealias Energy = ElectricalEnergyMeasurement

  private static let both = [ElectricalEnergyMeasurement.importedEnergy, ElectricalEnergyMeasurement.exportedEnergy]

  private func at(_ seconds: Int64) -> Instant { .zero + .seconds(seconds) }

  private func node(
    load: Int64 = 0, _ more: [ClusterServer] = [], stored: StoredState = [:]
  ) -> TestNode {
    TestNode(
      [
        PowerTopologyServer.make(),
        ElectricalPowerServer.make().initial(ElectricalPowerMeasurement.activePower, .value(load)),
        ElectricalEnergyServer.make(Self.both),
      ] + more, stored: stored)
  }

  // MARK: The meter

  @Test("integrates exactly, however often it is advanced") func integratesExactly() {
    var (often, once) = (EnergyMeter(at: .zero), EnergyMeter(at: .zero))
    often.setPower(7, at: .zero)
    once.setPower(7, at: .zero)
    for step in 1...86_400 as ClosedRange<Int64> { often.advance(to: at(step)) }
    once.advance(to: at(86_400))
    #expect(often == once)
    #expect(once.imported == 168 && once.exported == 0)
    // Each second of a day has another power: 0, 1, … mW; the sum is n · (n − 1) / 2 milliwatt seconds.
    var ramp = EnergyMeter(at: .zero)
    let count: Int64 = 86_400
    for second in 0..<count { ramp.setPower(second, at: at(second)) }
    ramp.advance(to: at(count))
    #expect(ramp.imported == count * (count - 1) / 2 / 3600)
  }

  @Test func separatesDirections() {
    var meter = EnergyMeter(at: .zero)
    meter.setPower(2_000_000, at: .zero)
    meter.setPower(-500_000, at: at(1800))
    meter.setPower(0, at: at(5400))
    meter.advance(to: at(10_000))
    #expect(meter.imported == 1_000_000 && meter.exported == 500_000)
    // Also the parts of a milliwatt hour are restored.
    var small = EnergyMeter(at: .zero)
    small.setPower(1, at: .zero)
    small.advance(to: at(3599))
    var again = EnergyMeter(stored: small.stored, at: at(5000))
    #expect(again.imported == 0)
    again.setPower(1, at: at(5000))
    again.advance(to: at(5001))
    #expect(again.imported == 1)
  }

  @Test("stays within its limits") func saturates() {
    var meter = EnergyMeter(stored: [.max, .max, 0, 0], at: .zero)
    meter.setPower(.max, at: .zero)
    meter.advance(to: Instant(nanoseconds: .max))
    meter.setPower(.min, at: Instant(nanoseconds: .max))
    #expect(meter.imported == .max && meter.exported == 0)
    #expect(EnergyMeter(stored: [1, 2], at: .zero).imported == 0)
    #expect(EnergyMeter(stored: [-1, 0, 0, 0], at: .zero).imported == 0)
  }

  // MARK: Power

  @Test func conforms() throws {
    let servers = [
      PowerTopologyServer.make(), PowerTopologyServer.ofParent(), ElectricalPowerServer.make(),
      ElectricalPowerServer.make(Power.directCurrent, voltage: 48_000), ElectricalEnergyServer.make(),
      ElectricalEnergyServer.make(Self.both), ElectricalEnergyServer.make([Energy.exportedEnergy]),
    ]
    for server in servers { expectConformance(of: server) }
    let node = node()
    #expect(node[Power.powerMode] == .ac)
    let accuracy = node[Power.accuracy]
    #expect(accuracy.count == Int(node[Power.numberOfMeasurementTypes]))
    for measurement in accuracy {
      #expect(measurement.accuracyRanges.first?.rangeMin == measurement.minMeasuredValue)
      #expect(measurement.accuracyRanges.last?.rangeMax == measurement.maxMeasuredValue)
    }
    #expect(node[Energy.accuracy].measurementType == .electricalEnergy)
  }

  @Test func currentFollowsPowerAndVoltage() throws {
    let node = node(load: 460_000)
    #expect(node[Power.activePower] == .value(460_000) && node[Power.activeCurrent] == .value(2000))
    node.act(Power.voltage, .value(115_000))
    #expect(node[Power.activeCurrent] == .value(4000) && node[Power.activePower] == .value(460_000))
    node.act(Power.activeCurrent, .value(-1000))
    #expect(node[Power.activePower] == .value(-115_000))
    node.act(Power.voltage, .value(0))
    #expect(node[Power.activeCurrent] == .value(0))
    // A failed sensor measures neither current nor energy.
    node.act(Power.voltage, .null)
    #expect(node[Power.activeCurrent] == .null)
    node.act(Power.activePower, .null)
    #expect(node[Power.activePower] == .null)
    node.wait(3_600_000)
    #expect(node[Energy.cumulativeEnergyImported].wrapped?.energy == 0)
  }

  @Test func refusesPowersOutOfRange() throws {
    let node = node(load: 1000)
    for power in [100_000_001, -100_000_001, Int64.max, .min] {
      #expect(throws: StatusError(.constraintError)) { try node.press(Power.activePower, .value(power)) }
      #expect(throws: StatusError(.constraintError)) { try node.press(Power.activeCurrent, .value(power)) }
      #expect(throws: StatusError(.constraintError)) {
        try node.press(Energy.cumulativeEnergyImported, .value(.init(energy: power == .max ? power : -1)))
      }
    }
    #expect(throws: StatusError(.constraintError)) { try node.press(Power.voltage, .value(-1)) }
    #expect(node[Power.activePower] == .value(1000))
  }

  @Test("no power flows while the device is off") func followsOnOff() throws {
    let node = node(load: 60_000, [OnOffServer.make(isOn: false).supplyingSensors()])
    #expect(node[Power.activePower] == .value(0))
    try node.invoke(OnOff.on)
    #expect(node[Power.activePower] == .value(60_000))
    node.wait(1_800_000)
    try node.invoke(OnOff.off)
    #expect(node[Power.activePower] == .value(0) && node[Power.activeCurrent] == .value(0))
    node.wait(3_600_000)
    #expect(node[Energy.cumulativeEnergyImported].wrapped?.energy == 30_000)
    // The load stays behind the switch.
    node.act(Power.activePower, .value(10_000))
    #expect(node[Power.activePower] == .value(0))
    try node.invoke(OnOff.on)
    #expect(node[Power.activePower] == .value(10_000))
  }

  @Test("reports a power at most once a second, and the last one in any case") func reportsQuietly() throws {
    let node = node()
    node.wait(10_000)
    _ = try node.takeReports(of: Power.activePower)
    for step in 1...25 as ClosedRange<Int64> {
      node.act(Power.activePower, .value(1000 * step))
      node.wait(100)
    }
    node.wait(5000)
    let reports = try node.takeReports(of: Power.activePower)
    #expect(zip(reports, reports.dropFirst()).allSatisfy { $1.at - $0.at >= 1000 })
    #expect(reports.map(\.value) == [.value(1000), .value(10_000), .value(20_000), .value(25_000)])
  }

  @Test func rangesCoverEachPeriod() throws {
    let node = node(load: 5000)
    node.setClock(1000)
    node.wait(100_000)
    node.act(Power.activePower, .value(9000))
    node.wait(100_000)
    node.act(Power.activePower, .value(2000))
    node.wait(700_000)
    let range = try #require(node[Power.ranges].first { $0.measurementType == .activePower })
    #expect(range.min == 2000 && range.max == 9000)
    #expect(range.startTimestamp == 1000 && range.endTimestamp == 1900)
    #expect(range.maxTimestamp == 1100 && range.minTimestamp == 1200)
    node.wait(900_000)
    let next = try #require(node[Power.ranges].first { $0.measurementType == .activePower })
    #expect(next.min == 2000 && next.max == 2000 && next.startTimestamp == 1900)
    let events = try node.payloads(of: Power.measurementPeriodRanges)
    #expect(events.count == 2 && events.last?.ranges == node[Power.ranges])
  }

  // MARK: Energy

  @Test func measuresADay() throws {
    let node = node(load: 7)
    node.wait(86_400_000)
    #expect(node[Energy.cumulativeEnergyImported].wrapped?.energy == 168)
    // An hour with 1 kW, then two with −3 kW.
    node.act(Power.activePower, .value(1_000_000))
    node.wait(3_600_000)
    node.act(Power.activePower, .value(-3_000_000))
    node.wait(7_200_000)
    node.act(Power.activePower, .value(0))
    #expect(node[Energy.cumulativeEnergyImported].wrapped?.energy == 1_000_168)
    #expect(node[Energy.cumulativeEnergyExported].wrapped?.energy == 6_000_000)
    // It continues after a restart.
    let again = self.node(stored: node.stored)
    #expect(again[Energy.cumulativeEnergyExported].wrapped?.energy == 6_000_000)
  }

  @Test func takesSnapshotsWhilePowerFlows() throws {
    let node = node()
    node.wait(600_000)
    #expect(try node.payloads(of: Energy.cumulativeEnergyMeasured).isEmpty)
    #expect(node.context.node.timers.allSatisfy { $0.id != .tick })
    node.act(Power.activePower, .value(3_600_000))
    node.wait(150_000)
    #expect(
      try node.payloads(of: Energy.cumulativeEnergyMeasured).map { $0.energyImported?.energy } == [60_000, 120_000])
    #expect(node[Energy.cumulativeEnergyImported].wrapped?.energy == 120_000)
    node.act(Power.activePower, .value(0))
    // The end of the use.
    #expect(node[Energy.cumulativeEnergyImported].wrapped?.energy == 150_000)
    node.wait(900_000)
    let events = try node.payloads(of: Energy.cumulativeEnergyMeasured)
    #expect(events.count == 3 && events.allSatisfy { $0.energyExported?.energy == 0 })
    // One period, which starts with the use; then one without energy.
    let periods = try node.payloads(of: Energy.periodicEnergyMeasured)
    #expect(periods.map { $0.energyImported?.energy } == [150_000])
    #expect(periods.first?.energyImported?.startSystime == 600_000)
    #expect(periods.first?.energyImported?.endSystime == 1_500_000)
    node.wait(3_600_000)
    #expect(try node.payloads(of: Energy.periodicEnergyMeasured).map { $0.energyImported?.energy } == [150_000, 0])
    #expect(node[Energy.periodicEnergyImported].wrapped?.energy == 0)
  }

  @Test func resetsTotals() throws {
    let node = node(load: 3_600_000)
    node.setClock(5000)
    node.wait(100_000)
    #expect(node[Energy.cumulativeEnergyReset] == .null)
    try node.press(Energy.cumulativeEnergyImported, .value(.init(energy: 7_000_000)))
    #expect(node[Energy.cumulativeEnergyImported].wrapped?.energy == 7_000_000)
    #expect(node[Energy.cumulativeEnergyReset] == .null)
    try node.press(Energy.cumulativeEnergyImported, .value(.init(energy: 0)))
    let reset = try #require(node[Energy.cumulativeEnergyReset].wrapped)
    #expect(reset.importedResetTimestamp == .value(5100) && reset.exportedResetTimestamp == nil)
    node.wait(60_000)
    #expect(node[Energy.cumulativeEnergyImported].wrapped?.energy == 60_000)
    #expect(node[Energy.cumulativeEnergyImported].wrapped?.endTimestamp == 5160)
    let again = self.node(stored: node.stored)
    #expect(again[Energy.cumulativeEnergyReset].wrapped?.importedResetTimestamp == .value(5100))
  }

  @Test("a bridged device without power measures nothing") func standsStillWithoutPower() throws {
    let facts = BridgedDeviceFacts(
      vendorName: "Hearth", vendorID: 0xFFF1, productName: "Meter", productID: 1, nodeLabel: "", serialNumber: "1",
      uniqueID: "1")
    let node = node(load: 3_600_000, [BridgedDeviceServer.make(facts)])
    node.wait(60_000)
    node.power(false)
    node.wait(3_600_000)
    node.power(true)
    // As on a restart of the device.
    for id in [ElectricalPowerMeasurement.id, ElectricalEnergyMeasurement.id] { node.start(id) }
    node.wait(60_000)
    #expect(node[Energy.cumulativeEnergyImported].wrapped?.energy == 120_000)
  }

  // MARK: Test events

  @Test func simulatesALoad() throws {
    let node = node(load: 5000)
    try node.cause(0x0091_0000_0000_0001)
    var readings: [[Int64?]] = []
    var energies: [Int64] = []
    var periods: Set<Int64> = []
    for _ in 0..<6 {
      node.wait(3000)
      readings.append([
        node[Power.activePower].wrapped, node[Power.activeCurrent].wrapped, node[Power.voltage].wrapped,
      ])
      energies.append(try #require(node[Energy.cumulativeEnergyImported].wrapped?.energy))
      periods.insert(try #require(node[Energy.periodicEnergyImported].wrapped?.energy))
    }
    for reading in readings {
      #expect((980_000...1_020_000).contains(reading[0] ?? 0))
      #expect((3848...4848).contains(reading[1] ?? 0))
      #expect((229_000...231_000).contains(reading[2] ?? 0))
    }
    for index in 0..<3 { #expect(Set(readings.map { $0[index] }).count == readings.count) }
    #expect(zip(energies, energies.dropFirst()).allSatisfy { $0 < $1 })
    #expect(periods.count == 6)
    node.stall(3_600_000)
    #expect(node.context.node.timers.allSatisfy { $0.deadline > node.context.now }, "missed readings are skipped")
    try node.cause(0x0091_0000_0000_0000)
    #expect(node[Power.activePower] == .value(5000) && node[Power.voltage] == .value(230_000))
  }

  @Test func simulatesAGenerator() throws {
    let node = node()
    try node.cause(0x0091_0000_0000_0002)
    node.wait(6000)
    let first = (
      total: node[Energy.cumulativeEnergyExported].wrapped?.energy ?? 0,
      period: node[Energy.periodicEnergyExported].wrapped?.energy ?? 0
    )
    node.wait(6000)
    #expect(first.total > 4000 && node[Energy.cumulativeEnergyExported].wrapped?.energy ?? 0 > first.total)
    #expect(node[Energy.periodicEnergyExported].wrapped?.energy != first.period)
    #expect(node[Power.activePower].wrapped ?? 0 < -2_900_000)
    try node.cause(0x0091_0000_0000_0000)
    node.wait(60_000)
    #expect(node[Power.activePower] == .value(0))
  }
}
