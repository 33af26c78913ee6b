import MatterModel

// Devices that measure, generate and store electrical energy.
extension DeviceKind {
  public static let meteringPlug = DeviceKind(
    name: "metering plug", aliases: ["plug with metering", "energy plug", "metered plug"], deviceType: 0x010A,
    productID: 0x8060, summary: "a plug that measures the power and the energy of its appliance")
  public static let electricalSensor = DeviceKind(
    name: "electrical sensor", aliases: ["power meter", "energy meter"], deviceType: 0x0510, productID: 0x8061,
    summary: "a sensor that measures power and energy in both directions")
  public static let solarPower = DeviceKind(
    name: "solar power", aliases: ["solar", "photovoltaics", "PV", "solar inverter"], deviceType: 0x0017,
    productID: 0x8062, summary: "a solar array whose power follows daylight and clouds")
  public static let batteryStorage = DeviceKind(
    name: "battery storage", aliases: ["home battery", "storage battery"], deviceType: 0x0018, productID: 0x8063,
    summary: "a battery that charges and discharges within its limits")
  public static let evse = DeviceKind(
    name: "EVSE", aliases: ["energy EVSE", "wallbox", "charging station", "EV charger"], deviceType: 0x050C,
    productID: 0x8064, summary: "a charging station for an electric vehicle")
  public static let utilityMeter = DeviceKind(
    name: "electrical utility meter", aliases: ["utility meter", "smart meter", "electricity meter"],
    deviceType: 0x0511, productID: 0x8065, summary: "a utility meter with a tariff whose prices depend on the time")
}
