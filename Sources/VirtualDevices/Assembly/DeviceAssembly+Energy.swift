import MatterClusters
import MatterDevice
import MatterModel

// Devices that measure, generate and store electrical energy.
extension DeviceAssembly {
  /// Returns the application endpoints of a device with electrical sensors; nil for other kinds.
  static func energyUnits(of kind: DeviceKind) -> [Unit]? {
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
      let energy = ElectricalEnergyServer.make([
        ElectricalEnergyMeasurement.importedEnergy, ElectricalEnergyMeasurement.exportedEnergy,
      ])
      return [
        Unit(
          type: DeviceTypes.electricalSensor,
          servers: [IdentifyServer.make(.visibleIndicator), PowerTopologyServer.make(), ElectricalPowerServer.make()]
            + [energy])
      ]
    default: return nil
    }
  }

  /// The names of the parts of a device with electrical sensors.
  static func energyParts(of kind: DeviceKind) -> [String] { kind == .meteringPlug ? ["Meter"] : [] }

  /// The endpoint with the power that the key `load` sets; nil for kinds without that key.
  static func loadEndpoint(of kind: DeviceKind) -> EndpointID? {
    switch kind {
    case .meteringPlug: 2
    case .electricalSensor: 1
    default: nil
    }
  }
}
