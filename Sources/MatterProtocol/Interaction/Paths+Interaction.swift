public import MatterModel
internal import MatterTLV

/// The operation of a write or report on a list attribute, given by the ListIndex of the path. Matter Core § 8.9.2.3,
/// § 10.6.4.3.1.
public enum ListOperation: Hashable, Sendable, Codable {
  /// No ListIndex: the value is the whole attribute.
  case replaceAll
  /// ListIndex null: the value is appended as an entry.
  case append
  /// The value is the entry with this index. The specification defines the encoding, but no use of it.
  case item(UInt16)
}

/// The path of one event of one cluster on one endpoint.
public struct ConcreteEventPath: Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
  public var endpoint: EndpointID
  public var cluster: ClusterID
  public var event: EventID

  public init(_ endpoint: EndpointID, _ cluster: ClusterID, _ event: EventID) {
    (self.endpoint, self.cluster, self.event) = (endpoint, cluster, event)
  }

  public static func < (left: Self, right: Self) -> Bool {
    (left.endpoint, left.cluster, left.event) < (right.endpoint, right.cluster, right.event)
  }
  public var description: String { "\(endpoint)/\(cluster)/\(event)" }
}

extension AttributePath {
  /// Creates a path without wildcards.
  public init(_ path: ConcreteAttributePath) {
    self.init(endpoint: path.endpoint, cluster: path.cluster, attribute: path.attribute)
  }

  /// The concrete path; nil if this path has wildcards.
  public var concrete: ConcreteAttributePath? {
    guard let endpoint, let cluster, let attribute else { return nil }
    return ConcreteAttributePath(endpoint, cluster, attribute)
  }
}

extension EventPath {
  /// Creates a path without wildcards.
  init(_ path: ConcreteEventPath) {
    self.init(endpoint: path.endpoint, cluster: path.cluster, event: path.event)
  }

  /// Whether the path covers the event.
  public func matches(_ path: ConcreteEventPath) -> Bool {
    (endpoint == nil || endpoint == path.endpoint) && (cluster == nil || cluster == path.cluster)
      && (event == nil || event == path.event)
  }
}

// Paths are encoded as TLV lists. Matter Core § 10.6.2, § 10.6.8, § 10.6.11, § 10.6.7.

extension TLVReader {
  mutating func attributePath(_ bytes: RawSpan) throws(TLVError) -> (path: AttributePath, operation: ListOperation) {
    var path = AttributePath()
    var operation = ListOperation.replaceAll
    var members = MemberCursor()
    try open(.list, bytes)
    while let number = try members.next(&self, bytes) {
      switch number {
      // In a compressed path, absent members repeat the previous path. Reading them as wildcards would be dangerous.
      case 0: guard try !boolean() else { throw .outOfRange }
      case 2: path.endpoint = EndpointID(try unsigned(as: UInt16.self))
      case 3: path.cluster = ClusterID(try unsigned(as: UInt32.self))
      case 4: path.attribute = AttributeID(try unsigned(as: UInt32.self))
      case 5: operation = isNull ? .append : .item(try unsigned(as: UInt16.self))
      default: break
      }
    }
    try leave(bytes)
    return (path, operation)
  }

  mutating func eventPath(_ bytes: RawSpan) throws(TLVError) -> EventPath {
    var path = EventPath()
    var members = MemberCursor()
    try open(.list, bytes)
    while let number = try members.next(&self, bytes) {
      switch number {
      case 1: path.endpoint = EndpointID(try unsigned(as: UInt16.self))
      case 2: path.cluster = ClusterID(try unsigned(as: UInt32.self))
      case 3: path.event = EventID(try unsigned(as: UInt32.self))
      case 4: path.isUrgent = try boolean()
      default: break
      }
    }
    try leave(bytes)
    return path
  }

  mutating func commandPath(_ bytes: RawSpan) throws(TLVError) -> CommandPath {
    var path = CommandPath(endpoint: nil, cluster: 0, command: 0)
    var members = MemberCursor()
    try open(.list, bytes)
    while let number = try members.next(&self, bytes) {
      switch number {
      case 0: path.endpoint = EndpointID(try unsigned(as: UInt16.self))
      case 1: path.cluster = ClusterID(try unsigned(as: UInt32.self))
      case 2: path.command = CommandID(try unsigned(as: UInt32.self))
      default: break
      }
    }
    try members.require(1)
    try members.require(2)
    try leave(bytes)
    return path
  }

  mutating func clusterPath(_ bytes: RawSpan) throws(TLVError) -> ClusterPath {
    var path = ClusterPath(0, 0)
    var members = MemberCursor()
    try open(.list, bytes)
    while let number = try members.next(&self, bytes) {
      switch number {
      case 1: path.endpoint = EndpointID(try unsigned(as: UInt16.self))
      case 2: path.cluster = ClusterID(try unsigned(as: UInt32.self))
      default: break
      }
    }
    try members.require(1)
    try members.require(2)
    try leave(bytes)
    return path
  }

  /// Reads a StatusIB. Matter Core § 10.6.17.
  mutating func status(_ bytes: RawSpan) throws(TLVError) -> Status {
    var status = Status(.success)
    var members = MemberCursor()
    try open(.structure, bytes)
    while let number = try members.next(&self, bytes) {
      switch number {
      case 0: status.code = StatusCode(try unsigned(as: UInt8.self))
      case 1: status.clusterCode = try unsigned(as: UInt8.self)
      default: break
      }
    }
    try members.require(0)
    try leave(bytes)
    return status
  }
}

extension TLVWriter {
  mutating func write(_ path: AttributePath, _ operation: ListOperation = .replaceAll, _ tag: TLVTag) {
    startList(tag)
    if let endpoint = path.endpoint { write(UInt64(endpoint.rawValue), .context(2)) }
    if let cluster = path.cluster { write(UInt64(cluster.rawValue), .context(3)) }
    if let attribute = path.attribute { write(UInt64(attribute.rawValue), .context(4)) }
    switch operation {
    case .replaceAll: break
    case .append: writeNull(.context(5))
    case .item(let index): write(UInt64(index), .context(5))
    }
    end()
  }

  mutating func write(_ path: EventPath, _ tag: TLVTag) {
    startList(tag)
    if let endpoint = path.endpoint { write(UInt64(endpoint.rawValue), .context(1)) }
    if let cluster = path.cluster { write(UInt64(cluster.rawValue), .context(2)) }
    if let event = path.event { write(UInt64(event.rawValue), .context(3)) }
    if path.isUrgent { write(true, .context(4)) }
    end()
  }

  mutating func write(_ path: CommandPath, _ tag: TLVTag) {
    startList(tag)
    if let endpoint = path.endpoint { write(UInt64(endpoint.rawValue), .context(0)) }
    write(UInt64(path.cluster.rawValue), .context(1))
    write(UInt64(path.command.rawValue), .context(2))
    end()
  }

  mutating func write(_ path: ClusterPath, _ tag: TLVTag) {
    startList(tag)
    write(UInt64(path.endpoint.rawValue), .context(1))
    write(UInt64(path.cluster.rawValue), .context(2))
    end()
  }

  mutating func write(_ status: Status, _ tag: TLVTag) {
    startStructure(tag)
    write(UInt64(status.code.rawValue), .context(0))
    if let clusterCode = status.clusterCode { write(UInt64(clusterCode), .context(1)) }
    end()
  }
}
