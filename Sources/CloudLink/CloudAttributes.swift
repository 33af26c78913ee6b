/// The attributes of a cloud device's traits, as defined by Google's trait schemas. Nil values are omitted.
package struct CloudAttributes: Hashable, Sendable, Codable {
  // MARK: OnOff, Brightness

  package var commandOnlyOnOff: Bool?
  package var commandOnlyBrightness: Bool?

  // MARK: ColorSetting

  package var commandOnlyColorSetting: Bool?
  /// `hsv` or `rgb`.
  package var colorModel: String?
  package var colorTemperatureRange: ColorTemperatureRange?

  /// A range of color temperatures, in kelvin.
  package struct ColorTemperatureRange: Hashable, Sendable, Codable {
    package var temperatureMinK: Int
    package var temperatureMaxK: Int

    package init(temperatureMinK: Int, temperatureMaxK: Int) {
      self.temperatureMinK = temperatureMinK
      self.temperatureMaxK = temperatureMaxK
    }
  }

  // MARK: OpenClose, Rotation, StartStop

  package var discreteOnlyOpenClose: Bool?
  package var queryOnlyOpenClose: Bool?
  package var supportsDegrees: Bool?
  package var supportsPercent: Bool?
  package var pausable: Bool?

  // MARK: TemperatureSetting, TemperatureControl, HumiditySetting

  package var availableThermostatModes: [String]?
  package var thermostatTemperatureUnit: String?
  package var thermostatTemperatureRange: TemperatureRange?
  /// A temperature difference, in kelvin or degrees Celsius.
  package var bufferRangeCelsius: Double?
  package var queryOnlyTemperatureControl: Bool?
  package var temperatureUnitForUX: String?
  package var temperatureRange: TemperatureRange?
  package var queryOnlyHumiditySetting: Bool?

  /// A range of temperatures, in degrees Celsius.
  package struct TemperatureRange: Hashable, Sendable, Codable {
    package var minThresholdCelsius: Double
    package var maxThresholdCelsius: Double

    package init(minThresholdCelsius: Double, maxThresholdCelsius: Double) {
      self.minThresholdCelsius = minThresholdCelsius
      self.maxThresholdCelsius = maxThresholdCelsius
    }
  }

  // MARK: FanSpeed

  package var reversible: Bool?
  package var commandOnlyFanSpeed: Bool?
  package var supportsFanSpeedPercent: Bool?
  package var availableFanSpeeds: FanSpeeds?

  /// The named speeds of a fan.
  package struct FanSpeeds: Hashable, Sendable, Codable {
    package var speeds: [Speed]
    package var ordered: Bool

    package init(speeds: [Speed], ordered: Bool) {
      self.speeds = speeds
      self.ordered = ordered
    }

    /// A speed and its names.
    package struct Speed: Hashable, Sendable, Codable {
      package var name: String
      package var values: [Value]

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
    package struct Value: Hashable, Sendable, Codable {
      package var synonyms: [String]
      package var language: String

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

  package var occupancySensorConfiguration: [OccupancySensor]?
  package var sensorStatesSupported: [SensorState]?

  /// The type of an occupancy sensor, and its delays.
  package struct OccupancySensor: Hashable, Sendable, Codable {
    /// `PIR`, `ULTRASONIC` or `PHYSICAL_CONTACT`.
    package var occupancySensorType: String
    /// In seconds. The three delays are either all present or all absent.
    package var occupiedToUnoccupiedDelaySec: Int?
    package var unoccupiedToOccupiedDelaySec: Int?
    package var unoccupiedToOccupiedEventThreshold: Int?

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
  package struct SensorState: Hashable, Sendable, Codable {
    package var name: String
    package var descriptiveCapabilities: Descriptive?

    /// The possible values of the state.
    package struct Descriptive: Hashable, Sendable, Codable { public var availableStates: [String] }

    package init(_ name: String, _ states: [String]) {
      self.name = name
      descriptiveCapabilities = Descriptive(availableStates: states)
    }
  }

  // MARK: EnergyStorage, Volume

  package var queryOnlyEnergyStorage: Bool?
  package var isRechargeable: Bool?
  package var volumeMaxLevel: Int?
  package var volumeCanMuteAndUnmute: Bool?

  package init() {}
}
