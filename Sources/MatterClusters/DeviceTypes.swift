public import MatterModel

/// The device types of the Device Library 1.4.2 and Doorbell, with the clusters that their endpoints must serve.
///
/// Clusters that are only conditionally mandatory are not listed. Clusters that are not declared in this module are
/// listed by number.
public enum DeviceTypes {
  // MARK: Utility

  public static let rootNode = DeviceType(
    0x0016, revision: 3, name: "Root Node",
    servers: [
      BasicInformation.id, AccessControl.id, GroupKeyManagement.id, GeneralCommissioning.id, NetworkCommissioning.id,
      AdministratorCommissioning.id, OperationalCredentials.id, GeneralDiagnostics.id,
    ])
  public static let powerSource = DeviceType(0x0011, revision: 1, name: "Power Source", servers: [PowerSource.id])
  public static let otaRequestor = DeviceType(
    0x0012, revision: 1, name: "OTA Requestor", servers: [OtaSoftwareUpdateRequestor.id], clients: [0x0029])
  public static let otaProvider = DeviceType(0x0014, revision: 1, name: "OTA Provider", servers: [0x0029])
  public static let aggregator = DeviceType(0x000E, revision: 2, name: "Aggregator", servers: [])
  public static let bridgedNode = DeviceType(
    0x0013, revision: 3, name: "Bridged Node", servers: [BridgedDeviceBasicInformation.id])
  public static let electricalSensor = DeviceType(0x0510, revision: 1, name: "Electrical Sensor", servers: [0x009C])
  public static let deviceEnergyManagement = DeviceType(
    0x050D, revision: 2, name: "Device Energy Management", servers: [0x0098])
  public static let secondaryNetworkInterface = DeviceType(
    0x0019, revision: 1, name: "Secondary Network Interface", servers: [NetworkCommissioning.id])

  // MARK: Lighting

  public static let onOffLight = DeviceType(
    0x0100, revision: 3, name: "On/Off Light", servers: [Identify.id, Groups.id, ScenesManagement.id, OnOff.id])
  public static let dimmableLight = DeviceType(
    0x0101, revision: 3, name: "Dimmable Light",
    servers: [Identify.id, Groups.id, ScenesManagement.id, OnOff.id, LevelControl.id])
  public static let colorTemperatureLight = DeviceType(
    0x010C, revision: 4, name: "Color Temperature Light",
    servers: [Identify.id, Groups.id, ScenesManagement.id, OnOff.id, LevelControl.id, ColorControl.id])
  public static let extendedColorLight = DeviceType(
    0x010D, revision: 4, name: "Extended Color Light",
    servers: [Identify.id, Groups.id, ScenesManagement.id, OnOff.id, LevelControl.id, ColorControl.id])

  // MARK: Plugs and load controls

  public static let onOffPlugInUnit = DeviceType(
    0x010A, revision: 4, name: "On/Off Plug-in Unit", servers: [Identify.id, Groups.id, ScenesManagement.id, OnOff.id])
  public static let dimmablePlugInUnit = DeviceType(
    0x010B, revision: 5, name: "Dimmable Plug-In Unit",
    servers: [Identify.id, Groups.id, ScenesManagement.id, OnOff.id, LevelControl.id])
  public static let mountedOnOffControl = DeviceType(
    0x010F, revision: 2, name: "Mounted On/Off Control",
    servers: [Identify.id, Groups.id, ScenesManagement.id, OnOff.id])
  public static let mountedDimmableLoadControl = DeviceType(
    0x0110, revision: 2, name: "Mounted Dimmable Load Control",
    servers: [Identify.id, Groups.id, ScenesManagement.id, OnOff.id, LevelControl.id])
  public static let pump = DeviceType(0x0303, revision: 3, name: "Pump", servers: [OnOff.id, 0x0200, Identify.id])

  // MARK: Switches and controllers

  public static let onOffLightSwitch = DeviceType(
    0x0103, revision: 3, name: "On/Off Light Switch", servers: [Identify.id], clients: [Identify.id, OnOff.id])
  public static let dimmerSwitch = DeviceType(
    0x0104, revision: 3, name: "Dimmer Switch",
    servers: [Identify.id], clients: [Identify.id, OnOff.id, LevelControl.id])
  public static let colorDimmerSwitch = DeviceType(
    0x0105, revision: 3, name: "Color Dimmer Switch",
    servers: [Identify.id], clients: [Identify.id, OnOff.id, LevelControl.id, ColorControl.id])
  public static let controlBridge = DeviceType(
    0x0840, revision: 3, name: "Control Bridge",
    servers: [Identify.id],
    clients: [Identify.id, Groups.id, ScenesManagement.id, OnOff.id, LevelControl.id, ColorControl.id])
  public static let pumpController = DeviceType(
    0x0304, revision: 4, name: "Pump Controller", servers: [Identify.id], clients: [OnOff.id, 0x0200])
  public static let genericSwitch = DeviceType(
    0x000F, revision: 3, name: "Generic Switch", servers: [Identify.id, Switch.id])
  /// A switch with the feature MomentarySwitch that activates chimes. Device Library 1.5.1 § 16.9.
  public static let doorbell = DeviceType(
    0x0148, revision: 2, name: "Doorbell", servers: [Identify.id, Switch.id], clients: [0x0556])

