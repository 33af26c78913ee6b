internal import MatterModel
internal import MatterProtocol

// Subscriptions that survive a restart: the device opens a session to each subscriber and sends a full report with the
// old subscription id, as the Matter SDK does. A subscriber that does not know the id responds with
// InvalidSubscription.
extension DeviceEngine {
  /// The ids of subscriptions of an earlier run whose subscribers have not been reached yet.
  var pendingResumptions: [UInt32] { resumptions.flatMap { $0.subscriptions.map(\.id) } }

  // MARK: Storing

  /// Stores a subscription for resumption after a restart, if its stored state changed.
  mutating func store(_ index: Int) {
    guard configuration.resumesSubscriptions, let session = core.session(subscriptions[index].session) else { return }
    let state = Subscription.StoredState(nextEvent: subscriptions[index].nextEvent, address: session.peerAddress)
    guard subscriptions[index].stored != state else { return }
    subscriptions[index].stored = state
    let entry = StoredSubscription(subscriptions[index], at: session.peerAddress)
    context.node.changes.append(StoreChange(entry.key, entry.stored))
  }

  /// Loads the subscriptions of an earlier run, and opens sessions to the subscribers.
  mutating func resumeSubscriptions(_ stored: StoredState) {
    for key in storedKeys.sorted() where key.hasPrefix(StoreKey.subscriptions) {
      guard configuration.resumesSubscriptions, let value = stored[key], let entry = subscription(key, value) else {
        context.node.changes.append(StoreChange(key, nil))
        continue
      }
      let isSame = { (other: PendingResumption) in
        other.fabric == entry.fabric && other.node == entry.node && other.address == entry.address
      }
      if let index = resumptions.firstIndex(where: isSame) {
        resumptions[index].subscriptions.append(entry)
      } else {
        resumptions.append(
          PendingResumption(
            fabric: entry.fabric, node: entry.node, address: entry.address, subscriptions: [entry], retryAt: now))
      }
    }
    for resumption in resumptions {
      if let query = query(resumption.node, of: resumption.fabric) { browse(query) }
    }
    advanceResumptions()
  }

  private func subscription(_ key: String, _ value: [UInt8]) -> StoredSubscription? {
    core.fabrics.lazy.filter { key.hasPrefix(StoredSubscription.prefix($0.index)) }.compactMap {
      StoredSubscription(stored: value, fabric: $0.index)
    }.first { $0.key == key }
  }

  // MARK: Connecting

  var resumptionDeadline: Instant? { resumptions.compactMap(\.retryAt).min() }

  /// Starts the connection attempts that are due.
  mutating func advanceResumptions() {
    for index in resumptions.indices where resumptions[index].retryAt.map({ $0 <= now }) == true {
      connect(index, to: resumptions[index].address)
    }
  }

  private mutating func connect(_ index: Int, to address: SocketAddress) {
    guard !resumptions[index].attempts.values.contains(address) else { return }
    let handshake = core.establishCASE(
      fabric: resumptions[index].fabric, peer: resumptions[index].node, to: address, parameters: .init(), at: now)
    resumptions[index].attempts[handshake] = address
    resumptions[index].retryAt = nil
  }

  /// Connects to a discovered subscriber: at its stored address if that is still advertised, otherwise at the new one.
  mutating func foundSubscriber(_ node: NodeID, of fabric: FabricIndex, _ service: MatterService) {
    for index in resumptions.indices
    where resumptions[index].node == node && resumptions[index].fabric == fabric {
      let addresses = service.addresses.map { SocketAddress($0, port: service.port) }
      if addresses.contains(resumptions[index].address) {
        if resumptions[index].attempts.isEmpty { connect(index, to: resumptions[index].address) }
      } else if let address = addresses.first, resumptions[index].attempts.count < 2 {
        connect(index, to: address)
      }
    }
  }

