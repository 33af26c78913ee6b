internal import MatterCrypto
internal import MatterModel
internal import MatterProtocol

/// State machine of a subscription of the controller, across renewals. Matter Core § 8.5.
struct Subscription: Sendable {
  enum State: Sendable {
    /// A session is being opened, or the request has been sent.
    case requesting
    case established(SubscriptionKey, SessionID, maxInterval: Duration)
    /// The next attempt is made at ``Subscription/deadline``.
    case waiting
  }

  /// The action at a deadline.
  enum Step: Hashable, Sendable {
    case wait
    case request
    /// Request a replacement; the current subscription stays valid until its own deadline.
    case replace
    /// The subscription is lost, most likely with its session.
    case lose(SessionID)
  }

  /// The action after a failed request.
  enum Failure: Hashable, Sendable {
    /// End the request for a replacement: the current subscription stays valid.
    case stopRenewing
    case complete
    case retry
  }

  let node: NodeID
  let request: SubscriptionRequest
  private(set) var state = State.requesting
  /// The subscription id in the device's first report, until the subscription is established.
  private(set) var pending: SubscriptionKey?
  /// Whether a replacement is being requested.
  private(set) var isRenewing = false
  /// Deadline of the device's next message, or time of the next attempt.
  private(set) var deadline: Instant?
  /// When a report is late enough to request a replacement, while the subscription may still be alive.
  private(set) var overdueAt: Instant?
  private var wasEstablished = false
  /// Failed attempts since it was last established.
  private var failures = 0
  /// When the subscription was lost or first requested; nil while it is established.
  private var lostAt: Instant?
  /// Data versions of the clusters that are known completely.
  private var versions: [ClusterPath: UInt32]
  /// Clusters that changed while they were being reported.
  private var inconsistent: Set<ClusterPath> = []
  /// The number after that of the last reported event.
  private var nextEvent: UInt64?

  init(_ node: NodeID, _ request: SubscriptionRequest, at now: Instant) {
    self.node = node
    self.request = request
    nextEvent = request.eventMin
    versions = request.knownVersions
    lostAt = now
  }

  // MARK: State

  /// The session of the reports.
  var session: SessionID? {
    if case .established(_, let session, _) = state { session } else { nil }
  }

  var isWaiting: Bool { if case .waiting = state { true } else { false } }

  /// The subscription ids on the device: two during a renewal.
  var keys: [SubscriptionKey] {
    if case .established(let key, _, _) = state { [key, pending ?? key] } else { pending.map { [$0] } ?? [] }
  }

  /// The next deadline.
  var wakeUp: Instant? { .earlier(deadline, overdueAt) }
  func isDue(at now: Instant) -> Bool { wakeUp.map { $0 <= now } ?? false }

  /// Whether the phase of attempts at a short interval has not ended.
  func isEager(_ policy: RenewalPolicy, at now: Instant) -> Bool { lostAt.map { now < $0 + policy.eagerTime } ?? false }

  // MARK: Requests

  /// The request for the first attempt or for a renewal.
  var nextRequest: SubscribeRequest {
    // A renewal must not end subscriptions made in the meantime.
    let keeps = request.keepsOthers || wasEstablished || failures > 0
    var next = SubscribeRequest(
      keepSubscriptions: keeps, minIntervalFloor: UInt16(clamping: request.minInterval.components.seconds),
      maxIntervalCeiling: UInt16(clamping: request.maxInterval.components.seconds), attributePaths: request.paths,
      eventPaths: request.events, isFabricFiltered: request.isFabricFiltered)
    if !request.events.isEmpty, let nextEvent { next.eventFilters = [EventFilter(eventMin: nextEvent)] }
    // A filter takes up to 22 bytes, a path up to 24.
    let room = InteractionLimits.maximumPayload - 64 - 24 * (request.paths.count + request.events.count)
    next.dataVersionFilters = filters(room / 22)
    return next
  }

  /// Data version filters of a renewal, at most `limit`.
  private func filters(_ limit: Int) -> [DataVersionFilter] {
    let complete = versions.filter { !inconsistent.contains($0.key) }.sorted { $0.key < $1.key }
    return complete.prefix(max(0, limit)).map { DataVersionFilter($0.key, dataVersion: $0.value) }
  }

  // MARK: Progress

  /// Handles the first report of a granted request.
  /// - Parameter time: the latest time of the next message. Sending the first reports of a replacement may take longer
  ///   than the deadline of the current subscription.
  mutating func expect(_ key: SubscriptionKey, until time: Instant) {
    pending = key
    if isRenewing, let deadline { self.deadline = max(deadline, time) }
  }

  mutating func establish(_ key: SubscriptionKey, on session: SessionID, maxInterval: Duration) {
    state = .established(key, session, maxInterval: maxInterval)
    pending = nil
    isRenewing = false
    wasEstablished = true
    failures = 0
    lostAt = nil
  }

  /// Extends the deadline after a message of the device: one maximum interval plus the time for retransmissions.
  mutating func extendDeadline(_ parameters: SessionParameters, at now: Instant) {
    guard case .established(_, _, let interval) = state else { return }
    let allowance = Retransmission.longest(parameters, isActive: false)
    deadline = now + interval + allowance
    overdueAt = now + interval + allowance / 4
  }

  /// Renews an established subscription unless it reports by this time.
  mutating func expectReport(by time: Instant) { overdueAt = .earlier(overdueAt, time) }

  /// Moves an established subscription to the session that the device opened after a restart.
  mutating func move(to session: SessionID) {
    if case .established(let key, _, let interval) = state { state = .established(key, session, maxInterval: interval) }
  }

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

  // MARK: Loss and renewal

  /// Handles a deadline, or ends the wait for the next attempt.
  mutating func advance(to now: Instant) -> Step {
    switch state {
    case .established(_, let session, _):
      guard let deadline, deadline > now else { return .lose(session) }
      guard let overdueAt, overdueAt <= now else { return .wait }
      self.overdueAt = nil
      return .replace
    case .waiting:
      state = .requesting
      deadline = nil
      return .request
    case .requesting:
      deadline = nil
      return .wait
    }
  }

  /// - Returns: false if a replacement is being requested already.
  mutating func startRenewing() -> Bool {
    defer { isRenewing = true }
    return !isRenewing
  }

  mutating func stopRenewing() { (isRenewing, pending) = (false, nil) }

  /// Handles a failed request. After ``Failure/retry``, call ``SubscriptionTable/scheduleRetry(_:_:random:at:)``.
  mutating func fail(_ error: ControllerError, _ policy: RenewalPolicy, at now: Instant) -> Failure {
    if isRenewing { return .stopRenewing }
    guard wasEstablished || request.retriesFirstAttempt else { return .complete }
    // The back-off starts after the eager phase.
    if failures == 0 || !isEager(policy, at: now) { failures += 1 }
    // A device that answers incorrectly with filters is asked for everything.
    if !error.isTransport { (versions, inconsistent) = ([:], []) }
    return .retry
  }

  /// Waits for the next attempt.
  /// - Returns: the delay, with a random part.
  mutating func wait(
    _ policy: RenewalPolicy, random: inout any RandomSource, at now: Instant
  ) -> Duration {
    lostAt = lostAt ?? now
    var delay = policy.delay(attempt: failures, isEager: isEager(policy, at: now))
    if delay > .zero, policy.jitterDivisor > 0 {
      let bound = UInt64(delay.nanoseconds / policy.jitterDivisor) + 1
      delay += .nanoseconds(Int64(random.next() % bound))
    }
    pending = nil
    overdueAt = nil
    state = .waiting
    deadline = now + delay
    return delay
  }
}
