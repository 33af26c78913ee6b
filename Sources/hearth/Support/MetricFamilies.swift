import Foundation
import HearthHome
import Hub
import MatterProtocol
import OpenMetrics
import VirtualDevices

extension NodeMetrics {
  /// The metrics of virtual devices, or of a controller.
  var families: [MetricFamily] {
    [
      .init(
        "hearth_datagrams", .counter, unit: "datagrams", "Datagrams of the Matter protocol.",
        [
          .init(Double(received), [.init("direction", "received")]), .init(Double(sent), [.init("direction", "sent")]),
        ]),
      .init(
        "hearth_dropped_messages", .counter, unit: "messages", "Dropped messages by reason.", by: "reason", drops),
      .init("hearth_invokes", .counter, "Invoked commands.", invokes),
      .init("hearth_sessions", .gauge, unit: "sessions", "Secure sessions.", sessions),
      .init("hearth_subscriptions", .gauge, unit: "subscriptions", "Subscriptions.", subscriptions),
    ]
  }
}

extension MetricFamily {
  /// Returns the numbers of devices.
  fileprivate static func devices(_ all: Int, online: Int) -> [MetricFamily] {
    [
      .init("hearth_devices", .gauge, unit: "devices", "Devices, bridged ones included.", all),
      .init("hearth_online_devices", .gauge, unit: "devices", "Devices that have power and can be reached.", online),
    ]
  }
}

extension FleetMetrics {
  /// The metrics of `hearth run`.
  var families: [MetricFamily] {
    MetricFamily.devices(devices, online: devicesOnline) + node.families + [
      .init(
        "hearth_dropped_discovery_packets", .counter, unit: "packets", "Dropped DNS-SD packets by reason.",
        by: "reason", discoveryDrops)
    ]
  }
}

extension HubMetrics {
  /// The metrics of `hearth hub run`.
  var families: [MetricFamily] {
    var clients: [String: Int] = [:]
    for client in status.clients { clients[client.role.rawValue, default: 0] += 1 }
    return MetricFamily.devices(status.devices, online: status.devicesOnline) + node.families + [
      .init("hearth_hub_clients", .gauge, unit: "clients", "Connected clients by role.", by: "role", clients),
      .init("hearth_hub_delivered_events", .counter, unit: "events", "Updates sent to clients.", eventsDelivered),
      .init(
        "hearth_hub_start_time_seconds", .gauge, unit: "seconds", "Start of the hub since 1970-01-01 UTC.",
        [.init(status.startDate.timeIntervalSince1970)]),
    ]
  }
}
