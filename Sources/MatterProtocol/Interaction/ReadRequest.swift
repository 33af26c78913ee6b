public import MatterModel
public import MatterTLV

/// Limits a request to events from a number on. Matter Core § 10.6.6.
public struct EventFilter: Hashable, Sendable {
  /// The node that the filter applies to; nil for the receiver.
  public var node: NodeID?
  /// The lowest event number to report.
  public var eventMin: UInt64

  public init(node: NodeID? = nil, eventMin: UInt64) { (self.node, self.eventMin) = (node, eventMin) }
}

/// Excludes a cluster from a report if its data version is unchanged. Matter Core § 10.6.3.
public struct DataVersionFilter: Hashable, Sendable {
  public var path: ClusterPath
  /// The data version of the values that the requester already has.
  public var dataVersion: UInt32

  public init(_ path: ClusterPath, dataVersion: UInt32) { (self.path, self.dataVersion) = (path, dataVersion) }
}

/// A request to read attributes and events. Matter Core § 10.7.2.
public struct ReadRequest: InteractionMessage {
  public static let opcode = InteractionOpcode.readRequest
  public var attributePaths: [AttributePath]
  public var eventPaths: [EventPath]
  public var eventFilters: [EventFilter]
  /// Whether fabric-scoped lists contain only the entries of the accessing fabric.
  public var isFabricFiltered: Bool
  public var dataVersionFilters: [DataVersionFilter]

  public init(
    attributePaths: [AttributePath] = [], eventPaths: [EventPath] = [], eventFilters: [EventFilter] = [],
    isFabricFiltered: Bool = true, dataVersionFilters: [DataVersionFilter] = []
  ) {
    self.attributePaths = attributePaths
    self.eventPaths = eventPaths
    self.eventFilters = eventFilters
    self.isFabricFiltered = isFabricFiltered
    self.dataVersionFilters = dataVersionFilters
  }

  public init(contents reader: inout TLVReader, _ bytes: RawSpan) throws(TLVError) {
    self.init()
    var members = MemberCursor()
    while let number = try members.next(&reader, bytes) {
      switch number {
      case 0: attributePaths = try reader.attributePaths(bytes)
      case 1: eventPaths = try reader.eventPaths(bytes)
      case 2: eventFilters = try reader.eventFilters(bytes)
      case 3: isFabricFiltered = try reader.boolean()
      case 4: dataVersionFilters = try reader.dataVersionFilters(bytes)
      default: break
      }
    }
    try members.require(3)
  }

  public func encodeContents(to writer: inout TLVWriter) {
    writer.write(attributePaths, .context(0))
    writer.write(eventPaths, .context(1))
    writer.write(eventFilters, .context(2))
    writer.write(isFabricFiltered, .context(3))
    writer.write(dataVersionFilters, .context(4))
  }
}

/// A request to subscribe to attributes and events. Matter Core § 10.7.4.
public struct SubscribeRequest: InteractionMessage {
  public static let opcode = InteractionOpcode.subscribeRequest
  /// Whether the publisher keeps the other subscriptions of the subscriber.
  public var keepSubscriptions: Bool
  /// The minimum interval between reports, in seconds.
  public var minIntervalFloor: UInt16
  /// The upper bound for the maximum interval that the publisher selects, in seconds.
  public var maxIntervalCeiling: UInt16
  public var attributePaths: [AttributePath]
  public var eventPaths: [EventPath]
  public var eventFilters: [EventFilter]
  /// Whether fabric-scoped lists contain only the entries of the accessing fabric.
  public var isFabricFiltered: Bool
  public var dataVersionFilters: [DataVersionFilter]

  public init(
    keepSubscriptions: Bool = true, minIntervalFloor: UInt16, maxIntervalCeiling: UInt16,
    attributePaths: [AttributePath] = [], eventPaths: [EventPath] = [], eventFilters: [EventFilter] = [],
    isFabricFiltered: Bool = true, dataVersionFilters: [DataVersionFilter] = []
  ) {
    self.keepSubscriptions = keepSubscriptions
    self.minIntervalFloor = minIntervalFloor
    self.maxIntervalCeiling = maxIntervalCeiling
    self.attributePaths = attributePaths
    self.eventPaths = eventPaths
    self.eventFilters = eventFilters
    self.isFabricFiltered = isFabricFiltered
    self.dataVersionFilters = dataVersionFilters
  }

  public init(contents reader: inout TLVReader, _ bytes: RawSpan) throws(TLVError) {
    self.init(minIntervalFloor: 0, maxIntervalCeiling: 0)
    var members = MemberCursor()
    while let number = try members.next(&reader, bytes) {
      switch number {
      case 0: keepSubscriptions = try reader.boolean()
      case 1: minIntervalFloor = try reader.unsigned(as: UInt16.self)
      case 2: maxIntervalCeiling = try reader.unsigned(as: UInt16.self)
      case 3: attributePaths = try reader.attributePaths(bytes)
      case 4: eventPaths = try reader.eventPaths(bytes)
      case 5: eventFilters = try reader.eventFilters(bytes)
      case 7: isFabricFiltered = try reader.boolean()
      case 8: dataVersionFilters = try reader.dataVersionFilters(bytes)
      default: break
      }
    }
    for number: UInt8 in [0, 1, 2, 7] { try members.require(number) }
  }

