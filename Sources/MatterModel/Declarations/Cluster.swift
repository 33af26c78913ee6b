internal import MatterTLV

/// A cluster of the standard or of a maker, declared once for server, client and observer. Matter Core § 7.10.
///
///     /// On/Off (0x0006). Application Clusters § 1.5.
///     public enum OnOff: Cluster {
///       public static let id: ClusterID = 0x0006, revision: UInt16 = 6, name = "OnOff"
///       public static let onOff = Attribute<Self, Bool>(0x0000, "OnOff", initial: false, quality: [.nonVolatile, .scene])
///       public static let toggle = Command<Self, NoFields, NoFields>(0x02, "Toggle")
///       public static let elements: [any ClusterElement] = [onOff, toggle]
///     }
public protocol Cluster: Sendable {
  static var id: ClusterID { get }
  /// The cluster's ClusterRevision: the version of its text in the standard.
  static var revision: UInt16 { get }
  /// The name as the standard writes it, without blanks: `LevelControl`.
  static var name: String { get }
  /// What holds for the whole cluster: `.diagnostics` lets a wildcard pass over it, `.singleton` is one for the node.
  static var quality: Quality { get }
  static var features: [Feature] { get }
  /// Its attributes, commands and events, those left out that every cluster has.
  static var elements: [any ClusterElement] { get }
}

extension Cluster {
  public static var quality: Quality { [] }
  public static var features: [Feature] { [] }
}

/// A bit of a cluster's FeatureMap.
public struct Feature: Hashable, Sendable {
  /// Its place in the FeatureMap, from 0.
  public var bit: Int
  /// The standard's letters for it, as its conditions use them: `LT`.
  public var code: String
  /// The standard's name for it: `Lighting`.
  public var name: String
  /// Whether it is not settled in this version of the standard. Matter Core § 7.3.2.
  public var isProvisional: Bool
  /// The FeatureMap with this feature alone.
  public var mask: UInt32 { 1 << UInt32(bit) }

  public init(_ bit: Int, _ code: String, _ name: String, provisional: Bool = false) {
    (self.bit, self.code, self.name, isProvisional) = (bit, code, name, provisional)
  }
}

/// An attribute, command or event of a cluster.
public protocol ClusterElement: Sendable {
  var info: ElementInfo { get }
}

/// A declared element without its Swift types.
public enum ElementInfo: Sendable {
  /// With the facts that its kind has.
  case attribute(AttributeInfo), command(CommandInfo), event(EventInfo)
}

// MARK: Attributes

/// An attribute's facts without its Swift type.
public struct AttributeInfo: Sendable {
  public var id: AttributeID
  /// As the standard writes it: `CurrentLevel`.
  public var name: String
  public var schema: Schema
  public var quality: Quality
  /// The privilege that it takes to read it.
  public var read: Privilege
  /// Nil: read only.
  public var write: Privilege?
  public var conformance: Conformance
  public var constraint: Constraint
  /// The initial value, encoded with an anonymous tag.
  public var initial: [UInt8]?
  /// Whether bytes are one value of this attribute's type.
  public var isWellFormed: @Sendable ([UInt8]) -> Bool
}

/// A typed key for an attribute of `C`.
public struct Attribute<C: Cluster, Value: ModelValue>: ClusterElement {
  public let id: AttributeID
  /// As the standard writes it: `CurrentLevel`.
  public let name: String
  /// Its facts without its Swift type.
  public let details: AttributeInfo

  /// - Parameters:
  ///   - initial: what a server starts with; nil where the server must say.
  ///   - write: the privilege to write with, nil for read only.
  public init(
    _ id: AttributeID, _ name: String, initial: Value? = nil, quality: Quality = [], read: Privilege = .view,
    write: Privilege? = nil, conformance: Conformance = .mandatory, constraint: Constraint = .none
  ) {
    self.id = id
    self.name = name
    details = AttributeInfo(
      id: id, name: name, schema: Value.schema, quality: quality, read: read, write: write, conformance: conformance,
      constraint: constraint, initial: initial?.tlv, isWellFormed: { (try? Value(tlv: $0)) != nil })
  }

  public var info: ElementInfo { .attribute(details) }
  /// Where the attribute is on this endpoint.
  public func path(on endpoint: EndpointID) -> ConcreteAttributePath { .init(endpoint, C.id, id) }
}

// MARK: Commands

/// A command's facts without its Swift types.
public struct CommandInfo: Sendable {
  public var id: CommandID
  /// As the standard writes it: `MoveToLevel`.
  public var name: String
  /// The shape of its fields.
  public var request: Schema
  /// The id and shape of the answer; nil: a status alone.
  public var response: (id: CommandID, schema: Schema)?
  public var privilege: Privilege
  public var quality: Quality
  public var conformance: Conformance
}

