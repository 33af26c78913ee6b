public import HomeControl
public import MatterProtocol

/// The figures of a running hub, for a monitoring system.
public struct HubMetrics: Sendable, Hashable {
  /// The status with the devices and the connected clients.
  public var status: HubStatus
  /// The counters of the controller.
  public var node: NodeMetrics
  /// The number of updates and events that were sent to clients.
  public var eventsDelivered: UInt64
}

extension HubServer {
  /// The current metrics of the hub.
  public var metrics: HubMetrics {
    HubMetrics(
      status: status, node: controller.assumeIsolated { $0.metrics }, eventsDelivered: eventsDelivered)
  }
}
