import MatterClusters
import MatterDevice

extension DeviceAssembly {
  /// Returns the servers of a device that heats, cools, moves or cleans the air; nil for other kinds.
  static func climateServers(of kind: DeviceKind, _ climate: ClimateDefinition) -> [ClusterServer]? {
    let identify = IdentifyServer.make(.visibleIndicator)
    let (heats, cools) = (climate.heating ?? kind.heating > 0, climate.cooling ?? kind.cooling > 0)
    switch kind {
    case .thermostat:
      return [
        identify, GroupsServer.make(), ThermostatServer.make(heats: heats, cools: cools),
        ThermostatUserInterfaceServer.make(),
      ]
    case .radiatorThermostat:
      return [identify, GroupsServer.make(), ThermostatServer.radiator(), ThermostatUserInterfaceServer.make()]
    case .roomAirConditioner:
      return [
        identify, GroupsServer.make(), OnOffServer.make(features: [OnOff.deadFrontBehavior], isOn: true),
        ThermostatServer.make(heats: heats, cools: cools, hasFan: true), ThermostatUserInterfaceServer.make(),
        FanControlServer.make(features: [FanControl.auto, FanControl.rocking, FanControl.stepFeature], speeds: 5)
          .initial(FanControl.fanMode, .auto),
      ]
    case .fan:
      let features = [
        FanControl.auto, FanControl.rocking, FanControl.wind, FanControl.stepFeature,
        FanControl.airflowDirectionFeature,
      ]
      return [identify, GroupsServer.make(), FanControlServer.make(features: features, speeds: 10)]
    case .airPurifier:
      return [
        identify, GroupsServer.make(),
        FanControlServer.make(features: [FanControl.auto, FanControl.stepFeature], speeds: 10),
        FilterServer.hepa(lifetime: climate.hepa), FilterServer.carbon(lifetime: climate.carbon),
      ]
    case .extractorHood:
      return [
        identify, FanControlServer.make(features: [FanControl.stepFeature], speeds: 4),
        FilterServer.carbon(lifetime: climate.carbon),
      ]
    default: return nil
    }
  }

  /// Returns the application endpoints of a device that heats and has an electrical sensor; nil for other kinds.
  static func climateUnits(
    of kind: DeviceKind, _ climate: ClimateDefinition = ClimateDefinition()
  ) -> [Unit]? {
    switch kind {
    case .waterHeater:
      [
        Unit(
          type: DeviceTypes.waterHeater,
          servers: [
            IdentifyServer.make(.visibleIndicator), WaterHeaterServer.energyManagement(climate.water),
            EnergyManagementModeServer.make(),
          ] + WaterHeaterServer.servers(climate.water), utilities: [DeviceTypes.deviceEnergyManagement]),
        mains,
      ]
    case .heatPump:
      [
        Unit(
          type: DeviceTypes.heatPump,
          servers: [
            IdentifyServer.make(.visibleIndicator),
            HeatPumpEnergy.management(upTo: climate.withPowers(of: kind).highestElectricalPower),
            EnergyManagementModeServer.make(),
          ], utilities: [DeviceTypes.deviceEnergyManagement]),
        Unit(
          type: DeviceTypes.thermostat,
          // The Device Library requires the labels here. Device Library § 14.5.6.
          servers: (climateServers(of: .thermostat, climate.withPowers(of: kind)) ?? []) + [UserLabelServer.make()],
          isPart: true),
        mains,
      ]
    default: nil
    }
  }

  /// The connection of a device to the grid, with an electrical sensor.
  private static var mains: Unit {
    source(1, StorageServer.wired("Grid"), ElectricalPowerServer.make(), ElectricalEnergyServer.make())
  }

  /// The names of the parts of a device that heats and has an electrical sensor.
  static func climateParts(of kind: DeviceKind) -> [String] {
    switch kind {
    case .waterHeater: ["Meter"]
    case .heatPump: ["Thermostat", "Meter"]
    default: []
    }
  }
}
