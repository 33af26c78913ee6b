/// The attributes of a cloud device's traits, as defined by Google's trait schemas. Nil values are omitted.
public struct CloudAttributes: Hashable, Sendable, Codable {
  // MARK: OnOff, Brightness

  public var commandOnlyOnOff: Bool?
  public var commandOnlyBrightness: Bool?

  // MARK: ColorSetting

  public var commandOnlyColorSetting: Bool?
  /// `hsv` or `rgb`.
  public var colorModel: String?
  public var colorTemperatureRange: ColorTemperatureRange?

  /// A range of color temperatures, in kelvin.
  public struct ColorTemperatureRange: Hashable, Sendable, Codable {
    public var temperatureMinK: Int
    public var temperatureMaxK: Int

    package init(temperatureMinK: Int, temperatureMaxK: Int) {
      self.temperatureMinK = temperatureMinK
      self.temperatureMaxK = temperatureMaxK
    }
  }

  // MARK: OpenClose, Rotation, StartStop

  public var discreteOnlyOpenClose: Bool?
  public var queryOnlyOpenClose: Bool?
  public var supportsDegrees: Bool?
  public var supportsPercent: Bool?
  public var pausable: Bool?

  // MARK: TemperatureSetting, TemperatureControl, HumiditySetting

  public var availableThermostatModes: [String]?
  public var thermostatTemperatureUnit: String?
  public var thermostatTemperatureRange: TemperatureRange?
  /// A temperature difference, in kelvin or degrees Celsius.
  public var bufferRangeCelsius: Double?
  public var queryOnlyTemperatureControl: Bool?
  public var temperatureUnitForUX: String?
  public var temperatureRange: TemperatureRange?
  public var queryOnlyHumiditySetting: Bool?

  /// A range of temperatures, in degrees Celsius.
  public struct TemperatureRange: Hashable, Sendable, Codable {
    public var minThresholdCelsius: Double
    public var maxThresholdCelsius: Double

    package init(minThresholdCelsius: Double, maxThresholdCelsius: Double) {
      self.minThresholdCelsius = minThresholdCelsius
      self.maxThresholdCelsius = maxThresholdCelsius
    }
  }

  // MARK: FanSpeed

  public var reversible: Bool?
  public var commandOnlyFanSpeed: Bool?
  public var supportsFanSpeedPercent: Bool?
  public var availableFanSpeeds: FanSpeeds?

  /// The named speeds of a fan.
  public struct FanSpeeds: Hashable, Sendable, Codable {
    public var speeds: [Speed]
    public var ordered: Bool

    package init(speeds: [Speed], ordered: Bool) {
      self.speeds = speeds
      self.ordered = ordered
    }

    /// A speed and its names.
    public struct Speed: Hashable, Sendable, Codable {
      public var name: String
      public var values: [Value]

      package init(name: String, values: [Value]) {
        self.name = name
        self.values = values
      }

      package enum CodingKeys: String, CodingKey {
        case name = "speed_name"
        case values = "speed_values"
      }
    }

    /// The names in one language.
    public struct Value: Hashable, Sendable, Codable {
      public var synonyms: [String]
      public var language: String

      package init(synonyms: [String], language: String) {
        self.synonyms = synonyms
        self.language = language
      }

      package enum CodingKeys: String, CodingKey {
        case synonyms = "speed_synonym"
        case language = "lang"
      }
    }
  }

  // MARK: OccupancySensing, SensorState

  public var occupancySensorConfiguration: [OccupancySensor]?
  public var sensorStatesSupported: [SensorState]?

  /// The type of an occupancy sensor, and its delays.
  public struct OccupancySensor: Hashable, Sendable, Codable {
    /// `PIR`, `ULTRASONIC` or `PHYSICAL_CONTACT`.
    public var occupancySensorType: String
    /// In seconds. The three delays are either all present or all absent.
    public var occupiedToUnoccupiedDelaySec: Int?
    public var unoccupiedToOccupiedDelaySec: Int?
    public var unoccupiedToOccupiedEventThreshold: Int?

    package init(
      occupancySensorType: String, occupiedToUnoccupiedDelaySec: Int?, unoccupiedToOccupiedDelaySec: Int?,
      unoccupiedToOccupiedEventThreshold: Int?
    ) {
      self.occupancySensorType = occupancySensorType
      self.occupiedToUnoccupiedDelaySec = occupiedToUnoccupiedDelaySec
      self.unoccupiedToOccupiedDelaySec = unoccupiedToOccupiedDelaySec
      self.unoccupiedToOccupiedEventThreshold = unoccupiedToOccupiedEventThreshold
    }
  }

  /// A state that a sensor reports, and its possible values.
  public struct SensorState: Hashable, Sendable, Codable {
    public var name: String
    public var descriptiveCapabilities: Descriptive?

    /// The possible values of the state.
    public struct Descriptive: Hashable, Sendable, Codable { public var availableStates: [String] }

    package init(_ name: String, _ states: [String]) {
      self.name = name
      descriptiveCapabilities = Descriptive(availableStates: states)
    }
  }

  // MARK: EnergyStorage, Volume

  public var queryOnlyEnergyStorage: Bool?
  public var isRechargeable: Bool?
  public var volumeMaxLevel: Int?
  public var volumeCanMuteAndUnmute: Bool?

  public init() {}
}
