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
    return byName[normalized] ?? number(name).flatMap { cluster(ClusterID($0)) }
      ?? added.first { NormalizedName($0.name) == normalized }
  }

  /// Adds a manufacturer's cluster, in place of one with the same id.
  package static func add(_ cluster: any Cluster.Type, id: ClusterID) { makers.withLock { $0[id] = cluster } }

  private static let makers = Mutex<[ClusterID: any Cluster.Type]>([:])

  private static let byID = Dictionary(standard.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
  private static let byName = Dictionary(
    standard.map { (NormalizedName($0.name), $0) }, uniquingKeysWith: { first, _ in first })

  static func number(_ text: String) -> UInt32? {
    text.hasPrefix("0x") || text.hasPrefix("0X") ? UInt32(text.dropFirst(2), radix: 16) : UInt32(text)
  }
}

/// Look-up of a cluster's elements by id or name. Names are accepted in any spelling.
extension Cluster {
  /// Returns the declaration of an attribute, including global ones; nil if the cluster does not declare it.
  public static func attribute(_ id: AttributeID) -> AttributeInfo? { allAttributes.first { $0.id == id } }

  /// Returns the attribute by its name (`CurrentLevel`, `current-level`) or number; nil if there is none.
  public static func attribute(named name: String) -> AttributeInfo? {
    find(name, in: allAttributes, \.name) ?? ClusterCatalogue.number(name).flatMap { attribute(AttributeID($0)) }
  }

  /// Returns the declaration of a command; nil if the cluster does not declare it.
  public static func command(_ id: CommandID) -> CommandInfo? { commands.first { $0.id == id } }

  /// Returns the command by its name (`MoveToLevel`, `move-to-level`) or number; nil if there is none.
  public static func command(named name: String) -> CommandInfo? {
    find(name, in: commands, \.name) ?? ClusterCatalogue.number(name).flatMap { command(CommandID($0)) }
  }

  /// Returns the declaration of an event; nil if the cluster does not declare it.
  public static func event(_ id: EventID) -> EventInfo? { events.first { $0.id == id } }

  /// Returns the event by its name (`SwitchLatched`, `switch-latched`) or number; nil if there is none.
  public static func event(named name: String) -> EventInfo? {
    find(name, in: events, \.name) ?? ClusterCatalogue.number(name).flatMap { event(EventID($0)) }
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
