/// A snapshot of a device: a value, never a live reference. See the article “The home model”, “Objects”.
///
/// Values are equal if their metadata is equal: name, room, connectivity, types and traits. Attributes, the
/// settled connectivity and the time of the last contact are not compared.
public struct HomeDevice: Sendable, Identifiable, CustomStringConvertible {
  package let entry: DeviceEntry
  /// The endpoints, with the traits of all sources.
  package let parts: DeviceParts
  /// The attributes of the node of the active source, and of the traits of other sources at their endpoints on the
  /// device.
  package let values: NodeValues
  /// The attributes of the nodes of the other sources.
  package let others: [NodeID: NodeValues]
  public package(set) var contact: Contact
  /// The connectivity that lasted at least for the home's grace time. Its changes are no reason for an
  /// update of the device.
  public let settledConnectivity: SourceConnectivity
  /// Whether the name that ``setName(_:)`` was called with was too long; false for devices from other calls.
  public package(set) var isNameTruncated = false
  package var home: any HomeAccess
  package var structures: [Structure]
  package var rooms: [Room]

  /// - Parameters:
  ///   - values: the attributes of the node of the active source.
  ///   - others: those of the nodes of the other sources.
  ///   - structures: the structures of the home, for ``room``.
  ///   - rooms: the rooms of the home.
  package init(
    _ entry: DeviceEntry, values: NodeValues, others: [NodeID: NodeValues] = [:], contact: Contact,
    settled: SourceConnectivity, structures: [Structure] = [], rooms: [Room] = [], home: any HomeAccess
  ) {
    self.entry = entry
    parts = entry.parts
    var values = values
    for (path, place) in parts.additions {
      values[path.endpoint, path.cluster] = others[place.source.node]?[place.endpoint, path.cluster]
    }
    self.values = values
    self.others = others
    self.contact = contact
    settledConnectivity = settled
    self.home = home
    (self.structures, self.rooms) = (structures, rooms)
  }

  /// The id, constant while the device is in the home: `5`, or `7/3` for a bridged device.
  public var id: String { entry.id }
  /// The name in the home. ``setName(_:)`` returns a renamed value.
  public var name: String { entry.name }
  /// `Ceiling (5)`: the name and the id.
  public var description: String { "\(name) (\(id))" }
  /// The id of its structure.
  public var structureID: String? { entry.structureID }
  /// The id of its room; nil: the room for the entire home.
  public var roomID: String? { entry.roomID }
  /// Its room, which may be the room for the entire home. Nil if the home lacks its structure.
  public var room: Room? {
    var room = roomID.flatMap { id in rooms.first { $0.id == id } }
    room = room ?? structures.first { $0.id == structureID }?.roomForEntireHome()
    room?.home = home
    return room
  }
  /// Whether the device was commissioned into this home's fabric, or is behind a bridge that was. Other devices are
  /// known only from a cloud account.
  public var isMatterDevice: Bool { entry.sources.contains { !$0.id.isCloud } }
  /// The reason why the device is offline, or unknown without a hub; otherwise nil.
  public var offlineReason: OfflineReason? { source?.status.reason }
  /// The manufacturer, product and unique id.
  public var identity: DeviceIdentity { source?.identity ?? DeviceIdentity() }
  /// The active source.
  public var source: DeviceSource? { entry.active }

  /// All sources, in the order of their ids.
  public var sources: [DeviceSource] { entry.sources }

  /// Renames the device in the home; its NodeLabel is not changed.
  /// - Parameter name: is truncated to 60 Unicode code points.
  /// - Returns: a new value; its ``isNameTruncated`` is true if the name was truncated.
  /// - Throws: ``HomeError`` `badArguments` for an empty name, or one that another device of the room has.
  public func setName(_ name: String) async throws(HomeError) -> HomeDevice { try await home.setName(name, of: id) }
}
