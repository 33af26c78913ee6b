package import MatterModel

extension ClusterCatalogue {
  /// Returns the names of the tags that the modes of a cluster may have; empty for a cluster that does not derive from
  /// Mode Base. Application Clusters § 1.10.
  package static func modeTags(of cluster: ClusterID) -> [UInt64: String] {
    switch cluster {
    case DeviceEnergyManagementMode.id: DeviceEnergyManagementMode.ModeTag.names
    case DishwasherMode.id: DishwasherMode.ModeTag.names
    case EnergyEvseMode.id: EnergyEvseMode.ModeTag.names
    case LaundryWasherMode.id: LaundryWasherMode.ModeTag.names
    case MicrowaveOvenMode.id: MicrowaveOvenMode.ModeTag.names
    case OvenMode.id: OvenMode.ModeTag.names
    case RefrigeratorAndTemperatureControlledCabinetMode.id:
      RefrigeratorAndTemperatureControlledCabinetMode.ModeTag.names
    case RvcCleanMode.id: RvcCleanMode.ModeTag.names
    case RvcRunMode.id: RvcRunMode.ModeTag.names
    case WaterHeaterMode.id: WaterHeaterMode.ModeTag.names
    default: [:]
    }
  }
}
