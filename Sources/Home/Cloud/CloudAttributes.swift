/// What a cloud device's traits can do, in the words of Google's trait schemas. Nil is left out.
public struct CloudAttributes: Hashable, Sendable, Codable {
  // MARK: OnOff, Brightness

  public var commandOnlyOnOff: Bool?
  public var commandOnlyBrightness: Bool?

  // MARK: ColorSetting

  public var commandOnlyColorSetting: Bool?
  /// `hsv` or `rgb`.
  public var colorModel: String?
  public var colorTemperatureRange: ColorTemperatureRange?

  /// In kelvin.
  public struct ColorTemperatureRange: Hashable, Sendable, Codable {
    public var temperatureMinK: Int
    public var temperatureMaxK: Int
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
  /// In kelvin, which are as large as degrees Celsius.
  public var bufferRangeCelsius: Double?
  public var queryOnlyTemperatureControl: Bool?
  public var temperatureUnitForUX: String?
  public var temperatureRange: TemperatureRange?
  public var queryOnlyHumiditySetting: Bool?

  /// In degrees Celsius.
  public struct TemperatureRange: Hashable, Sendable, Codable {
    public var minThresholdCelsius: Double
    public var maxThresholdCelsius: Double
  }

  // MARK: FanSpeed

  public var reversible: Bool?
  public var commandOnlyFanSpeed: Bool?
  public var supportsFanSpeedPercent: Bool?
  public var availableFanSpeeds: FanSpeeds?

  /// The speeds that a fan knows by name.
  public struct FanSpeeds: Hashable, Sendable, Codable {
    public var speeds: [Speed]
    public var ordered: Bool

    /// One speed, and what people call it.
    public struct Speed: Hashable, Sendable, Codable {
      public var name: String
      public var values: [Value]

      enum CodingKeys: String, CodingKey {
        case name = "speed_name"
        case values = "speed_values"
      }
    }

    /// Names in one language.
    public struct Value: Hashable, Sendable, Codable {
      public var synonyms: [String]
      public var language: String

      enum CodingKeys: String, CodingKey {
        case synonyms = "speed_synonym"
        case language = "lang"
      }
    }
  }

  // MARK: OccupancySensing, SensorState

  public var occupancySensorConfiguration: [OccupancySensor]?
  public var sensorStatesSupported: [SensorState]?

  /// How one sensor notices people, and after what time it says that they are gone.
  public struct OccupancySensor: Hashable, Sendable, Codable {
    /// `PIR`, `ULTRASONIC` or `PHYSICAL_CONTACT`.
    public var occupancySensorType: String
    /// In seconds. Where one of the three is told, all are.
    public var occupiedToUnoccupiedDelaySec: Int?
    public var unoccupiedToOccupiedDelaySec: Int?
    public var unoccupiedToOccupiedEventThreshold: Int?
  }

  /// Something that a sensor tells, and by which words.
  public struct SensorState: Hashable, Sendable, Codable {
    public var name: String
    public var descriptiveCapabilities: Descriptive?

    /// The words that it may be told by.
    public struct Descriptive: Hashable, Sendable, Codable { public var availableStates: [String] }

    init(_ name: String, _ states: [String]) {
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
