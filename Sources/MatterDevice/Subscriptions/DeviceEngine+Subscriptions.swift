internal import MatterModel
internal import MatterProtocol

extension DeviceEngine {
  /// The ids of active subscriptions, whose first report was confirmed. Matter Core § 8.5.1.
  public var standingSubscriptions: [UInt32] { subscriptions.filter(\.isActive).map(\.id) }

  /// Adds a subscription and starts its first report. Matter Core § 8.5.1.
  mutating func subscribe(
    _ request: SubscribeRequest, _ subject: Subject, on exchange: ExchangeID
  ) throws(StatusError) {
    guard request.minIntervalFloor <= request.maxIntervalCeiling,
      !request.attributePaths.isEmpty || !request.eventPaths.isEmpty
    else { throw StatusError(.invalidAction) }
    if !request.keepSubscriptions {
      for old in subscriptions where old.subject.fabric == subject.fabric && old.subject.node == subject.node {
        end(old.id)
      }
      forgetResumptions { $0.fabric == subject.fabric && $0.node == subject.node }
    }
    context.subject = subject
    defer { context.subject = .device }
    // Without the data version filters: the paths must select something even if the subscriber has the current values.
    let all = try context.select(request.attributePaths, filters: [])
    let hasAttributes = all.contains { if case .attribute = $0 { true } else { false } }
    guard hasAttributes || request.eventPaths.contains(where: { context.canSelect($0) }) else {
      throw StatusError(.invalidAction)
    }
    guard !context.node.isFull(.subscriptions) else { throw StatusError(.resourceExhausted) }
    if subscriptions.count(where: { $0.subject.fabric == subject.fabric }) >= SubscriptionLimits.perFabric {
      // Existing subscriptions are evicted only if a hook requires it.
      guard hooks.evictsOldestSubscription, let oldest = subscriptions.first else {
        throw StatusError(.resourceExhausted)
      }
      end(oldest.id)
    }
    // A subscription that has not been resumed yet is evicted instead.
    let pending = resumptions.flatMap(\.subscriptions).filter { $0.fabric == subject.fabric }
    let count = subscriptions.count { $0.subject.fabric == subject.fabric } + pending.count
    if let oldest = pending.first, count >= SubscriptionLimits.perFabric { forgetResumptions { $0.key == oldest.key } }
    let id = newSubscriptionID()
    var subscription = Subscription(
      id: id, session: exchange.session, subject: subject, attributePaths: request.attributePaths,
      eventPaths: request.eventPaths, isFabricFiltered: request.isFabricFiltered,
      minimum: .seconds(Int64(request.minIntervalFloor)),
      maximumSeconds: maximumInterval(request),
      lastReport: now)
    var job = ReportJob(subscription: id, subject: subject, isFabricFiltered: request.isFabricFiltered)
    job.items =
      request.dataVersionFilters.isEmpty
      ? all : try context.select(request.attributePaths, filters: request.dataVersionFilters)
    (job.events, job.eventStatuses) = context.select(
      request.eventPaths, from: Self.minimum(request.eventFilters))
    job.primes = true
    subscription.nextEvent = context.node.events.next
    subscription.exchange = exchange
    subscriptions.append(subscription)
    proceed(job, on: exchange)
  }

  /// Selects the maximum reporting interval in seconds. § 8.5.3.2.
  private func maximumInterval(_ request: SubscribeRequest) -> UInt16 {
    let ceiling = min(request.maxIntervalCeiling, SubscriptionLimits.longestInterval)
    if let sleep = configuration.sleep { return sleep.maximumInterval(from: request.minIntervalFloor, to: ceiling) }
    return max(request.minIntervalFloor, ceiling, SubscriptionLimits.shortestInterval)
  }

  private mutating func newSubscriptionID() -> UInt32 {
    let taken = Set(subscriptions.map(\.id) + pendingResumptions)
    while taken.contains(nextSubscription) { nextSubscription &+= 1 }
    defer { nextSubscription &+= 1 }
    return nextSubscription
  }

