internal import MatterTLV

/// A standard or manufacturer-specific cluster, declared once for server, client and observer. Matter Core § 7.10.
///
/// The clusters of the standard are generated from the catalogue. A manufacturer declares a cluster as follows:
///
///     public enum Spinner: Cluster {
///       public static let id: ClusterID = 0xFFF1_FC00, revision: UInt16 = 1, name = "Spinner"
///       public static let speed = Attribute<Self, UInt16>(0x0000, "Speed", initial: 0, quality: .nonVolatile)
///       public static let spin = Command<Self, NoFields, NoFields>(0x02, "Spin")
///       public static let elements: [any ClusterElement] = [speed, spin]
///     }
public protocol Cluster: Sendable {
  static var id: ClusterID { get }
  /// The ClusterRevision.
  static var revision: UInt16 { get }
  /// The name in the standard, without blanks: `LevelControl`.
  static var name: String { get }
  /// The qualities of the cluster, for example `.diagnostics` (skipped by wildcard reads) or `.singleton` (one per
  /// node).
  static var quality: Quality { get }
  static var features: [Feature] { get }
  /// The attributes, commands and events, without the global ones.
  static var elements: [any ClusterElement] { get }
}

extension Cluster {
  public static var quality: Quality { [] }
  public static var features: [Feature] { [] }
}

/// A bit of a cluster's FeatureMap.
public struct Feature: Hashable, Sendable {
  /// Bit position in the FeatureMap, from 0.
  public var bit: Int
  /// The code in conformance expressions: `LT`.
  public var code: String
  /// The name in the standard: `Lighting`.
  public var name: String
  /// The conformance expression of the feature, which depends on other features: `[!OFFONLY]`.
  public var conformance: String
  /// The FeatureMap with only this feature.
  public var mask: UInt32 { 1 << UInt32(bit) }

  public init(_ bit: Int, _ code: String, _ name: String, conformance: String = "O") {
    (self.bit, self.code, self.name, self.conformance) = (bit, code, name, conformance)
  }
}

/// An attribute, command or event of a cluster.
public protocol ClusterElement: Sendable {
  var info: ElementInfo { get }
}

/// A declared element without its Swift types.
public enum ElementInfo: ClusterElement {
  /// The element's kind with its properties.
  case attribute(AttributeInfo), command(CommandInfo), event(EventInfo)

  public var info: ElementInfo { self }
}

// MARK: Attributes

/// The properties of an attribute, without its Swift type.
public struct AttributeInfo: Sendable {
  public var id: AttributeID
  /// The name in the standard: `CurrentLevel`.
  public var name: String
  public var schema: Schema
  public var quality: Quality
  /// The privilege required to read it.
  public var read: Privilege
  /// The privilege required to write it; nil if read-only.
  public var write: Privilege?
  public var conformance: Conformance
  public var constraint: Constraint
  /// The initial value, encoded with an anonymous tag.
  public var initial: [UInt8]?
  /// Whether the bytes are a value of the attribute's type.
  public var isWellFormed: @Sendable ([UInt8]) -> Bool

  init(
    id: AttributeID, name: String, schema: Schema, quality: Quality, read: Privilege, write: Privilege?,
    conformance: Conformance, constraint: Constraint, initial: [UInt8]?,
    isWellFormed: @escaping @Sendable ([UInt8]) -> Bool
  ) {
    (self.id, self.name, self.schema, self.quality) = (id, name, schema, quality)
    (self.read, self.write, self.conformance, self.constraint) = (read, write, conformance, constraint)
    (self.initial, self.isWellFormed) = (initial, isWellFormed)
  }

  /// Creates an attribute whose type is only known as a schema.
  package init(
    _ id: AttributeID, _ name: String, _ schema: Schema, initial: [UInt8]?, quality: Quality, read: Privilege,
    write: Privilege?, conformance: Conformance, constraint: Constraint
  ) {
    self.init(
      id: id, name: name, schema: schema, quality: quality, read: read, write: write, conformance: conformance,
      constraint: constraint, initial: initial,
      isWellFormed: { bytes in (try? TLVElement(decoding: bytes)).map { schema.problem(of: $0.value) == nil } ?? false }
    )
  }
}

