import MatterClusters
import MatterDevice

extension DeviceAssembly {
  static var doorLock: [ClusterServer] { [IdentifyServer.make(.audibleBeep), DoorLockServer.make()] }
}
