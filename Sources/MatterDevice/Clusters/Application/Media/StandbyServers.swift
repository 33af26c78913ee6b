import MatterClusters
import MatterModel

/// The servers that put a video player into standby and wake it.
public enum StandbyServers {
  /// Returns Low Power, which switches the endpoint off. The node still answers. Application Clusters § 1.11.
  public static func lowPower() -> ClusterServer {
    ClusterServer(LowPower.self)
      .on(LowPower.sleep) { context, _ throws(StatusError) in try context.invoke(OnOff.off, NoFields()) }
  }

  /// Returns Wake on LAN. As a physical action, a magic packet switches the endpoint on. Application Clusters § 1.12.
  /// - Parameter address: The MAC address, six bytes.
  public static func wakeOnLAN(_ address: [UInt8]) -> ClusterServer {
    ClusterServer(WakeOnLan.self)
      .initial(WakeOnLan.macAddress, address.hexadecimal)
      .onPart("network", ["idle", "magic packet"]) { context, state throws(StatusError) in
        if state != "idle" { try context.invoke(OnOff.on, NoFields()) }
      }
  }
}
