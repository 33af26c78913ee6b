internal import MatterClusters
internal import MatterController
package import MatterModel
package import MatterProtocol

/// A subscription that stands may be one that its node knows nothing of: the node announced itself, and may have been started
/// again; or we did not listen for so long that it has given us up.
struct SubscriptionProbe: Sendable {
  /// Since when.
  let since: Instant
  /// When it was asked, or is to be.
  var due: Instant
  var isAsked = false
  /// Whether no sign of the node settles it: what is heard may be of before we listened again, or of its life before this one.
  var isCertain = false
}

// Who was started again in less time than a report takes is not missed by anybody, and what it says until then is said to nobody.
extension HomeEngine {
  /// Somebody who begins anew looks for others of his name for so long before he announces himself, unless he is alone with us or
  /// has only moved. RFC 6762 § 8.1. So an announcement that comes sooner after our subscription is most of the time of the node
  /// that granted it, which has this time for a sign.
  private static let probingTime: Duration = .milliseconds(750)
  /// Whoever did not listen has this time for what came meanwhile: a report of before would show that a subscription stands.
  private static let wakingTime: Duration = .milliseconds(500)
  /// A node that is announced again is asked again after this time, and after twice as long each time that goes on.
  private static let questionPeriod: Duration = .milliseconds(750)
  private static let longestQuestionPeriod: Duration = .seconds(5)
  /// How long a node has for a sign that it knows us. Nothing comes from one that does not: it has no session to say so on.
  private static let answerTime: Duration = .seconds(1)
  /// How long a renewal has that was begun again.
  private static let renewalTime: Duration = .seconds(30)

  /// A node was announced that is taken to be there. Whether it knows us it is asked over the session that we have with it.
  /// - Parameter isCertain: it does not: it is not asked first.
  mutating func probe(_ node: NodeID, isCertain: Bool = false, at now: Instant) {
    guard configuration.hooks.probesSubscriptions, let followed = followed[node], let handle = followed.handle else {
      return
    }
    // One that still has not answered is asked no second time. Where it has, this may be the same announcement on another
    // interface; or it was started again since, and its answer is worth nothing.
    if let probe = probes[node], probe.isCertain || probe.isAsked && !isHeard(node, probe) { return }
    guard !controller.isRenewing(handle) else {
      // Who was asked for a new subscription may have gone again meanwhile: it has so long to grant it. But it is heard of, too,
      // because it is looked for: where all takes longer than that, the beginning is not made time and again.
      let begin = [now + Self.answerTime, followed.begunAgainAt.map { $0 + Self.renewalTime } ?? now]
      probes[node] = SubscriptionProbe(since: now, due: begin.reduce(now, max), isAsked: true)
      return
    }
    guard !isCertain else {
      probes[node] = SubscriptionProbe(since: now, due: now, isCertain: true)
      return settleProbes(at: now)
    }
    let times = [
      followed.askedAt.map { $0 + Self.period(after: followed.questions) },
      followed.establishedAt.map { $0 + Self.probingTime },
    ]
    probes[node] = SubscriptionProbe(since: now, due: times.compactMap(\.self).reduce(now, max))
    settleProbes(at: now)
  }

  /// This process did not run for so long, or the machine, that nodes whose reports were not acknowledged may have given it up.
  /// All subscriptions are made anew, beside the old ones: who was there all the time is not said to have been away.
  package mutating func awake(at now: Instant) {
    for (node, followed) in followed {
      guard let handle = followed.handle, controller.isEstablished(handle), !controller.isRenewing(handle) else {
        continue
      }
      probes[node] = SubscriptionProbe(since: now, due: now + Self.wakingTime, isCertain: true)
    }
  }

  /// The addresses of this host changed. Renews all subscriptions, and retries at once those that are not established.
  package mutating func addressesChanged(at now: Instant) {
    awake(at: now)
    for node in followed.keys.sorted() { retryNow(node, at: now) }
  }

  var probeDeadline: Instant? { probes.values.map(\.due).min() }

  /// Asks those that are to be asked, and makes the subscriptions of those anew that gave no sign. No more of them at a time
  /// than are called at the start: after a power cut it may be all.
  mutating func settleProbes(at now: Instant) {
    guard probeDeadline.map({ $0 <= now }) == true else { return }
    for (node, probe) in probes.sorted(by: { ($0.value.due, $0.key) < ($1.value.due, $1.key) }) where probe.due <= now {
      guard let handle = followed[node]?.handle, probe.isCertain || !isHeard(node, probe) else {
        probes[node] = nil
        continue
      }
      guard probe.isAsked || probe.isCertain else {
        probes[node] = SubscriptionProbe(since: probe.since, due: now + Self.answerTime, isAsked: true)
        note(questionTo: node, at: now)
        ask(node, for: Self.answerTime, at: now)
        continue
      }
      calls = calls.filter { $0.value > now }
      if calls.count >= configuration.maximumCalls, let room = calls.values.min() {
        probes[node]?.due = room
        continue
      }
      probes[node] = nil
      if controller.isRenewing(handle) { followed[node]?.begunAgainAt = now }
      calls[node] = now + configuration.callTimeout
      perform(at: now) { controller, now in controller.renewInParallel(handle, at: now) }
    }
  }

  private static func period(after questions: Int) -> Duration {
    min(questionPeriod * (1 << min(questions, 3)), longestQuestionPeriod)
  }

  private mutating func note(questionTo node: NodeID, at now: Instant) {
    guard var entry = followed[node] else { return }
    let isRepeated = entry.askedAt.map { now < $0 + Self.longestQuestionPeriod * 2 } == true
    entry.questions = isRepeated ? min(entry.questions + 1, 3) : 0
    entry.askedAt = now
    followed[node] = entry
  }

  /// Whether it has been heard since, over the session that its reports come on; or nothing stands any more.
  private func isHeard(_ node: NodeID, _ probe: SubscriptionProbe) -> Bool {
    guard let handle = followed[node]?.handle, let heard = controller.lastHeard(handle) else { return true }
    return heard > probe.since
  }

  /// A small question, for any sign of the node.
  package mutating func ask(_ node: NodeID, for time: Duration, at now: Instant) {
    let path = AttributePath(BasicInformation.dataModelRevision.path(on: .root))
    _ = begin(node, at: now) { controller, now in controller.read(node, [path], timeout: time, at: now) }
  }
}
