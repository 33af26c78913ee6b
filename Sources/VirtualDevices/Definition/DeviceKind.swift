public import MatterModel

/// A kind of simulated device, as definition files name it.
public struct DeviceKind: Hashable, Sendable {
  /// The name of the Device Library in lower case, as in a definition file; “bridge” for its “aggregator”.
  public let name: String
  /// Alternative names.
  let aliases: [String]
  /// The device type of its first application endpoint.
  public let deviceType: DeviceTypeID
  /// The default product ID.
  public let productID: UInt16
  /// A description in one line, for display.
  public let summary: String

  public static let bridge = DeviceKind(
    name: "bridge", aliases: ["aggregator", "hub"], deviceType: 0x000E, productID: 0x8005,
    summary: "a bridge with other devices behind it")
  public static let genericSwitch = DeviceKind(
    name: "generic switch", aliases: ["button", "remote", "push button"], deviceType: 0x000F, productID: 0x8006,
    summary: "buttons or a latch that reports its use")
  public static let onOffLight = DeviceKind(
    name: "on/off light", aliases: ["switchable light"], deviceType: 0x0100, productID: 0x8000,
    summary: "a light that is on or off")
  public static let dimmableLight = DeviceKind(
    name: "dimmable light", aliases: ["dimmer light"], deviceType: 0x0101, productID: 0x8001,
    summary: "a light with a brightness")
  public static let onOffPlugInUnit = DeviceKind(
    name: "on/off plug-in unit", aliases: ["plug", "outlet", "smart plug", "on/off plug", "plug-in unit"],
    deviceType: 0x010A, productID: 0x8002, summary: "a plug between an outlet and an appliance, on or off")
  public static let dimmablePlugInUnit = DeviceKind(
    name: "dimmable plug-in unit", aliases: ["dimmable plug", "dimmer plug"], deviceType: 0x010B, productID: 0x8007,
    summary: "a plug that dims an appliance")
  public static let onOffLightSwitch = DeviceKind(
    name: "on/off light switch", aliases: ["light switch", "on/off switch"], deviceType: 0x0103, productID: 0x8008,
    summary: "a switch that turns the lights it is bound to on and off")
  public static let dimmerSwitch = DeviceKind(
    name: "dimmer switch", aliases: ["dimmer"], deviceType: 0x0104, productID: 0x8009,
    summary: "a switch that dims the lights it is bound to")
  public static let colorDimmerSwitch = DeviceKind(
    name: "color dimmer switch", aliases: ["colour dimmer switch", "color dimmer", "colour dimmer"],
    deviceType: 0x0105, productID: 0x800A, summary: "a switch that dims and colors the lights it is bound to")
  public static let colorTemperatureLight = DeviceKind(
    name: "color temperature light", aliases: ["colour temperature light", "white light", "tunable white light"],
    deviceType: 0x010C, productID: 0x8003, summary: "a light with a brightness, from warm white to cold white")
  public static let extendedColorLight = DeviceKind(
    name: "extended color light", aliases: ["extended colour light", "color light", "colour light"],
    deviceType: 0x010D, productID: 0x8004, summary: "a light with a brightness, of any color and any white")
  public static let contactSensor = DeviceKind(
    name: "contact sensor", aliases: ["door sensor", "window sensor", "contact"], deviceType: 0x0015,
    productID: 0x800B, summary: "a sensor that tells whether a door or window is closed")
  public static let waterFreezeDetector = DeviceKind(
    name: "water freeze detector", aliases: ["freeze detector", "freeze sensor"], deviceType: 0x0041,
    productID: 0x800C, summary: "a sensor that detects a risk of freezing")
  public static let waterLeakDetector = DeviceKind(
    name: "water leak detector", aliases: ["leak detector", "leak sensor", "water leak sensor"], deviceType: 0x0043,
    productID: 0x800D, summary: "a sensor that detects leaking water")
  public static let rainSensor = DeviceKind(
    name: "rain sensor", aliases: ["rain detector"], deviceType: 0x0044, productID: 0x800E,
    summary: "a sensor that detects rain")
  public static let lightSensor = DeviceKind(
    name: "light sensor", aliases: ["illuminance sensor"], deviceType: 0x0106, productID: 0x800F,
    summary: "a sensor that measures the illuminance")
  public static let occupancySensor = DeviceKind(
    name: "occupancy sensor", aliases: ["motion sensor", "presence sensor"], deviceType: 0x0107, productID: 0x8010,
    summary: "a sensor that detects persons, and holds its state for a time")
  public static let temperatureSensor = DeviceKind(
    name: "temperature sensor", aliases: ["thermometer"], deviceType: 0x0302, productID: 0x8011,
    summary: "a sensor that measures the temperature")
  public static let pressureSensor = DeviceKind(
    name: "pressure sensor", aliases: ["barometer"], deviceType: 0x0305, productID: 0x8012,
    summary: "a sensor that measures the air pressure")
  public static let flowSensor = DeviceKind(
    name: "flow sensor", aliases: ["flow meter"], deviceType: 0x0306, productID: 0x8013,
    summary: "a sensor that measures the flow of a liquid")
  public static let humiditySensor = DeviceKind(
    name: "humidity sensor", aliases: ["hygrometer"], deviceType: 0x0307, productID: 0x8014,
    summary: "a sensor that measures the relative humidity")
  public static let soilSensor = DeviceKind(
    name: "soil sensor", aliases: ["soil moisture sensor"], deviceType: 0x0045, productID: 0x8015,
    summary: "a sensor that measures the moisture of soil")

