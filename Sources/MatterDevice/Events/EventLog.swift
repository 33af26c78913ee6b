internal import MatterClusters
internal import MatterModel
internal import MatterProtocol

/// A recorded event. Matter Core § 7.14.
struct EventRecord: Sendable, Hashable {
  let number: UInt64
  let path: ConcreteEventPath
  let priority: EventPriority
  let timestamp: EventTimestamp
  let payload: [UInt8]
  /// The fabric of a fabric-sensitive event; nil for an event that all fabrics may read.
  let fabric: FabricIndex?
  let read: Privilege
}

/// The latest events of each priority, oldest first. Events above the priority Debug survive a restart.
struct EventLog: Sendable {
  /// The maximum number of events per priority.
  static let capacity = 64
  /// Event numbers are reserved in blocks, so that events that are not stored do not each need a write to the store.
  static let block: UInt64 = 1024

  private(set) var records: [EventRecord] = []
  private(set) var next: UInt64 = 0
  /// Numbers below this one are reserved in the store.
  private(set) var reserved: UInt64 = 0
  /// The first number of this run.
  private var first: UInt64 = 0

  /// Restores the events of an earlier run, and continues after all numbers that it may have used.
  mutating func resume(at number: UInt64, _ earlier: [EventRecord]) {
    (next, reserved, first) = (number, number, number)
    records = earlier.filter { $0.number < number }.sorted { $0.number < $1.number }
    for priority in Set(records.map(\.priority)) {
      let count = records.count { $0.priority == priority }
      for _ in 0..<max(0, count - Self.capacity) { _ = removeOldest(priority) }
    }
  }

  /// Appends an event, and evicts the oldest of its priority if the log is full.
  /// - Parameter isDurable: Whether the reservation of numbers must survive a loss of power. A controller that has
  ///   already seen a number would never request a second event with it.
  /// - Returns: The store changes.
  mutating func append(isDurable: Bool, _ record: (UInt64) -> EventRecord) -> [StoreChange] {
    var changes: [StoreChange] = []
    let new = record(next)
    // Saturates, because a stored number may have any value.
    next = next.saturatingAdd(1)
    if new.isStartEvent {
      // Removes the start events of earlier runs, since readers expect the current one. Not for lack of capacity:
      // certification reads StartUp after a reboot and accepts only one event (Test_TC_BINFO_2_2), since the SDK's own
      // devices do not store events.
      for old in records where old.path == new.path && old.number < first && old.isStored {
        changes.append(StoreChange(StoreKey.event(old.number), nil))
      }
      records.removeAll { [first] in $0.path == new.path && $0.number < first }
    }
    records.append(new)
    if new.isStored { changes.append(StoreChange(StoreKey.event(new.number), new.stored)) }
    if records.count(where: { $0.priority == new.priority }) > Self.capacity, let old = removeOldest(new.priority),
      old.isStored
    {
      changes.append(StoreChange(StoreKey.event(old.number), nil))
    }
    if next > reserved {
      reserved = next.saturatingAdd(Self.block)
      changes.append(StoreChange(StoreKey.eventNumber, reserved.tlv, isDurable: isDurable))
    }
    return changes
  }

  /// - Returns: The store changes.
  mutating func removeAll(of fabric: FabricIndex) -> [StoreChange] {
    let removed = records.filter { $0.fabric == fabric && $0.isStored }
    records.removeAll { $0.fabric == fabric }
    return removed.map { StoreChange(StoreKey.event($0.number), nil) }
  }

  private mutating func removeOldest(_ priority: EventPriority) -> EventRecord? {
    records.firstIndex { $0.priority == priority }.map { records.remove(at: $0) }
  }
}

// MARK: - Storing

extension EventRecord {
  /// Whether the event is emitted at every start.
  var isStartEvent: Bool {
    switch (path.cluster, path.event) {
    case (BasicInformation.id, BasicInformation.startUp.id),
      (GeneralDiagnostics.id, GeneralDiagnostics.bootReasonEvent.id),
      (BridgedDeviceBasicInformation.id, BridgedDeviceBasicInformation.startUp.id):
      true
    default: false
    }
  }

  /// Whether the event survives a restart.
  var isStored: Bool { priority > .debug }

  /// The encoded record, without the parts that the cluster's declaration determines.
  var stored: [UInt8] {
    var writer = TLVWriter()
    writer.structure {
      $0.write(number, .context(0))
      $0.write(UInt64(path.endpoint.rawValue), .context(1))
      $0.write(UInt64(path.cluster.rawValue), .context(2))
      $0.write(UInt64(path.event.rawValue), .context(3))
      switch timestamp {
      case .epoch(let time), .deltaEpoch(let time): $0.write(time, .context(4))
      case .system(let time), .deltaSystem(let time): $0.write(time, .context(5))
      }
      $0.write(octets: payload, .context(6))
      if let fabric { $0.write(UInt64(fabric.rawValue), .context(7)) }
    }
    return writer.finish()
  }

  /// - Parameter info: Returns the declaration of an event; nil if it is no longer served.
  init?(stored bytes: [UInt8], info: (ConcreteEventPath) -> EventInfo?) {
    guard let element = try? TLVElement(decoding: bytes), case .unsigned(let number)? = element[0]?.value,
      case .unsigned(let endpoint)? = element[1]?.value, case .unsigned(let cluster)? = element[2]?.value,
      case .unsigned(let event)? = element[3]?.value, case .octets(let payload)? = element[6]?.value,
      let endpoint = UInt16(exactly: endpoint), let cluster = UInt32(exactly: cluster),
      let event = UInt32(exactly: event)
    else { return nil }
    let path = ConcreteEventPath(EndpointID(endpoint), ClusterID(cluster), EventID(event))
    guard let info = info(path) else { return nil }
    let timestamp: EventTimestamp
    if case .unsigned(let time)? = element[4]?.value {
      timestamp = .epoch(time)
    } else if case .unsigned(let time)? = element[5]?.value {
      timestamp = .system(time)
    } else {
      return nil
    }
    var fabric: FabricIndex?
    if case .unsigned(let index)? = element[7]?.value {
      guard let index = UInt8(exactly: index) else { return nil }
      fabric = FabricIndex(index)
    }
    self.init(
      number: number, path: path, priority: info.priority, timestamp: timestamp, payload: payload, fabric: fabric,
      read: info.read)
  }
}
