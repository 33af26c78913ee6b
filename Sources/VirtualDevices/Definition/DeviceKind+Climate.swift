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

  public static let radiatorThermostat = DeviceKind(
    name: "radiator thermostat", aliases: ["TRV", "radiator valve", "thermostatic radiator valve"], deviceType: 0x0301,
    productID: 0x8037, summary: "a valve with a battery that heats its room with a radiator")
  public static let heatPump = DeviceKind(
    name: "heat pump", aliases: ["air source heat pump"], deviceType: 0x0309, productID: 0x8036,
    summary: "a heat pump that heats its room, and measures the electrical power that it takes")
  public static let waterHeater = DeviceKind(
    name: "water heater", aliases: ["boiler", "hot water tank", "hot water cylinder"], deviceType: 0x050F,
    productID: 0x8035, summary: "a tank that heats water, and boosts on demand")

  /// The powers of the heating and the cooling in watts, if the definition states none; nil for a device that does not
  /// determine the temperature of its room.
  private var powers: (heating: Int, cooling: Int)? {
    switch self {
    case .thermostat: (3000, 3000)
    case .roomAirConditioner: (0, 2500)
    case .radiatorThermostat: (1500, 0)
    case .heatPump: (6000, 0)
    default: nil
    }
  }

  /// The power of the heating in watts, if the definition states none.
  var heating: Int { powers?.heating ?? 0 }
  /// The power of the cooling in watts, if the definition states none.
  var cooling: Int { powers?.cooling ?? 0 }
  /// Whether the device determines the temperature of its room.
  var conditionsRoom: Bool { powers != nil }
  /// The position of the application endpoint whose state represents the device.
  var shownPosition: Int { self == .heatPump ? 1 : 0 }
}
