public import MatterModel

/// Unit Localization (0x002D). The units in which the node displays values. Matter Core § 11.5.
public enum UnitLocalization: Cluster {
  public static let id: ClusterID = 0x002D, revision: UInt16 = 2, name = "UnitLocalization"

  public static let temperatureUnitFeature = Feature(0, "TEMP", "TemperatureUnit")
  public static let features: [Feature] = [temperatureUnitFeature]

  // MARK: Attributes

  public static let temperatureUnit = Attribute<Self, TempUnit>(
    0x0000, "TemperatureUnit", quality: .nonVolatile, write: .manage,
    conformance: .features(temperatureUnitFeature.mask))
  public static let supportedTemperatureUnits = Attribute<Self, [TempUnit]>(
    0x0001, "SupportedTemperatureUnits", quality: [.fixed, .provisional],
    conformance: .features(temperatureUnitFeature.mask), constraint: .entries(3))

  public static let elements: [any ClusterElement] = [temperatureUnit, supportedTemperatureUnits]

  // MARK: Types

  /// Matter Core § 11.5.5.1.
  public struct TempUnit: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let fahrenheit = Self(0), celsius = Self(1), kelvin = Self(2)
    public static let names: [UInt64: String] = [0: "Fahrenheit", 1: "Celsius", 2: "Kelvin"]
  }
}
