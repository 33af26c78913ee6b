import MatterClusters
import MatterModel
import MatterProtocol

/// The Electrical Grid Conditions server: the carbon intensity of the grid, now and in the coming three days.
/// Application Clusters § 9.13.
///
/// The local supply has the intensity of the grid, as long as nothing is exported.
public enum GridConditionsServer {
  private typealias Grid = ElectricalGridConditions

  /// How far later conditions of the forecast may begin, in minutes.
  private static let horizon: Int64 = 3 * 1440
  /// The maximum length of the forecast.
  private static let forecastLimit = 56
  /// The intensities below which the level is low or medium, in grams of CO2 equivalent per kilowatt hour.
  private static let thresholds: (low: Int16, medium: Int16) = (200, 400)

  /// The change of a test, until the next conditions.
  private struct Change: Sendable {
    var amount: Int16
    var periodStart: UInt32
  }

  /// Returns the server. Without a known time, the conditions are null and the forecast is empty.
  /// - Parameter course: The carbon intensity of the grid in grams of CO2 equivalent per kilowatt hour.
  public static func make(_ course: DailyCourse<Int16>) -> ClusterServer {
    ClusterServer(Grid.self, features: [Grid.forecasting])
      .serving(Grid.currentConditionsChanged)
      .following { context in follow(course, &context) }
      .onChange(Grid.currentConditions) { context in
        context.emit(
          Grid.currentConditionsChanged, .init(currentConditions: context[Grid.currentConditions]))
      }
      .onTest(0, "currentConditionsUpdate") { (context) throws(StatusError) in
        guard let present = context[Grid.currentConditions].wrapped else { throw StatusError(.failure) }
        let amount = context[scratch: Change.self].map(\.amount) ?? 0
        context[scratch: Change.self] = Change(amount: amount.saturatingAdd(10), periodStart: present.periodStart)
        follow(course, &context)
      }
      .onTest(1, "forecastConditionsUpdate") { context in follow(course, &context) }
  }

  private static func level(of intensity: Int16) -> ElectricalGridConditions.ThreeLevel {
    intensity < thresholds.low ? .low : intensity < thresholds.medium ? .medium : .high
  }

  private static func follow(_ course: DailyCourse<Int16>, _ context: inout ServerContext) {
    guard let clock = context.tariffClock else {
      context[Grid.currentConditions] = .null
      context[Grid.forecastConditions] = []
      context.cancel(.scheduleTransition)
      return
    }
    let spans = course.spans(at: clock.minute, within: horizon)
    let conditions = spans.prefix(forecastLimit + 1).enumerated().map { index, span in
      let period = clock.period(of: span)
      var intensity = span.value
      if index == 0, let change = context[scratch: Change.self], change.periodStart == period.start {
        intensity = intensity.saturatingAdd(change.amount)
      }
      let level = level(of: intensity)
      return ElectricalGridConditions.ElectricalGridConditionsStruct(
        periodStart: period.start, periodEnd: period.end, gridCarbonIntensity: intensity, gridCarbonLevel: level,
        localCarbonIntensity: intensity, localCarbonLevel: level)
    }
    context[Grid.currentConditions] = Nullable(conditions.first)
    context[Grid.forecastConditions] = Array(conditions.dropFirst())
    context.follow(until: spans.first?.end, clock)
  }
}
