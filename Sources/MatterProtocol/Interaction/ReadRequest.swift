public import MatterModel
public import MatterTLV

/// Asks for events from a number on. Matter Core § 10.6.6.
public struct EventFilter: Hashable, Sendable {
  /// The node that it is about; nil: whoever receives it.
  public var node: NodeID?
  /// The first event number of interest.
  public var eventMin: UInt64

  public init(node: NodeID? = nil, eventMin: UInt64) { (self.node, self.eventMin) = (node, eventMin) }
}

/// Says that a cluster need not be reported if it still has this version. Matter Core § 10.6.3.
public struct DataVersionFilter: Hashable, Sendable {
  public var path: ClusterPath
  /// As the node reported it with the values that are known.
  public var dataVersion: UInt32

  public init(_ path: ClusterPath, dataVersion: UInt32) { (self.path, self.dataVersion) = (path, dataVersion) }
}

/// Asks for attributes and events once. Matter Core § 10.7.2.
public struct ReadRequest: InteractionMessage {
  public static let opcode = InteractionOpcode.readRequest
  public var attributePaths: [AttributePath]
  public var eventPaths: [EventPath]
  public var eventFilters: [EventFilter]
  /// Whether lists show only the entries of the accessing fabric.
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

/// Asks for attributes and events, and for reports when they change. Matter Core § 10.7.4.
public struct SubscribeRequest: InteractionMessage {
  public static let opcode = InteractionOpcode.subscribeRequest
  /// Whether the subscriber's other subscriptions on this node stay.
  public var keepSubscriptions: Bool
  /// The least time between reports, in seconds.
  public var minIntervalFloor: UInt16
  /// The most time between reports that the publisher may choose, in seconds.
  public var maxIntervalCeiling: UInt16
  public var attributePaths: [AttributePath]
  public var eventPaths: [EventPath]
  public var eventFilters: [EventFilter]
  /// Whether lists show only the entries of the accessing fabric.
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

  /// The same selection, to be read once: what the first reports of the subscription answer.
  public var read: ReadRequest {
    ReadRequest(
      attributePaths: attributePaths, eventPaths: eventPaths, eventFilters: eventFilters,
      isFabricFiltered: isFabricFiltered, dataVersionFilters: dataVersionFilters)
  }
}

/// Makes a subscription stand. Matter Core § 10.7.5.
public struct SubscribeResponse: InteractionMessage {
  public static let opcode = InteractionOpcode.subscribeResponse
  /// As the publisher numbers them; every report names it.
  public var subscriptionID: UInt32
  /// The most time between reports, in seconds, as the publisher chose it.
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

// Empty arrays are left out.
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