  // MARK: Sensors

  public static let contactSensor = DeviceType(
    0x0015, revision: 2, name: "Contact Sensor", servers: [Identify.id, BooleanState.id])
  public static let lightSensor = DeviceType(
    0x0106, revision: 3, name: "Light Sensor", servers: [Identify.id, IlluminanceMeasurement.id])
  public static let occupancySensor = DeviceType(
    0x0107, revision: 4, name: "Occupancy Sensor", servers: [Identify.id, OccupancySensing.id])
  public static let temperatureSensor = DeviceType(
    0x0302, revision: 2, name: "Temperature Sensor", servers: [TemperatureMeasurement.id, Identify.id])
  public static let pressureSensor = DeviceType(
    0x0305, revision: 2, name: "Pressure Sensor", servers: [0x0403, Identify.id])
  public static let flowSensor = DeviceType(0x0306, revision: 2, name: "Flow Sensor", servers: [0x0404, Identify.id])
  public static let humiditySensor = DeviceType(
    0x0307, revision: 2, name: "Humidity Sensor", servers: [Identify.id, RelativeHumidityMeasurement.id])
  public static let onOffSensor = DeviceType(
    0x0850, revision: 3, name: "On/Off Sensor", servers: [Identify.id], clients: [Identify.id, OnOff.id])
  public static let smokeCoAlarm = DeviceType(
    0x0076, revision: 1, name: "Smoke CO Alarm", servers: [Identify.id, 0x005C])
  public static let airQualitySensor = DeviceType(
    0x002C, revision: 1, name: "Air Quality Sensor", servers: [Identify.id, 0x005B])
  public static let waterFreezeDetector = DeviceType(
    0x0041, revision: 1, name: "Water Freeze Detector", servers: [Identify.id, BooleanState.id])
  public static let waterLeakDetector = DeviceType(
    0x0043, revision: 1, name: "Water Leak Detector", servers: [Identify.id, BooleanState.id])
  public static let rainSensor = DeviceType(
    0x0044, revision: 1, name: "Rain Sensor", servers: [Identify.id, BooleanState.id])

  // MARK: Appliances, climate, energy and media

