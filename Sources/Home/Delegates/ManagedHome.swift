public import HomeModel
internal import MatterClusters
internal import MatterModel

/// A snapshot of a user's home: one structure, with its rooms and devices. A value, never a live reference.
///
/// It corresponds to a home of HomeKit, which is one building with rooms, and not to the whole database: a user may
/// have several.
public struct ManagedHome: Sendable, Identifiable {
  package let structure: Structure
  let mirror: HomeMirror

  /// ``Structure/id``, which does not depend on the name.
  public var id: String { structure.id }
  /// The name, at most 60 Unicode code points.
  public var name: String { structure.name }
  /// The room of the devices without another room; not among the rooms.
  public var roomForEntireHome: Room { structure.roomForEntireHome }
  public var rooms: [Room] { mirror.state.rooms.filter { $0.structureID == id } }
  /// The devices, including bridged ones, but not the bridges.
  public var accessories: [HomeDevice] { devices.filter { !$0.isBridge } }
  /// The devices that are only bridges.
  public var bridges: [HomeDevice] { devices.filter(\.isBridge) }
  public var hubState: HubState { mirror.hubState }

  private var devices: [HomeDevice] {
    mirror.state.orderedDevices.filter { $0.structureID == id }.map { mirror.value(of: $0) }
  }
}
