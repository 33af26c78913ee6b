package import HomeModel
package import MatterController
package import MatterModel

/// A snapshot of the names in a home, of its rooms and devices, for resolving texts.
///
/// Names keep their case and are compared without it.
package struct HomeRegistry: Hashable, Sendable {
  /// The names of the rooms, in the order in which they were added.
  package private(set) var rooms: [String] = []
  /// The devices, in the order of their nodes; bridged devices follow their bridge.
  package private(set) var devices: [DeviceRecord] = []
  package private(set) var roomTargets: [RoomTarget] = []
  /// Nil: not known, as through a hub.
  package private(set) var groups: [GroupTarget]?

  package init() {}

  /// Creates a registry of a home, with the devices in the order of their nodes.
  package init(_ state: HomeState) {
    rooms = state.rooms.map(\.name)
    var records: [(record: DeviceRecord, room: String?)] = state.orderedDevices.compactMap { entry in
      DeviceRecord(entry, room: entry.roomID.flatMap { state.room($0)?.name }).map { ($0, entry.roomID) }
    }
    let counts = Dictionary(records.map { ($0.record.name.lowercased(), 1) }, uniquingKeysWith: +)
    for index in records.indices where counts[records[index].record.name.lowercased(), default: 0] > 1 {
      records[index].record.label = records[index].record.fullName
    }
    devices = records.map(\.record)
    roomTargets = state.rooms.map { room in
      RoomTarget(
        name: room.name, fullName: "\(state.structure(room.structureID)?.name ?? room.structureID)/\(room.name)",
        devices: records.filter { $0.room == room.id }.map(\.record))
    }
  }

  /// The same with the groups of the fabric.
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

  /// Returns the device of a node, with this source; for a bridge, the bridge itself.
  package func device(_ node: NodeID) -> DeviceRecord? { device(SourceID(node)) }

  /// The device that is found there, by this way.
  package func device(_ source: SourceID) -> DeviceRecord? {
    for device in devices { if let found = device.by(where: { $0.id == source }) { return found } }
    return nil
  }

  /// The device of an endpoint of a node; the endpoints of bridged devices belong to these.
  package func part(_ endpoint: EndpointID, of found: DeviceRecord) -> DeviceRecord {
    if found.endpoints.contains(where: { $0.id == endpoint }) { return found }
    for device in devices {
      let part = device.by { way in way.id.node == found.nodeID && way.endpoints.contains { $0.id == endpoint } }
      if let part { return part }
    }
    return found
  }

  package static func same(_ left: String, _ right: String) -> Bool { HomeNames.same(left, right) }
}
