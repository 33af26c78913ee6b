internal import HomeModel
internal import MatterClusters
package import MatterController
package import MatterModel
package import MatterProtocol

/// A node that is followed, or was.
package struct Followed: Sendable {
  package var handle: SubscriptionHandle?
  /// The versions of its clusters of which everything is known.
  package var versions: [ClusterPath: UInt32] = [:]
  var wasEstablished = false
  /// When its service was withdrawn while its subscription stood.
  var withdrawnAt: Instant?
  /// Since when its subscription stands.
  var establishedAt: Instant?
  /// When it was asked for another subscription once more, before it had answered.
  var begunAgainAt: Instant?
  /// When it was asked last whether it still knows us.
  var askedAt: Instant?
  /// How often it was asked so in short order.
  package var questions = 0
}

// One subscription to everything that a node has: connectivity follows it.
extension HomeEngine {
  /// Starts to follow all current and future nodes of the fabric.
  package mutating func follow(at now: Instant) {
    guard !isFollowing else { return }
    beginFollowing(at: now)
    listen(at: now)
    uncalled = controller.nodes.map(\.nodeID).sorted(by: >)
    if !configuration.hooks.followsAllNodes { uncalled = uncalled.suffix(configuration.maximumCalls) }
    callMore(at: now)
  }

  /// Hears from now on what the nodes of the fabric announce.
  private mutating func listen(at now: Instant) {
    if let announcements { perform(at: now) { controller, now in controller.cancel(announcements, at: now) } }
    let query = DiscoveryQuery.operational(compressedFabricID: controller.fabric.compressedFabricID, nodeID: nil)
    announcements = begin(nil, at: now) { controller, now in controller.discover(query, timeout: nil, at: now) }
  }

  /// Begins to follow a node that has just come into the fabric.
  package mutating func follow(_ node: NodeID, at now: Instant) {
    guard isFollowing, followed[node]?.handle == nil, !uncalled.contains(node) else { return }
    uncalled.insert(node, at: 0)
    callMore(at: now)
  }

  // MARK: Calling

  /// Subscribes to as many of the nodes that wait as may be called at a time.
  mutating func callMore(at now: Instant) {
    guard !uncalled.isEmpty else { return }
    calls = calls.filter { $0.value > now }
    while calls.count < configuration.maximumCalls, let node = uncalled.popLast() { call(node, at: now) }
  }

  /// When there may be room for the next call.
  var callDeadline: Instant? { uncalled.isEmpty ? nil : calls.values.min() }

  private mutating func call(_ node: NodeID, at now: Instant) {
    // All events are urgent: a press of a button must not wait for the next interval. One path for all of them, since a node
    // need not take more than three paths. Matter Core § 8.5.1.
    var request = SubscriptionRequest(
      paths: [AttributePath()], events: [EventPath(isUrgent: true)], maxInterval: configuration.maxInterval)
    request.eventMin = reducer.state.lastEvents[node].map { $0.saturatingAdd(1) }
    request.retriesFirstAttempt = true
    request.isCached = false
    var entry = followed[node] ?? Followed()
    request.knownVersions = entry.versions
    // The handle is needed before the first event comes out.
    let handle = perform(at: now) { controller, now in controller.subscribe(node, request, at: now) }
    handles[handle] = node
    entry.handle = handle
    followed[node] = entry
    calls[node] = now + configuration.callTimeout
  }

  // MARK: What becomes of it

  package func deadline(of node: NodeID) -> Int64? {
    followed[node]?.handle.flatMap { controller.reportDeadline($0) }.map { time(of: $0) }
  }

  package mutating func established(_ handle: SubscriptionHandle, at now: Instant) {
    guard let node = handles[handle] else { return }
    calls[node] = nil
    followed[node]?.wasEstablished = true
    followed[node]?.withdrawnAt = nil
    followed[node]?.establishedAt = now
    probes[node] = nil
    reduce(.established(node, deadline: deadline(of: node) ?? time))
    callMore(at: now)
  }

  package mutating func lost(_ handle: SubscriptionHandle, _ error: ControllerError, at now: Instant) {
    guard let node = handles[handle] else { return }
    calls[node] = nil
    probes[node] = nil
    let wasEstablished = followed[node]?.wasEstablished == true
    followed[node]?.wasEstablished = false
    let hasAddress = controller.node(node)?.address != nil
    let reason = wasEstablished ? .subscriptionLost : OfflineReason(error, hasAddress: hasAddress) ?? .sessionRefused
    reduce(.lost(node, reason))
    callMore(at: now)
  }

  /// Marks nodes as lost that were called and have not answered yet, after the wait for them timed out. Nodes that were
  /// not called yet, or only recently, remain unknown.
  package mutating func stopWaiting(for nodes: [NodeID], at now: Instant) {
    guard isFollowing else { return }
    let uncalled = Set(uncalled)
    // Of one that is there a sign comes within half a second, most of the time.
    let over = now + (configuration.callTimeout - .milliseconds(500))
    for node in nodes
    where !uncalled.contains(node) && calls[node].map({ $0 <= over }) ?? true
      && reducer.status(of: node).connectivity.connectivityState == .unknown
    {
      let reason: OfflineReason =
        if node.isTemporaryLocal { .cloudUnreachable } else {
          controller.node(node)?.address == nil ? .noAddress : .timedOut
        }
      take(.lost(node, reason), at: now)
    }
  }

  /// Somebody waits for a node: it is not left for longer because it did not answer for long.
  mutating func retryNow(_ node: NodeID, at now: Instant) {
    guard let handle = followed[node]?.handle else { return }
    perform(at: now) { controller, now in controller.retryNow(handle, at: now) }
  }

  // MARK: Announcements

  private func node(of service: MatterService) -> NodeID? {
    guard case .operational(controller.fabric.compressedFabricID, let node) = service.kind else { return nil }
    return NodeID(node)
  }

  /// A node announced itself: it is there.
  package mutating func announced(_ service: MatterService, at now: Instant) {
    guard let node = node(of: service), let handle = followed[node]?.handle else { return }
    if !controller.isEstablished(handle) {
      perform(at: now) { controller, now in controller.retryNow(handle, at: now) }
    } else if !isOnline(node) {
      // It went and came back: what it knew of us is gone.
      perform(at: now) { controller, now in controller.renew(handle, at: now) }
    } else {
      // So it is most likely where its service was withdrawn and it did not answer since; but it may be another's of the same
      // host name that was, or it was not heard for so long that it ran out.
      let isGone = followed[node]?.withdrawnAt.map { at in controller.lastHeard(handle).map { $0 <= at } ?? true }
      probe(node, isCertain: isGone == true, at: now)
    }
  }

  /// A node took its announcement back, or it ran out: worth a question whether it is still there. Who does not acknowledge
  /// it loses the session, and the subscription with it.
  mutating func withdrawn(_ service: MatterService, at now: Instant) {
    guard let node = node(of: service), let handle = followed[node]?.handle, controller.isEstablished(handle) else {
      return
    }
    followed[node]?.withdrawnAt = now
    ask(node, for: .seconds(10), at: now)
  }

  private func isOnline(_ node: NodeID) -> Bool {
    reducer.status(of: node).connectivity.connectivityState == .online
  }
}
