import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

/// The servers of a tariff of electrical energy in virtual time.
@Suite("Energy tariffs") struct EnergyTariffTests {
  private typealias Tariff = CommodityTariff
  private typealias Price = CommodityPrice
  private typealias Grid = ElectricalGridConditions

  /// 2026-06-19, a Friday, 00:00 UTC in seconds since 2000.
  private static let friday: UInt32 = 9666 * 86_400
  private static let hour: UInt32 = 3600

  /// Off-peak at night, peak from 6:00 to 22:00, and off-peak at the weekend.
  private var tariff: EnergyTariff {
    var tariff = EnergyTariff()
    let (peak, offPeak) = (EnergyTariff.Price("Peak", 38_000), EnergyTariff.Price("Off-peak", 24_000))
    tariff.prices = [peak, offPeak]
    tariff.course = DailyCourse(
      [.init(offPeak), .init(peak, from: 360), .init(offPeak, from: 1320)], weekend: [.init(offPeak)])
    return tariff
  }

  private func node(_ tariff: EnergyTariff? = nil, at seconds: UInt32? = nil) -> TestNode {
    let tariff = tariff ?? self.tariff
    let node = TestNode([
      CommodityTariffServer.make(tariff), CommodityPriceServer.make(tariff), GridConditionsServer.make(tariff.carbon),
      MeterIdentificationServer.make(serialNumber: "1", limit: 14_000_000),
    ])
    if let seconds { node.setClock(UInt64(seconds)) }
    return node
  }

  private func wait(_ node: TestNode, hours: Int64) { node.wait(hours * 3_600_000) }

  @Test func conforms() {
    expectConformance(of: CommodityTariffServer.make(tariff))
    expectConformance(of: CommodityPriceServer.make(tariff))
    expectConformance(of: GridConditionsServer.make(tariff.carbon))
    expectConformance(of: MeterIdentificationServer.make(serialNumber: "1", limit: nil))
  }

  // MARK: Courses

  @Test func mergesEqualValuesAcrossMidnight() {
    let course = DailyCourse([.init(1), .init(2, from: 360), .init(1, from: 1320)])
    // 2000-01-03, 23:00.
    let day: Int64 = 2 * 1440
    let spans = course.spans(at: day + 1380, within: 1440)
    #expect(spans.map(\.start) == [day + 1320, day + 1800, day + 2760])
    #expect(spans.map(\.value) == [1, 2, 1])
    #expect(spans.first?.end == day + 1800)
  }

  @Test func constantValueHasNoEnd() {
    let spans = DailyCourse([.init(1)], weekend: [.init(1), .init(1, from: 60)]).spans(at: 5000, within: 2880)
    #expect(spans.map(\.value) == [1] && spans[0].end == nil && spans[0].start == 0)
  }

  @Test func valueOfWeekendLastsUntilMonday() {
    // 2000-01-01 was a Saturday.
    let course = DailyCourse([.init(1)], weekend: [.init(2)])
    #expect(course.spans(at: 100, within: 0).map(\.end) == [2 * 1440])
    #expect(course.spans(at: 2 * 1440, within: 0).map(\.value) == [1])
    #expect(course.spans(at: 2 * 1440, within: 0).map(\.end) == [7 * 1440])
  }

  // MARK: The tariff

  @Test func describesTariff() throws {
    let node = node()
    let entries = try #require(node[Tariff.dayEntries].wrapped)
    #expect(entries.map(\.startTime) == [0, 360, 1320, 0])
    #expect(Set(entries.map(\.dayEntryID)).count == 4)
    let patterns = try #require(node[Tariff.dayPatterns].wrapped)
    #expect(patterns.map(\.dayEntryIDs) == [[1, 2, 3], [4]])
    #expect(patterns.map(\.daysOfWeek.rawValue) == [0b011_1110, 0b100_0001])
    #expect(node[Tariff.calendarPeriods].wrapped?.map(\.dayPatternIDs) == [[1, 2]])
    let periods = try #require(node[Tariff.tariffPeriods].wrapped)
    #expect(periods.map(\.dayEntryIDs) == [[2], [1, 3, 4]] && periods.map(\.tariffComponentIDs) == [[1], [2]])
    let components = try #require(node[Tariff.tariffComponents].wrapped)
    #expect(components.map { $0.price?.wrapped?.price } == [38_000, 24_000])
    #expect(components.map { $0.price?.wrapped?.priceLevel } == [1, 0])
  }

