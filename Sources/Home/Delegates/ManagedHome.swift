internal import MatterClusters
internal import MatterModel

/// A snapshot of a user's home: one structure, with its rooms and devices. A value, never a live reference.
///
/// It corresponds to a home of HomeKit, which is one building with rooms, and not to the whole database: a user may
/// have several.
public struct ManagedHome: Sendable, Identifiable {
  let structure: Structure
  let snapshot: HomeSnapshot

  /// ``Structure/id``, which does not depend on the name.
  public var id: String { structure.id }
  /// The name, at most 60 Unicode code points.
  public var name: String { structure.name }
  /// The room of the devices without another room; not among the rooms.
  public var roomForEntireHome: Room { structure.roomForEntireHome }
  public var rooms: [Room] { snapshot.rooms.filter { $0.structureID == id } }
  /// The devices, including bridged ones, but not the bridges.
  public var accessories: [HomeDevice] { devices.filter { !$0.isBridge } }
  /// The devices that are only bridges.
  public var bridges: [HomeDevice] { devices.filter(\.isBridge) }
  public var hubState: HubState { snapshot.hubState }

  private var devices: [HomeDevice] { snapshot.devices(in: id) }
}

extension HomeDevice {
  /// Whether the device, or a part of it, is online.
  public var isReachable: Bool { entry.isReachable }

  /// Whether the device is only a bridge: an aggregator without an application of its own. Matter Core § 9.12.
  public var isBridge: Bool { entry.isBridge }

  /// Returns the same value, which sends its requests through another connection.
  func asked(through home: any HomeAccess) -> HomeDevice {
    var copy = self
    copy.home = home
    return copy
  }
}

extension DeviceEntry {
  var isReachable: Bool {
    switch active?.status.connectivity.connectivityState {
    case .online, .partiallyOnline: true
    case .offline, .unknown, nil: false
    }
  }

  var isBridge: Bool {
    let types = active?.endpoints.flatMap(\.applicationTypes) ?? []
    return !types.isEmpty && types.allSatisfy { $0 == DeviceTypes.aggregator.id }
  }
}
