public import MatterModel

/// The clusters that the files of the folder Clusters declare, with look-up by id and name.
public enum ClusterCatalogue {
  /// Returns the cluster with this id; nil if it is not declared.
  public static func cluster(_ id: ClusterID) -> (any Cluster.Type)? { byID[id] }

  /// Returns the cluster by its name, in any spelling ("LevelControl", "level control", "levelControl"), or by its
  /// number.
  public static func cluster(named name: String) -> (any Cluster.Type)? {
    byName[NormalizedName(name)] ?? number(name).flatMap { byID[ClusterID($0)] }
  }

  private static let byID = Dictionary(all.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
  private static let byName = Dictionary(
    all.map { (NormalizedName($0.name), $0) }, uniquingKeysWith: { first, _ in first })

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
    let normalized = NormalizedName(name)
    return allAttributes.first { NormalizedName($0.name) == normalized }
      ?? ClusterCatalogue.number(name).flatMap { attribute(AttributeID($0)) }
  }

  /// Returns the declaration of a command; nil if the cluster does not declare it.
  public static func command(_ id: CommandID) -> CommandInfo? { commands.first { $0.id == id } }

  /// Returns the command by its name (`MoveToLevel`, `move-to-level`) or number; nil if there is none.
  public static func command(named name: String) -> CommandInfo? {
    let normalized = NormalizedName(name)
    return commands.first { NormalizedName($0.name) == normalized }
      ?? ClusterCatalogue.number(name).flatMap { command(CommandID($0)) }
  }

  /// Returns the declaration of an event; nil if the cluster does not declare it.
  public static func event(_ id: EventID) -> EventInfo? { events.first { $0.id == id } }

  /// Returns the event by its name (`SwitchLatched`, `switch-latched`) or number; nil if there is none.
  public static func event(named name: String) -> EventInfo? {
    let normalized = NormalizedName(name)
    return events.first { NormalizedName($0.name) == normalized }
      ?? ClusterCatalogue.number(name).flatMap { event(EventID($0)) }
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
