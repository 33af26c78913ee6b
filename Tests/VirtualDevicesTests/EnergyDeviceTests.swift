import MatterClusters
import MatterCrypto
import MatterDevice
import MatterModel
import MatterProtocol
import Runtime
import Testing

@testable import VirtualDevices

/// Devices that measure, generate and store electrical energy, in virtual time.
@Suite("Energy devices") struct EnergyDeviceTests {
  private typealias Power = ElectricalPowerMeasurement
  private typealias Energy = ElectricalEnergyMeasurement

  private func load(_ text: String) throws -> [DeviceDefinition] {
    try HomeDefinition.load(simulating: [("home.yaml", "devices:\n" + text)]).devices
  }

  /// - Parameter epoch: Unix time at the start in seconds.
  private func engine(
    _ text: String, seed: UInt64 = 0, epoch: Int64? = nil, stored: StoredState = [:]
  ) throws -> DeviceEngine {
    let device = try #require(try load(text).first)
    let clock = BehaviorClock(origin: .zero, now: .zero, seed: seed, rooms: Rooms())
    return try DeviceEngine(device, stored: stored, epoch: epoch, clock)
  }

  private func at(_ minutes: Int64) -> Instant { .zero + .seconds(60 * minutes) }

  /// Advances an engine to a time, deadline by deadline.
  /// - Returns: the changes of its store.
  @discardableResult
  private func advance(_ engine: inout DeviceEngine, to end: Instant) -> StoredState {
    var stored: StoredState = [:]
    func drain(_ engine: inout DeviceEngine) {
      while let effect = engine.nextEffect() {
        if case .store(let changes) = effect { for change in changes { stored[change.key] = change.value } }
      }
    }
    while let next = engine.nextDeadline, next <= end {
      engine.advance(to: next)
      drain(&engine)
    }
    engine.advance(to: end)
    drain(&engine)
    return stored
  }

  private func power(_ engine: inout DeviceEngine, on endpoint: EndpointID = 2) -> Int64? {
    engine.value(Power.activePower, on: endpoint)?.wrapped
  }

  private func imported(_ engine: inout DeviceEngine, on endpoint: EndpointID = 2) -> Int64? {
    engine.value(Energy.cumulativeEnergyImported, on: endpoint)?.wrapped?.energy
  }

  private func exported(_ engine: inout DeviceEngine, on endpoint: EndpointID = 2) -> Int64? {
    engine.value(Energy.cumulativeEnergyExported, on: endpoint)?.wrapped?.energy
  }

  // MARK: Plugs and sensors

  @Test("measures the load while the plug is on") func metersPlug() throws {
    var plug = try engine("  - { name: A, type: metering plug, load: 1.5kW, attributes: { onOff.onOff: true } }\n")
    #expect(power(&plug) == 1_500_000)
    #expect(plug.value(PowerTopology.availableEndpoints, on: 2) == [1])
    advance(&plug, to: at(60))
    try plug.act(set: OnOff.onOff, false, on: 1, at: at(60))
    #expect(power(&plug) == 0)
    advance(&plug, to: at(120))
    try plug.act(set: Power.activePower, .value(60_000), on: 2, at: at(120))
    #expect(power(&plug) == 0 && imported(&plug) == 1_500_000)
    try plug.act(set: OnOff.onOff, true, on: 1, at: at(120))
    #expect(power(&plug) == 60_000)
    advance(&plug, to: at(180))
    #expect(imported(&plug) == 1_560_000)
  }

  @Test("follows a behavior of the load, and measures it exactly for a day") func followsBehavior() throws {
    let text = "  - { name: A, type: electrical sensor, load: { steps: [90W for 12m, 2W for 25m, -7W for 3m] } }\n"
    var sensor = try engine(text)
    let stored = advance(&sensor, to: at(24 * 60))
    // 36 cycles: 12 · 90 + 25 · 2 and 3 · 7 watt minutes each.
    let wanted: (imported: Int64, exported: Int64) = (36 * (12 * 90 + 25 * 2) * 1000 / 60, 36 * 3 * 7 * 1000 / 60)
    #expect(imported(&sensor, on: 1) == wanted.imported && exported(&sensor, on: 1) == wanted.exported)
    var again = try engine(text, stored: stored)
    #expect(imported(&again, on: 1) == 678_000)
  }

