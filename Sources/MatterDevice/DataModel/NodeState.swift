internal import MatterClusters
internal import MatterCrypto
internal import MatterModel
internal import MatterProtocol

/// The state of a device: the values of its clusters, and the state that they share. It has no behavior of its own.
struct NodeState: Sendable {
  /// Sorted by endpoint and cluster.
  var clusters: [ClusterState] = []
  /// Sorted by id, without their servers, which `clusters` contains.
  private(set) var endpoints: [EndpointDefinition] = []
  var configuration: DeviceConfiguration

  var now: Instant
  let startedAt: Instant
  /// The reason of the current start.
  var bootReason = GeneralDiagnostics.BootReason.powerOnReboot
  var random: any RandomSource
  var timers: [ServerTimer] = []
  var events = EventLog()
  /// The UTC time; nil while it is unknown.
  var utc: UTCClock?
  /// Whether an administrator set the time since the start.
  var isTimeSet = false
  /// The mode of an intermittently connected device; nil if the device is always connected.
  var sleep: SleepState?
  /// The numbers of received and sent datagrams.
  var traffic = (received: UInt64(0), sent: UInt64(0))
  /// The number of commands that clients invoked.
  var invokes: UInt64 = 0
  var groupTable = GroupTable() { didSet { areGroupsChanged = true } }
  /// Whether groups, keys or their mapping may have changed since they were passed to the messaging core.
  var areGroupsChanged = true
  var commissioning: CommissioningState
  /// The credentials for device attestation; nil until they are created.
  var attestation: AttestationCredentials?
  /// Whether to open the commissioning window for the first administrator as soon as no fail-safe is armed.
  var wantsWindow = false
  /// The session of the message that is being handled.
  var session: SessionInfo?
  /// The ACL attribute, decoded.
  var acl = AccessControlList()
  /// The replaced decisions.
  var hooks: DeviceHooks {
    _read { yield configuration.hooks }
    _modify { yield &configuration.hooks }
  }
  /// The signature scheme of the device.
  let signatures: any SignatureScheme

  // Output that the engine takes after each step.

  /// Changes of the store, which precede all other effects.
  var changes: [StoreChange] = []
  /// Attributes to be reported to subscribers.
  var dirty: [ConcreteAttributePath] = []
  var emitted: [DeviceEvent] = []
  var requests: [NodeRequest] = []
  /// The numbers of reported changes by endpoint that the batteries of the node don't know yet; nil without a battery
  /// that drains with use.
  var uses: [EndpointID: Int]?
  /// Fabrics whose resumption records are to be removed from the store, because the fabric or its certificate changed.
  var forgottenFabrics: [FabricIndex] = []

  /// - Parameters:
  ///   - endpoints: The endpoints with all their servers. Of duplicate ids the first is used.
  ///   - stored: The entries that an earlier run stored. Unknown entries stay in the store.
  init(
    _ configuration: DeviceConfiguration, endpoints: [EndpointDefinition], stored: StoredState,
    commissioning: CommissioningState, random: any RandomSource, signatures: any SignatureScheme, at now: Instant
  ) {
    self.configuration = configuration
    self.signatures = signatures
    (self.now, startedAt, self.random, self.commissioning) = (now, now, random, commissioning)
    attestation =
      if case .credentials(let credentials) = configuration.attestation { credentials } else {
        AttestationCredentials(in: stored)
      }
    setEndpoints(endpoints) { _, _ in nil }
    load(stored)
  }

  /// Sets the endpoints and their clusters.
  /// - Parameter known: Returns the state of a cluster that exists already; nil for a new one.
  mutating func setEndpoints(
    _ definitions: [EndpointDefinition], _ known: (ClusterPath, ClusterServer) -> ClusterState?
  ) {
    (endpoints, clusters) = ([], [])
    clusters.reserveCapacity(definitions.reduce(0) { $0 + $1.servers.count })
    for endpoint in definitions.sorted(by: { $0.id < $1.id }) where endpoints.last?.id != endpoint.id {
      var bare = endpoint
      bare.servers = []
      endpoints.append(bare)
      for server in endpoint.servers.sorted(by: { $0.id < $1.id }) {
        let path = ClusterPath(endpoint.id, server.id)
        guard clusters.last?.path != path else { continue }
        clusters.append(
          known(path, server)
            ?? ClusterState(path, server, dataVersion: UInt32(truncatingIfNeeded: random.next())))
      }
    }
    let hasDrain = clusters.contains {
      $0.path.cluster == PowerSource.id && $0.server.hook(PowerSourceServer.used) != nil
    }
    uses = hasDrain ? uses ?? [:] : nil
  }

  /// The endpoints with their servers.
  var definitions: [EndpointDefinition] {
    endpoints.map { endpoint in
      var endpoint = endpoint
      endpoint.servers = clusters.filter { $0.path.endpoint == endpoint.id }.map(\.server)
      return endpoint
    }
  }

  private mutating func load(_ stored: StoredState) {
    for index in clusters.indices {
      let prefix = StoreKey.attributes(of: clusters[index].path)
      for (id, served) in clusters[index].server.attributes where served.isStored {
        guard served.read == nil, let bytes = stored[prefix + String(id.rawValue, radix: 16)],
          served.info.isWellFormed(bytes)
        else { continue }
        clusters[index][id] = bytes
      }
    }
    for (key, value) in stored {
      guard key.hasPrefix("server/"), let (path, name) = StoreKey.parse(server: key), let index = index(path) else {
        continue
      }
      clusters[index].stored[name] = value
    }
    if let bytes = stored[StoreKey.groups], let table = try? GroupTable(tlv: bytes) { groupTable = table }
    groupTable.raiseMaximum(forServers: clusters.count { $0.path.cluster == Groups.id })
    guard let bytes = stored[StoreKey.eventNumber], let number = try? UInt64(tlv: bytes) else { return }
    let records = stored.filter { $0.key.hasPrefix(StoreKey.events) }.compactMap { _, value in
      EventRecord(stored: value) { path in
        index(ClusterPath(path.endpoint, path.cluster)).flatMap { clusters[$0].server.events[path.event] }
      }
    }
    events.resume(at: number, records)
  }