  static func minimum(_ filters: [EventFilter]) -> UInt64 { filters.map(\.eventMin).max() ?? 0 }

  /// Activates a subscription after its first report was confirmed.
  mutating func activate(_ id: UInt32, on exchange: ExchangeID) {
    guard let index = subscriptions.firstIndex(where: { $0.id == id }) else {
      return refuse(.invalidSubscription, on: exchange)
    }
    subscriptions[index].isActive = true
    subscriptions[index].exchange = nil
    subscriptions[index].lastReport = now
    store(index)
    let response = SubscribeResponse(subscriptionID: id, maxInterval: subscriptions[index].maximumSeconds)
    core.send(SubscribeResponse.opcode.rawValue, on: exchange, then: .close, at: now) { response.encode(to: &$0) }
  }

  mutating func end(_ id: UInt32) {
    guard let index = subscriptions.firstIndex(where: { $0.id == id }) else { return }
    let subscription = subscriptions.remove(at: index)
    if subscription.stored != nil {
      let key = StoredSubscription.key(subscription.id, of: subscription.subject.fabric)
      context.node.changes.append(StoreChange(key, nil))
    }
    if let exchange = subscription.exchange {
      interactions[exchange] = nil
      core.close(exchange, at: now)
    }
  }

  /// Passes changed attributes and new events to the subscriptions.
  mutating func distributeChanges() {
    let events = context.node.events
    if events.next > distributedEvents {
      for event in events.records where event.number >= distributedEvents {
        for index in subscriptions.indices { subscriptions[index].note(event) }
      }
      distributedEvents = events.next
    }
    guard !context.node.dirty.isEmpty else { return }
    if !subscriptions.isEmpty {
      for path in context.node.dirty {
        for index in subscriptions.indices where !dropsChanges(subscriptions[index]) { subscriptions[index].note(path) }
      }
    }
    context.node.dirty.removeAll(keepingCapacity: context.node.dirty.count <= 4)
  }

  /// Whether a test drops changes while a report is in progress.
  private func dropsChanges(_ subscription: Subscription) -> Bool {
    !context.node.hooks.recordsChangesDuringReports && subscription.exchange != nil
  }

  /// Sends the reports that are due.
  /// - Parameter isLast: Whether to send pending changes immediately, regardless of the intervals.
  mutating func reportToSubscribers(isLast: Bool = false) {
    guard context.node.hooks.sendsReports else { return }
    let now = now
    guard isLast || subscriptions.contains(where: { $0.deadline.map { $0 <= now } ?? false }) else { return }
    for id in subscriptions.map(\.id) {
      guard let index = subscriptions.firstIndex(where: { $0.id == id }), let deadline = subscriptions[index].deadline
      else { continue }
      let hasChanges = !subscriptions[index].dirty.isEmpty || subscriptions[index].nextEvent < context.node.events.next
      if deadline <= now || (isLast && hasChanges) { report(index) }
    }
  }

  private mutating func report(_ index: Int) {
    let subscription = subscriptions[index]
    guard let exchange = core.openExchange(on: subscription.session, at: now) else { return end(subscription.id) }
    context.subject = subscription.subject
    var job = ReportJob(
      subscription: subscription.id, subject: subscription.subject, isFabricFiltered: subscription.isFabricFiltered)
    for path in subscription.dirty.sorted() {
      if case .success(let found) = context.lookUp(path) {
        job.items.append(.attribute(cluster: found.cluster, path.attribute))
      }
    }
    job.events = context.select(subscription.eventPaths, from: subscription.nextEvent).events
    context.subject = .device
    subscriptions[index].dirty = []
    subscriptions[index].isUrgent = false
    subscriptions[index].nextEvent = context.node.events.next
    subscriptions[index].lastReport = now
    subscriptions[index].exchange = exchange
    proceed(job, on: exchange)
  }
}