  @Test("a meter behind a bridge stands still without power") func metersBehindBridge() throws {
    var bridge = try engine(
      """
        - name: B
          type: bridge
          devices: [{ name: A, type: metering plug, load: 60W, attributes: { onOff.onOff: true } }]

      """)
    let meter = try #require((1...5).map { EndpointID($0) }.first { power(&bridge, on: $0) != nil })
    let plug = try #require((1...5).map { EndpointID($0) }.first { bridge.value(OnOff.onOff, on: $0) != nil })
    #expect(bridge.value(PowerTopology.availableEndpoints, on: meter) == [plug])
    advance(&bridge, to: at(60))
    try bridge.power(false, bridgedOn: plug, at: at(60))
    advance(&bridge, to: at(120))
    try bridge.power(true, bridgedOn: plug, at: at(120))
    #expect(power(&bridge, on: meter) == 60_000)
    advance(&bridge, to: at(180))
    #expect(imported(&bridge, on: meter) == 120_000)
  }

  // MARK: Solar power

  /// 2026-06-21 and 2026-12-21, 00:00 UTC.
  private let summer: Int64 = 1_782_000_000, winter: Int64 = 1_797_811_200

  private func roof(_ more: String = "") -> String {
    "  - { name: R, type: solar power, solar: { peak: 5kW, latitude: 48, clouds: 0%\(more) } }\n"
  }

  @Test("follows the daylight of the clock") func followsDaylight() throws {
    var roof = try engine(roof(), epoch: summer)
    #expect(power(&roof) == 0)
    advance(&roof, to: at(8 * 60))
    let morning = try #require(power(&roof))
    advance(&roof, to: at(12 * 60))
    let noon = try #require(power(&roof))
    // The sun is at 65.4°: 0.909 · 1.098 · exp(-0.057 / 0.909) of the peak power.
    #expect(noon < -4_650_000 && noon > -4_750_000 && morning < -1_000_000 && morning > noon)
    #expect(roof.value(Power.activeCurrent, on: 2)?.wrapped == noon * 1000 / 230_000)
    advance(&roof, to: at(16 * 60))
    #expect(abs((power(&roof) ?? 0) - morning) < 20_000, "the afternoon is like the morning")
    advance(&roof, to: at(24 * 60))
    #expect(power(&roof) == 0)
    // The sum of the minutes.
    let array = SolarArray(peak: 5_000_000, latitude: 48, clouds: 0)
    let sum = (0..<1440 as Range<Int64>).reduce(0) { $0 + array.power(at: summer + 60 * $1) }
    #expect(exported(&roof) == sum * 60 / 3600)
    #expect(sum * 60 / 3600 > 35_000_000)
    var dark = try engine(self.roof(), epoch: winter)
    advance(&dark, to: at(12 * 60))
    #expect((power(&dark) ?? 0) > -1_800_000 && (power(&dark) ?? 0) < -1_000_000)
    // Six hours earlier in the east.
    var east = try engine(self.roof(", longitude: 90"), epoch: summer)
    advance(&east, to: at(6 * 60))
    #expect(power(&east) == noon)
  }

  @Test("clouds depend on the seed") func hasClouds() throws {
    func day(_ seed: UInt64, _ clouds: String) throws -> [Int64?] {
      var roof = try engine(
        "  - { name: R, type: solar power, solar: { clouds: \(clouds) } }\n", seed: seed, epoch: summer)
      return (10...14 as ClosedRange<Int64>).map { hour in
        advance(&roof, to: at(hour * 60))
        return power(&roof)
      }
    }
    let (clear, cloudy) = (try day(1, "0%"), try day(1, "80%"))
    #expect(cloudy != clear && zip(cloudy, clear).allSatisfy { $0 ?? 0 >= $1 ?? 0 && $0 ?? 0 < 0 })
    #expect(try day(1, "80%") == cloudy)
    #expect(try day(2, "80%") != cloudy)
  }

  @Test("a power that is set stays") func keepsSetPower() throws {
    var roof = try engine(roof(), epoch: summer)
    try roof.act(set: Power.activePower, .value(-1_000_000), on: 2, at: at(1))
    advance(&roof, to: at(12 * 60))
    #expect(power(&roof) == -1_000_000)
    var other = try engine(
      "  - { name: R, type: solar power, attributes: { 2.electricalPowerMeasurement.activePower: -2kW } }\n",
      epoch: summer)
    advance(&other, to: at(12 * 60))
    #expect(power(&other) == -2_000_000)
  }

  // MARK: Battery storage

  private func storage(_ load: String = "") -> String {
    "  - { name: S, type: battery storage, storage: { capacity: 10kWh, charge: 50%, charging: 4kW, discharging: 2kW }"
      + "\(load) }\n"
  }

  private func percent(_ engine: inout DeviceEngine) -> UInt8? {
    engine.value(PowerSource.batPercentRemaining, on: 3)?.wrapped
  }

