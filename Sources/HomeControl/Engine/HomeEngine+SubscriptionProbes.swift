internal import MatterClusters
internal import MatterController
package import MatterModel
package import MatterProtocol

/// A check whether a node still has an established subscription. It may have restarted, if it announced itself again,
/// or have ended the subscription while this process was suspended.
struct SubscriptionProbe: Sendable {
  /// The time when the check began.
  let since: Instant
  /// The time of the probe, or the end of its timeout.
  var due: Instant
  var isSent = false
  /// Whether the subscription is renewed without a probe: messages of the node may have been sent before its restart or
  /// during the suspension of this process.
  var isCertain = false
}

/// The subscriptions that are checked, and when.
struct SubscriptionProbes: Sendable {
  private var probes: [NodeID: SubscriptionProbe] = [:]
  private var deadlines = Deadlines<NodeID>()

  var isEmpty: Bool { probes.isEmpty }
  var nextDeadline: Instant? { deadlines.first }

  subscript(node: NodeID) -> SubscriptionProbe? {
    get { probes[node] }
    set {
      probes[node] = newValue
      deadlines[node] = newValue?.due
    }
  }

  /// Returns the probes that are due, the earliest first.
  func due(at now: Instant) -> [(node: NodeID, probe: SubscriptionProbe)] {
    deadlines.due(at: now).compactMap { node in probes[node].map { (node, $0) } }
      .sorted { ($0.probe.due, $0.node) < ($1.probe.due, $1.node) }
  }
}

// A node that restarts within the reporting interval does not miss a report, but its subscription is lost: only probes
// detect this.
extension HomeEngine {
  /// The time that a restarted node takes to announce itself: it probes for its name first, except after a move or
  /// without other hosts. RFC 6762 § 8.1. An announcement sooner after the subscription usually is of the node as it
  /// granted the subscription, which has this time to send a message.
  private static let probingTime: Duration = .milliseconds(750)
  /// The time to process messages received during a suspension: such a report would seem to confirm the subscription.
  private static let resumeTime: Duration = .milliseconds(500)
  /// The interval between probes of a repeatedly announced node, doubled for each further one.
  private static let probePeriod: Duration = .milliseconds(750)
  private static let longestProbePeriod: Duration = .seconds(5)
  /// The timeout of a probe. A restarted node does not answer, because it has lost the session.
  private static let answerTime: Duration = .seconds(1)
  /// The timeout of a renewal that was started again.
  private static let renewalTime: Duration = .seconds(30)

  /// Checks the subscription of a node that announced itself, by a probe over the existing session.
  /// - Parameter isCertain: whether the subscription is lost for certain, so that it is renewed without a probe.
  mutating func probe(_ node: NodeID, isCertain: Bool = false, at now: Instant) {
    guard configuration.hooks.probesSubscriptions, let followed = followed[node], let handle = followed.handle else {
      return
    }
    // A pending probe is not repeated. After an answer, this may be the same announcement on another interface, or the
    // node may have restarted since.
    if let probe = probes[node], probe.isCertain || probe.isSent && !hasAnswered(node, probe) { return }
    guard !controller.isRenewing(handle) else {
      // The node may have restarted during a renewal, which therefore gets a timeout. The renewal itself causes
      // announcements, so it is not started again if it takes longer.
      let due = [now + Self.answerTime, followed.renewalRestartedAt.map { $0 + Self.renewalTime } ?? now]
      probes[node] = SubscriptionProbe(since: now, due: due.reduce(now, max), isSent: true)
      return
    }
    guard !isCertain else {
      probes[node] = SubscriptionProbe(since: now, due: now, isCertain: true)
      return advanceProbes(at: now)
    }
    let times = [
      followed.probedAt.map { $0 + Self.period(after: followed.probeCount) },
      followed.establishedAt.map { $0 + Self.probingTime },
    ]
    probes[node] = SubscriptionProbe(since: now, due: times.compactMap(\.self).reduce(now, max))
    advanceProbes(at: now)
  }

  /// Handles a suspension of this process or machine that may have made nodes end their subscriptions. Renews
  /// all subscriptions while the old ones continue, so that reachable nodes don't become offline.
  package mutating func awake(at now: Instant) {
    for (node, followed) in followed {
      guard let handle = followed.handle, controller.isEstablished(handle), !controller.isRenewing(handle),
        !controller.isAsleep(node, at: now)
      else { continue }
      probes[node] = SubscriptionProbe(since: now, due: now + Self.resumeTime, isCertain: true)
    }
  }

  /// The addresses of this host changed. Renews all subscriptions, and retries at once those that are not established.
  package mutating func addressesChanged(at now: Instant) {
    awake(at: now)
    for node in followed.keys.sorted() { retryNow(node, at: now) }
  }

  /// Sends due probes, and renews the subscriptions of nodes that did not answer. The number of concurrent renewals is
  /// limited like that of connection attempts, because after a power failure all nodes may need one.
  mutating func advanceProbes(at now: Instant) {
    for (node, probe) in probes.due(at: now) {
      guard let handle = followed[node]?.handle, probe.isCertain || !hasAnswered(node, probe) else {
        probes[node] = nil
        continue
      }
      guard probe.isSent || probe.isCertain else {
        probes[node] = SubscriptionProbe(since: probe.since, due: now + Self.answerTime, isSent: true)
        noteProbe(of: node, at: now)
        sendProbe(to: node, timeout: Self.answerTime, at: now)
        continue
      }
      attempts = attempts.filter { $0.value > now }
      if attempts.count >= configuration.maximumAttempts, let room = attempts.values.min() {
        probes[node]?.due = room
        continue
      }
      probes[node] = nil
      if controller.isRenewing(handle) { followed[node]?.renewalRestartedAt = now }
      attempts[node] = now + configuration.attemptTimeout
      perform(at: now) { controller, now in controller.renewInParallel(handle, at: now) }
    }
  }

  private static func period(after probeCount: Int) -> Duration {
    min(probePeriod * (1 << min(probeCount, 3)), longestProbePeriod)
  }

  private mutating func noteProbe(of node: NodeID, at now: Instant) {
    guard var entry = followed[node] else { return }
    let isRepeated = entry.probedAt.map { now < $0 + Self.longestProbePeriod * 2 } == true
    entry.probeCount = isRepeated ? min(entry.probeCount + 1, 3) : 0
    entry.probedAt = now
    followed[node] = entry
  }

  /// Whether the node sent a message over the session of its subscription since the check began; also true without a
  /// subscription.
  private func hasAnswered(_ node: NodeID, _ probe: SubscriptionProbe) -> Bool {
    guard let handle = followed[node]?.handle, let heard = controller.lastHeard(handle) else { return true }
    return heard > probe.since
  }

  /// Reads a small attribute, to get any answer of the node.
  package mutating func sendProbe(to node: NodeID, timeout: Duration, at now: Instant) {
    let path = AttributePath(BasicInformation.dataModelRevision.path(on: .root))
    _ = begin(node, at: now) { controller, now in controller.read(node, [path], timeout: timeout, at: now) }
  }
}