/// The properties of an attribute, which its copies share.
private final class AttributeDeclaration: Sendable {
  let info: AttributeInfo
  init(_ info: AttributeInfo) { self.info = info }
}

/// A typed key for an attribute of `C`.
public struct Attribute<C: Cluster, Value: ModelValue>: ClusterElement {
  public let id: AttributeID
  /// Shared, because servers copy a key each time they use it.
  private let declaration: AttributeDeclaration
  /// The name in the standard: `CurrentLevel`.
  public var name: String { declaration.info.name }
  /// The properties without the Swift type.
  public var details: AttributeInfo { declaration.info }

  /// - Parameters:
  ///   - initial: the initial value; nil if the server must provide it.
  ///   - write: the privilege required to write it; nil if read-only.
  ///   - conformance: an expression of ``Conformance``, such as `[LF & PA_LF]`.
  public init(
    _ id: AttributeID, _ name: String, initial: Value? = nil, quality: Quality = [], read: Privilege = .view,
    write: Privilege? = nil, conformance: String = "M", constraint: Constraint = .none
  ) {
    self.id = id
    declaration = AttributeDeclaration(
      AttributeInfo(
        id: id, name: name, schema: Value.schema, quality: quality, read: read, write: write,
        conformance: Conformance(declared: conformance, features: C.features), constraint: constraint,
        initial: initial?.tlv, isWellFormed: { (try? Value(tlv: $0)) != nil }))
  }

  public var info: ElementInfo { .attribute(details) }
  /// Returns the path of the attribute on an endpoint.
  public func path(on endpoint: EndpointID) -> ConcreteAttributePath { .init(endpoint, C.id, id) }
}

// MARK: Commands

/// The properties of a command, without its Swift types.
public struct CommandInfo: Sendable {
  public var id: CommandID
  /// The name in the standard: `MoveToLevel`.
  public var name: String
  /// The schema of its fields.
  public var request: Schema
  /// The id and schema of the response command; nil if the response is a status.
  public var response: (id: CommandID, schema: Schema)?
  public var privilege: Privilege
  public var quality: Quality
  public var conformance: Conformance

  package init(
    id: CommandID, name: String, request: Schema, response: (id: CommandID, schema: Schema)?, privilege: Privilege,
    quality: Quality, conformance: Conformance
  ) {
    (self.id, self.name, self.request, self.response) = (id, name, request, response)
    (self.privilege, self.quality, self.conformance) = (privilege, quality, conformance)
  }
}

/// A typed key for a command of `C`. `Response` is `NoFields` if the response is a status.
public struct Command<C: Cluster, Request: ModelStruct, Response: ModelStruct>: ClusterElement {
  public let id: CommandID
  /// The name in the standard: `MoveToLevel`.
  public let name: String
  /// The properties without the Swift types.
  public let details: CommandInfo

  /// - Parameters:
  ///   - response: the id of the response command; nil if the response is a status.
  ///   - conformance: an expression of ``Conformance``, such as `!OFFONLY`.
  public init(
    _ id: CommandID, _ name: String, response: CommandID? = nil, privilege: Privilege = .operate,
    quality: Quality = [], conformance: String = "M"
  ) {
    self.id = id
    self.name = name
    details = CommandInfo(
      id: id, name: name, request: Request.schema, response: response.map { ($0, Response.schema) },
      privilege: privilege, quality: quality,
      conformance: Conformance(declared: conformance, features: C.features))
  }

  public var info: ElementInfo { .command(details) }
  /// Returns the path of the command on an endpoint, or for a group if `endpoint` is nil.
  public func path(on endpoint: EndpointID?) -> CommandPath {
    .init(endpoint: endpoint, cluster: C.id, command: id)
  }
}

// MARK: Events

/// The priority of an event, which determines its retention. Matter Core § 7.14.1.
public enum EventPriority: UInt8, Hashable, Comparable, Sendable, Codable {
  case debug = 0, info = 1, critical = 2
  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// The properties of an event, without its Swift type.
public struct EventInfo: Sendable {
  public var id: EventID
  /// The name in the standard: `SwitchLatched`.
  public var name: String
  /// The schema of its payload.
  public var payload: Schema
  public var priority: EventPriority
  /// The privilege required to read it.
  public var read: Privilege
  /// Whether only the fabric in its payload (field 254) may read it.
  public var isFabricSensitive: Bool
  public var conformance: Conformance