  @Test("charges until it is full, and discharges until it is empty") func chargesAndDischarges() throws {
    var storage = try engine(storage())
    #expect(percent(&storage) == 100 && power(&storage) == 0)
    #expect(storage.value(PowerSource.batChargeState, on: 3) == .isNotCharging)
    // Limited to 4 kW: 5 kWh are charged in 75 minutes.
    try storage.act(set: Power.activePower, .value(9_000_000), on: 2, at: .zero)
    #expect(power(&storage) == 4_000_000 && power(&storage, on: 3) == 4_000_000)
    #expect(storage.value(PowerSource.batChargeState, on: 3) == .isCharging)
    #expect(storage.value(PowerSource.batTimeToFullCharge, on: 3) == .value(75 * 60))
    #expect(storage.value(PowerSource.batTimeRemaining, on: 3) == .null)
    advance(&storage, to: at(60))
    #expect(percent(&storage) == 180)
    advance(&storage, to: at(76))
    #expect(percent(&storage) == 200 && power(&storage) == 0)
    #expect(storage.value(PowerSource.batChargeState, on: 3) == .isAtFullCharge)
    #expect(imported(&storage) == 5_000_000 && imported(&storage, on: 3) == 5_000_000)
    try storage.act(set: Power.activePower, .value(-9_000_000), on: 2, at: at(76))
    #expect(power(&storage) == -2_000_000)
    #expect(storage.value(PowerSource.batTimeRemaining, on: 3) == .value(5 * 3600))
    let stored = advance(&storage, to: at(76 + 299))
    #expect(storage.value(PowerSource.batChargeLevel, on: 3) == .critical)
    advance(&storage, to: at(76 + 301))
    #expect(percent(&storage) == 0 && power(&storage) == 0 && exported(&storage) == 10_000_000)
    var again = try engine(self.storage(), stored: stored)
    #expect(percent(&again) == 1, "the charge survives a restart")
    #expect(throws: StatusError.self) { try again.act(set: Power.activePower, .null, on: 2, at: .zero) }
    try again.act(set: PowerSource.batPercentRemaining, .value(80), on: 3, at: .zero)
    #expect(percent(&again) == 80)
  }

  @Test("follows its load from the start") func followsLoad() throws {
    var constant = try engine(storage(", load: -1kW"))
    #expect(power(&constant) == -1_000_000 && power(&constant, on: 3) == -1_000_000)
    advance(&constant, to: at(120))
    #expect(percent(&constant) == 60)
    var changing = try engine(storage(", load: { steps: [3kW for 1h, -1kW for 1h] }"))
    #expect(power(&changing) == 3_000_000 && power(&changing, on: 3) == 3_000_000)
    advance(&changing, to: at(60))
    #expect(percent(&changing) == 160 && power(&changing) == -1_000_000)
    advance(&changing, to: at(120))
    #expect(percent(&changing) == 140)
    #expect(imported(&changing, on: 3) == 3_000_000)
  }

  // MARK: Errors

  @Test(
    arguments: [
      ("type: metering plug, load: 60", "a power such as 60W"),
      ("type: metering plug, load: 200kW", "a power such as 60W"),
      ("type: metering plug, load: { steps: [on for 1h] }", "a number"),
      ("type: solar power, load: 60W", "this key only in a device of the type"),
      ("type: plug, load: 60W", "“metering plug”, “electrical sensor” or “electrical utility meter”"),
      (
        "type: electrical sensor, load: 60W, attributes: { electricalPowerMeasurement.activePower: 1W }",
        "only one of this key and 1.electricalPowerMeasurement.activePower"
      ),
      ("type: plug, solar: { peak: 5kW }", "“solar power”"),
      ("type: solar power, solar: { peak: 5 }", "a power up to 100kW"),
      ("type: solar power, solar: { latitude: 91 }", "degrees from -90 to 90"),
      ("type: solar power, solar: { clouds: 2 }", "a share from 0% to 100%"),
      ("type: solar power, storage: { charge: 5% }", "“battery storage”"),
      ("type: battery storage, storage: { capacity: 0kWh }", "an energy from 10Wh"),
      ("type: battery storage, storage: { charging: fast }", "a power up to 100kW"),
      ("type: battery storage, storage: { charge: half }", "a charge from 0% to 100%"),
    ] as [(String, String)]) func reportsErrors(_ entry: String, _ expected: String) throws
  {
    let error = #expect(throws: DefinitionError.self) { try load("  - { name: A, \(entry) }\n") }
    #expect(error?.problems.contains { "\($0)".contains(expected) } == true, "\(error?.problems.map { "\($0)" } ?? [])")
  }
}
