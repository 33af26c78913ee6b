internal import MatterClusters
internal import MatterModel

/// A home of a user as it was at one moment: one structure, with its rooms and devices. A value, never a live reference.
///
/// A structure and not the whole database: it is what HomeKit calls a home, a building with rooms, of which a user may have
/// several.
public struct ManagedHome: Sendable, Identifiable {
  let structure: Structure
  let mirror: HomeMirror

  /// Stays the same whatever the home is called: ``Structure/id``.
  public var id: String { structure.id }
  /// 60 Unicode code points at most.
  public var name: String { structure.name }
  /// The room of the devices that nobody put into another; not among the rooms.
  public var roomForEntireHome: Room { structure.roomForEntireHome }
  public var rooms: [Room] { mirror.state.rooms.filter { $0.structureID == id } }
  /// The devices, those behind bridges among them, but not the bridges.
  public var accessories: [HomeDevice] { devices.filter { !$0.isBridge } }
  /// What other devices are behind, and nothing else.
  public var bridges: [HomeDevice] { devices.filter(\.isBridge) }
  public var hubState: HubState { mirror.hubState }

  private var devices: [HomeDevice] {
    mirror.state.orderedDevices.filter { $0.structureID == id }.map { mirror.value(of: $0) }
  }
}

extension HomeDevice {
  /// Whether the device, or a part of it, is online.
  public var isReachable: Bool { entry.isReachable }

  /// Whether it is there for the devices behind it alone: an aggregator without an application of its own. Matter Core § 9.12.
  public var isBridge: Bool { entry.isBridge }

  /// The same, asking another for what is to be done.
  func asked(through home: any HomeAccess) -> HomeDevice {
    HomeDevice(entry, values: values, contact: contact, settled: settledConnectivity, home: home)
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
