public import MatterProtocol

/// The metrics of a running fleet.
public struct FleetMetrics: Sendable, Hashable {
  /// The sums of all devices.
  public var node = NodeMetrics()
  /// The number of devices, bridged ones included.
  public var devices = 0
  /// The number of devices that have power.
  public var devicesOnline = 0
  /// The dropped DNS-SD packets by reason.
  public var discoveryDrops: [String: Int] = [:]
}