/// A typed key for a command of `C`. `Response` is `NoFields` where the answer is a status alone.
public struct Command<C: Cluster, Request: ModelStruct, Response: ModelStruct>: ClusterElement {
  public let id: CommandID
  /// As the standard writes it: `MoveToLevel`.
  public let name: String
  /// Its facts without its Swift types.
  public let details: CommandInfo

  /// - Parameter response: the id of the response command, nil where the answer is a status alone.
  public init(
    _ id: CommandID, _ name: String, response: CommandID? = nil, privilege: Privilege = .operate,
    quality: Quality = [], conformance: Conformance = .mandatory
  ) {
    self.id = id
    self.name = name
    details = CommandInfo(
      id: id, name: name, request: Request.schema, response: response.map { ($0, Response.schema) },
      privilege: privilege, quality: quality, conformance: conformance)
  }

  public var info: ElementInfo { .command(details) }
  /// Where the command goes on this endpoint; nil: to a group, which has none.
  public func path(on endpoint: EndpointID?) -> CommandPath {
    .init(endpoint: endpoint, cluster: C.id, command: id)
  }
}

// MARK: Events

/// How long an event is kept. Matter Core § 7.14.1.
public enum EventPriority: UInt8, Hashable, Comparable, Sendable {
  case debug = 0, info = 1, critical = 2
  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// An event's facts without its Swift type.
public struct EventInfo: Sendable {
  public var id: EventID
  /// As the standard writes it: `SwitchLatched`.
  public var name: String
  /// The shape of what it carries.
  public var payload: Schema
  public var priority: EventPriority
  /// The privilege that it takes to read it.
  public var read: Privilege
  /// Whether only the fabric named in its payload (field 254) may see it.
  public var isFabricSensitive: Bool
  public var conformance: Conformance
}

/// A typed key for an event of `C`.
public struct Event<C: Cluster, Payload: ModelStruct>: ClusterElement {
  public let id: EventID
  /// As the standard writes it: `SwitchLatched`.
  public let name: String
  /// Its facts without its Swift type.
  public let details: EventInfo

  /// - Parameter isFabricSensitive: whether only the fabric that its payload names may see it.
  public init(
    _ id: EventID, _ name: String, priority: EventPriority = .info, read: Privilege = .view,
    isFabricSensitive: Bool = false, conformance: Conformance = .mandatory
  ) {
    self.id = id
    self.name = name
    details = EventInfo(
      id: id, name: name, payload: Payload.schema, priority: priority, read: read,
      isFabricSensitive: isFabricSensitive, conformance: conformance)
  }

  public var info: ElementInfo { .event(details) }
}

extension Cluster {
  /// Its own attributes, in the order of the declaration.
  public static var attributes: [AttributeInfo] {
    elements.compactMap { if case .attribute(let info) = $0.info { info } else { nil } }
  }
  /// The commands that it takes, in the order of the declaration.
  public static var commands: [CommandInfo] {
    elements.compactMap { if case .command(let info) = $0.info { info } else { nil } }
  }
  /// Its events, in the order of the declaration.
  public static var events: [EventInfo] {
    elements.compactMap { if case .event(let info) = $0.info { info } else { nil } }
  }
}

/// The attributes that every cluster has, with the same numbers. Matter Core § 7.13.
public enum GlobalAttribute {
  /// The commands that it answers with, and those that it takes.
  public static let generatedCommandList: AttributeID = 0xFFF8, acceptedCommandList: AttributeID = 0xFFF9
  /// The attributes that it has, and its features as bits.
  public static let attributeList: AttributeID = 0xFFFB, featureMap: AttributeID = 0xFFFC
  /// The version of the cluster's text that it follows.
  public static let clusterRevision: AttributeID = 0xFFFD
  /// The number of the field that names the fabric an entry belongs to.
  public static let fabricIndexField: UInt8 = 254
}

/// A device type and what it needs. Matter Device Library.
public struct DeviceType: Hashable, Sendable {
  public var id: DeviceTypeID
  /// The version of its text in the Device Library.
  public var revision: UInt16
  /// The name as the Device Library writes it: "Dimmable Light".
  public var name: String
  /// Server clusters that an endpoint of this type must have, besides Descriptor.
  public var servers: [ClusterID]
  /// Client clusters that it must have.
  public var clients: [ClusterID]

  public init(_ id: DeviceTypeID, revision: UInt16, name: String, servers: [ClusterID], clients: [ClusterID] = []) {
    (self.id, self.revision, self.name, self.servers, self.clients) = (id, revision, name, servers, clients)
  }
}