  @Test func isInactiveWithoutTime() {
    let node = node()
    #expect(node[Tariff.currentDay] == .null && node[Tariff.nextDayEntry] == .null)
    #expect(node[Tariff.currentTariffComponents] == .null)
    #expect(node[Price.currentPrice] == .null && node[Price.priceForecast] == [])
    #expect(node[Grid.currentConditions] == .null && node[Grid.forecastConditions] == [])
  }

  @Test func entriesAdvanceWithClock() throws {
    let start = Self.friday
    let node = node(at: start + 5 * Self.hour)
    func entries() -> [UInt32?] {
      [node[Tariff.currentDayEntry].wrapped?.dayEntryID, node[Tariff.nextDayEntry].wrapped?.dayEntryID]
    }
    #expect(entries() == [1, 2])
    #expect(node[Tariff.currentDay].wrapped?.date == start && node[Tariff.nextDay].wrapped?.date == start + 86_400)
    #expect(
      node[Tariff.currentDay].wrapped?.dayEntryIDs == [1, 2, 3] && node[Tariff.nextDay].wrapped?.dayEntryIDs == [4])
    #expect(node[Tariff.currentDayEntryDate] == .value(start))
    #expect(node[Tariff.nextDayEntryDate] == .value(start + 6 * Self.hour))
    #expect(node[Tariff.currentTariffComponents].wrapped?.map(\.tariffComponentID) == [2])
    #expect(node[Tariff.nextTariffComponents].wrapped?.map(\.tariffComponentID) == [1])
    wait(node, hours: 2)
    #expect(entries() == [2, 3])
    wait(node, hours: 16)
    #expect(entries() == [3, 4])
    wait(node, hours: 2)
    // Saturday and Sunday have the same entries.
    #expect(entries() == [4, 4] && node[Tariff.currentDay].wrapped?.date == start + 86_400)
    wait(node, hours: 48)
    #expect(entries() == [1, 2] && node[Tariff.currentDayEntryDate] == .value(start + 3 * 86_400))
  }

  @Test func findsElements() throws {
    let node = node()
    let component = try node.invoke(Tariff.getTariffComponent, .init(tariffComponentID: 2))
    #expect(component?.label == .value("Off-peak") && component?.dayEntryIDs == [1, 3, 4])
    #expect(try node.invoke(Tariff.getDayEntry, .init(dayEntryID: 3))?.dayEntry.startTime == 1320)
    #expect(throws: StatusError(.notFound)) { try node.invoke(Tariff.getDayEntry, .init(dayEntryID: 5)) }
    #expect(throws: StatusError(.notFound)) { try node.invoke(Tariff.getTariffComponent, .init(tariffComponentID: 0)) }
  }

  // MARK: Prices

  @Test func pricesFollowTariff() throws {
    let start = Self.friday
    let node = node(at: start + 12 * Self.hour)
    let price = try #require(node[Price.currentPrice].wrapped)
    #expect(price.price == 38_000 && price.priceLevel == 1 && price.description == nil && price.components == nil)
    #expect(price.periodStart == start + 6 * Self.hour && price.periodEnd == .value(start + 22 * Self.hour - 1))
    // The forecast of the coming three days: off-peak until Monday.
    #expect(node[Price.priceForecast].map(\.price) == [24_000, 38_000])
    #expect(node[Price.priceForecast].first?.periodEnd == .value(start + 78 * Self.hour - 1))
    wait(node, hours: 11)
    #expect(node[Price.currentPrice].wrapped?.price == 24_000)
    #expect(node[Price.priceForecast].map(\.price) == [38_000, 24_000])
    let events = try node.payloads(of: Price.priceChange)
    #expect(events.map { $0.currentPrice.wrapped?.price } == [38_000, 24_000])
  }

  @Test func pricesFollowChangeOfClock() throws {
    let start = Self.friday
    let node = node(at: start + 12 * Self.hour)
    node.setClock(UInt64(start + 23 * Self.hour))
    #expect(node[Price.currentPrice].wrapped?.price == 24_000)
    #expect(node[Tariff.currentDayEntry].wrapped?.dayEntryID == 3)
    // Set back, the price changes at the new times only.
    node.setClock(UInt64(start + 5 * Self.hour))
    #expect(node[Price.currentPrice].wrapped?.periodEnd == .value(start + 6 * Self.hour - 1))
    wait(node, hours: 1)
    #expect(node[Price.currentPrice].wrapped?.price == 38_000)
    wait(node, hours: 15)
    #expect(node[Price.currentPrice].wrapped?.price == 38_000)
    wait(node, hours: 1)
    #expect(node[Price.currentPrice].wrapped?.price == 24_000)
  }

  @Test func onePriceHasNoForecast() {
    var tariff = tariff
    tariff.course = DailyCourse([.init(tariff.prices[0])])
    let node = node(tariff, at: Self.friday)
    #expect(node[Price.currentPrice].wrapped?.periodEnd == .null && node[Price.priceForecast] == [])
  }

  @Test(arguments: [0, 1, 2, 3] as [UInt16]) func detailsAreOptional(_ details: UInt16) throws {
    let node = node(at: Self.friday + 12 * Self.hour)
    let answer = try node.invoke(Price.getDetailedPriceRequest, .init(details: .init(rawValue: details)))
    let price = try #require(answer?.currentPrice.wrapped)
    #expect(price.price == 38_000 && (price.description == "Peak") == (details & 1 != 0))
    #expect(price.components?.map(\.tariffComponentID) == (details & 2 != 0 ? [1] : nil))
  }

  @Test func testEventAddsSurchargeUntilNextPrice() throws {
    let node = node(at: Self.friday + 12 * Self.hour)
    try node.cause(0x0095_0000_0000_0000)
    try node.cause(0x0095_0000_0000_0000)
    #expect(node[Price.currentPrice].wrapped?.price == 40_000)
    let answer = try node.invoke(Price.getDetailedPriceRequest, .init(details: .components))
    #expect(answer?.currentPrice.wrapped?.components?.map(\.price) == [38_000, 2000])
    wait(node, hours: 11)
    #expect(node[Price.currentPrice].wrapped?.price == 24_000)
  }

  // MARK: The grid and the meter

  @Test func conditionsFollowCourse() throws {
    let node = node(at: Self.friday + 9 * Self.hour)
    #expect(node[Grid.currentConditions].wrapped?.gridCarbonIntensity == 320)
    #expect(node[Grid.forecastConditions].map(\.gridCarbonIntensity) == [180, 420, 320, 180, 420, 320, 180, 420, 320])
    #expect(node[Grid.forecastConditions].prefix(3).map(\.gridCarbonLevel) == [.low, .high, .medium])
    wait(node, hours: 2)
    #expect(node[Grid.currentConditions].wrapped?.localCarbonIntensity == 180)
    try node.cause(0x00A0_0000_0000_0000)
    #expect(node[Grid.currentConditions].wrapped?.gridCarbonIntensity == 190)
    #expect(try node.payloads(of: Grid.currentConditionsChanged).count == 3)
  }

  @Test func testEventsReplaceIdentification() throws {
    let node = node()
    let before = node[MeterIdentification.powerThreshold]
    #expect(before.wrapped?.powerThreshold == 14_000_000 && before.wrapped?.powerThresholdSource == .value(.contract))
    try node.cause(0x0B06_0000_0000_0000)
    let first = node[MeterIdentification.powerThreshold]
    try node.cause(0x0B06_0000_0000_0000)
    #expect(first != before && node[MeterIdentification.powerThreshold] != first)
    #expect(node[MeterIdentification.pointOfDelivery] != .null)
    try node.cause(0x0B06_0000_0000_0001)
    #expect(node[MeterIdentification.powerThreshold] == before && node[MeterIdentification.pointOfDelivery] == .null)
  }
}