  public func encodeContents(to writer: inout TLVWriter) {
    writer.write(keepSubscriptions, .context(0))
    writer.write(UInt64(minIntervalFloor), .context(1))
    writer.write(UInt64(maxIntervalCeiling), .context(2))
    writer.write(attributePaths, .context(3))
    writer.write(eventPaths, .context(4))
    writer.write(eventFilters, .context(5))
    writer.write(isFabricFiltered, .context(7))
    writer.write(dataVersionFilters, .context(8))
  }

  /// The read request with the same paths and filters, which the initial reports of the subscription answer.
  public var read: ReadRequest {
    ReadRequest(
      attributePaths: attributePaths, eventPaths: eventPaths, eventFilters: eventFilters,
      isFabricFiltered: isFabricFiltered, dataVersionFilters: dataVersionFilters)
  }
}

/// Activates a subscription. Matter Core § 10.7.5.
public struct SubscribeResponse: InteractionMessage {
  public static let opcode = InteractionOpcode.subscribeResponse
  /// The id assigned by the publisher, part of every report.
  public var subscriptionID: UInt32
  /// The maximum interval between reports, in seconds, selected by the publisher.
  public var maxInterval: UInt16

  public init(subscriptionID: UInt32, maxInterval: UInt16) {
    (self.subscriptionID, self.maxInterval) = (subscriptionID, maxInterval)
  }

  public init(contents reader: inout TLVReader, _ bytes: RawSpan) throws(TLVError) {
    self.init(subscriptionID: 0, maxInterval: 0)
    var members = MemberCursor()
    while let number = try members.next(&reader, bytes) {
      switch number {
      case 0: subscriptionID = try reader.unsigned(as: UInt32.self)
      case 2: maxInterval = try reader.unsigned(as: UInt16.self)
      default: break
      }
    }
    try members.require(0)
    try members.require(2)
  }

  public func encodeContents(to writer: inout TLVWriter) {
    writer.write(UInt64(subscriptionID), .context(0))
    writer.write(UInt64(maxInterval), .context(2))
  }
}

extension TLVReader {
  fileprivate mutating func attributePaths(_ bytes: RawSpan) throws(TLVError) -> [AttributePath] {
    var paths: [AttributePath] = []
    try open(.array, bytes)
    while try next(bytes) { paths.append(try attributePath(bytes).path) }
    try leave(bytes)
    return paths
  }

  fileprivate mutating func eventPaths(_ bytes: RawSpan) throws(TLVError) -> [EventPath] {
    var paths: [EventPath] = []
    try open(.array, bytes)
    while try next(bytes) { paths.append(try eventPath(bytes)) }
    try leave(bytes)
    return paths
  }

  fileprivate mutating func eventFilters(_ bytes: RawSpan) throws(TLVError) -> [EventFilter] {
    var filters: [EventFilter] = []
    try open(.array, bytes)
    while try next(bytes) {
      var filter = EventFilter(eventMin: 0)
      var members = MemberCursor()
      try open(.structure, bytes)
      while let number = try members.next(&self, bytes) {
        switch number {
        case 0: filter.node = NodeID(try unsigned())
        case 1: filter.eventMin = try unsigned()
        default: break
        }
      }
      try members.require(1)
      try leave(bytes)
      filters.append(filter)
    }
    try leave(bytes)
    return filters
  }

  fileprivate mutating func dataVersionFilters(_ bytes: RawSpan) throws(TLVError) -> [DataVersionFilter] {
    var filters: [DataVersionFilter] = []
    try open(.array, bytes)
    while try next(bytes) {
      var filter = DataVersionFilter(ClusterPath(0, 0), dataVersion: 0)
      var members = MemberCursor()
      try open(.structure, bytes)
      while let number = try members.next(&self, bytes) {
        switch number {
        case 0: filter.path = try clusterPath(bytes)
        case 1: filter.dataVersion = try unsigned(as: UInt32.self)
        default: break
        }
      }
      try members.require(0)
      try members.require(1)
      try leave(bytes)
      filters.append(filter)
    }
    try leave(bytes)
    return filters
  }
}

// Empty arrays are omitted.
extension TLVWriter {
  fileprivate mutating func write(_ paths: [AttributePath], _ tag: TLVTag) {
    guard !paths.isEmpty else { return }
    startArray(tag)
    for path in paths { write(path, .replaceAll, .anonymous) }
    end()
  }

  fileprivate mutating func write(_ paths: [EventPath], _ tag: TLVTag) {
    guard !paths.isEmpty else { return }
    startArray(tag)
    for path in paths { write(path, .anonymous) }
    end()
  }

  fileprivate mutating func write(_ filters: [EventFilter], _ tag: TLVTag) {
    guard !filters.isEmpty else { return }
    startArray(tag)
    for filter in filters {
      startStructure()
      if let node = filter.node { write(node.rawValue, .context(0)) }
      write(filter.eventMin, .context(1))
      end()
    }
    end()
  }

  fileprivate mutating func write(_ filters: [DataVersionFilter], _ tag: TLVTag) {
    guard !filters.isEmpty else { return }
    startArray(tag)
    for filter in filters {
      startStructure()
      write(filter.path, .context(0))
      write(UInt64(filter.dataVersion), .context(1))
      end()
    }
    end()
  }
}
