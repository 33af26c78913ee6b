import MatterClusters

/// The Device Energy Management Mode server: the user's choice of the adjustments, which is the opt-out.
/// Application Clusters § 9.8.
public enum EnergyManagementModeServer {
  private static let modes: [(mode: ApplianceMode, optOut: DeviceEnergyManagement.OptOutState)] = {
    func mode(_ label: String, _ tags: DeviceEnergyManagementMode.ModeTag...) -> ApplianceMode {
      ApplianceMode(label, tags.map(\.rawValue))
    }
    return [
      (mode("Home and grid", .deviceOptimization, .localOptimization, .gridOptimization), .noOptOut),
      (mode("Home", .deviceOptimization, .localOptimization), .gridOptOut),
      (mode("Grid", .deviceOptimization, .gridOptimization), .localOptOut),
      (mode("Device", .deviceOptimization), .optOut),
      (mode("No optimization", .noOptimization), .optOut),
    ]
  }()

  /// Returns the server, for the endpoint of Device Energy Management.
  public static func make() -> ClusterServer {
    ModeServer(DeviceEnergyManagementMode.self, modes.map(\.mode)).make()
      .onChange(DeviceEnergyManagementMode.currentMode) { context in
        let index = Int(context[DeviceEnergyManagementMode.currentMode])
        guard modes.indices.contains(index) else { return }
        context.call(EnergyManagementServer.optOut, modes[index].optOut)
      }
  }
}
