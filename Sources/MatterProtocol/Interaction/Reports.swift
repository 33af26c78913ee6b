public import MatterModel
internal import MatterTLV

/// A reported attribute, or a part of a reported list. Matter Core § 10.6.4.
public struct AttributeData: Hashable, Sendable, Codable {
  public var path: ConcreteAttributePath
  public var operation: ListOperation
  /// The data version of the cluster, which changes with every change of the cluster.
  public var dataVersion: UInt32
  /// The encoded value, one element with an anonymous tag.
  public var value: [UInt8]

  public init(
    _ path: ConcreteAttributePath, _ operation: ListOperation = .replaceAll, dataVersion: UInt32, value: [UInt8]
  ) {
    (self.path, self.operation, self.dataVersion, self.value) = (path, operation, dataVersion, value)
  }
}

/// The status of a path in a request. Matter Core § 10.6.16.
public struct AttributeStatus: Hashable, Sendable, Codable {
  public var path: AttributePath
  public var operation: ListOperation
  public var status: Status

  public init(_ path: AttributePath, _ operation: ListOperation = .replaceAll, status: Status) {
    (self.path, self.operation, self.status) = (path, operation, status)
  }
}

/// A report for an attribute path. Matter Core § 10.6.5.
public enum AttributeReport: Hashable, Sendable {
  /// The value of the attribute.
  case data(AttributeData)
  /// The reason why the attribute is not reported.
  case status(AttributeStatus)
}

/// The timestamp of an event, in milliseconds. Matter Core § 10.6.9.
package enum EventTimestamp: Hashable, Sendable, Codable {
  /// The time since 1970-01-01 UTC.
  case epoch(UInt64)
  /// The time since the node started.
  case system(UInt64)
  /// The time since the previous event of the report, whose timestamp is `epoch`.
  case deltaEpoch(UInt64)
  /// The time since the previous event of the report, whose timestamp is `system`.
  case deltaSystem(UInt64)

  /// Returns the absolute timestamp, given the resolved timestamp of the previous event.
  package func resolved(after previous: EventTimestamp?) -> EventTimestamp {
    switch (self, previous) {
    case (.deltaEpoch(let delta), .epoch(let base)): .epoch(base &+ delta)
    case (.deltaSystem(let delta), .system(let base)): .system(base &+ delta)
    default: self
    }
  }
}

/// A reported event. Matter Core § 10.6.9.
public struct EventData: Hashable, Sendable, Codable {
  public var path: ConcreteEventPath
  /// The event number, which increases monotonically on a node.
  public var number: UInt64
  public var priority: EventPriority
  package var timestamp: EventTimestamp
  /// The encoded fields, a structure with an anonymous tag; nil if omitted.
  public var payload: [UInt8]?

  package init(
    _ path: ConcreteEventPath, number: UInt64, priority: EventPriority, timestamp: EventTimestamp, payload: [UInt8]?
  ) {
    self.path = path
    self.number = number
    self.priority = priority
    self.timestamp = timestamp
    self.payload = payload
  }
}

/// A report for an event path. Matter Core § 10.6.10.
public enum EventReport: Hashable, Sendable {
  /// The event.
  case data(EventData)
  /// The reason why events of the path are not reported.
  case status(EventPath, Status)
}

extension TLVReader {
  /// Reads an AttributeDataIB.
  mutating func attributeData(
    _ bytes: RawSpan
  ) throws(TLVError) -> (path: AttributePath, operation: ListOperation, dataVersion: UInt32?, value: [UInt8]) {
    var path = AttributePath()
    var operation = ListOperation.replaceAll
    var dataVersion: UInt32?
    var value: [UInt8] = []
    var members = MemberCursor()
    try open(.structure, bytes)
    while let number = try members.next(&self, bytes) {
      switch number {
      case 0: dataVersion = try unsigned(as: UInt32.self)
      case 1: (path, operation) = try attributePath(bytes)
      case 2: value = try anonymousElement(bytes)
      default: break
      }
    }
    try members.require(1)
    try members.require(2)
    try leave(bytes)
    return (path, operation, dataVersion, value)
  }

  mutating func attributeStatus(_ bytes: RawSpan) throws(TLVError) -> AttributeStatus {
    var result = AttributeStatus(AttributePath(), status: .success)
    var members = MemberCursor()
    try open(.structure, bytes)
    while let number = try members.next(&self, bytes) {
      switch number {
      case 0: (result.path, result.operation) = try attributePath(bytes)
      case 1: result.status = try status(bytes)
      default: break
      }
    }
    try members.require(0)
    try members.require(1)
    try leave(bytes)
    return result
  }

