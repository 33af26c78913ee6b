import MatterClusters
import MatterDevice

// Window coverings, closures, valves and pumps.
extension DeviceAssembly {
  /// Returns the motors of a kind without the keys `travel` and `encoder`.
  static func motors(of kind: DeviceKind) -> MotorSettings {
    switch kind {
    case .waterValve: MotorSettings(lift: .seconds(3))
    case .closure: MotorSettings(lift: ClosureSettings().travel)
    default: MotorSettings()
    }
  }

  /// Returns the cluster servers; none for other kinds.
  static func coverServers(of kind: DeviceKind, _ motors: MotorSettings?) -> [ClusterServer] {
    let motors = motors ?? self.motors(of: kind)
    let identify = IdentifyServer.make(.actuator)
    switch kind {
    case .windowCovering: return [identify, GroupsServer.make(), WindowCoveringServer.make(motors)]
    case .waterValve: return [identify, ValveServer.make(motors)]
    case .pump: return [identify, GroupsServer.make()] + PumpServer.servers()
    default: return []
    }
  }
}
