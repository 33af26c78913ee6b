import MatterClusters
import MatterModel
import MatterProtocol

/// A cluster that is derived from Concentration Measurement. Application Clusters § 2.10.
protocol ConcentrationMeasurement: Cluster {
  associatedtype MeasurementUnit: WireCode where MeasurementUnit.RawValue == UInt8
  associatedtype LevelValue: WireCode where LevelValue.RawValue == UInt8

  static var measuredValue: Attribute<Self, Nullable<Float>> { get }
  static var minMeasuredValue: Attribute<Self, Nullable<Float>> { get }
  static var maxMeasuredValue: Attribute<Self, Nullable<Float>> { get }
  static var peakMeasuredValue: Attribute<Self, Nullable<Float>> { get }
  static var peakMeasuredValueWindow: Attribute<Self, UInt32> { get }
  static var averageMeasuredValue: Attribute<Self, Nullable<Float>> { get }
  static var averageMeasuredValueWindow: Attribute<Self, UInt32> { get }
  static var measurementUnit: Attribute<Self, MeasurementUnit> { get }
  static var levelValue: Attribute<Self, LevelValue> { get }
}

extension CarbonDioxideConcentrationMeasurement: ConcentrationMeasurement {}
extension CarbonMonoxideConcentrationMeasurement: ConcentrationMeasurement {}
extension FormaldehydeConcentrationMeasurement: ConcentrationMeasurement {}
extension NitrogenDioxideConcentrationMeasurement: ConcentrationMeasurement {}
extension OzoneConcentrationMeasurement: ConcentrationMeasurement {}
extension Pm10ConcentrationMeasurement: ConcentrationMeasurement {}
extension Pm1ConcentrationMeasurement: ConcentrationMeasurement {}
extension Pm25ConcentrationMeasurement: ConcentrationMeasurement {}
extension RadonConcentrationMeasurement: ConcentrationMeasurement {}
extension TotalVolatileOrganicCompoundsConcentrationMeasurement: ConcentrationMeasurement {}

/// The servers of an air quality sensor. The air quality is that of the worst concentration.
public enum AirQualityServers {
  /// The window of the peak and the average, in seconds.
  package static let window: UInt32 = 3600

  /// Returns the Air Quality server, whose value follows the concentrations of its endpoint, until a physical action sets
  /// it. Application Clusters § 2.9.
  public static func airQuality() -> ClusterServer {
    ClusterServer(AirQuality.self, features: AirQuality.features)
      .onStart { context in context[scratch: Fixed.self] = nil }
      .onAct(AirQuality.airQuality) { context, quality in
        context[scratch: Fixed.self] = Fixed()
        context[AirQuality.airQuality] = quality
      }
      .hook(rated) { context, rating in
        var ratings = context[scratch: Ratings.self, default: Ratings()].ratings
        ratings[rating.cluster] = rating.quality
        context[scratch: Ratings.self] = Ratings(ratings: ratings)
        guard context[scratch: Fixed.self] == nil else { return }
        context[AirQuality.airQuality] = .init(rawValue: ratings.values.max() ?? AirQuality.AirQuality.unknown.rawValue)
      }
  }

  /// The quality of the air by one of its concentrations; nil if that is unknown.
  private static let rated = ServerHook<AirQuality, (cluster: ClusterID, quality: UInt8?)>("rated")
  /// Present after a physical action or a course set the air quality.
  private struct Fixed: Sendable {}
  private struct Ratings: Sendable { var ratings: [ClusterID: UInt8] = [:] }

