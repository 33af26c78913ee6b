internal import MatterModel
internal import MatterProtocol

/// A subscription of ours, through all its renewals.
struct Subscription: Sendable {
  enum State: Sendable {
    /// A session is opened, or the request is on its way.
    case requesting
    case established(SubscriptionKey, SessionID, maxInterval: Duration)
    /// The next attempt is made at ``Subscription/deadline``.
    case waiting
  }

  let node: NodeID
  let request: SubscriptionRequest
  var state = State.requesting
  /// The number that the device gave it in its first report, before the subscription stands.
  var pending: SubscriptionKey?
  var wasEstablished = false
  /// Attempts that failed since it was last established.
  var failures = 0
  /// Since when the device does not keep us informed; nil while it does.
  var lostAt: Instant?
  /// When the device must have been heard, or the next attempt is due.
  var deadline: Instant?
  /// When a report is late enough to ask for the subscription anew, while the old one may still stand.
  var overdueAt: Instant?
  /// Whether it is asked for anew while the old one may still stand.
  var isRenewing = false
  /// The versions of clusters of which everything that was asked for is known.
  var versions: [ClusterPath: UInt32] = [:]
  /// Clusters that changed while they were being reported.
  var inconsistent: Set<ClusterPath> = []
  /// The number behind the last event that was reported.
  var nextEvent: UInt64?

  init(_ node: NodeID, _ request: SubscriptionRequest, at now: Instant) {
    self.node = node
    self.request = request
    nextEvent = request.eventMin
    versions = request.knownVersions
    lostAt = now
  }

  /// Whether it was lost, or begun, a short while ago.
  func isEager(_ policy: RenewalPolicy, at now: Instant) -> Bool { lostAt.map { now < $0 + policy.eagerTime } ?? false }

  /// The session that reports come on.
  var session: SessionID? {
    if case .established(_, let session, _) = state { session } else { nil }
  }

  func isOn(_ session: SessionID) -> Bool { self.session == session }

  /// The device's numbers for it: a second one while it is made anew.
  var keys: [SubscriptionKey] {
    if case .established(let key, _, _) = state { [key, pending ?? key] } else { pending.map { [$0] } ?? [] }
  }

  /// When there is something to do about it.
  var wakeUp: Instant? { .earlier(deadline, overdueAt) }

  /// Takes note of what was reported, so that a renewal need not report it again.
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

  /// What a renewal may leave out, as much as fits a message.
  func filters(_ limit: Int) -> [DataVersionFilter] {
    let complete = versions.filter { !inconsistent.contains($0.key) }.sorted { $0.key < $1.key }
    return complete.prefix(max(0, limit)).map { DataVersionFilter($0.key, dataVersion: $0.value) }
  }
}

/// A device's number for a subscription.
struct SubscriptionKey: Hashable, Sendable {
  let node: NodeID
  let id: UInt32
}

/// A report of which more messages are to come.
struct ReportUnderWay: Sendable {
  let node: NodeID
  let handle: SubscriptionHandle
  var report = ReassembledReport()
}
