internal import HomeControl
internal import HomeModel
internal import HomeStore
internal import MatterController
internal import MatterModel
internal import MatterProtocol
internal import NIOCore
internal import Runtime

/// A subscription to a device through a hub, which itself has one subscription to everything of each device for all its
/// clients: the events are derived from the changes of the home. Confined to the event loop.
///
/// The first values are those of the home. Missing values and earlier events are requested from the hub. The maximum interval
/// without a report is that of the hub.
final class HubSubscription {
  typealias Continuation = AsyncThrowingStream<SubscriptionEvent, any Error>.Continuation

  private let node: NodeID
  private let request: SubscriptionRequest
  private let client: HubClient
  private let continuation: Continuation
  private var listener: Int?
  private var isOver = false
  /// The last reported connectivity of the device; nil: none, or unknown since.
  private var isOnline: Bool?
  /// Whether the first values were sent or requested.
  private var isPrimed = false
  /// The events that follow the first values, while these are incomplete.
  private var held: [SubscriptionEvent]?
  /// The events of the next report, which the minimum interval delays, and the indices of the attributes.
  private var delayed: [SubscriptionEvent] = []
  private var indices: [ConcreteAttributePath: Int] = [:]
  private var lastReport = NIODeadline.distantPast
  private var flushing: Scheduled<Void>?
  private var timeout: Scheduled<Void>?

  private init(
    _ node: NodeID, _ request: SubscriptionRequest, of client: HubClient, _ continuation: Continuation
  ) {
    (self.node, self.request, self.client, self.continuation) = (node, request, client, continuation)
  }

  /// Returns the events until the iteration ends. To be called on the event loop of the client.
  static func events(
    of node: NodeID, _ request: SubscriptionRequest, _ client: HubClient
  ) -> AsyncThrowingStream<SubscriptionEvent, any Error> {
    let (stream, continuation) = AsyncThrowingStream.makeStream(of: SubscriptionEvent.self)
    let subscription = HubSubscription(node, request, of: client, continuation)
    subscription.start()
    let (bound, loop) = (NIOLoopBound(subscription, eventLoop: client.eventLoop), client.eventLoop)
    continuation.onTermination = { _ in loop.execute { bound.value.end() } }
    return stream
  }

  private func start() {
    if !request.retriesFirstAttempt {
      timeout = schedule(client.eventLoop.now + .nanoseconds(client.options.timeout.nanoseconds)) {
        $0.finish(HomeError(.timedOut, "did not come online in time"))
      }
    }
    listener = client.view.stream.addListener { [self] event in
      handle(event)
      return !isOver
    }
    check(client.view.reducer)
  }

  private func schedule(_ deadline: NIODeadline, _ body: @escaping @Sendable (HubSubscription) -> Void) -> Scheduled<
    Void
  > {
    let bound = NIOLoopBound(self, eventLoop: client.eventLoop)
    return client.eventLoop.scheduleTask(deadline: deadline) { body(bound.value) }
  }

  private func end() {
    isOver = true
    flushing?.cancel()
    timeout?.cancel()
    if let listener { client.view.stream.removeListener(listener) }
  }

  private func finish(_ error: HomeError?) {
    guard !isOver else { return }
    end()
    continuation.finish(throwing: error)
  }

  // MARK: The home

  private func handle(_ event: HomeStream.Event) {
    guard !isOver else { return }
    switch event {
    case .update(let update, let reducer):
      if isPrimed { report(update.changes.compactMap { self.event(of: $0) }) }
      check(reducer)
    case .reloaded(let reducer, let old, _):
      if isPrimed {
        report(
          values(of: reducer.state).filter { old.state.value(node, $0.path) != $0.value }.map {
            .attribute($0, value: $1)
          })
      }
      check(reducer)
    case .hub, .contacts: break
    case .ended: finish(nil)
    }
  }

  private func event(of change: HomeChange) -> SubscriptionEvent? {
    switch change {
    case .attribute(node, let path, let value?) where request.paths.contains { $0.matches(path) }:
      .attribute(path, value: value)
    case .event(node, let data) where isRequested(data): .event(data)
    default: nil
    }
  }

  private func isRequested(_ event: EventData) -> Bool {
    event.number >= request.eventMin ?? 0 && request.events.contains { $0.matches(event.path) }
  }

  /// Returns the known values of the requested attributes.
  private func values(of state: HomeState) -> [(path: ConcreteAttributePath, value: [UInt8])] {
    (state.values[node]?.all ?? []).filter { value in request.paths.contains { $0.matches(value.path) } }
  }

