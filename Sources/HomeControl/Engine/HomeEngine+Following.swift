package import HomeModel
package import MatterController
package import MatterProtocol

/// The subscription state of a node, kept after the subscription has ended.
package struct Followed: Sendable {
  package var handle: SubscriptionHandle?
  /// The data versions of its completely known clusters.
  package var versions: [ClusterPath: UInt32] = [:]
  var wasEstablished = false
  /// The time when its service was withdrawn during the current subscription.
  var withdrawnAt: Instant?
  /// The time when its subscription was established.
  var establishedAt: Instant?
  /// The time when an unfinished renewal of its subscription was started again.
  var renewalRestartedAt: Instant?
  /// The time of the last probe.
  var probedAt: Instant?
  /// The number of consecutive probes, for their back-off.
  package var probeCount = 0
  /// The endpoints to read, because the subscription does not report some of their values.
  var unread: Set<EndpointID> = []
  /// The operation that reads endpoints.
  var reading: (id: OperationID, endpoints: Set<EndpointID>)?
}

// A node has one subscription to all its attributes and events, which determines its connectivity.
extension HomeEngine {
  /// Starts to follow all current and future nodes of the fabric.
  package mutating func follow(at now: Instant) {
    guard !isFollowing else { return }
    beginFollowing(at: now)
    listen(at: now)
    waiting = controller.nodes.map(\.nodeID).sorted(by: >)
    if !configuration.hooks.followsAllNodes { waiting = waiting.suffix(configuration.maximumAttempts) }
    connectMore(at: now)
  }

  /// Begins to browse for the operational services of the fabric.
  private mutating func listen(at now: Instant) {
    if let announcements { perform(at: now) { controller, now in controller.cancel(announcements, at: now) } }
    let query = DiscoveryQuery.operational(compressedFabricID: controller.fabric.compressedFabricID, nodeID: nil)
    announcements = begin(nil, at: now) { controller, now in controller.discover(query, timeout: nil, at: now) }
  }

  /// Begins to follow a newly commissioned node.
  package mutating func follow(_ node: NodeID, at now: Instant) {
    guard isFollowing, followed[node]?.handle == nil, !waiting.contains(node) else { return }
    waiting.insert(node, at: 0)
    connectMore(at: now)
  }

  // MARK: Connection attempts

  /// Subscribes to waiting nodes up to the maximum number of concurrent attempts.
  mutating func connectMore(at now: Instant) {
    guard !waiting.isEmpty else { return }
    attempts = attempts.filter { $0.value > now }
    while attempts.count < configuration.maximumAttempts, let node = waiting.popLast() { connect(to: node, at: now) }
  }

  /// The time when the next attempt may start.
  var attemptDeadline: Instant? { waiting.isEmpty ? nil : attempts.values.min() }

  private mutating func connect(to node: NodeID, at now: Instant) {
    // All events are urgent: a button press must not wait for the next interval. Uses one path for all of them, since a
    // node need not accept more than three paths. Matter Core § 8.5.1.
    var request = SubscriptionRequest(
      paths: [AttributePath()], events: [EventPath(isUrgent: true)], maxInterval: configuration.maxInterval)
    request.eventMin = reducer.state.lastEvents[node].map { $0.saturatingAdd(1) }
    request.retriesFirstAttempt = true
    request.isCached = false
    var entry = followed[node] ?? Followed()
    request.knownVersions = entry.versions
    // Stored before the first event is emitted.
    let handle = perform(at: now) { controller, now in controller.subscribe(node, request, at: now) }
    handles[handle] = node
    entry.handle = handle
    followed[node] = entry
    attempts[node] = now + configuration.attemptTimeout
  }

  // MARK: Missing values

  /// The number of paths that each node accepts in a read. Matter Core § 2.11.2.
  private static let maximumPaths = 9

  /// Reads the endpoints of a followed node that lack values. A read without an answer is repeated after the
  /// next report.
  mutating func readMissing(of node: NodeID, at now: Instant) {
    guard isFollowing, let entry = followed[node], entry.reading == nil, !entry.unread.isEmpty else { return }
    let paths = entry.unread.sorted().map { AttributePath(endpoint: $0) }
    let id = begin(node, at: now) { controller, now in
      controller.read(node, paths.count > Self.maximumPaths ? [AttributePath()] : paths, at: now)
    }
    followed[node]?.reading = (id, entry.unread)
    followed[node]?.unread = []
  }

  /// Ends a read of missing values.
  /// - Returns: its endpoints; nil for another operation.
  mutating func takeReading(_ id: OperationID, of node: NodeID) -> Set<EndpointID>? {
    guard let reading = followed[node]?.reading, reading.id == id else { return nil }
    followed[node]?.reading = nil
    return reading.endpoints
  }

  // MARK: Results

