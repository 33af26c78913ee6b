internal import HomeControl
internal import HomeModel
internal import HomeStore
internal import MatterController
internal import MatterModel
internal import MatterProtocol
internal import NIOCore
internal import Runtime

/// What a subscription to a device would tell, made of what the hub tells of the home: the hub has one subscription with each
/// device, to everything, for all its clients. Confined to the event loop.
///
/// The first values are those that the hub has; what it lacks, and events of before, it is asked for. The longest time without a
/// report is the hub's own.
final class HubSubscription {
  typealias Continuation = AsyncThrowingStream<SubscriptionNews, any Error>.Continuation

  private let node: NodeID
  private let request: SubscriptionRequest
  private weak var client: HubClient?
  private let eventLoop: any EventLoop
  private let continuation: Continuation
  private var ear: Int?
  private var isOver = false
  /// Whether the device is online, and has ever been.
  private var isUp = false, wasUp = false
  private var isLossTold = false
  /// What happens while the first values are not all there; nil: they are, or nobody has asked for them yet.
  private var held: [SubscriptionNews]?
  /// What comes too soon behind the last report, and where in it each attribute is.
  private var waiting: [SubscriptionNews] = []
  private var places: [ConcreteAttributePath: Int] = [:]
  private var lastReport: NIODeadline?
  private var timer: Scheduled<Void>?
  private var timeout: Scheduled<Void>?

  init(_ node: NodeID, _ request: SubscriptionRequest, of client: HubClient, _ continuation: Continuation) {
    self.node = node
    self.request = request
    self.client = client
    self.continuation = continuation
    eventLoop = client.eventLoop
  }

  func begin() {
    guard let client else { return }
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    if !request.retriesFirstAttempt {
      timeout = eventLoop.scheduleTask(in: .nanoseconds(client.options.timeout.nanoseconds)) {
        bound.value.finish(HomeError(.timedOut, "did not come online in time"))
      }
    }
    ear = client.view.observers.addEar { [self] news in
      hear(news)
      return !isOver
    }
    look(client.view.reducer)
  }

  /// Nobody listens any more.
  func end() {
    guard !isOver else { return }
    isOver = true
    timer?.cancel()
    timeout?.cancel()
    if let ear { client?.view.observers.removeEar(ear) }
  }

  private func finish(_ error: HomeError?) {
    guard !isOver else { return }
    end()
    continuation.finish(throwing: error)
  }

  // MARK: Hearing

  private func hear(_ news: HomeObservers.News) {
    guard !isOver else { return }
    switch news {
    case .update(let update, let reducer):
      if wasUp { report(update.changes.compactMap { self.news(of: $0) }) }
      look(reducer)
    case .reloaded(let reducer, let old, _):
      if wasUp {
        report(
          values(of: reducer).filter { old.state.value(node, $0.path) != $0.value }.map { .attribute($0, value: $1) })
      }
      look(reducer)
    case .hub, .contacts: break
    case .ended: finish(nil)
    }
  }

  private func news(of change: HomeChange) -> SubscriptionNews? {
    switch change {
    case .attribute(node, let path, let value?) where request.paths.contains { $0.matches(path) }:
      .attribute(path, value: value)
    case .event(node, let data) where isWanted(data): .event(data)
    default: nil
    }
  }

  private func isWanted(_ event: EventData) -> Bool {
    event.number >= request.eventMin ?? 0 && request.events.contains { $0.matches(event.path) }
  }

  /// All that is asked for and known.
  private func values(of reducer: HomeReducer) -> [(path: ConcreteAttributePath, value: [UInt8])] {
    guard let known = reducer.state.values[node] else { return [] }
    var all: [(ConcreteAttributePath, [UInt8])] = []
    for endpoint in known.endpointIDs {
      for (cluster, values) in known[endpoint].sorted(by: { $0.key < $1.key }) {
        for entry in values.entries {
          let path = ConcreteAttributePath(endpoint, cluster, entry.attribute)
          if request.paths.contains(where: { $0.matches(path) }) { all.append((path, entry.value)) }
        }
      }
    }
    return all
  }

  /// Whether the device is there, or has come or gone.
  private func look(_ reducer: HomeReducer) {
    guard let status = reducer.state.source(SourceID(node))?.status else {
      return finish(HomeError(.notFound, "no longer in the home"))
    }
    switch status.connectivity.connectivityState {
    case .online, .partiallyOnline:
      guard !isUp else { return }
      (isUp, isLossTold) = (true, false)
      if wasUp { tell(.established(maxInterval: interval(reducer))) } else { tellFirst(reducer) }
    case .offline:
      let error = HomeError(.unreachable, "offline: \((status.reason ?? .subscriptionLost).text)")
      guard wasUp || request.retriesFirstAttempt else { return finish(error) }
      guard !isLossTold else { return }
      (isUp, isLossTold) = (false, true)
      flush()
      tell(.lost(error, retryingIn: .zero))
    case .unknown: isUp = false
    }
  }

