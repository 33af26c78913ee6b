package import MatterController

/// A snapshot of the names of a home, for resolving texts. Names keep their case and are compared without it.
package struct HomeRegistry: Hashable, Sendable {
  /// The devices, in the order of their nodes; bridged devices follow their bridge.
  package let devices: [DeviceRecord]
  /// The rooms, in the order in which they were added.
  package let rooms: [RoomTarget]
  /// The groups; nil if they could not be read, for example because the hub is unreachable.
  package private(set) var groups: [GroupTarget]?
  /// Whether the home may have further devices, because it is the one that a client has stored; see ``Home/isStored``.
  package var isStored = false

  package init(_ state: HomeState = HomeState()) {
    var records: [DeviceRecord] = state.orderedDevices.compactMap { entry in
      DeviceRecord(entry, room: entry.roomID.flatMap { state.room($0)?.name })?.with(state)
    }
    let counts = Dictionary(records.map { ($0.name.lowercased(), 1) }, uniquingKeysWith: +)
    for index in records.indices where counts[records[index].name.lowercased(), default: 0] > 1 {
      records[index].label = records[index].fullName
    }
    devices = records
    rooms = state.rooms.map { room in
      RoomTarget(
        name: room.name, fullName: state.fullName(of: room), devices: records.filter { $0.entry.roomID == room.id })
    }
  }

  /// Returns the same registry with the groups of the fabric.
  package func with(_ records: [GroupRecord]) -> HomeRegistry {
    var copy = self
    copy.groups = records.map { record in
      let members = record.members.compactMap { member in
        device(member.node).map { Target(part(member.endpoint, of: $0), endpoint: member.endpoint) }
      }
      return GroupTarget(name: record.name, number: record.id.rawValue, members: members)
    }
    return copy
  }

  /// Returns the device of a node; for a bridge, the bridge itself.
  package func device(_ node: NodeID) -> DeviceRecord? { device(SourceID(node)) }

  /// Returns the device that has this source, which is selected.
  package func device(_ source: SourceID) -> DeviceRecord? {
    devices.lazy.compactMap { $0.with { $0.id == source } }.first
  }

  /// Returns the device that an endpoint of a node belongs to: a bridged device, or the device of the node.
  package func part(_ endpoint: EndpointID, of found: DeviceRecord) -> DeviceRecord {
    if found.source.endpoint(endpoint) != nil { return found }
    return devices.lazy.compactMap { $0.with { $0.id.node == found.nodeID && $0.endpoint(endpoint) != nil } }.first
      ?? found
  }
}
