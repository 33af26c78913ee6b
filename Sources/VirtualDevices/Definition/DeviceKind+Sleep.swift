extension DeviceKind {
  /// Whether the device can be intermittently connected: kinds that usually run on batteries.
  var maySleep: Bool { Self.sleepy.contains(self) }

  private static let sleepy: [DeviceKind] = [
    .genericSwitch, .doorbell, .onOffLightSwitch, .dimmerSwitch, .colorDimmerSwitch, .controlBridge, .onOffSensor,
    .contactSensor, .waterFreezeDetector, .waterLeakDetector, .rainSensor, .lightSensor, .occupancySensor,
    .temperatureSensor, .pressureSensor, .flowSensor, .humiditySensor, .airQualitySensor, .smokeAlarm, .coAlarm,
    .smokeCOAlarm, .doorLock, .thermostat, .radiatorThermostat, .waterValve, .windowCovering, .closure, .soilSensor,
  ]
}
