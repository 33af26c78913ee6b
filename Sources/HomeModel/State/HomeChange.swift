public import Foundation
public import MatterProtocol

/// A change of a home: produced by the reducer, stored in the log, and delivered to observers.
///
/// The state is the result of its changes: a ``HomeState`` is modified in no other way.
public enum HomeChange: Hashable, Sendable, Codable {
  /// A new structure, which becomes the primary one if there was none.
  case structureAdded(Structure)
  /// The new name of a structure.
  case structureRenamed(id: String, name: String)
  /// A removed structure. If it was the primary one, another becomes primary.
  case structureRemoved(id: String)
  /// The structure that is used where none is named.
  case primaryStructureChosen(id: String)

  /// An empty room.
  case roomAdded(Room)
  /// A room's new name.
  case roomRenamed(id: String, name: String)
  /// A removed room. Its devices are moved before.
  case roomRemoved(id: String)

  /// A new device; its sources follow.
  case deviceAdded(id: String, name: String, roomID: String?, structureID: String)
  /// A removed device, with its sources and values.
  case deviceRemoved(id: String)
  /// The home's new name for a device.
  case deviceRenamed(id: String, name: String)
  /// The new room of a device; nil: the room for the entire home.
  case deviceMoved(id: String, roomID: String?)

  /// A source of a device. If it was a source of another device, its values are kept.
  case sourceAdded(SourceID, device: String)
  /// A removed source, with the values that were known only from it.
  case sourceRemoved(SourceID)
  /// The description by a source: endpoints with types and clusters, and identity.
  case topology(SourceID, [DeviceEndpoint], DeviceIdentity)
  /// The status of a source: reachability, locality, and offline reason.
  case connectivity(SourceID, SourceStatus)

  /// The new value of an attribute, as one TLV element with an anonymous tag; nil: the attribute was removed.
  case attribute(NodeID, ConcreteAttributePath, value: [UInt8]?)
  /// An event that a node reported.
  case event(NodeID, EventData)
}

/// Changes of one report, command or loss, which are stored and delivered together.
public struct HomeUpdate: Equatable, Sendable, Codable {
  public var changes: [HomeChange]
  /// The ``date`` in microseconds since 1970.
  package var time: Int64
  /// The client that made the change, which is not notified of it; nil: a device.
  public var origin: String?
  /// The data versions of completely known clusters, by node, which the next start uses for its subscriptions.
  public var versions: [NodeID: [ClusterPath: UInt32]] = [:]
  /// The devices whose settled connectivity changed, or was unknown before; not logged, because it follows from the
  /// other changes.
  public var settled: Set<String> = []
  /// The debounce trials that began with it, and nil for ended ones, by device: stored, but not logged.
  package var trials: [String: DebounceTrial?] = [:]
  /// Whether the log already contains it.
  package var isLogged = false
  /// The number in the stream of this process; 0 before it is published.
  package var sequence: UInt64 = 0
  /// The endpoints of nodes some of whose values are not known, so that they must be read; neither logged nor sent.
  package var unread: [NodeID: Set<EndpointID>] = [:]
  /// The devices that added and removed sources belonged to before, which the state no longer knows.
  package var previousDevices: [SourceID: String] = [:]

  package init(
    _ changes: [HomeChange], at time: Int64, origin: String? = nil, versions: [NodeID: [ClusterPath: UInt32]] = [:]
  ) {
    self.changes = changes
    self.time = time
    self.origin = origin
    self.versions = versions
  }

  /// The members that a hub sends to its clients.
  private enum CodingKeys: String, CodingKey { case changes, time, origin }

  /// The time of the update.
  public var date: Date { Date(microseconds: time) }

  /// Compares the changes without derived data, and regardless of whether they are logged.
  public static func == (left: Self, right: Self) -> Bool {
    left.changes == right.changes && left.time == right.time && left.origin == right.origin
      && left.versions == right.versions
  }

  /// Whether a filter matches one of the changes.
  /// - Parameter state: the state that includes the update.
  package func matches(_ filter: SampleFilter, _ state: HomeState) -> Bool {
    changes.contains { change in
      guard filter.devices != nil else { return filter.contains(change, device: nil) }
      if filter.contains(change, device: state.deviceID(about: change)) { return true }
      // The log has the device that the source belonged to when it changed.
      guard let previous = change.source.flatMap({ previousDevices[$0] }) else { return false }
      return filter.contains(change, device: previous)
    }
  }
}

extension HomeChange {
  /// The approximate size of its encoding, in bytes.
  package var byteCount: Int {
    switch self {
    case .attribute(_, _, let value): 128 + (value?.count ?? 0)
    case .event(_, let data): 128 + (data.payload?.count ?? 0)
    case .topology(_, let endpoints, _): 256 + endpoints.reduce(0) { $0 + 64 + 4 * $1.servers.count }
    default: 128
    }
  }
}
