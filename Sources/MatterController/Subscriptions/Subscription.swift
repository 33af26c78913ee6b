internal import MatterModel
internal import MatterProtocol

/// A subscription of the controller, across renewals.
struct Subscription: Sendable {
  enum State: Sendable {
    /// A session is being opened, or the request has been sent.
    case requesting
    case established(SubscriptionKey, SessionID, maxInterval: Duration)
    /// The next attempt is made at ``Subscription/deadline``.
    case waiting
  }

  let node: NodeID
  let request: SubscriptionRequest
  var state = State.requesting
  /// The subscription id in the device's first report, until the subscription is established.
  var pending: SubscriptionKey?
  var wasEstablished = false
  /// Failed attempts since it was last established.
  var failures = 0
  /// When the subscription was lost or first requested; nil while it is established.
  var lostAt: Instant?
  /// Deadline of the device's next message, or time of the next attempt.
  var deadline: Instant?
  /// When a report is late enough to request a replacement, while the subscription may still be alive.
  var overdueAt: Instant?
  /// Whether a replacement is being requested.
  var isRenewing = false
  /// Data versions of the clusters that are known completely.
  var versions: [ClusterPath: UInt32] = [:]
  /// Clusters that changed while they were being reported.
  var inconsistent: Set<ClusterPath> = []
  /// The number after that of the last reported event.
  var nextEvent: UInt64?

  init(_ node: NodeID, _ request: SubscriptionRequest, at now: Instant) {
    self.node = node
    self.request = request
    nextEvent = request.eventMin
    versions = request.knownVersions
    lostAt = now
  }

  /// Whether the eager phase of retries has not ended.
  func isEager(_ policy: RenewalPolicy, at now: Instant) -> Bool { lostAt.map { now < $0 + policy.eagerTime } ?? false }

  /// The session of the reports.
  var session: SessionID? {
    if case .established(_, let session, _) = state { session } else { nil }
  }

  func isOn(_ session: SessionID) -> Bool { self.session == session }

  /// The subscription ids on the device: two during a renewal.
  var keys: [SubscriptionKey] {
    if case .established(let key, _, _) = state { [key, pending ?? key] } else { pending.map { [$0] } ?? [] }
  }

  /// The next deadline.
  var wakeUp: Instant? { .earlier(deadline, overdueAt) }

  /// Records the reported versions and events, so that a renewal can filter them out.
  mutating func note(_ report: ReassembledReport) {
    var versions: [ClusterPath: UInt32] = [:]
    var torn: Set<ClusterPath> = []
    for attribute in report.attributes {
      let cluster = ClusterPath(attribute.path.endpoint, attribute.path.cluster)
      if let version = versions[cluster], version != attribute.dataVersion { torn.insert(cluster) }
      versions[cluster] = attribute.dataVersion
    }
    self.versions.merge(versions) { $1 }
    inconsistent.formUnion(torn)
    for case .data(let event) in report.events { nextEvent = max(nextEvent ?? 0, event.number.saturatingAdd(1)) }
  }

  /// Data version filters of a renewal, at most `limit`.
  func filters(_ limit: Int) -> [DataVersionFilter] {
    let complete = versions.filter { !inconsistent.contains($0.key) }.sorted { $0.key < $1.key }
    return complete.prefix(max(0, limit)).map { DataVersionFilter($0.key, dataVersion: $0.value) }
  }
}

/// Identifies a subscription on a device.
struct SubscriptionKey: Hashable, Sendable {
  let node: NodeID
  let id: UInt32
}

/// A report with more messages to follow.
struct PendingReport: Sendable {
  let node: NodeID
  let handle: SubscriptionHandle
  var report = ReassembledReport()
}
