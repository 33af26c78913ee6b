import MatterCrypto
import MatterModel
import MatterProtocol
import Testing

@testable import MatterController

/// One subscription, without engine and session.
@Suite struct SubscriptionStateTests {
  private let key = SubscriptionKey(node: 1, id: 7)
  private let allowance = Retransmission.longest(SessionParameters(), isActive: false)
  private let policy: RenewalPolicy = {
    var policy = RenewalPolicy()
    policy.jitterDivisor = 0
    return policy
  }()

  private func subscription(_ change: (inout SubscriptionRequest) -> Void = { _ in }) -> Subscription {
    var request = SubscriptionRequest(paths: [AttributePath(cluster: 6)], keepsOthers: false)
    change(&request)
    return Subscription(1, request, at: .zero)
  }

  private func established(_ change: (inout SubscriptionRequest) -> Void = { _ in }) -> Subscription {
    var subscription = subscription(change)
    subscription.expect(key, until: .at(10))
    subscription.establish(key, on: .number(3), maxInterval: .seconds(60))
    subscription.extendDeadline(SessionParameters(), at: .zero)
    return subscription
  }

  private func wait(_ subscription: inout Subscription, _ policy: RenewalPolicy, at now: Instant) -> Duration {
    var random: any RandomSource = SeededRandomSource(seed: 1)
    return subscription.wait(policy, random: &random, at: now)
  }

  private func data(_ endpoint: UInt16, version: UInt32) -> AttributeData {
    AttributeData(ConcreteAttributePath(EndpointID(rawValue: endpoint), 6, 0), dataVersion: version, value: [8])
  }

  // MARK: Deadlines

  @Test("requests a replacement for an overdue report once, and is lost at the deadline") func deadlines() {
    var subscription = established()
    let overdue = Instant.at(60) + allowance / 4
    let deadline = Instant.at(60) + allowance
    #expect(subscription.wakeUp == overdue && subscription.deadline == deadline)
    #expect(!subscription.isDue(at: .at(60)) && subscription.isDue(at: overdue))
    let steps = [
      subscription.advance(to: .at(60)), subscription.advance(to: overdue), subscription.advance(to: overdue),
    ]
    #expect(steps == [.wait, .replace, .wait])
    #expect(subscription.wakeUp == deadline)
    let last = subscription.advance(to: deadline)
    #expect(last == .lose(.number(3)))
  }

  @Test func extendsDeadlineWithEachMessage() {
    var subscription = established()
    subscription.extendDeadline(SessionParameters(), at: .at(50))
    #expect(subscription.deadline == .at(110) + allowance)
    subscription.expectReport(by: .at(55))
    subscription.expectReport(by: .at(58))
    #expect(subscription.overdueAt == .at(55), "the earlier time applies")
    var requesting = self.subscription()
    requesting.extendDeadline(SessionParameters(), at: .zero)
    #expect(requesting.wakeUp == nil)
  }

  @Test func movesToAnotherSession() {
    var subscription = established()
    subscription.move(to: .number(4))
    #expect(subscription.session == .number(4) && subscription.keys.allSatisfy { $0 == key })
    var requesting = self.subscription()
    requesting.move(to: .number(4))
    #expect(requesting.session == nil)
  }

  // MARK: Renewal

  @Test("keeps the current subscription until the replacement is established") func replacement() {
    var subscription = established()
    let starts = [subscription.startRenewing(), subscription.startRenewing()]
    #expect(starts == [true, false])
    let other = SubscriptionKey(node: 1, id: 8)
    // The first reports of the replacement may take longer than the deadline.
    subscription.expect(other, until: .at(900))
    #expect(subscription.deadline == .at(900) && subscription.session == .number(3))
    #expect(subscription.keys == [key, other])
    subscription.establish(other, on: .number(4), maxInterval: .seconds(30))
    #expect(subscription.session == .number(4) && !subscription.isRenewing && subscription.pending == nil)
    #expect(Set(subscription.keys) == [other])
  }

  @Test func stopsRenewing() {
    var subscription = established()
    _ = subscription.startRenewing()
    subscription.expect(SubscriptionKey(node: 1, id: 8), until: .zero)
    #expect(subscription.deadline == .at(60) + allowance, "an earlier time does not shorten the deadline")
    subscription.stopRenewing()
    #expect(!subscription.isRenewing && Set(subscription.keys) == [key])
  }

  @Test("decides what a failed request ends") func failures() {
    var first = subscription()
    let firstFailure = first.fail(.timedOut, policy, at: .zero)
    #expect(firstFailure == .complete)
    var retried = subscription { $0.retriesFirstAttempt = true }
    let retriedFailure = retried.fail(.timedOut, policy, at: .zero)
    #expect(retriedFailure == .retry)
    var renewed = established()
    let renewedFailure = renewed.fail(.timedOut, policy, at: .zero)
    #expect(renewedFailure == .retry)
    _ = renewed.startRenewing()
    let replacementFailure = renewed.fail(.timedOut, policy, at: .zero)
    #expect(replacementFailure == .stopRenewing)
  }

