internal import MatterClusters
internal import MatterModel
internal import MatterProtocol

/// An event that happened. Matter Core § 7.14.
struct EventRecord: Sendable, Hashable {
  let number: UInt64
  let path: ConcreteEventPath
  let priority: EventPriority
  let timestamp: EventTimestamp
  let payload: [UInt8]
  /// The only fabric that may see it, nil for all.
  let fabric: FabricIndex?
  let read: Privilege
}

/// The events that are kept, oldest first; of each priority the latest. Those above the priority Debug outlive a restart.
struct EventLog: Sendable {
  /// How many events of one priority are kept.
  static let capacity = 64
  /// Numbers are reserved in blocks, so that the store is not written for each event that is not kept.
  static let block: UInt64 = 1024

  private(set) var records: [EventRecord] = []
  private(set) var next: UInt64 = 0
  /// Below this, numbers are reserved.
  private(set) var reserved: UInt64 = 0
  /// Where the numbers of this run begin.
  private var first: UInt64 = 0

  /// Goes on behind all numbers that an earlier run may have used, with what that run left.
  mutating func resume(at number: UInt64, _ earlier: [EventRecord]) {
    (next, reserved, first) = (number, number, number)
    records = earlier.filter { $0.number < number }.sorted { $0.number < $1.number }
    for priority in Set(records.map(\.priority)) {
      let count = records.count { $0.priority == priority }
      for _ in 0..<max(0, count - Self.capacity) { _ = removeOldest(priority) }
    }
  }

  /// - Parameter isDurable: whether the reservation of numbers must survive a loss of power, because a controller may have seen
  ///   some of them: it would never ask for events with the same numbers again.
  /// - Returns: what has to be stored.
  mutating func append(isDurable: Bool, _ record: (UInt64) -> EventRecord) -> [StoreChange] {
    var changes: [StoreChange] = []
    let new = record(next)
    // Saturates: 2^64 events are never reached by counting, but a stored number may be anything.
    next = next.saturatingAdd(1)
    if new.tellsOfStart {
      // Whoever asks how it started means this time. Not for want of room: certification reads StartUp after a reboot and
      // takes one answer and no more (Test_TC_BINFO_2_2), since the SDK's own devices keep no event over a restart.
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

  /// - Returns: what has to be stored.
  mutating func removeAll(of fabric: FabricIndex) -> [StoreChange] {
    let gone = records.filter { $0.fabric == fabric && $0.isStored }
    records.removeAll { $0.fabric == fabric }
    return gone.map { StoreChange(StoreKey.event($0.number), nil) }
  }

  private mutating func removeOldest(_ priority: EventPriority) -> EventRecord? {
    records.firstIndex { $0.priority == priority }.map { records.remove(at: $0) }
  }
}

// MARK: - Storing

extension EventRecord {
  /// Whether it is told at every start.
  var tellsOfStart: Bool {
    switch (path.cluster, path.event) {
    case (BasicInformation.id, BasicInformation.startUp.id),
      (GeneralDiagnostics.id, GeneralDiagnostics.bootReasonEvent.id),
      (BridgedDeviceBasicInformation.id, BridgedDeviceBasicInformation.startUp.id):
      true
    default: false
    }
  }

  /// Whether it is kept over a restart.
  var isStored: Bool { priority > .debug }

  /// All but what the cluster's declaration tells.
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

  /// - Parameter info: finds what the node's clusters declare; nil: no longer served.
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