  package init(
    id: EventID, name: String, payload: Schema, priority: EventPriority, read: Privilege, isFabricSensitive: Bool,
    conformance: Conformance
  ) {
    (self.id, self.name, self.payload, self.priority) = (id, name, payload, priority)
    (self.read, self.isFabricSensitive, self.conformance) = (read, isFabricSensitive, conformance)
  }
}

/// A typed key for an event of `C`.
public struct Event<C: Cluster, Payload: ModelStruct>: ClusterElement {
  public let id: EventID
  /// The name in the standard: `SwitchLatched`.
  public let name: String
  /// The properties without the Swift type.
  public let details: EventInfo

  /// - Parameters:
  ///   - isFabricSensitive: whether only the fabric in its payload may read it.
  ///   - conformance: an expression of ``Conformance``, such as `MSR`.
  public init(
    _ id: EventID, _ name: String, priority: EventPriority = .info, read: Privilege = .view,
    isFabricSensitive: Bool = false, conformance: String = "M"
  ) {
    self.id = id
    self.name = name
    details = EventInfo(
      id: id, name: name, payload: Payload.schema, priority: priority, read: read,
      isFabricSensitive: isFabricSensitive,
      conformance: Conformance(declared: conformance, features: C.features))
  }

  public var info: ElementInfo { .event(details) }
}

extension Cluster {
  /// The attributes without the global ones, in declaration order.
  public static var attributes: [AttributeInfo] {
    elements.compactMap { if case .attribute(let info) = $0.info { info } else { nil } }
  }
  /// The accepted commands, in declaration order.
  public static var commands: [CommandInfo] {
    elements.compactMap { if case .command(let info) = $0.info { info } else { nil } }
  }
  /// The events, in declaration order.
  public static var events: [EventInfo] {
    elements.compactMap { if case .event(let info) = $0.info { info } else { nil } }
  }
}

/// The ids of the global attributes. Matter Core § 7.13.
public enum GlobalAttribute {
  /// The response commands, and the accepted commands.
  public static let generatedCommandList: AttributeID = 0xFFF8, acceptedCommandList: AttributeID = 0xFFF9
  /// The supported attributes, and the features as bits.
  public static let attributeList: AttributeID = 0xFFFB, featureMap: AttributeID = 0xFFFC
  /// The implemented revision of the cluster.
  public static let clusterRevision: AttributeID = 0xFFFD
  /// The id of the field with the fabric index of a list entry or event.
  public static let fabricIndexField: UInt8 = 254
}

/// The class of a device type. Device Library § 2 and Matter Core § 9.2.
public enum DeviceClass: Hashable, Sendable {
  /// An application of an endpoint, such as a light.
  case simple
  /// An additional aspect of an endpoint, such as its power source.
  case utility
  /// The node itself.
  case node
}

/// A device type and its required clusters. Matter Device Library.
public struct DeviceType: Hashable, Sendable {
  public var id: DeviceTypeID
  /// The revision in the Device Library.
  public var revision: UInt16
  /// The name in the Device Library: "Dimmable Light".
  public var name: String
  public var deviceClass: DeviceClass
  /// Mandatory server clusters, besides Descriptor.
  public var servers: [ClusterID]
  /// Mandatory client clusters.
  public var clients: [ClusterID]
  /// The features, attributes, commands and events of its server clusters that the device type requires, by name.
  public var elements: [ClusterID: [String]]

  public init(
    _ id: DeviceTypeID, revision: UInt16, name: String, deviceClass: DeviceClass = .simple, servers: [ClusterID],
    clients: [ClusterID] = [], elements: [ClusterID: [String]] = [:]
  ) {
    (self.id, self.revision, self.name, self.deviceClass) = (id, revision, name, deviceClass)
    (self.servers, self.clients, self.elements) = (servers, clients, elements)
  }
}