  /// The servers of all concentrations, in air, with thresholds of the European Air Quality Index and of guidelines for
  /// indoor air.
  public static let concentrations: [ClusterServer] = [
    make(
      CarbonMonoxideConcentrationMeasurement.self, .ppm, 1, to: 1000, limits: [4, 9, 15, 30, 100]),
    make(
      CarbonDioxideConcentrationMeasurement.self, .ppm, 600, to: 10_000, limits: [800, 1000, 1400, 2000, 5000]),
    make(NitrogenDioxideConcentrationMeasurement.self, .ugm3, 15, to: 1000, limits: [40, 90, 120, 230, 340]),
    make(OzoneConcentrationMeasurement.self, .ugm3, 40, to: 1000, limits: [50, 100, 130, 240, 380]),
    make(Pm25ConcentrationMeasurement.self, .ugm3, 8, to: 1000, limits: [10, 20, 25, 50, 75]),
    make(FormaldehydeConcentrationMeasurement.self, .ugm3, 20, to: 5000, limits: [50, 100, 125, 250, 500]),
    make(Pm1ConcentrationMeasurement.self, .ugm3, 5, to: 1000, limits: [10, 20, 25, 50, 75]),
    make(Pm10ConcentrationMeasurement.self, .ugm3, 15, to: 1000, limits: [20, 40, 50, 100, 150]),
    make(
      TotalVolatileOrganicCompoundsConcentrationMeasurement.self, .ppb, 50, to: 60_000,
      limits: [65, 220, 660, 2200, 5500]),
    make(RadonConcentrationMeasurement.self, .bqm3, 50, to: 10_000, limits: [100, 200, 300, 600, 1000]),
  ]

  private typealias Unit = CarbonDioxideConcentrationMeasurement.MeasurementUnit

  /// - Parameter limits: The highest values of good, fair, moderate, poor and very poor air.
  private static func make<C: ConcentrationMeasurement>(
    _: C.Type, _ unit: Unit, _ initial: Float, to highest: Float, limits: [Float]
  ) -> ClusterServer {
    ClusterServer(C.self, features: C.features)
      .initial(C.measuredValue, .value(initial))
      .initial(C.minMeasuredValue, .value(0))
      .initial(C.maxMeasuredValue, .value(highest))
      .limiting(C.measuredValue, from: C.minMeasuredValue, to: C.maxMeasuredValue)
      .initial(C.peakMeasuredValue, .value(initial))
      .initial(C.peakMeasuredValueWindow, window)
      .initial(C.averageMeasuredValue, .value(initial))
      .initial(C.averageMeasuredValueWindow, window)
      .deriving(C.peakMeasuredValue)
      .deriving(C.averageMeasuredValue)
      .deriving(C.levelValue)
      .initial(C.measurementUnit, .init(rawValue: unit.rawValue))
      .onStart { context in
        context[scratch: MovingWindow.self] = MovingWindow(.seconds(Int64(window)), at: context.now)
        measure(C.self, limits, &context)
      }
      .onChange(C.measuredValue) { context in measure(C.self, limits, &context) }
      .onTimer(.tick) { context in summarize(C.self, &context) }
  }

  private static func measure<C: ConcentrationMeasurement>(
    _: C.Type, _ limits: [Float], _ context: inout ServerContext
  ) {
    let value = context[C.measuredValue].wrapped
    let now = context.now
    context[scratch: MovingWindow.self]?.measure(value.map { Double($0) }, at: now)
    summarize(C.self, &context)
    // Each limit that the value exceeds makes the air worse by one step.
    let steps = value.map { value in UInt8(limits.count { $0 < value }) }
    let levels: [UInt8] = [1, 1, 2, 3, 4, 4]
    context[C.levelValue] = .init(rawValue: steps.map { levels[min(Int($0), levels.count - 1)] } ?? 0)
    context.call(rated, (cluster: C.id, quality: steps.map { $0 + AirQuality.AirQuality.good.rawValue }))
  }

  private static func summarize<C: ConcentrationMeasurement>(_: C.Type, _ context: inout ServerContext) {
    guard var window = context[scratch: MovingWindow.self] else { return }
    window.advance(to: context.now)
    context[scratch: MovingWindow.self] = window
    context[C.peakMeasuredValue] = Nullable(window.peak.map { Float($0) })
    context[C.averageMeasuredValue] = Nullable(window.mean.map { Float($0) })
    context.cancel(.tick)
    if let next = window.nextChange { context.schedule(.tick, at: next) }
  }
}