  // MARK: Lookup

  func index(_ path: ClusterPath) -> Int? {
    var (low, high) = (0, clusters.count)
    while low < high {
      let middle = (low + high) / 2
      if clusters[middle].path < path { low = middle + 1 } else { high = middle }
    }
    return low < clusters.count && clusters[low].path == path ? low : nil
  }
  func endpoint(_ id: EndpointID) -> EndpointDefinition? { position(of: id).map { endpoints[$0] } }
  func hasEndpoint(_ id: EndpointID) -> Bool { position(of: id) != nil }
  /// Returns the device types of an endpoint; empty if it does not exist.
  func deviceTypes(of id: EndpointID) -> [DeviceType] { position(of: id).map { endpoints[$0].deviceTypes } ?? [] }

  /// By index, since an iterator copies the elements.
  private func position(of id: EndpointID) -> Int? {
    for index in endpoints.indices where endpoints[index].id == id { return index }
    return nil
  }

  // MARK: Changes

  /// Sets the value of an attribute, and records the resulting changes, reports and events.
  /// - Returns: Whether the value changed.
  mutating func set(_ index: Int, _ attribute: AttributeID, _ bytes: [UInt8], reporting: Reporting) -> Bool {
    // Only these properties, since a copy of the whole declaration takes longer than everything else.
    guard clusters[index][attribute] != bytes,
      let isStored = clusters[index].server.attributes[attribute]?.isStored,
      let quality = clusters[index].server.attributes[attribute]?.info.quality
    else { return false }
    clusters[index][attribute] = bytes
    clusters[index].dataVersion &+= 1
    let path = ConcreteAttributePath(clusters[index].path.endpoint, clusters[index].path.cluster, attribute)
    if isStored {
      changes.append(StoreChange(StoreKey.attribute(path), bytes, isDurable: Self.isDurable(path.cluster)))
    }
    if reporting == .now, !quality.contains(.changesOmitted) {
      dirty.append(path)
      if path.cluster != PowerSource.id, path.endpoint != .root { uses?[path.endpoint, default: 0] += 1 }
    }
    emitted.append(.attributeChanged(path, bytes))
    return true
  }

  /// Returns whether the cluster's entries must survive a loss of power: access control, group keys, and the keys and
  /// the counter of Check-In messages.
  static func isDurable(_ cluster: ClusterID) -> Bool {
    cluster == AccessControl.id || cluster == GroupKeyManagement.id || cluster == IcdManagement.id
  }

  /// Reports a change of a computed attribute.
  mutating func markChanged(_ path: ConcreteAttributePath) {
    guard let index = index(ClusterPath(path.endpoint, path.cluster)),
      let info = clusters[index].info(path.attribute)
    else { return }
    clusters[index].dataVersion &+= 1
    if !info.quality.contains(.changesOmitted) { dirty.append(path) }
  }

  /// The UTC time if it is known, since it stays comparable after a restart; otherwise the time since the start.
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

/// How a change is reported to subscribers.
public enum Reporting: Hashable, Sendable {
  /// As soon as the minimum interval allows.
  case now
  /// Not because of this change, for attributes with the Quieter Reporting quality.
  case quiet
}

/// A scheduled timer of a server.
struct ServerTimer: Sendable {
  let cluster: Int
  let id: TimerID
  let deadline: Instant
}

/// The keys of the store.
enum StoreKey {
  static let groups = "groups", groupCounter = GroupCounterReservation.deviceKey, eventNumber = "event/number",
    failSafe = "failsafe"
  /// The software that an update installed. Not among `prefixes`, because it survives a factory reset.
  static let software = "software"
  /// The attestation that was created on demand. Not among `prefixes` for the same reason.
  static let attestation = "attestation"
  static let events = "event/record/", composition = "composition", subscriptions = "subscription/"
  /// Present between an orderly shutdown and the next start.
  static let shutDown = "shutdown"
  /// The prefixes of the engine's keys. All other entries of the store belong to other components.
  static let prefixes = [
    "fabric/", "fabrics/", "attribute/", "server/", "event/", "resumption/", subscriptions, groups, failSafe,
    composition, shutDown,
  ]
  static func event(_ number: UInt64) -> String { events + String(number, radix: 16) }
  static let lastFabricIndex = "fabrics/last"
  static func fabric(_ index: FabricIndex) -> String { "fabric/\(index.rawValue)" }
  /// Concatenated, since the memory that an interpolation reserves exceeds that of a string without an allocation.
  static func attributes(of path: ClusterPath) -> String {
    "attribute/" + String(path.endpoint.rawValue) + "/" + String(path.cluster.rawValue, radix: 16) + "/"
  }
  /// Returns the prefixes of the attributes and of the private entries of an endpoint's servers.
  static func prefixes(of endpoint: EndpointID) -> (attributes: String, servers: String) {
    ("attribute/\(endpoint.rawValue)/", "server/\(endpoint.rawValue)/")
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
