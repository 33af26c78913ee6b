public import MatterModel
internal import Synchronization

/// The clusters that the files of the folder Clusters declare, and manufacturers' clusters, with look-up by id and name.
public enum ClusterCatalogue {
  /// The clusters of the standard, then the added clusters of manufacturers.
  public static var all: [any Cluster.Type] { standard + added }

  /// The added clusters of manufacturers, sorted by id.
  package static var added: [any Cluster.Type] {
    makers.withLock { $0.sorted { $0.key < $1.key }.map(\.value) }
  }

  /// Returns the cluster with this id; nil if it is not declared.
  public static func cluster(_ id: ClusterID) -> (any Cluster.Type)? {
    byID[id] ?? (id.vendor == nil ? nil : makers.withLock { $0[id] })
  }

  /// Returns the cluster by its name, in any spelling ("LevelControl", "level control", "levelControl"), or by its
  /// number.
  public static func cluster(named name: String) -> (any Cluster.Type)? {
    let normalized = NormalizedName(name)
    return byName[normalized] ?? UInt32(numeral: name).flatMap { cluster(ClusterID($0)) }
      ?? added.first { NormalizedName($0.name) == normalized }
  }

  /// Adds a manufacturer's cluster, in place of one with the same id.
  package static func add(_ cluster: any Cluster.Type, id: ClusterID) { makers.withLock { $0[id] = cluster } }

  private static let makers = Mutex<[ClusterID: any Cluster.Type]>([:])

  private static let byID = Dictionary(standard.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
  private static let byName = Dictionary(
    standard.map { (NormalizedName($0.name), $0) }, uniquingKeysWith: { first, _ in first })
}

/// The attributes and events of a cluster of the standard by id, created once: each access to a list of a cluster
/// creates it.
private struct ElementTable: Sendable {
  let attributes: [AttributeID: AttributeInfo]
  let events: [EventID: EventInfo]

  init(_ cluster: any Cluster.Type) {
    attributes = Dictionary(cluster.allAttributes.map { ($0.id, $0) }) { first, _ in first }
    events = Dictionary(cluster.events.map { ($0.id, $0) }) { first, _ in first }
  }

  static let standard = Dictionary(
    ClusterCatalogue.standard.map { (ObjectIdentifier($0), ElementTable($0)) }, uniquingKeysWith: { first, _ in first })
}

/// Look-up of a cluster's elements by id or name. Names are accepted in any spelling.
extension Cluster {
  /// Nil for a cluster that is not of the standard.
  private static var table: ElementTable? { ElementTable.standard[ObjectIdentifier(Self.self)] }

  /// Returns the declaration of an attribute, including global ones; nil if the cluster does not declare it.
  public static func attribute(_ id: AttributeID) -> AttributeInfo? {
    if let table { table.attributes[id] } else { allAttributes.first { $0.id == id } }
  }

  /// Returns the attribute by its name (`CurrentLevel`, `current-level`) or number; nil if there is none.
  public static func attribute(named name: String) -> AttributeInfo? {
    find(name, in: allAttributes, \.name) ?? UInt32(numeral: name).flatMap { attribute(AttributeID($0)) }
  }

  /// Returns the declaration of a command; nil if the cluster does not declare it.
  public static func command(_ id: CommandID) -> CommandInfo? { commands.first { $0.id == id } }

  /// Returns the command by its name (`MoveToLevel`, `move-to-level`) or number; nil if there is none.
  public static func command(named name: String) -> CommandInfo? {
    command(spelled: name) ?? UInt32(numeral: name).flatMap { command(CommandID($0)) }
  }

  /// Returns the command by its name (`MoveToLevel`, `move-to-level`); nil if there is none.
  package static func command(spelled name: String) -> CommandInfo? {
    find(name, in: commands, \.name)
  }

  /// Returns the declaration of an event; nil if the cluster does not declare it.
  public static func event(_ id: EventID) -> EventInfo? {
    if let table { table.events[id] } else { events.first { $0.id == id } }
  }

  /// Returns the event by its name (`SwitchLatched`, `switch-latched`) or number; nil if there is none.
  public static func event(named name: String) -> EventInfo? {
    find(name, in: events, \.name) ?? UInt32(numeral: name).flatMap { event(EventID($0)) }
  }

  private static func find<Info>(_ name: String, in infos: [Info], _ path: KeyPath<Info, String>) -> Info? {
    let normalized = NormalizedName(name)
    return infos.first { NormalizedName($0[keyPath: path]) == normalized }
  }

  /// The cluster's own attributes and the global ones.
  public static var allAttributes: [AttributeInfo] { attributes + globalAttributes }

  /// The global attributes with their types. Matter Core § 7.13.
  public static var globalAttributes: [AttributeInfo] {
    let declared: [any ClusterElement] = [
      Attribute<Self, [CommandID]>(GlobalAttribute.generatedCommandList, "GeneratedCommandList", quality: .fixed),
      Attribute<Self, [CommandID]>(GlobalAttribute.acceptedCommandList, "AcceptedCommandList", quality: .fixed),
      Attribute<Self, [AttributeID]>(GlobalAttribute.attributeList, "AttributeList", quality: .fixed),
      Attribute<Self, UInt32>(GlobalAttribute.featureMap, "FeatureMap", quality: .fixed),
      Attribute<Self, UInt16>(
        GlobalAttribute.clusterRevision, "ClusterRevision", initial: revision, quality: .fixed),
    ]
    return declared.compactMap { if case .attribute(let info) = $0.info { info } else { nil } }
  }
}

extension ClusterID {
  /// The vendor of a manufacturer's cluster; nil for other numbers. Matter Core § 7.19.2.
  package var vendor: UInt16? {
    (0xFC00...0xFFFE).contains(rawValue & 0xFFFF) ? UInt16(truncatingIfNeeded: rawValue >> 16) : nil
  }
}
