import MatterClusters
import MatterModel
import MatterProtocol

/// The Commodity Tariff server of a tariff of electrical energy, whose current and next elements advance with the local
/// time. Application Clusters § 9.12.
public enum CommodityTariffServer {
  private typealias Tariff = CommodityTariff

  /// Returns the server. Without a known time the tariff isn't active: the current and next elements are null.
  public static func make(_ tariff: EnergyTariff) -> ClusterServer {
    ClusterServer(Tariff.self, features: [Tariff.pricing])
      .initial(
        Tariff.tariffInfo,
        .value(
          .init(
            tariffLabel: Nullable(tariff.name), providerName: Nullable(tariff.provider),
            currency: .value(tariff.currency), blockMode: .value(.noBlock)))
      )
      .initial(Tariff.tariffUnit, .value(.kWh))
      .initial(Tariff.dayEntries, .value(tariff.dayEntries))
      .initial(Tariff.dayPatterns, .value(tariff.dayPatterns))
      // It has always been in effect.
      .initial(
        Tariff.calendarPeriods,
        .value([.init(startDate: .null, dayPatternIDs: tariff.dayPatterns.map(\.dayPatternID))])
      )
      .initial(Tariff.individualDays, .value([]))
      .initial(Tariff.tariffComponents, .value(tariff.prices.map(tariff.component)))
      .initial(Tariff.tariffPeriods, .value(tariff.prices.compactMap(tariff.period)))
      .following { context in follow(tariff, &context) }
      .answer(Tariff.getTariffComponent) { (context, request) throws(StatusError) in
        guard let price = tariff.prices.first(where: { tariff.componentID($0) == request.tariffComponentID }) else {
          throw StatusError(.notFound)
        }
        return .init(
          label: .value(price.name), dayEntryIDs: tariff.period(price)?.dayEntryIDs ?? [],
          tariffComponent: tariff.component(price))
      }
      .answer(Tariff.getDayEntry) { (context, request) throws(StatusError) in
        guard let entry = tariff.dayEntries.first(where: { $0.dayEntryID == request.dayEntryID }) else {
          throw StatusError(.notFound)
        }
        return .init(dayEntry: entry)
      }
  }

  /// The part of a day with a price.
  private struct Entry {
    var entry: CommodityTariff.DayEntryStruct
    var component: CommodityTariff.TariffComponentStruct
    /// The local time in minutes since 2000.
    var start: Int64
  }

  private static func entries(of tariff: EnergyTariff, on day: Int64) -> [Entry] {
    zip(tariff.dayEntries(on: day), tariff.course.entries(on: day)).map {
      Entry(entry: $0, component: tariff.component($1.value), start: day * 1440 + Int64($1.minute))
    }
  }

  private static func follow(_ tariff: EnergyTariff, _ context: inout ServerContext) {
    let clock = context.tariffClock
    let entries = clock.map { Self.entries(of: tariff, on: $0.day) + Self.entries(of: tariff, on: $0.day + 1) } ?? []
    let index = clock.flatMap { clock in entries.lastIndex { $0.start <= clock.minute } }
    let current = index.map { entries[$0] }
    let next = index.flatMap { entries.dropFirst($0 + 1).first }
    func day(_ offset: Int64) -> Nullable<CommodityTariff.DayStruct> {
      Nullable(
        clock.map { clock in
          .init(
            date: clock.epoch(ofMinute: (clock.day + offset) * 1440), dayType: .standard,
            dayEntryIDs: tariff.dayEntries(on: clock.day + offset).map(\.dayEntryID))
        })
    }
    func date(of entry: Entry?) -> Nullable<UInt32> {
      Nullable(entry.flatMap { entry in clock.map { $0.epoch(ofMinute: entry.start) } })
    }
    context[Tariff.currentDay] = day(0)
    context[Tariff.nextDay] = day(1)
    context[Tariff.currentDayEntry] = Nullable(current?.entry)
    context[Tariff.currentDayEntryDate] = date(of: current)
    context[Tariff.nextDayEntry] = Nullable(next?.entry)
    context[Tariff.nextDayEntryDate] = date(of: next)
    context[Tariff.currentTariffComponents] = Nullable(current.map { [$0.component] })
    context[Tariff.nextTariffComponents] = Nullable(next.map { [$0.component] })
    if let clock { context.follow(until: next?.start, clock) } else { context.cancel(.scheduleTransition) }
  }
}