  public static let otaProvider = DeviceKind(
    name: "OTA provider", aliases: ["software provider", "update provider"], deviceType: 0x0014, productID: 0x8070,
    summary: "a provider of software images for other devices")

  /// Every kind, in the order of the device type IDs.
  public static let all: [DeviceKind] = [
    .bridge, .genericSwitch, .contactSensor, .waterFreezeDetector, .waterLeakDetector, .rainSensor, .onOffLight,
    .dimmableLight, .onOffLightSwitch, .dimmerSwitch, .colorDimmerSwitch, .lightSensor, .occupancySensor,
    .onOffPlugInUnit, .dimmablePlugInUnit, .colorTemperatureLight, .extendedColorLight, .temperatureSensor,
    .pressureSensor, .flowSensor, .humiditySensor, .soilSensor, .smokeCOAlarm, .smokeAlarm, .coAlarm,
    .airQualitySensor, .refrigerator, .laundryWasher, .robotVacuum, .dishwasher, .cooktop, .microwaveOven, .oven,
    .laundryDryer, .doorLock, .fan, .airPurifier, .roomAirConditioner, .extractorHood, .thermostat,
    .radiatorThermostat, .heatPump, .waterHeater, .windowCovering, .closure, .waterValve, .pump, .meteringPlug,
    .electricalSensor, .solarPower, .batteryStorage, .evse, .utilityMeter, .otaProvider, .doorbell, .controlBridge,
    .onOffSensor, .speaker, .chime, .modeSelect, .basicVideoPlayer,
  ].sorted { $0.deviceType.rawValue < $1.deviceType.rawValue }

  /// The kinds that usually run on batteries, and can be intermittently connected.
  private static let sleepy: [DeviceKind] = [
    .genericSwitch, .doorbell, .onOffLightSwitch, .dimmerSwitch, .colorDimmerSwitch, .controlBridge, .onOffSensor,
    .contactSensor, .waterFreezeDetector, .waterLeakDetector, .rainSensor, .lightSensor, .occupancySensor,
    .temperatureSensor, .pressureSensor, .flowSensor, .humiditySensor, .airQualitySensor, .smokeAlarm, .coAlarm,
    .smokeCOAlarm, .doorLock, .thermostat, .radiatorThermostat, .waterValve, .windowCovering, .closure, .soilSensor,
  ]

  /// Whether the device can be intermittently connected.
  var maySleep: Bool { Self.sleepy.contains(self) }

  /// Whether a device of the kind can share its node: be behind a bridge, have parts or be one. A provider is addressed by its
  /// node id.
  package var sharesNode: Bool { self != .bridge && self != .otaProvider }

  /// The name in the spelling of the Device Library: "Dimmable Light", "On/Off Plug-in Unit".
  public var title: String {
    if self == .bridge { return "Aggregator" }
    var isStart = true
    return String(
      name.map { character in
        defer { isStart = character == " " || character == "/" }
        return isStart ? Character(character.uppercased()) : character
      })
  }

  /// Returns whether the standard has no device type for a device that users expect.
  package static func isUnstandardized(_ text: String) -> Bool {
    ["humidifier", "dehumidifier", "dimmer sensor"].contains {
      NormalizedName($0) == NormalizedName(text)
    }
  }

  /// Returns the names that are similar to a text. A similar alias suggests its canonical name.
  package static func suggestions(for text: String, in names: [String]) -> [String] {
    let suggestions = NearestName.suggestions(for: text, in: names)
    guard suggestions.isEmpty else { return suggestions }
    let aliases = NearestName.suggestions(for: text, in: all.flatMap(\.aliases))
    return all.filter { !Set($0.aliases).isDisjoint(with: aliases) }.map(\.name)
  }

  /// Returns the kind with a name or alias, ignoring case, blanks, hyphens and slashes.
  public static func named(_ text: String) -> DeviceKind? { byName[NormalizedName(text)] }

  private static let byName = Dictionary(
    all.flatMap { kind in ([kind.name] + kind.aliases).map { (NormalizedName($0), kind) } },
    uniquingKeysWith: { first, _ in first })
}
