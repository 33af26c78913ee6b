public import MatterModel
public import MatterProtocol

/// Something that happened in a home: what the reducer says, what the log keeps, what observers get.
///
/// A home is what its changes made of it: nothing else alters a ``HomeState``.
public enum HomeChange: Hashable, Sendable {
  /// A building, which becomes the primary one where there was none.
  case structureAdded(Structure)
  /// A building's new name.
  case structureRenamed(id: String, name: String)
  /// Another becomes the primary one, if it was.
  case structureRemoved(id: String)
  /// The structure that is meant where none is named.
  case primaryStructureChosen(id: String)

  /// An empty room.
  case roomAdded(Room)
  /// A room's new name.
  case roomRenamed(id: String, name: String)
  /// A room without devices: they are moved before.
  case roomRemoved(id: String)

  /// A device without sources yet; they follow.
  case deviceAdded(id: String, name: String, roomID: String?, structureID: String)
  /// The device, its sources and what was known of it.
  case deviceRemoved(id: String)
  /// The home's new name for a device.
  case deviceRenamed(id: String, name: String)
  /// Nil: into the room for the entire home.
  case deviceMoved(id: String, roomID: String?)

  /// Another way to a device, or the first one. It may have been another device's: all that is known by it is kept.
  case sourceAdded(SourceID, device: String)
  /// A way to a device is there no more, and what was known only by it goes, too.
  case sourceRemoved(SourceID)
  /// What the device is there: its types, traits and maker.
  case topology(SourceID, [DeviceEndpoint], DeviceIdentity)
  /// Whether a device can be reached by this way, by which kind of route, and if not, why.
  case connectivity(SourceID, SourceStatus)

  /// An attribute's new value, one element with an anonymous tag; nil: the node has it no more.
  case attribute(NodeID, ConcreteAttributePath, value: [UInt8]?)
  /// An event that a node reported.
  case event(NodeID, EventData)
}

extension HomeChange {
  /// The node that was heard when it happened; nil: it need not have been one. What a cloud says of a device need not come of it.
  var speaker: NodeID? {
    let node: NodeID
    switch self {
    case .attribute(let speaker, _, value: _), .event(let speaker, _): node = speaker
    case .connectivity(let source, let status) where status.connectivity.connectivityState == .online:
      node = source.node
    default: return nil
    }
    return node.isTemporaryLocal ? nil : node
  }
}

/// Changes that belong together: one report, one command, one loss. They are stored together, and observers get them
/// together.
public struct HomeUpdate: Hashable, Sendable {
  public var changes: [HomeChange]
  /// In microseconds since 1970.
  public var time: Int64
  /// The client whose call it was, so that it is not told what it knows; nil: nobody's, a device did it.
  public var origin: String?
  /// The versions of clusters of which every attribute is known now, by node, so that the next start need not ask again.
  public var versions: [NodeID: [ClusterPath: UInt32]]
  /// The devices whose settled connectivity is another now, or of which nobody knew how they are; not kept in the log, since
  /// it follows from the rest.
  public var settled: Set<String> = []
  /// The trials of connectivity that began with it, and, nil, those that ended, by device: stored, not logged.
  var trials: [String: DebounceTrial?] = [:]
  /// Whether the log has it already.
  var isLogged = false

  public init(
    _ changes: [HomeChange], at time: Int64, origin: String? = nil, versions: [NodeID: [ClusterPath: UInt32]] = [:]
  ) {
    self.changes = changes
    self.time = time
    self.origin = origin
    self.versions = versions
  }

  /// The same happened: what follows from it, and whether somebody has written it down, don't count.
  public static func == (left: Self, right: Self) -> Bool {
    left.changes == right.changes && left.time == right.time && left.origin == right.origin
      && left.versions == right.versions
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(changes)
    hasher.combine(time)
    hasher.combine(origin)
    hasher.combine(versions)
  }
}
