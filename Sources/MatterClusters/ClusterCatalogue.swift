public import MatterModel
internal import Synchronization

/// The clusters that the files of the folder Clusters declare, and manufacturers' clusters, with look-up by id and name.
public enum ClusterCatalogue {
  /// The clusters of the standard, then the manufacturers' clusters that ``add(_:)`` added.
  public static var all: [any Cluster.Type] { standard + added }

  /// The manufacturers' clusters that ``add(_:)`` added, sorted by id.
  package static var added: [any Cluster.Type] {
    makers.withLock { $0.current.sorted { $0.key < $1.key }.map(\.value.type) }
  }

  /// Returns the cluster with this id; nil if it is not declared.
  public static func cluster(_ id: ClusterID) -> (any Cluster.Type)? {
    byID[id] ?? (id.vendor == nil ? nil : makers.withLock { $0.current[id]?.type })
  }

  /// Returns the cluster by its name, in any spelling ("LevelControl", "level control", "levelControl"), or by its
  /// number.
  public static func cluster(named name: String) -> (any Cluster.Type)? {
    let normalized = NormalizedName(name)
    return byName[normalized] ?? UInt32(numeral: name).flatMap { cluster(ClusterID($0)) }
      ?? makers.withLock { $0.current.values.first { NormalizedName($0.cluster.name) == normalized }?.type }
  }

  /// Adds a manufacturer's cluster, in place of one with the same id.
  /// - Returns: the type of the cluster.
  @discardableResult
  package static func add(_ cluster: MakersCluster) -> any Cluster.Type {
    makers.withLock { makers in
      if let known = makers.current[cluster.id], known.cluster == cluster { return known.type }
      let type = Never.number(makers.clusters.count + 1).cluster
      makers.clusters[ObjectIdentifier(type)] = cluster
      makers.current[cluster.id] = (type, cluster)
      return type
    }
  }

  /// Returns the declaration of a type that ``add(_:)`` returned.
  fileprivate static func declaration(of type: any Cluster.Type) -> MakersCluster? {
    makers.withLock { $0.clusters[ObjectIdentifier(type)] }
  }

  private struct Makers: Sendable {
    /// The added clusters by their types.
    var clusters: [ObjectIdentifier: MakersCluster] = [:]
    var current: [ClusterID: (type: any Cluster.Type, cluster: MakersCluster)] = [:]
  }

  private static let makers = Mutex(Makers())

  private static let byID = Dictionary(standard.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
  private static let byName = Dictionary(
    standard.map { (NormalizedName($0.name), $0) }, uniquingKeysWith: { first, _ in first })
}

/// A number as a type: the bits of the number from the highest to the lowest, `One<Zero<One<Never>>>` for 5. The runtime
/// makes these types as needed.
private protocol NumberType: Sendable {
  static var twice: any NumberType.Type { get }
  static var twiceAndOne: any NumberType.Type { get }
  /// The type for the added cluster with this number.
  static var cluster: any Cluster.Type { get }
}

extension NumberType {
  static var twice: any NumberType.Type { Zero<Self>.self }
  static var twiceAndOne: any NumberType.Type { One<Self>.self }
  static var cluster: any Cluster.Type { AddedCluster<Self>.self }

  static func number(_ number: Int) -> any NumberType.Type {
    guard number > 0 else { return self }
    let half = Self.number(number / 2)
    return number.isMultiple(of: 2) ? half.twice : half.twiceAndOne
  }
}

extension Never: NumberType {}
private enum Zero<Half: NumberType>: NumberType {}
private enum One<Half: NumberType>: NumberType {}

/// A type for a cluster that is declared while the program runs.
private enum AddedCluster<Number: NumberType>: Cluster {
  private static var declaration: MakersCluster? { ClusterCatalogue.declaration(of: Self.self) }
  static var id: ClusterID { declaration?.id ?? 0 }
  static var revision: UInt16 { declaration?.revision ?? 0 }
  static var name: String { declaration?.name ?? "" }
  static var quality: Quality { declaration?.quality ?? [] }
  static var features: [Feature] { declaration?.features ?? [] }
  static var elements: [any ClusterElement] { declaration?.elements ?? [] }
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
    let normalized = NormalizedName(name)
    return allAttributes.first { NormalizedName($0.name) == normalized }
      ?? UInt32(numeral: name).flatMap { attribute(AttributeID($0)) }
  }

  /// Returns the declaration of a command; nil if the cluster does not declare it.
  public static func command(_ id: CommandID) -> CommandInfo? { commands.first { $0.id == id } }

  /// Returns the command by its name (`MoveToLevel`, `move-to-level`) or number; nil if there is none.
  public static func command(named name: String) -> CommandInfo? {
    command(spelled: name) ?? UInt32(numeral: name).flatMap { command(CommandID($0)) }
  }

  /// Returns the command by its name (`MoveToLevel`, `move-to-level`); nil if there is none.
  package static func command(spelled name: String) -> CommandInfo? {
    let normalized = NormalizedName(name)
    return commands.first { NormalizedName($0.name) == normalized }
  }

  /// Returns the declaration of an event; nil if the cluster does not declare it.
  public static func event(_ id: EventID) -> EventInfo? {
    if let table { table.events[id] } else { events.first { $0.id == id } }
  }

  /// Returns the event by its name (`SwitchLatched`, `switch-latched`) or number; nil if there is none.
  public static func event(named name: String) -> EventInfo? {
    let normalized = NormalizedName(name)
    return events.first { NormalizedName($0.name) == normalized }
      ?? UInt32(numeral: name).flatMap { event(EventID($0)) }
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