  mutating func attributeReport(_ bytes: RawSpan) throws(TLVError) -> AttributeReport {
    var report: AttributeReport?
    var members = MemberCursor()
    try open(.structure, bytes)
    while let number = try members.next(&self, bytes) {
      switch number {
      case 0: report = .status(try attributeStatus(bytes))
      case 1:
        let (path, operation, dataVersion, value) = try attributeData(bytes)
        guard let concrete = path.concrete else {
          throw .missingMember(path.endpoint == nil ? 2 : path.cluster == nil ? 3 : 4)
        }
        guard let dataVersion else { throw .missingMember(0) }
        report = .data(AttributeData(concrete, operation, dataVersion: dataVersion, value: value))
      default: break
      }
    }
    try leave(bytes)
    guard let report else { throw .missingMember(1) }
    return report
  }

  mutating func eventReport(_ bytes: RawSpan) throws(TLVError) -> EventReport {
    var report: EventReport?
    var members = MemberCursor()
    try open(.structure, bytes)
    while let number = try members.next(&self, bytes) {
      switch number {
      case 0: report = try eventStatus(bytes)
      case 1: report = .data(try eventData(bytes))
      default: break
      }
    }
    try leave(bytes)
    guard let report else { throw .missingMember(1) }
    return report
  }

  private mutating func eventStatus(_ bytes: RawSpan) throws(TLVError) -> EventReport {
    var path = EventPath()
    var result = Status.success
    var members = MemberCursor()
    try open(.structure, bytes)
    while let number = try members.next(&self, bytes) {
      switch number {
      case 0: path = try eventPath(bytes)
      case 1: result = try status(bytes)
      default: break
      }
    }
    try members.require(0)
    try members.require(1)
    try leave(bytes)
    return .status(path, result)
  }

  private mutating func eventData(_ bytes: RawSpan) throws(TLVError) -> EventData {
    var data = EventData(
      ConcreteEventPath(0, 0, 0), number: 0, priority: .debug, timestamp: .system(0), payload: nil)
    var hasTimestamp = false
    var members = MemberCursor()
    try open(.structure, bytes)
    while let number = try members.next(&self, bytes) {
      switch number {
      case 0:
        let path = try eventPath(bytes)
        guard let endpoint = path.endpoint else { throw .missingMember(1) }
        guard let cluster = path.cluster else { throw .missingMember(2) }
        guard let event = path.event else { throw .missingMember(3) }
        data.path = ConcreteEventPath(endpoint, cluster, event)
      case 1: data.number = try unsigned()
      case 2:
        guard let priority = EventPriority(rawValue: try unsigned(as: UInt8.self)) else { throw .outOfRange }
        data.priority = priority
      case 3: (data.timestamp, hasTimestamp) = (.epoch(try unsigned()), true)
      case 4: (data.timestamp, hasTimestamp) = (.system(try unsigned()), true)
      case 5: (data.timestamp, hasTimestamp) = (.deltaEpoch(try unsigned()), true)
      case 6: (data.timestamp, hasTimestamp) = (.deltaSystem(try unsigned()), true)
      case 7: data.payload = try anonymousElement(bytes)
      default: break
      }
    }
    for number: UInt8 in [0, 1, 2] { try members.require(number) }
    guard hasTimestamp else { throw .missingMember(3) }
    try leave(bytes)
    return data
  }
}

extension TLVWriter {
  /// Writes the start of an AttributeDataIB up to its value.
  mutating func startAttributeData(
    _ path: AttributePath, _ operation: ListOperation, _ dataVersion: UInt32?, _ tag: TLVTag
  ) {
    startStructure(tag)
    if let dataVersion { write(UInt64(dataVersion), .context(0)) }
    write(path, operation, .context(1))
  }

  mutating func write(_ status: AttributeStatus, _ tag: TLVTag) {
    startStructure(tag)
    write(status.path, status.operation, .context(0))
    write(status.status, .context(1))
    end()
  }

  mutating func write(_ report: AttributeReport) {
    startStructure()
    switch report {
    case .status(let status): write(status, .context(0))
    case .data(let data):
      startAttributeData(AttributePath(data.path), data.operation, data.dataVersion, .context(1))
      write(encoded: data.value, .context(2))
      end()
    }
    end()
  }

  mutating func write(_ report: EventReport) {
    startStructure()
    switch report {
    case .status(let path, let status):
      startStructure(.context(0))
      write(path, .context(0))
      write(status, .context(1))
      end()
    case .data(let data):
      startStructure(.context(1))
      write(EventPath(data.path), .context(0))
      write(data.number, .context(1))
      write(UInt64(data.priority.rawValue), .context(2))
      switch data.timestamp {
      case .epoch(let value): write(value, .context(3))
      case .system(let value): write(value, .context(4))
      case .deltaEpoch(let value): write(value, .context(5))
      case .deltaSystem(let value): write(value, .context(6))
      }
      if let payload = data.payload { write(encoded: payload, .context(7)) }
      end()
    }
    end()
  }
}
