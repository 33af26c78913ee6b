internal import MatterClusters
internal import MatterCrypto
internal import MatterModel
internal import MatterProtocol

/// All that a device holds: its clusters' values, and what it shares between them. Nothing in it does anything by itself.
struct NodeState: Sendable {
  /// In the order of endpoint and cluster.
  var clusters: [ClusterState] = []
  private(set) var indices: [ClusterPath: Int] = [:]
  private(set) var endpoints: [EndpointDefinition] = []

  var now: Instant
  let startedAt: Instant
  /// Why the node started this time.
  var bootReason = GeneralDiagnostics.BootReason.powerOnReboot
  var random: any RandomSource
  var timers: [ServerTimer] = []
  var events = EventLog()
  /// The time of day; nil until somebody says.
  var utc: UTCClock?
  /// Whether an administrator set the time of day, in this run.
  var isTimeSet = false
  /// Datagrams that came and went.
  var traffic = (received: UInt64(0), sent: UInt64(0))
  var groupTable = GroupTable() { didSet { areGroupsChanged = true } }
  /// The groups, their keys or which uses which may be others than the messaging core knows of.
  var areGroupsChanged = true
  var commissioning: CommissioningState
  /// The device is to wait for its first administrator, as soon as nothing else is under way.
  var wantsWindow = false
  /// The session of the message that is being dealt with.
  var session: SessionInfo?
  /// The ACL attribute, decoded.
  var acl = AccessControlList()
  /// How to sign for the device.
  let signatures: any SignatureScheme

  // What the engine takes out after each step.

  /// To be stored before anything else goes out.
  var changes: [StoreChange] = []
  /// Attributes to be reported to subscribers.
  var dirty: [ConcreteAttributePath] = []
  var emitted: [DeviceEvent] = []
  var requests: [NodeRequest] = []
  /// Fabrics whose resumption records are to be removed from the store: they are gone, or the node has another certificate.
  var forgottenFabrics: [FabricIndex] = []

  /// - Parameters:
  ///   - endpoints: with all their servers; of several with one id, the first counts.
  ///   - stored: what was stored in an earlier run; entries that nobody knows stay in the store.
  init(
    endpoints: [EndpointDefinition], stored: StoredState, commissioning: CommissioningState, random: any RandomSource,
    signatures: any SignatureScheme, at now: Instant
  ) {
    self.signatures = signatures
    (self.now, startedAt, self.random, self.commissioning) = (now, now, random, commissioning)
    for endpoint in endpoints.sorted(by: { $0.id < $1.id }) where self.endpoints.last?.id != endpoint.id {
      self.endpoints.append(endpoint)
      for server in endpoint.servers.sorted(by: { $0.id < $1.id }) {
        let path = ClusterPath(endpoint.id, server.id)
        guard indices[path] == nil else { continue }
        indices[path] = clusters.count
        clusters.append(ClusterState(path, server, dataVersion: UInt32(truncatingIfNeeded: self.random.next())))
      }
    }
    load(stored)
  }

  private mutating func load(_ stored: StoredState) {
    for index in clusters.indices {
      let prefix = StoreKey.attributes(of: clusters[index].path)
      for (id, served) in clusters[index].server.attributes where served.isStored {
        guard served.read == nil, let bytes = stored[prefix + String(id.rawValue, radix: 16)],
          served.info.isWellFormed(bytes)
        else { continue }
        clusters[index].values[id] = bytes
      }
    }
    for (key, value) in stored {
      guard key.hasPrefix("server/"), let (path, name) = StoreKey.parse(server: key), let index = indices[path] else {
        continue
      }
      clusters[index].stored[name] = value
    }
    if let bytes = stored[StoreKey.groups], let table = try? GroupTable(tlv: bytes) { groupTable = table }
    groupTable.makeRoom(forServers: clusters.count { $0.path.cluster == Groups.id })
    guard let bytes = stored[StoreKey.eventNumber], let number = try? UInt64(tlv: bytes) else { return }
    let records = stored.filter { $0.key.hasPrefix(StoreKey.events) }.compactMap { _, value in
      EventRecord(stored: value) { path in
        indices[ClusterPath(path.endpoint, path.cluster)].flatMap { clusters[$0].server.events[path.event] }
      }
    }
    events.resume(at: number, records)
  }

  // MARK: Looking up

  func index(_ path: ClusterPath) -> Int? { indices[path] }
  func endpoint(_ id: EndpointID) -> EndpointDefinition? { endpoints.first { $0.id == id } }

