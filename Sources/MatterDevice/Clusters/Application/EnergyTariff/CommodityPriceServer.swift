import MatterClusters
import MatterModel
import MatterProtocol

/// The Commodity Price server of a tariff of electrical energy: the present price and those of the coming three days.
/// Application Clusters § 9.9.
public enum CommodityPriceServer {
  private typealias Price = CommodityPrice

  /// How far later prices of the forecast may begin, in minutes.
  private static let horizon: Int64 = 3 * 1440
  /// The maximum length of the forecast.
  private static let forecastLimit = 56

  /// The surcharge of a test, until the next change of the price.
  private struct Surcharge: Sendable {
    var amount: Int64
    var periodStart: UInt32
  }

  /// Returns the server. Without a known time, the price is null and the forecast empty.
  public static func make(_ tariff: EnergyTariff) -> ClusterServer {
    ClusterServer(Price.self, features: [Price.forecasting])
      .initial(Price.tariffUnit, .kWh)
      .initial(Price.currency, .value(tariff.currency))
      .serving(Price.priceChange)
      .following { context in follow(tariff, &context) }
      .onChange(Price.currentPrice) { context in
        context.emit(Price.priceChange, .init(currentPrice: context[Price.currentPrice]))
      }
      .answer(Price.getDetailedPriceRequest) { (context, request) throws(StatusError) in
        guard var price = context[Price.currentPrice].wrapped, let source = source(tariff, &context) else {
          return .init(currentPrice: .null)
        }
        if request.details.contains(.description) { price.description = source.name }
        if request.details.contains(.components) { price.components = components(of: price, source, tariff) }
        return .init(currentPrice: .value(price))
      }
      .onTest(0, "priceUpdate") { (context) throws(StatusError) in
        guard let price = context[Price.currentPrice].wrapped else { throw StatusError(.failure) }
        let amount = context[scratch: Surcharge.self].map(\.amount) ?? 0
        context[scratch: Surcharge.self] = Surcharge(
          amount: amount.saturatingAdd(1000), periodStart: price.periodStart)
        follow(tariff, &context)
      }
      .onTest(1, "forecastUpdate") { context in follow(tariff, &context) }
  }

  /// Returns the price of the tariff that applies now; nil without a known time.
  private static func source(_ tariff: EnergyTariff, _ context: inout ServerContext) -> EnergyTariff.Price? {
    context.tariffClock.flatMap { tariff.course.spans(at: $0.minute, within: 0).first?.value }
  }

  /// Returns the price of the tariff, and the surcharge if there is one.
  private static func components(
    of price: CommodityPrice.CommodityPriceStruct, _ source: EnergyTariff.Price, _ tariff: EnergyTariff
  ) -> [CommodityPrice.CommodityPriceComponentStruct] {
    let own = CommodityPrice.CommodityPriceComponentStruct(
      price: source.amount, source: .standard, description: source.name, tariffComponentID: tariff.componentID(source))
    let surcharge = (price.price ?? source.amount).saturatingAdd(-source.amount)
    return surcharge == 0 ? [own] : [own, .init(price: surcharge, source: .critical, description: "Surcharge")]
  }

  private static func follow(_ tariff: EnergyTariff, _ context: inout ServerContext) {
    guard let clock = context.tariffClock else {
      context[Price.currentPrice] = .null
      context[Price.priceForecast] = []
      context.cancel(.scheduleTransition)
      return
    }
    let spans = tariff.course.spans(at: clock.minute, within: horizon)
    var prices = spans.prefix(forecastLimit + 1).map { span in
      let period = clock.period(of: span)
      return CommodityPrice.CommodityPriceStruct(
        periodStart: period.start, periodEnd: period.end, price: span.value.amount,
        priceLevel: tariff.level(of: span.value))
    }
    if let surcharge = context[scratch: Surcharge.self], let first = prices.first {
      if surcharge.periodStart == first.periodStart {
        prices[0].price = first.price?.saturatingAdd(surcharge.amount)
      } else {
        context[scratch: Surcharge.self] = nil
      }
    }
    context[Price.currentPrice] = Nullable(prices.first)
    context[Price.priceForecast] = Array(prices.dropFirst())
    context.follow(until: spans.first?.end, clock)
  }
}
