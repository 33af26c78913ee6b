import MatterModel

// Devices that measure, generate and store electrical energy.
extension DeviceKind {
  public static let meteringPlug = DeviceKind(
    name: "metering plug", aliases: ["plug with metering", "energy plug", "metered plug"], deviceType: 0x010A,
    productID: 0x8060, summary: "a plug that measures the power and the energy of its appliance")
  public static let electricalSensor = DeviceKind(
    name: "electrical sensor", aliases: ["power meter", "energy meter"], deviceType: 0x0510, productID: 0x8061,
    summary: "a sensor that measures power and energy in both directions")

  static let energy: [DeviceKind] = [.meteringPlug, .electricalSensor]
}