  public static let doorLock = DeviceType(0x000A, revision: 3, name: "Door Lock", servers: [Identify.id, DoorLock.id])
  public static let doorLockController = DeviceType(
    0x000B, revision: 3, name: "Door Lock Controller", servers: [], clients: [DoorLock.id])
  public static let solarPower = DeviceType(0x0017, revision: 1, name: "Solar Power", servers: [])
  public static let batteryStorage = DeviceType(0x0018, revision: 1, name: "Battery Storage", servers: [])
  public static let speaker = DeviceType(0x0022, revision: 1, name: "Speaker", servers: [OnOff.id, LevelControl.id])
  public static let castingVideoPlayer = DeviceType(
    0x0023, revision: 2, name: "Casting Video Player", servers: [OnOff.id, 0x0506, 0x0509, 0x050A])
  public static let contentApp = DeviceType(
    0x0024, revision: 2, name: "Content App", servers: [0x0509, 0x050C, 0x050D])
  public static let modeSelect = DeviceType(0x0027, revision: 1, name: "Mode Select", servers: [0x0050])
  public static let basicVideoPlayer = DeviceType(
    0x0028, revision: 2, name: "Basic Video Player", servers: [OnOff.id, 0x0506, 0x0509])
  public static let castingVideoClient = DeviceType(
    0x0029, revision: 2, name: "Casting Video Client", servers: [], clients: [OnOff.id, 0x0509, 0x050A, 0x050D])
  public static let videoRemoteControl = DeviceType(
    0x002A, revision: 2, name: "Video Remote Control", servers: [], clients: [OnOff.id, 0x0506, 0x0509])
  public static let fan = DeviceType(
    0x002B, revision: 3, name: "Fan", servers: [Identify.id, Groups.id, FanControl.id])
  public static let airPurifier = DeviceType(
    0x002D, revision: 2, name: "Air Purifier", servers: [Identify.id, FanControl.id])
  public static let waterValve = DeviceType(0x0042, revision: 1, name: "Water Valve", servers: [Identify.id, 0x0081])
  public static let refrigerator = DeviceType(0x0070, revision: 2, name: "Refrigerator", servers: [])
  public static let temperatureControlledCabinet = DeviceType(
    0x0071, revision: 5, name: "Temperature Controlled Cabinet", servers: [0x0056])
  public static let roomAirConditioner = DeviceType(
    0x0072, revision: 2, name: "Room Air Conditioner", servers: [Identify.id, OnOff.id, Thermostat.id])
  public static let laundryWasher = DeviceType(0x0073, revision: 2, name: "Laundry Washer", servers: [0x0060])
  public static let roboticVacuumCleaner = DeviceType(
    0x0074, revision: 4, name: "Robotic Vacuum Cleaner", servers: [Identify.id, 0x0054, 0x0061])
  public static let dishwasher = DeviceType(0x0075, revision: 2, name: "Dishwasher", servers: [0x0060])
  public static let cookSurface = DeviceType(0x0077, revision: 2, name: "Cook Surface", servers: [])
  public static let cooktop = DeviceType(0x0078, revision: 1, name: "Cooktop", servers: [OnOff.id])
  public static let microwaveOven = DeviceType(
    0x0079, revision: 2, name: "Microwave Oven", servers: [0x0060, 0x005E, 0x005F])
  public static let extractorHood = DeviceType(0x007A, revision: 1, name: "Extractor Hood", servers: [FanControl.id])
  public static let oven = DeviceType(0x007B, revision: 2, name: "Oven", servers: [])
  public static let laundryDryer = DeviceType(0x007C, revision: 2, name: "Laundry Dryer", servers: [0x0060])
  public static let networkInfrastructureManager = DeviceType(
    0x0090, revision: 2, name: "Network Infrastructure Manager", servers: [0x0451, 0x0452, 0x0453, 0x0035])
  public static let jointFabricAdministrator = DeviceType(
    0x0130, revision: 1, name: "Joint Fabric Administrator", servers: [0x0752, 0x0753])
  public static let windowCovering = DeviceType(
    0x0202, revision: 4, name: "Window Covering", servers: [Identify.id, WindowCovering.id])
  public static let windowCoveringController = DeviceType(
    0x0203, revision: 4, name: "Window Covering Controller", servers: [], clients: [WindowCovering.id])
  public static let thermostat = DeviceType(
    0x0301, revision: 4, name: "Thermostat", servers: [Identify.id, Thermostat.id])
  public static let heatPump = DeviceType(0x0309, revision: 1, name: "Heat Pump", servers: [])
  public static let thermostatController = DeviceType(
    0x030A, revision: 1, name: "Thermostat Controller", servers: [], clients: [Thermostat.id])
  public static let energyEvse = DeviceType(0x050C, revision: 2, name: "EVSE", servers: [0x0099, 0x009D])
  public static let waterHeater = DeviceType(
    0x050F, revision: 1, name: "Water Heater", servers: [Thermostat.id, 0x0094, 0x009E])

  public static let all: [DeviceType] = [
    rootNode, powerSource, otaRequestor, otaProvider, aggregator, bridgedNode, electricalSensor,
    deviceEnergyManagement, secondaryNetworkInterface, onOffLight, dimmableLight, colorTemperatureLight,
    extendedColorLight, onOffPlugInUnit, dimmablePlugInUnit, mountedOnOffControl, mountedDimmableLoadControl, pump,
    onOffLightSwitch, dimmerSwitch, colorDimmerSwitch, controlBridge, pumpController, genericSwitch, doorbell,
    contactSensor,
    lightSensor, occupancySensor, temperatureSensor, pressureSensor, flowSensor, humiditySensor, onOffSensor,
    smokeCoAlarm, airQualitySensor, waterFreezeDetector, waterLeakDetector, rainSensor, doorLock, doorLockController,
    solarPower, batteryStorage, speaker, castingVideoPlayer, contentApp, modeSelect, basicVideoPlayer,
    castingVideoClient, videoRemoteControl, fan, airPurifier, waterValve, refrigerator, temperatureControlledCabinet,
    roomAirConditioner, laundryWasher, roboticVacuumCleaner, dishwasher, cookSurface, cooktop, microwaveOven,
    extractorHood, oven, laundryDryer, networkInfrastructureManager, jointFabricAdministrator, windowCovering,
    windowCoveringController, thermostat, heatPump, thermostatController, energyEvse, waterHeater,
  ]

  /// Returns the device type with this id; nil if it is unknown.
  public static func named(_ id: DeviceTypeID) -> DeviceType? { byID[id] }

  /// Returns the device type by its name, in any spelling: "On/Off Light", "onOffLight".
  public static func named(_ name: String) -> DeviceType? { byName[NormalizedName(name)] }

  private static let byID = Dictionary(all.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
  private static let byName = Dictionary(
    all.map { (NormalizedName($0.name), $0) }, uniquingKeysWith: { first, _ in first })
}