  /// The time in which the hub hears of the device, or takes it for gone.
  private func interval(_ reducer: HomeReducer) -> Duration {
    guard let contact = reducer.contacts[node], let last = contact.last, let next = contact.nextReport,
      last >= 0, next > last, next - last < 86_400_000_000
    else { return request.maxInterval }
    return .seconds((next - last) / 1_000_000)
  }

  // MARK: The first values

  private func tellFirst(_ reducer: HomeReducer) {
    wasUp = true
    timeout?.cancel()
    let known = values(of: reducer)
    for (path, value) in known { continuation.yield(.attribute(path, value: value)) }
    let paths = Set(known.map(\.path))
    let missing = request.paths.filter { path in path.concrete.map { !paths.contains($0) } ?? false }
    let interval = interval(reducer)
    guard let client, !missing.isEmpty || !request.events.isEmpty else { return toldFirst(interval) }
    held = []
    let (node, lastEvent) = (node, reducer.state.lastEvents[node] ?? 0)
    let devices = Set(reducer.state.sources(of: node).compactMap { reducer.state.device(of: $0.id)?.id })
    let (bound, loop, wantsEvents) = (NIOLoopBound(self, eventLoop: eventLoop), eventLoop, !request.events.isEmpty)
    client.options.machine.task {
      let answer =
        missing.isEmpty
        ? nil
        : try? await client.perform(.read(node: node, paths: missing, isFabricFiltered: true, timeout: nil))
      let events = wantsEvents ? await client.events(of: node, devices, until: lastEvent) : []
      loop.execute { bound.value.take(answer, events, interval) }
    }
  }

  private func take(_ answer: HomeReply?, _ events: [EventData], _ interval: Duration) {
    guard !isOver else { return }
    if case .report(let attributes, let statuses)? = answer {
      for attribute in attributes { continuation.yield(.attribute(attribute.path, value: attribute.value)) }
      for status in statuses { continuation.yield(.status(status.path, status.status)) }
    }
    for event in events where isWanted(event) { continuation.yield(.event(event)) }
    toldFirst(interval)
  }

  private func toldFirst(_ interval: Duration) {
    continuation.yield(.reportEnd)
    continuation.yield(.established(maxInterval: interval))
    lastReport = eventLoop.now
    let meanwhile = held ?? []
    held = nil
    for news in meanwhile { continuation.yield(news) }
  }

  // MARK: Telling

  private func tell(_ news: SubscriptionNews) {
    if held != nil { held?.append(news) } else { continuation.yield(news) }
  }

  /// Tells something now, or together with what follows it when the least time between reports has passed.
  private func report(_ news: [SubscriptionNews]) {
    guard !news.isEmpty else { return }
    for one in news {
      if case .attribute(let path, _) = one {
        if let place = places[path] {
          waiting[place] = one
          continue
        }
        places[path] = waiting.count
      }
      waiting.append(one)
    }
    let due = (lastReport ?? eventLoop.now) + .nanoseconds(request.minInterval.nanoseconds)
    guard request.minInterval > .zero, held == nil, due > eventLoop.now else { return flush() }
    guard timer == nil else { return }
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    timer = eventLoop.scheduleTask(deadline: due) { bound.value.flush() }
  }

  private func flush() {
    timer?.cancel()
    timer = nil
    guard !waiting.isEmpty, !isOver else { return }
    for news in waiting { tell(news) }
    tell(.reportEnd)
    (waiting, places) = ([], [:])
    lastReport = eventLoop.now
  }
}

extension HubClient {
  /// The events of a node that the hub's log has, up to a number.
  fileprivate func events(of node: NodeID, _ devices: Set<String>, until last: UInt64) async -> [EventData] {
    var events: [EventData] = []
    var anchor: Anchor?
    while true {
      let page = try? await samples(after: anchor, SampleFilter(.event, devices: devices), limit: 1000)
      // A log that was made shorter has no beginning: what came before now is not told then.
      guard case .samples(let samples, let next, let isComplete)? = page else { return events }
      for case .event(node, let data) in samples.map(\.change) where data.number <= last { events.append(data) }
      if isComplete { return events }
      anchor = next
    }
  }
}
