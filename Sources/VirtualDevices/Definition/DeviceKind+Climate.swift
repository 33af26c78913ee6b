import MatterModel

// Devices that heat, cool, move and clean the air.
extension DeviceKind {
  public static let fan = DeviceKind(
    name: "fan", aliases: ["ventilator", "ceiling fan"], deviceType: 0x002B, productID: 0x8032,
    summary: "a fan with speeds and an automatic mode")
  public static let airPurifier = DeviceKind(
    name: "air purifier", aliases: ["purifier", "air cleaner"], deviceType: 0x002D, productID: 0x8033,
    summary: "a fan with filters that age")
  public static let roomAirConditioner = DeviceKind(
    name: "room air conditioner", aliases: ["air conditioner", "AC"], deviceType: 0x0072, productID: 0x8031,
    summary: "a device that cools its room, or also heats it")
  public static let extractorHood = DeviceKind(
    name: "extractor hood", aliases: ["cooker hood", "range hood"], deviceType: 0x007A, productID: 0x8034,
    summary: "a fan above a stove with a carbon filter")
  public static let thermostat = DeviceKind(
    name: "thermostat", aliases: ["heating"], deviceType: 0x0301, productID: 0x8030,
    summary: "a controller that heats and cools its room")

  public static let waterHeater = DeviceKind(
    name: "water heater", aliases: ["boiler", "hot water tank", "hot water cylinder"], deviceType: 0x050F,
    productID: 0x8035, summary: "a tank that heats water, and boosts on demand")

  static let climate: [DeviceKind] = [
    .fan, .airPurifier, .roomAirConditioner, .extractorHood, .thermostat, .waterHeater,
  ]

  /// The power of the heating in watts, if the definition states none.
  var heating: Int { self == .thermostat ? 3000 : 0 }
  /// The power of the cooling in watts, if the definition states none.
  var cooling: Int { self == .thermostat ? 3000 : 2500 }
  /// Whether the device determines the temperature of its room.
  var conditionsRoom: Bool { self == .thermostat || self == .roomAirConditioner }
}