  /// Handles a failed handshake with a subscriber of an earlier run: retries with back-off, or drops its subscriptions.
  mutating func failedToResume(_ handshake: HandshakeID, _ error: HandshakeError) {
    guard let index = resumptions.firstIndex(where: { $0.attempts[handshake] != nil }) else { return }
    resumptions[index].attempts[handshake] = nil
    guard resumptions[index].attempts.isEmpty else { return }
    var wait = Duration.zero
    switch error {
    case .busy(let duration): wait = min(duration, PendingResumption.maximumDelay)
    case .timedOut: break
    // The peer may have rejected the resumption of the old session.
    default: core.forgetResumption(fabric: resumptions[index].fabric, peer: resumptions[index].node)
    }
    resumptions[index].failures += 1
    guard resumptions[index].failures < PendingResumption.maximumFailures else {
      return forget(resumptions.remove(at: index))
    }
    // Jitter, since all devices of a home restart at the same time after a power cut.
    let delay = max(wait, resumptions[index].delay)
    let jitter = context.node.random.next() % UInt64(max(1, delay.nanoseconds / 2))
    resumptions[index].retryAt = now + delay + .nanoseconds(Int64(jitter))
  }

  // MARK: Resuming

  /// Resumes the subscriptions of a subscriber over a new session with it.
  mutating func resume(over id: SessionID, _ handshake: HandshakeID?) {
    guard let session = core.session(id), session.kind == .case else { return }
    let index = resumptions.firstIndex { resumption in
      if let handshake { return resumption.attempts[handshake] != nil }
      return resumption.fabric == session.fabric && resumption.node == session.peerNodeID
        && resumption.address == session.peerAddress
    }
    guard let index else { return }
    let resumption = resumptions.remove(at: index)
    for attempt in resumption.attempts.keys.sorted() where attempt != handshake { core.cancel(attempt, at: now) }
    stopBrowsing()
    for stored in resumption.subscriptions { resume(stored, over: session) }
  }

  /// Sends a full report of the attributes, and the events that were not reported.
  private mutating func resume(_ stored: StoredSubscription, over session: SessionInfo) {
    let request = stored.request
    let subject = Subject(session)
    var subscription = Subscription(
      id: stored.id, session: session.id, subject: subject, attributePaths: request.attributePaths,
      eventPaths: request.eventPaths, isFabricFiltered: request.isFabricFiltered,
      minimum: .seconds(Int64(request.minIntervalFloor)), maximumSeconds: request.maxIntervalCeiling,
      lastReport: now)
    guard let exchange = core.openExchange(on: session.id, at: now) else { return forget(stored) }
    context.subject = subject
    defer { context.subject = .device }
    var job = ReportJob(subscription: stored.id, subject: subject, isFabricFiltered: request.isFabricFiltered)
    job.items = (try? context.select(request.attributePaths, filters: [])) ?? []
    (job.events, job.eventStatuses) = context.select(
      request.eventPaths, from: Self.minimum(request.eventFilters))
    subscription.stored = .init(nextEvent: Self.minimum(request.eventFilters), address: stored.address)
    subscription.nextEvent = context.node.events.next
    subscription.exchange = exchange
    subscriptions.append(subscription)
    proceed(job, on: exchange)
  }

  // MARK: Dropping

  /// Drops matching subscriptions of an earlier run.
  mutating func forgetResumptions(where isForgotten: (StoredSubscription) -> Bool) {
    for index in resumptions.indices.reversed() {
      for stored in resumptions[index].subscriptions where isForgotten(stored) { forget(stored) }
      resumptions[index].subscriptions.removeAll(where: isForgotten)
      if resumptions[index].subscriptions.isEmpty { forget(resumptions.remove(at: index)) }
    }
  }

  private mutating func forget(_ resumption: PendingResumption) {
    for attempt in resumption.attempts.keys.sorted() { core.cancel(attempt, at: now) }
    for stored in resumption.subscriptions { forget(stored) }
    stopBrowsing()
  }

  private mutating func forget(_ stored: StoredSubscription) {
    context.node.changes.append(StoreChange(stored.key, nil))
  }
}
