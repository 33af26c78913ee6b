internal import MatterClusters
internal import MatterDevice
internal import MatterModel
internal import MatterProtocol
internal import Runtime
internal import Simulation
internal import VirtualDevices

/// How a device really is, which only the world it is in knows.
public struct GroundTruth: Hashable, Sendable {
  /// The way between a device and the home.
  public enum Route: String, Hashable, Sendable {
    /// There is none.
    case none
    /// Straight, with addresses of this family.
    case ipv6, ipv4
    /// Straight to its bridge, which reaches it.
    case bridge
  }

  /// `room/name`, as in the definition.
  public var path: String
  /// What tells it from all others, by which the home knows it too.
  public var uniqueID: String
  /// Whether it has power; behind a bridge, whether its bridge says that it is there.
  public var isPowered: Bool
  public var route: Route

  /// Whether a message from the home reaches it, and its answer the home, by any route.
  public var isReachable: Bool { isPowered && route != .none }
}

extension SimulatedHome {
  /// How all devices really are, in the order of the definition; those behind a bridge come behind it.
  public func truth() -> [GroundTruth] { truth(for: hub) }

  /// The same as somebody on another machine would have it.
  func truth(for hub: SimulatedMachine) -> [GroundTruth] {
    parts.flatMap { truth(of: $0.device, on: $0.machine, for: hub) }
  }

  private func truth(
    of device: VirtualDevice, on machine: SimulatedMachine, for hub: SimulatedMachine
  ) -> [GroundTruth] {
    let route = route(to: machine, from: hub)
    let definition = device.definition
    let own = GroundTruth(
      path: definition.path, uniqueID: definition.uniqueID, isPowered: machine.isPowered, route: route)
    return [own]
      + definition.bridged.map { bridged in
        var isThere = false
        if let place = device.place(named: bridged.path), let host = device.host {
          isThere = host.perform { engine, _ in
            engine.value(BridgedDeviceBasicInformation.reachable, on: place.node) ?? false
          }
        }
        return GroundTruth(
          path: bridged.path, uniqueID: bridged.uniqueID, isPowered: isThere,
          route: route == .none || !machine.isPowered ? .none : .bridge)
      }
  }

  private func route(to machine: SimulatedMachine, from hub: SimulatedMachine) -> GroundTruth.Route {
    guard hub.isPowered else { return .none }
    let network = simulation.world.value.network
    guard network.carries(from: hub.id, to: machine.id), network.carries(from: machine.id, to: hub.id) else {
      return .none
    }
    func isShared(_ isIPv6: Bool) -> Bool {
      hub.addresses.contains { $0.isIPv6 == isIPv6 } && machine.addresses.contains { $0.isIPv6 == isIPv6 }
    }
    return isShared(true) ? .ipv6 : isShared(false) ? .ipv4 : .none
  }
}
