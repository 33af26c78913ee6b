internal import MatterClusters
internal import MatterModel

extension RootNode {
  private static let locales = ["en-US", "en-GB", "de-DE", "es-ES", "fr-FR", "it-IT", "ja-JP"]
  private static let calendars: [TimeFormatLocalization.CalendarType] = [
    .buddhist, .gregorian, .japanese, .useActiveLocale,
  ]
  private static let temperatureUnits: [UnitLocalization.TempUnit] = [.fahrenheit, .celsius]

  /// Matter Core § 11.3.
  static let localizationConfiguration = ClusterServer(LocalizationConfiguration.self)
    .initial(LocalizationConfiguration.activeLocale, "en-US")
    .initial(LocalizationConfiguration.supportedLocales, locales)
    .onWrite(LocalizationConfiguration.activeLocale) { _, locale throws(StatusError) in
      guard locales.contains(locale) else { throw StatusError(.constraintError) }
    }

  /// Matter Core § 11.4.
  static let timeFormatLocalization = ClusterServer(
    TimeFormatLocalization.self, features: [TimeFormatLocalization.calendarFormat]
  )
  .initial(TimeFormatLocalization.hourFormat, .useActiveLocale)
  .initial(TimeFormatLocalization.activeCalendarType, .gregorian)
  .initial(TimeFormatLocalization.supportedCalendarTypes, calendars)
  .limiting(TimeFormatLocalization.activeCalendarType, to: calendars)

  /// Matter Core § 11.5.
  static func unitLocalization(_ configuration: DeviceConfiguration) -> ClusterServer {
    configuration.servesProvisional
      ? celsius.initial(UnitLocalization.supportedTemperatureUnits, temperatureUnits) : celsius
  }

  private static let celsius = ClusterServer(
    UnitLocalization.self, features: [UnitLocalization.temperatureUnitFeature]
  )
  .initial(UnitLocalization.temperatureUnit, .celsius)
  .limiting(UnitLocalization.temperatureUnit, to: temperatureUnits)
}
