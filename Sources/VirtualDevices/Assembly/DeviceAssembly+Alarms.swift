import MatterClusters
import MatterDevice

// Alarms, sensors of the air, and batteries.
extension DeviceAssembly {
  /// Returns the servers of an alarm or a sensor of the air; nil for other kinds.
  static func alarmServers(of kind: DeviceKind) -> [ClusterServer]? {
    switch kind {
    case .smokeCOAlarm: sensor(SmokeCoAlarmServer.make())
    case .smokeAlarm: sensor(SmokeCoAlarmServer.make([SmokeCoAlarm.smokeAlarmFeature]))
    case .coAlarm: sensor(SmokeCoAlarmServer.make([SmokeCoAlarm.coAlarmFeature]))
    case .airQualitySensor:
      sensor(AirQualityServers.airQuality()) + [SensorServers.temperature(), SensorServers.humidity()]
        + AirQualityServers.concentrations.filter { usualConcentrations.contains($0.id) }
    default: nil
    }
  }

  private static let usualConcentrations = [
    CarbonDioxideConcentrationMeasurement.id, Pm25ConcentrationMeasurement.id,
    TotalVolatileOrganicCompoundsConcentrationMeasurement.id,
  ]

  /// Returns the servers that a kind may have in addition.
  static func optionalServers(of kind: DeviceKind) -> [ClusterServer] {
    switch kind {
    case .smokeCOAlarm, .smokeAlarm, .coAlarm:
      [SensorServers.temperature(), SensorServers.humidity()]
        + AirQualityServers.concentrations.filter { $0.id == CarbonMonoxideConcentrationMeasurement.id }
    case .airQualitySensor:
      AirQualityServers.concentrations.filter { !usualConcentrations.contains($0.id) }
    default: []
    }
  }

  /// Returns the battery of a device; nil for mains power.
  static func battery(of device: DeviceDefinition) -> Battery? {
    device.battery ?? usualBattery(of: device.kind)
      ?? (device.kind == .bridge ? nil : device.bridged.lazy.compactMap(battery).first)
  }

  /// Returns the battery of each device of a kind: an alarm and a radiator thermostat always have one. Device Library
  /// § 7.9.
  static func usualBattery(of kind: DeviceKind) -> Battery? {
    switch kind {
    case .smokeCOAlarm, .smokeAlarm, .coAlarm: Battery(.cr123A)
    case .radiatorThermostat: Battery(.aa, quantity: 2)
    default: nil
    }
  }
}
