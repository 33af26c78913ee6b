internal import Home
internal import MatterClusters
internal import MatterController
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
  /// Whether the route carries less than every link of Matter has to, a packet of 1280 bytes: with that there may be no room for a
  /// handshake or a first report, of which no part may be missing. Matter Core § 4.4.4.
  public var isNarrow = false
  /// Whether device and home both hold one subscription of the home's; looked at where the route is narrow, and false elsewhere.
  public var isSubscribed = false

  /// Whether it keeps the home informed or, if it does not yet, could.
  ///
  /// Where the route carries all that Matter sends, it could. Where that carries less, what stands goes on with the small messages
  /// that it takes; what was lost, or never stood, can't be made: the home is right to say that such a device is away.
  public var isReachable: Bool { isPowered && route != .none && (!isNarrow || isSubscribed) }
}

extension SimulatedHome {
  /// How all devices really are, in the order of the definition; those behind a bridge come behind it.
  public func truth() -> [GroundTruth] { truth(for: opened, on: hub) }

  /// The same as another home would have it.
  /// - Parameters:
  ///   - home: nil while it is not open.
  ///   - hub: the machine that it runs on.
  func truth(for home: Home?, on hub: SimulatedMachine) -> [GroundTruth] {
    parts.flatMap { truth(of: $0.device, on: $0.machine, for: home, on: hub) }
  }

  private func truth(
    of device: VirtualDevice, on machine: SimulatedMachine, for home: Home?, on hub: SimulatedMachine
  ) -> [GroundTruth] {
    let definition = device.definition
    var own = GroundTruth(
      path: definition.path, uniqueID: definition.uniqueID, isPowered: machine.isPowered,
      route: route(to: machine, from: hub))
    own.isNarrow = own.route != .none && !carries(SimulatedNetwork.maximumDatagramSize, hub, machine)
    if own.isNarrow { own.isSubscribed = isSubscribed(home, to: device) }
    return [own]
      + definition.bridged.map { bridged in
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

  /// Whether one subscription stands at both ends: its number is one of 2³², which the device drew.
  private func isSubscribed(_ home: Home?, to device: VirtualDevice) -> Bool {
    guard let controller = try? home?.controller, let host = device.host else { return false }
    let known = Set(controller.standingSubscriptions)
    return host.perform { engine, _ in engine.standingSubscriptions.contains { known.contains($0) } }
  }

  /// Whether datagrams get through, both ways.
  private func carries(_ size: Int?, _ one: SimulatedMachine, _ other: SimulatedMachine) -> Bool {
    let network = simulation.world.value.network
    return network.carries(size, from: one.id, to: other.id) && network.carries(size, from: other.id, to: one.id)
  }

  private func route(to machine: SimulatedMachine, from hub: SimulatedMachine) -> GroundTruth.Route {
    guard hub.isPowered, carries(nil, hub, machine) else { return .none }
    func isShared(_ isIPv6: Bool) -> Bool {
      hub.addresses.contains { $0.isIPv6 == isIPv6 } && machine.addresses.contains { $0.isIPv6 == isIPv6 }
    }
    return isShared(true) ? .ipv6 : isShared(false) ? .ipv4 : .none
  }
}
