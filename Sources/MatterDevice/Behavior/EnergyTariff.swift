public import MatterClusters
import MatterModel

/// The tariff of electrical energy: prices that apply at certain times of the day.
public struct EnergyTariff: Hashable, Sendable {
  /// The price of a kilowatt hour, with its name.
  public struct Price: Hashable, Sendable {
    /// At most 32 bytes.
    public var name: String
    /// In the smallest unit that ``EnergyTariff/currency`` has.
    public var amount: Int64

    public init(_ name: String, _ amount: Int64) { (self.name, self.amount) = (name, amount) }
  }

  /// The decimal places of prices.
  static let decimalPoints: UInt8 = 5
  /// The maximum number of entries of a day.
  public static let entryLimit = 10

  /// The name of the tariff; nil if it has none.
  public var name: String?
  /// The name of the provider; nil if it is unknown.
  public var provider: String?
  /// The currency, with `decimalPoints`.
  public var currency: CurrencyStruct
  /// The prices, each of them once.
  public var prices: [Price]
  /// The times of the prices.
  public var course: DailyCourse<Price>
  /// The carbon intensity of the grid in grams of CO2 equivalent per kilowatt hour.
  public var carbon: DailyCourse<Int16>
  /// The power that the contract allows in milliwatts; nil for no limit.
  public var limit: Int64?

  /// Creates the usual tariff: a price for the day, and a lower one for the night.
  public init() {
    currency = CurrencyStruct(currency: 978, decimalPoints: Self.decimalPoints)
    let (night, day) = (Price("Night", 22_000), Price("Day", 32_000))
    prices = [night, day]
    course = DailyCourse([.init(night), .init(day, from: 6 * 60), .init(night, from: 22 * 60)])
    carbon = DailyCourse([
      .init(320), .init(180, from: 10 * 60), .init(420, from: 17 * 60), .init(320, from: 22 * 60),
    ])
  }

  // MARK: The tariff in the terms of Commodity Tariff

  /// Returns the entries of a day with their identifiers, which are unique among those of all days.
  /// - Parameter day: days since 2000-01-01.
  func dayEntries(on day: Int64) -> [CommodityTariff.DayEntryStruct] {
    let entries = course.entries(on: day)
    let first = entries == course.weekday ? 1 : 1 + course.weekday.count
    return entries.enumerated().map { index, entry in
      .init(dayEntryID: UInt32(clamping: first + index), startTime: entry.minute)
    }
  }

  /// A weekday and a day of the weekend: Monday and Saturday of the first week.
  private static let monday: Int64 = 2, saturday: Int64 = 0

  /// The entries of all days.
  var dayEntries: [CommodityTariff.DayEntryStruct] {
    dayEntries(on: Self.monday) + (course.hasWeekend ? dayEntries(on: Self.saturday) : [])
  }

  /// The patterns of the days of a week.
  var dayPatterns: [CommodityTariff.DayPatternStruct] {
    let weekdays: DayOfWeek = [.monday, .tuesday, .wednesday, .thursday, .friday]
    let weekend: DayOfWeek = [.saturday, .sunday]
    let ids = [Self.monday, Self.saturday].map { dayEntries(on: $0).map(\.dayEntryID) }
    guard course.hasWeekend else {
      return [.init(dayPatternID: 1, daysOfWeek: weekdays.union(weekend), dayEntryIDs: ids[0])]
    }
    return [
      .init(dayPatternID: 1, daysOfWeek: weekdays, dayEntryIDs: ids[0]),
      .init(dayPatternID: 2, daysOfWeek: weekend, dayEntryIDs: ids[1]),
    ]
  }

  /// Returns the identifier of the component of a price.
  func componentID(_ price: Price) -> UInt32 { UInt32(clamping: (prices.firstIndex(of: price) ?? 0) + 1) }

  /// Returns the component of a price.
  func component(_ price: Price) -> CommodityTariff.TariffComponentStruct {
    .init(
      tariffComponentID: componentID(price),
      price: .value(.init(priceType: .standard, price: price.amount, priceLevel: level(of: price))),
      threshold: .null, label: .value(price.name))
  }

  /// Returns the period of a price; nil if the price never applies.
  func period(_ price: Price) -> CommodityTariff.TariffPeriodStruct? {
    let entries = course.weekday + (course.hasWeekend ? course.weekend : [])
    let ids = zip(dayEntries, entries).filter { $0.1.value == price }.map(\.0.dayEntryID)
    guard !ids.isEmpty else { return nil }
    return .init(label: .value(price.name), dayEntryIDs: ids, tariffComponentIDs: [componentID(price)])
  }

  /// Returns the rank of a price; 0 for the lowest one.
  func level(of price: Price) -> Int16 {
    Int16(clamping: Set(prices.map(\.amount)).count { $0 < price.amount })
  }
}
