import MatterClusters
import MatterDevice
import MatterModel

// Devices that measure, generate and store electrical energy.
extension DeviceAssembly {
  private static let directions = [
    ElectricalEnergyMeasurement.importedEnergy, ElectricalEnergyMeasurement.exportedEnergy,
  ]

  /// Returns the application endpoints of a device with electrical sensors; nil for other kinds.
  /// - Parameters:
  ///   - isProvisional: whether the device serves provisional features.
  ///   - serialNumber: the serial number of the device.
  static func energyUnits(
    of kind: DeviceKind, _ energy: EnergyDefinition = EnergyDefinition(), isProvisional: Bool = false,
    serialNumber: String = ""
  ) -> [Unit]? {
    let identify = IdentifyServer.make(.visibleIndicator)
    switch kind {
    case .meteringPlug:
      let plug = servers(of: .onOffPlugInUnit).map { $0.id == OnOff.id ? $0.supplyingSensors() : $0 }
      return [
        Unit(type: DeviceTypes.onOffPlugInUnit, servers: plug),
        Unit(
          type: DeviceTypes.electricalSensor,
          servers: [PowerTopologyServer.ofParent(), ElectricalPowerServer.make(), ElectricalEnergyServer.make()],
          isPart: true),
      ]
    case .electricalSensor:
      return [
        Unit(
          type: DeviceTypes.electricalSensor,
          servers: [PowerTopologyServer.make(), ElectricalPowerServer.make(), ElectricalEnergyServer.make(directions)])
      ]
    case .solarPower:
      return [
        Unit(
          type: DeviceTypes.solarPower,
          servers: [identify, energy.solar.energyManagement(), EnergyManagementModeServer.make()],
          utilities: [DeviceTypes.deviceEnergyManagement]),
        source(
          2, StorageServer.wired("Inverter"), ElectricalPowerServer.make(),
          ElectricalEnergyServer.make([ElectricalEnergyMeasurement.exportedEnergy])),
      ]
    case .batteryStorage:
      return [
        Unit(
          type: DeviceTypes.batteryStorage,
          servers: [
            identify, StorageServer.energyManagement(energy.storage), EnergyManagementModeServer.make(),
          ], utilities: [DeviceTypes.deviceEnergyManagement]),
        source(
          1, StorageServer.wired("Grid"), StorageServer.power(ElectricalPowerServer.make(), isLeading: true),
          ElectricalEnergyServer.make(directions)),
        source(
          3, StorageServer.make(energy.storage),
          StorageServer.power(ElectricalPowerServer.make(ElectricalPowerMeasurement.directCurrent, voltage: 48_000)),
          ElectricalEnergyServer.make(directions)),
      ]
    case .evse:
      return [
        Unit(
          type: DeviceTypes.energyEvse,
          servers: [
            identify, EvseServer.make(energy.vehicle, reportsCharge: isProvisional), EvseModeServer.make(),
            EvseServer.energyManagement(), EnergyManagementModeServer.make(),
          ], utilities: [DeviceTypes.deviceEnergyManagement]),
        source(
          1, StorageServer.wired("Grid"), EvseServer.power(ElectricalPowerServer.make()),
          ElectricalEnergyServer.make()),
      ]
    case .utilityMeter: return meterUnits(energy.tariff, serialNumber)
    default: return nil
    }
  }

  /// Returns the endpoints of a utility meter: the meter point, its tariff, and the meter of power and energy.
  private static func meterUnits(_ tariff: EnergyTariff, _ serialNumber: String) -> [Unit] {
    [
      Unit(
        type: DeviceTypes.electricalUtilityMeter,
        servers: [
          IdentifyServer.make(.visibleIndicator),
          MeterIdentificationServer.make(serialNumber: serialNumber, limit: tariff.limit),
        ]),
      Unit(
        type: DeviceTypes.electricalEnergyTariff,
        servers: [
          CommodityTariffServer.make(tariff), CommodityPriceServer.make(tariff),
          GridConditionsServer.make(tariff.carbon),
        ], tags: tariffTags, isPart: true),
      Unit(
        type: DeviceTypes.electricalMeter,
        servers: [
          PowerTopologyServer.ofParent(), ElectricalPowerServer.make(), ElectricalEnergyServer.make(directions),
        ],
        utilities: [DeviceTypes.electricalSensor], isPart: true),
    ]
  }

  /// The current tariff, for electrical energy, for imports: tags of the standard namespaces “Commodity Tariff
  /// Chronology”, “Commodity Tariff Commodity” and “Commodity Tariff Flow”.
  private static let tariffTags = [0x0B, 0x0D, 0x13].map {
    SemanticTagStruct(mfgCode: .null, namespaceID: $0, tag: 0)
  }

  /// Returns a part of a device: a power source with an electrical sensor.
  /// - Parameter tag: The tag of the standard namespace “Power Source”. Standard Namespaces § 16.
  static func source(
    _ tag: UInt8, _ source: ClusterServer, _ power: ClusterServer, _ energy: ClusterServer
  ) -> Unit {
    Unit(
      type: DeviceTypes.electricalSensor, servers: [source, PowerTopologyServer.ofParent(), power, energy],
      utilities: [DeviceTypes.powerSource],
      tags: [SemanticTagStruct(mfgCode: .null, namespaceID: 0x0F, tag: tag)], isPart: true)
  }

  /// The names of the parts of a device with electrical sensors.
  static func energyParts(of kind: DeviceKind) -> [String] {
    switch kind {
    case .meteringPlug, .evse: ["Meter"]
    case .solarPower: ["Inverter"]
    case .batteryStorage: ["Grid", "Battery"]
    case .utilityMeter: ["Tariff", "Meter"]
    default: []
    }
  }

  /// The endpoint with the power that the key `load` sets; nil for kinds without that key.
  static func loadEndpoint(of kind: DeviceKind) -> EndpointID? {
    switch kind {
    case .meteringPlug, .batteryStorage: 2
    case .electricalSensor: 1
    case .utilityMeter: 3
    default: nil
    }
  }
}

extension ClusterServer {
  /// Lets the inverter of a solar array follow the daylight, unless the definition sets its power.
  func followingDaylight(of device: DeviceDefinition, _ clock: BehaviorClock) -> Self {
    let values = device.initialValues + device.behaviors.map(\.attribute)
    guard device.kind == .solarPower, id == ElectricalPowerMeasurement.id,
      !values.contains(where: {
        $0.target?.attribute == ElectricalPowerMeasurement.activePower.id && $0.target?.cluster == id
      })
    else { return self }
    var array = device.energy.solar
    array.seed = clock.seed ^ StableHash.value(of: device.uniqueID, for: "clouds")
    return measuring(array)
  }
}