  @Test("retries at once, then at a short interval, then with exponential back-off") func backsOff() {
    var subscription = established()
    var delays = [wait(&subscription, policy, at: .zero)]
    #expect(subscription.isWaiting && subscription.wakeUp == .zero && subscription.session == nil)
    for second in [1, 60, 149, 150, 160, 170] {
      let step = subscription.advance(to: .at(Double(second)))
      #expect(step == .request && subscription.wakeUp == nil)
      _ = subscription.fail(.unreachable, policy, at: .at(Double(second)))
      delays.append(wait(&subscription, policy, at: .at(Double(second))))
    }
    #expect(delays.map(\.milliseconds) == [0, 500, 500, 500, 2000, 4000, 8000])
    for _ in 0..<20 {
      _ = subscription.fail(.unreachable, policy, at: .at(200))
      _ = wait(&subscription, policy, at: .at(200))
    }
    #expect(subscription.deadline == .at(200) + policy.maximumDelay)
    // The next loss starts again.
    subscription.establish(key, on: .number(3), maxInterval: .seconds(60))
    let next = wait(&subscription, policy, at: .at(1000))
    #expect(
      next == .zero && subscription.isEager(policy, at: .at(1149)) && !subscription.isEager(policy, at: .at(1150)))
  }

  @Test("adds a random part of at most a quarter to a delay") func jitter() {
    let policy = RenewalPolicy()
    var random: any RandomSource = SeededRandomSource(seed: 5)
    var delays: Set<Duration> = []
    for _ in 0..<50 {
      var subscription = established()
      let first = subscription.wait(policy, random: &random, at: .zero)
      #expect(first == .zero, "without a delay there is no random part")
      _ = subscription.fail(.unreachable, policy, at: .at(200))
      let delay = subscription.wait(policy, random: &random, at: .at(200))
      #expect(delay >= .seconds(1) && delay <= .milliseconds(1250))
      delays.insert(delay)
    }
    #expect(delays.count > 40)
  }

  // MARK: Requests

  @Test("only the first request may end other subscriptions") func keepsOthers() {
    var subscription = subscription { $0.retriesFirstAttempt = true }
    #expect(!subscription.nextRequest.keepSubscriptions)
    _ = subscription.fail(.timedOut, policy, at: .zero)
    #expect(subscription.nextRequest.keepSubscriptions)
    #expect(established().nextRequest.keepSubscriptions)
  }

  @Test("filters clusters that were reported completely") func filters() {
    var subscription = established { $0.knownVersions = [ClusterPath(9, 6): 4] }
    subscription.note(ReassembledReport([data(1, version: 3), data(2, version: 5), data(2, version: 6)], []))
    func filters() -> [DataVersionFilter] { subscription.nextRequest.dataVersionFilters }
    #expect(filters() == [.init(ClusterPath(1, 6), dataVersion: 3), .init(ClusterPath(9, 6), dataVersion: 4)])
    subscription.note(ReassembledReport([data(1, version: 8)], []))
    #expect(filters().first?.dataVersion == 8)
    _ = subscription.fail(.unreachable, policy, at: .zero)
    #expect(filters().count == 2)
    // The device may have misunderstood the filters.
    _ = subscription.fail(.unexpectedResponse("?"), policy, at: .zero)
    #expect(filters().isEmpty)
  }

  @Test func limitsFiltersToOneMessage() throws {
    var subscription = established()
    subscription.note(ReassembledReport((0..<200).map { data($0, version: .max) }, []))
    let request = subscription.nextRequest
    #expect(request.dataVersionFilters.count > 40 && request.dataVersionFilters.count < 200)
    #expect(request.encoded.count <= InteractionLimits.maximumPayload)
    // Paths come first.
    var many = established { $0.paths = Array(repeating: AttributePath(cluster: 6), count: 60) }
    many.note(ReassembledReport([data(1, version: 3)], []))
    #expect(many.nextRequest.dataVersionFilters.isEmpty)
  }

  @Test func requestsEventsAfterTheLastReported() throws {
    var report = ReassembledReport()
    let event = EventData(
      ConcreteEventPath(1, 6, 0), number: 41, priority: .info, timestamp: .system(1), payload: nil)
    try report.append(ReportData(eventReports: [.data(event)]))
    var subscription = established { $0.events = [EventPath()] }
    #expect(subscription.nextRequest.eventFilters.isEmpty)
    subscription.note(report)
    #expect(subscription.nextRequest.eventFilters == [EventFilter(eventMin: 42)])
    var silent = established()
    silent.note(report)
    #expect(silent.nextRequest.eventFilters.isEmpty, "without event paths")
  }
}
