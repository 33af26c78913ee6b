import MatterClusters
import MatterCrypto
import MatterDevice
import MatterModel
import MatterProtocol
import Runtime
import Testing

@testable import VirtualDevices

/// Utility meters with their tariffs, in virtual time.
@Suite("Utility meters") struct UtilityMeterTests {
  private typealias Tariff = CommodityTariff

  private static let tariff = """
    { name: Night Saver, provider: City Power, currency: CHF, prices: { Peak: 0.3812, Off-peak: 0.24 },
            day: [Off-peak, Peak from 6:00, Off-peak from 22:00], weekend: [Off-peak],
            carbon: [90, 30 from 9:30], limit: 9kW }
    """

  private func load(_ text: String) throws -> DeviceDefinition {
    try #require(
      try HomeDefinition.load(simulating: [("home.yaml", "devices:\n  - name: A\n    \(text)\n")]).devices.first)
  }

  /// - Parameter epoch: Unix time at the start in seconds: 2026-06-19, a Friday, 05:00 UTC by default.
  private func engine(_ text: String, epoch: Int64? = 1_781_845_200) throws -> DeviceEngine {
    try DeviceEngine(
      load(text), epoch: epoch, BehaviorClock(origin: .zero, now: .zero, seed: 0, rooms: Rooms()))
  }

  private func problem(_ tariff: String) -> String? {
    do {
      _ = try load("type: utility meter\n    tariff: \(tariff)")
      return nil
    } catch let error as DefinitionError {
      return error.problems.first.map { "found \($0.found), expected \($0.expected)" }
    } catch {
      return "\(error)"
    }
  }

  @Test("serves the tariff of the definition") func servesTariff() throws {
    var meter = try engine("type: electrical utility meter\n    load: 2kW\n    tariff: \(Self.tariff)")
    let info = try #require(meter.value(Tariff.tariffInfo, on: 2)?.wrapped)
    #expect(info.tariffLabel == .value("Night Saver") && info.providerName == .value("City Power"))
    #expect(info.currency?.wrapped?.currency == 756)
    #expect(meter.value(Tariff.dayEntries, on: 2)?.wrapped?.map(\.startTime) == [0, 360, 1320, 0])
    #expect(meter.value(CommodityPrice.currentPrice, on: 2)?.wrapped?.price == 24_000)
    #expect(meter.value(ElectricalGridConditions.currentConditions, on: 2)?.wrapped?.gridCarbonIntensity == 90)
    #expect(meter.value(ElectricalPowerMeasurement.activePower, on: 3) == .value(2_000_000))
    #expect(meter.value(MeterIdentification.powerThreshold, on: 1)?.wrapped?.powerThreshold == 9_000_000)
    #expect(VirtualDevice.power(&meter, on: [1, 2, 3]) == "2000.0 W, 0.24 CHF/kWh")
    meter.advance(to: .zero + .seconds(3600))
    #expect(meter.value(CommodityPrice.currentPrice, on: 2)?.wrapped?.price == 38_120)
    #expect(VirtualDevice.power(&meter, on: [1, 2, 3]) == "2000.0 W, 0.3812 CHF/kWh")
  }

  @Test("the serial number of the meter is that of the device") func identifiesMeter() throws {
    let text = "type: smart meter\n    serial: M-17\n    attributes: { meterIdentification.pointOfDelivery: DE0001 }"
    var meter = try engine(text)
    #expect(meter.value(MeterIdentification.meterSerialNumber, on: 1) == .value("M-17"))
    #expect(meter.value(MeterIdentification.pointOfDelivery, on: 1) == .value("DE0001"))
    #expect(meter.value(MeterIdentification.powerThreshold, on: 1) == .null)
  }

  @Test("follows the local time of the node") func followsLocalTime() throws {
    var meter = try engine("type: utility meter")
    #expect(meter.value(Tariff.currentDayEntry, on: 2)?.wrapped?.startTime == 0)
    try meter.act(
      set: TimeSynchronization.timeZone, [.init(offset: 7200, validAt: 0)], on: .root, at: .zero)
    // A change of the clock, as the host notes it.
    meter.noteClock(epoch: .seconds(1_781_845_200), at: .zero)
    #expect(meter.value(Tariff.currentDayEntry, on: 2)?.wrapped?.startTime == 360)
    #expect(meter.value(Tariff.currentDayEntryDate, on: 2) == .value(1_781_845_200 - 946_684_800 - 3600))
  }

  @Test("catches up behind a bridge after a loss of power") func catchesUp() throws {
    var bridge = try engine("type: bridge\n    devices: [{ name: M, type: utility meter }]")
    let parts = bridge.value(Descriptor.partsList, on: 2) ?? []
    let endpoint = try #require(parts.first { bridge.value(Tariff.currentDayEntry, on: $0) != nil })
    try bridge.power(false, bridgedOn: 2, at: .zero)
    bridge.advance(to: .zero + .seconds(2 * 3600))
    #expect(bridge.value(Tariff.currentDayEntry, on: endpoint)?.wrapped?.startTime == 0)
    try bridge.power(true, bridgedOn: 2, at: .zero + .seconds(2 * 3600))
    #expect(bridge.value(Tariff.currentDayEntry, on: endpoint)?.wrapped?.startTime == 360)
  }

  @Test("one price needs no times") func onePrice() throws {
    var meter = try engine("type: utility meter\n    tariff: { prices: { Standard: 0.3 } }")
    #expect(meter.value(Tariff.tariffPeriods, on: 2)?.wrapped?.map(\.dayEntryIDs) == [[1]])
    #expect(meter.value(CommodityPrice.currentPrice, on: 2)?.wrapped?.periodEnd == .null)
  }

  @Test(
    arguments: [
      ("0.3", "found 0.3, expected a tariff with “prices:”, “day:” and “weekend:”"),
      ("{ price: 0.3 }", "found key “price”, expected a key of a tariff"),
      ("{ currency: euros }", "found “euros”, expected a currency such as EUR, or its number of ISO 4217"),
      (
        "{ prices: {} }", "found a mapping, expected the prices of a kWh by name such as { Peak: 0.38, Off-peak: 0.24 }"
      ),
      ("{ prices: { Peak: high } }", "found “high”, expected the price of a kWh such as 0.24"),
      ("{ prices: { Peak: 1e300 } }", "found 1e300, expected the price of a kWh such as 0.24"),
      ("{ prices: { A: 0.1, a: 0.2 } }", "found price “a” again, expected each price once"),
      ("{ prices: { A: 0.1, B: 0.2 } }", "found several prices without “day”, expected “day: [A, B from 6:00]”"),
      (
        "{ prices: { A: 0.1, B: 0.2 }, day: [A] }",
        "found price “B” without a time, expected “day” or “weekend” with each price"
      ),
      ("{ day: [] }", "found a list, expected a list of at most 10 entries"),
      (
        "{ day: [Peak] }",
        "found “Peak”, expected a price of the tariff with its time: “Night from 6:00” or “Day from 6:00”"
      ),
      ("{ day: [Night, Day] }", "found “Day”, expected a price of the tariff with its time"),
      ("{ day: [Night, Day from 24:00] }", "found “Day from 24:00”, expected a price of the tariff with its time"),
      ("{ day: [Night from 1:00] }", "found “Night from 1:00”, expected midnight as the first time"),
      (
        "{ day: [Night, Day from 6:00, Night from 6:00] }",
        "found “Night from 6:00”, expected a later time than in the entry before"
      ),
      ("{ carbon: [-1] }", "found -1, expected grams of CO2 per kWh with their time, such as “180 from 10:00”"),
      ("{ limit: 9 }", "found 9, expected a power up to 1000kW, such as 14kW"),
    ]
  ) func rejects(_ tariff: String, _ expected: String) {
    let problem = problem(tariff)
    #expect(problem?.hasPrefix(expected) == true, "\(problem ?? "accepted")")
  }

  @Test("other devices have no tariff") func rejectsPlace() {
    #expect(throws: DefinitionError.self) { try load("type: plug\n    tariff: { prices: { A: 0.1 } }") }
  }
}
