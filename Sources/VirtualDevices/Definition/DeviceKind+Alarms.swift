internal import MatterModel

// Alarms, and sensors of the air.
extension DeviceKind {
  public static let smokeCOAlarm = DeviceKind(
    name: "smoke CO alarm", aliases: ["smoke and CO alarm", "smoke and CO detector"], deviceType: 0x0076,
    productID: 0x8040, summary: "an alarm that detects smoke and carbon monoxide")
  public static let smokeAlarm = DeviceKind(
    name: "smoke alarm", aliases: ["smoke detector"], deviceType: 0x0076, productID: 0x8041,
    summary: "an alarm that detects smoke")
  public static let coAlarm = DeviceKind(
    name: "CO alarm", aliases: ["carbon monoxide alarm", "CO detector"], deviceType: 0x0076, productID: 0x8042,
    summary: "an alarm that detects carbon monoxide")
  public static let airQualitySensor = DeviceKind(
    name: "air quality sensor", aliases: ["air sensor", "air monitor"], deviceType: 0x002C, productID: 0x8043,
    summary: "a sensor that rates the air by the substances in it")

  /// The alarms that express those of others.
  static let interconnected: [DeviceKind] = [.smokeCOAlarm, .smokeAlarm, .coAlarm]
}