  package func deadline(of node: NodeID) -> Int64? {
    followed[node]?.handle.flatMap { controller.reportDeadline($0) }.map { time(of: $0) }
  }

  package mutating func established(_ handle: SubscriptionHandle, at now: Instant) {
    guard let node = handles[handle] else { return }
    attempts[node] = nil
    followed[node]?.wasEstablished = true
    followed[node]?.withdrawnAt = nil
    followed[node]?.establishedAt = now
    probes[node] = nil
    reduce(.established(node, deadline: deadline(of: node) ?? time))
    connectMore(at: now)
  }

  package mutating func lost(_ handle: SubscriptionHandle, _ error: ControllerError, at now: Instant) {
    guard let node = handles[handle] else { return }
    attempts[node] = nil
    probes[node] = nil
    let wasEstablished = followed[node]?.wasEstablished == true
    followed[node]?.wasEstablished = false
    let hasAddress = controller.node(node)?.address != nil
    let reason =
      wasEstablished
      ? .subscriptionLost
      : OfflineReason(error, hasAddress: hasAddress)
        ?? (error.isAnswer ? .subscriptionRefused(error.statusCode) : .sessionRefused)
    reduce(.lost(node, reason))
    connectMore(at: now)
  }

  /// Handles a node whose subscription waits until it is active: it is as reachable as before it fell asleep.
  mutating func asleep(_ node: NodeID, within time: Duration) {
    attempts[node] = nil
    guard isFollowing, !isOffline(node), let last = reducer.contacts[node]?.last,
      self.time.saturatingSubtract(last) <= time.nanoseconds / 1000
    else { return }
    reduce(.asleep(node, deadline: self.time.saturatingAdd(time.nanoseconds / 1000)))
  }

  private func isOffline(_ node: NodeID) -> Bool {
    reducer.status(of: node).connectivity.connectivityState == .offline
  }

  /// Marks nodes as lost that have not answered a connection attempt, after the wait for them timed out. Nodes without
  /// an attempt, or with a recent one, remain unknown, and also those that have acknowledged a message: they are slow.
  package mutating func stopWaiting(for nodes: [NodeID], at now: Instant) {
    guard isFollowing else { return }
    let waiting = Set(waiting)
    // A reachable node usually answers within half a second.
    let over = now + (configuration.attemptTimeout - .milliseconds(500))
    for node in nodes
    where !waiting.contains(node) && !controller.operatesLong(node) && attempts[node].map({ $0 <= over }) ?? true
      && reducer.status(of: node).connectivity.connectivityState == .unknown
      && (reducer.contacts[node]?.last ?? .min) <= followingSince
    {
      let reason: OfflineReason =
        if node.isTemporaryLocal { .cloudUnreachable } else {
          controller.node(node)?.address == nil ? .noAddress : .timedOut
        }
      process(.lost(node, reason), at: now)
    }
  }

  /// Skips the back-off for a node that a caller waits for.
  mutating func retryNow(_ node: NodeID, at now: Instant) {
    guard let handle = followed[node]?.handle else { return }
    perform(at: now) { controller, now in controller.retryNow(handle, at: now) }
  }

  // MARK: Announcements

  private func node(of service: MatterService) -> NodeID? {
    guard case .operational(controller.fabric.compressedFabricID, let node) = service.kind else { return nil }
    return NodeID(node)
  }

  /// Handles the announcement of a node.
  package mutating func announced(_ service: MatterService, at now: Instant) {
    guard let node = node(of: service), let handle = followed[node]?.handle, !controller.isAsleep(node, at: now) else {
      return
    }
    if !controller.isEstablished(handle) {
      perform(at: now) { controller, now in controller.retryNow(handle, at: now) }
    } else if !isOnline(node) {
      // The node was offline and has probably lost its sessions.
      perform(at: now) { controller, now in controller.renew(handle, at: now) }
    } else {
      // If its service was withdrawn and it has not answered since, the node has probably restarted. The withdrawal may
      // also be of another service with the same host name, or an expired record.
      let hasRestarted = followed[node]?.withdrawnAt.map { at in controller.lastHeard(handle).map { $0 <= at } ?? true }
      probe(node, isCertain: hasRestarted == true, at: now)
    }
  }

  /// Handles a withdrawn or expired announcement: probes the node. Without an acknowledgment, the session and its
  /// subscription are lost.
  mutating func withdrawn(_ service: MatterService, at now: Instant) {
    guard let node = node(of: service), let handle = followed[node]?.handle, controller.isEstablished(handle),
      !controller.isAsleep(node, at: now)
    else { return }
    followed[node]?.withdrawnAt = now
    sendProbe(to: node, timeout: .seconds(10), at: now)
  }

  func isOnline(_ node: NodeID) -> Bool {
    reducer.status(of: node).connectivity.connectivityState == .online
  }
}