  /// Reports a change of the device's connectivity.
  private func check(_ reducer: HomeReducer) {
    guard let status = reducer.state.source(SourceID(node))?.status else {
      return finish(HomeError(.notFound, "no longer in the home"))
    }
    switch status.connectivity.connectivityState {
    case .online, .partiallyOnline:
      guard isOnline != true else { return }
      isOnline = true
      if isPrimed { send(.established(maxInterval: interval(reducer))) } else { sendFirstValues(reducer) }
    case .offline:
      let error = HomeError(.unreachable, "offline: \((status.reason ?? .subscriptionLost).text)")
      guard isPrimed || request.retriesFirstAttempt else { return finish(error) }
      guard isOnline != false else { return }
      isOnline = false
      flush()
      send(.lost(error, retryingIn: .zero))
    // A loss that was reported is not reported again.
    case .unknown: if isOnline == true { isOnline = nil }
    }
  }

  /// The time within which the hub receives a report of the device or notices its loss.
  private func interval(_ reducer: HomeReducer) -> Duration {
    guard let contact = reducer.contacts[node], let last = contact.last, let next = contact.nextReport,
      last >= 0, next > last, next - last < 86_400_000_000
    else { return request.maxInterval }
    return .seconds((next - last) / 1_000_000)
  }

  // MARK: First values

  private func sendFirstValues(_ reducer: HomeReducer) {
    isPrimed = true
    timeout?.cancel()
    let known = values(of: reducer.state)
    for (path, value) in known { continuation.yield(.attribute(path, value: value)) }
    let paths = Set(known.map(\.path))
    let missing = request.paths.filter { path in path.concrete.map { !paths.contains($0) } ?? false }
    held = []
    let devices = Set(reducer.state.sources(of: node).compactMap { reducer.state.device(of: $0.id)?.id })
    let lastEvent = request.events.isEmpty ? nil : reducer.state.lastEvents[node]
    let (bound, interval) = (NIOLoopBound(self, eventLoop: client.eventLoop), interval(reducer))
    guard !missing.isEmpty || lastEvent != nil else { return completeFirstValues(nil, [], interval) }
    client.options.machine.task { [node, client] in
      let report = missing.isEmpty ? nil : try? await client.read(node, missing)
      var events: [EventData] = []
      if let lastEvent { events = await client.events(of: node, devices, until: lastEvent) }
      client.eventLoop.execute { [events] in bound.value.completeFirstValues(report, events, interval) }
    }
  }

  private func completeFirstValues(_ report: ReassembledReport?, _ events: [EventData], _ interval: Duration) {
    guard !isOver else { return }
    for attribute in report?.attributes ?? [] {
      continuation.yield(.attribute(attribute.path, value: attribute.value))
    }
    for status in report?.statuses ?? [] { continuation.yield(.status(status.path, status.status)) }
    for event in events where isRequested(event) { continuation.yield(.event(event)) }
    continuation.yield(.reportEnd)
    continuation.yield(.established(maxInterval: interval))
    lastReport = client.eventLoop.now
    for event in held ?? [] { continuation.yield(event) }
    held = nil
  }

  // MARK: Sending

  private func send(_ event: SubscriptionEvent) {
    if held != nil { held?.append(event) } else { continuation.yield(event) }
  }

  /// Sends a report, at once or together with the following ones after the minimum interval.
  private func report(_ events: [SubscriptionEvent]) {
    guard !events.isEmpty else { return }
    for event in events {
      if case .attribute(let path, _) = event {
        if let index = indices[path] {
          delayed[index] = event
          continue
        }
        indices[path] = delayed.count
      }
      delayed.append(event)
    }
    let due = lastReport + .nanoseconds(request.minInterval.nanoseconds)
    guard request.minInterval > .zero, held == nil, due > client.eventLoop.now else { return flush() }
    if flushing == nil { flushing = schedule(due) { $0.flush() } }
  }

  private func flush() {
    flushing?.cancel()
    flushing = nil
    guard !delayed.isEmpty, !isOver else { return }
    for event in delayed { send(event) }
    send(.reportEnd)
    (delayed, indices) = ([], [:])
    lastReport = client.eventLoop.now
  }
}

extension HubClient {
  /// Returns the events of a node in the hub's log, up to a number.
  fileprivate func events(of node: NodeID, _ devices: Set<String>, until last: UInt64) async -> [EventData] {
    var events: [EventData] = []
    var anchor: Anchor?
    while true {
      let page = try? await samples(after: anchor, SampleFilter(.event, devices: devices), limit: 1000)
      // A compacted log has no beginning; its earlier events are omitted.
      guard case .samples(let samples, let next, let isComplete)? = page else { return events }
      for case .event(node, let data) in samples.map(\.change) where data.number <= last { events.append(data) }
      if isComplete { return events }
      anchor = next
    }
  }
}
