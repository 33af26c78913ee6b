internal import HearthHome
internal import MatterClusters
internal import MatterController
internal import MatterDevice
internal import MatterModel
internal import MatterProtocol
internal import Runtime
internal import Simulation
internal import VirtualDevices

/// The actual state of a device, which is known only to the simulated world.
public struct GroundTruth: Hashable, Sendable {
  /// The route between a device and the home.
  public enum Route: String, Hashable, Sendable {
    /// No route.
    case none
    /// A direct route over the IP family.
    case ipv6, ipv4
    /// A route through the bridge.
    case bridge
  }

  /// The path in the definition: `room/name`.
  public var path: String
  /// The unique ID, which the home also knows.
  public var uniqueID: String
  /// Whether the device has power; for a bridged device, whether the bridge reports it as reachable.
  public var isPowered: Bool
  public var route: Route
  /// Whether the route carries less than the minimum of 1280 bytes per packet, so that a handshake or a first report
  /// may not fit. Matter Core § 4.4.4.
  public var isNarrow = false
  /// Whether device and home hold the same subscription; only determined for narrow routes, otherwise false.
  public var isSubscribed = false

  /// Whether the device keeps the home informed, or could do so.
  ///
  /// Over a full route it could. Over a narrow one an existing subscription lasts, with small messages, but a new one
  /// can't be established: the home is right to report such a device as offline.
  public var isReachable: Bool { isPowered && route != .none && (!isNarrow || isSubscribed) }
}

extension SimulatedHome {
  /// Returns the actual state of all devices, in the order of the definition; bridged devices follow their bridge.
  public func truth() -> [GroundTruth] { truth(for: opened, on: hub) }

  /// Returns the actual state of all devices for another home.
  /// - Parameters:
  ///   - home: the home; nil while it is not open.
  ///   - hub: the machine of the home.
  func truth(for home: Home?, on hub: SimulatedMachine) -> [GroundTruth] {
    parts.flatMap { truth(of: $0.device, on: $0.machine, for: home, on: hub) }
  }

  private func truth(
    of device: VirtualDevice, on machine: SimulatedMachine, for home: Home?, on hub: SimulatedMachine
  ) -> [GroundTruth] {
    var own = GroundTruth(
      path: device.path, uniqueID: device.uniqueID, isPowered: machine.isPowered, route: route(to: machine, from: hub))
    own.isNarrow = own.route != .none && !carries(SimulatedNetwork.maximumDatagramSize, hub, machine)
    if own.isNarrow { own.isSubscribed = isSubscribed(home, to: device) }
    // Parts are not devices of the home.
    guard device.isBridge else { return [own] }
    return [own]
      + device.definition.bridged.map { bridged in
        var behind = own
        (behind.path, behind.uniqueID, behind.isPowered) = (bridged.path, bridged.uniqueID, false)
        behind.route = own.route == .none || !own.isPowered ? .none : .bridge
        if let place = device.place(named: bridged.path), let host = device.host {
          behind.isPowered = host.perform { engine, _ in
            engine.value(BridgedDeviceBasicInformation.reachable, on: place.node) ?? false
          }
        }
        return behind
      }
  }

  /// Returns whether device and home have a subscription ID in common. Devices draw it from 2³² values.
  private func isSubscribed(_ home: Home?, to device: VirtualDevice) -> Bool {
    guard let controller = try? home?.controller, let host = device.host else { return false }
    let known = Set(controller.establishedSubscriptions)
    return host.perform { engine, _ in engine.standingSubscriptions.contains { known.contains($0) } }
  }

  /// Returns whether datagrams get through in both directions.
  private func carries(_ size: Int?, _ one: SimulatedMachine, _ other: SimulatedMachine) -> Bool {
    let world = simulation.world.value
    return world.carries(size, from: one.id, to: other.id) && world.carries(size, from: other.id, to: one.id)
  }

  private func route(to machine: SimulatedMachine, from hub: SimulatedMachine) -> GroundTruth.Route {
    guard hub.isPowered, carries(nil, hub, machine) else { return .none }
    func isShared(_ isIPv6: Bool) -> Bool {
      hub.addresses.contains { $0.isIPv6 == isIPv6 } && machine.addresses.contains { $0.isIPv6 == isIPv6 }
    }
    return isShared(true) ? .ipv6 : isShared(false) ? .ipv4 : .none
  }
}
