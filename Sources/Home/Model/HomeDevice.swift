/// A device of a home as it was at one moment: a value, never a live reference. See <doc:TheHomeModel>, “Objects”.
///
/// Two are equal when their metadata are: name, room, connectivity, types and traits. Attributes and the time of the last
/// contact don't count.
public struct HomeDevice: Sendable, Identifiable {
  let entry: DeviceEntry
  /// Of the node of the active source.
  let values: NodeValues
  public let contact: Contact
  /// Connectivity that lasted for the home's grace time at least.
  public let settledConnectivity: SourceConnectivity
  let home: any HomeAccess

  package init(
    _ entry: DeviceEntry, values: NodeValues, contact: Contact, settled: SourceConnectivity, home: any HomeAccess
  ) {
    self.entry = entry
    self.values = values
    self.contact = contact
    settledConnectivity = settled
    self.home = home
  }

  /// Stays the same as long as the device is in the home: `5`, or `7/3` for what is behind a bridge.
  public var id: String { entry.id }
  /// The home's name for it. ``setName(_:)`` gives a new value with another.
  public var name: String { entry.name }
  /// The building that it is in.
  public var structureID: String? { entry.structureID }
  /// Nil: the room for the entire home.
  public var roomID: String? { entry.roomID }
  /// Whether it was commissioned into our fabric, or is behind a bridge that was. Others are told of by a cloud account alone.
  public var isMatterDevice: Bool { entry.sources.contains { !$0.id.isCloud } }
  /// Why it is offline, if it is.
  public var offlineReason: OfflineReason? { source?.status.reason }
  /// Who made it.
  public var identity: DeviceIdentity { source?.identity ?? DeviceIdentity() }
  /// Where it is reached, or would be: the way that counts.
  public var source: DeviceSource? { entry.active }

  /// All ways to it, in the order of their ids.
  public var sources: [DeviceSource] { entry.sources }

  /// Gives the device another name in the home; its NodeLabel is another thing.
  /// - Parameter name: is cut at 60 Unicode code points.
  /// - Returns: a new value, and whether the name was cut.
  /// - Throws: ``HomeError`` `badArguments` for an empty name, or one that another device of the room has.
  public func setName(_ name: String) async throws(HomeError) -> NamedDevice { try await home.setName(name, of: id) }
}