  // MARK: Changing

  /// Stores a value under its attribute, and notes what follows from it.
  /// - Returns: whether it was another one before.
  mutating func set(_ index: Int, _ attribute: AttributeID, _ bytes: [UInt8], reporting: Reporting) -> Bool {
    guard let served = clusters[index].server.attributes[attribute], clusters[index].values[attribute] != bytes else {
      return false
    }
    clusters[index].values[attribute] = bytes
    clusters[index].dataVersion &+= 1
    let path = ConcreteAttributePath(clusters[index].path.endpoint, clusters[index].path.cluster, attribute)
    if served.isStored {
      changes.append(StoreChange(StoreKey.attribute(path), bytes, isDurable: Self.isDurable(path.cluster)))
    }
    if reporting == .now, !served.info.quality.contains(.changesOmitted) { dirty.append(path) }
    emitted.append(.attributeChanged(path, bytes))
    return true
  }

  /// Whether what a cluster stores must survive a loss of power: who may do what, and the keys of groups.
  static func isDurable(_ cluster: ClusterID) -> Bool {
    cluster == AccessControl.id || cluster == GroupKeyManagement.id
  }

  /// Notes that a computed attribute has another value.
  mutating func markChanged(_ path: ConcreteAttributePath) {
    guard let index = indices[ClusterPath(path.endpoint, path.cluster)],
      let served = clusters[index].server.attributes[path.attribute]
    else { return }
    clusters[index].dataVersion &+= 1
    if !served.info.quality.contains(.changesOmitted) { dirty.append(path) }
  }

  /// The time of day where it is known: that means the same after a restart. Else the time since the start.
  private var timestamp: EventTimestamp {
    if let utc { return .epoch(utc.unixMilliseconds(at: now)) }
    return .system(UInt64(clamping: (now - startedAt).milliseconds))
  }

  mutating func append(
    event: EventInfo, _ path: ConcreteEventPath, payload: [UInt8], fabric: FabricIndex?
  ) {
    let timestamp = timestamp
    changes += events.append(isDurable: !commissioning.fabrics.isEmpty) {
      EventRecord(
        number: $0, path: path, priority: event.priority, timestamp: timestamp, payload: payload, fabric: fabric,
        read: event.read)
    }
  }
}

/// Whether subscribers hear of a change.
public enum Reporting: Hashable, Sendable {
  /// As soon as their minimum interval allows.
  case now
  /// Not because of this change: for attributes with the quality Quieter Reporting.
  case quiet
}

/// A timer of a server.
struct ServerTimer: Sendable {
  let cluster: Int
  let name: String
  let deadline: Instant
}

/// The keys of the store.
enum StoreKey {
  static let groups = "groups", groupCounter = "groups/counter", eventNumber = "event/number", failSafe = "failsafe"
  static let events = "event/record/", composition = "composition", subscriptions = "subscription/"
  /// There from an orderly end to the next start.
  static let shutDown = "shutdown"
  /// What the engine stores begins so; whatever else is in the store is somebody else's.
  static let prefixes = [
    "fabric/", "fabrics/", "attribute/", "server/", "event/", "resumption/", subscriptions, groups, failSafe,
    composition, shutDown,
  ]
  static func event(_ number: UInt64) -> String { events + String(number, radix: 16) }
  static let lastFabricIndex = "fabrics/last"
  static func fabric(_ index: FabricIndex) -> String { "fabric/\(index.rawValue)" }
  static func attributes(of path: ClusterPath) -> String {
    "attribute/\(path.endpoint.rawValue)/\(String(path.cluster.rawValue, radix: 16))/"
  }
  static func attribute(_ path: ConcreteAttributePath) -> String {
    attributes(of: ClusterPath(path.endpoint, path.cluster)) + String(path.attribute.rawValue, radix: 16)
  }
  static func server(_ path: ClusterPath, _ name: String) -> String {
    "server/\(path.endpoint.rawValue)/\(String(path.cluster.rawValue, radix: 16))/\(name)"
  }
  static func parse(server key: String) -> (ClusterPath, String)? {
    let parts = key.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count == 4, let endpoint = UInt16(parts[1]), let cluster = UInt32(parts[2], radix: 16) else {
      return nil
    }
    return (ClusterPath(EndpointID(endpoint), ClusterID(cluster)), String(parts[3]))
  }
}
