public import MatterModel
public import MatterProtocol

// Opens a session with a node: tries the cached address and DNS-SD in parallel; the first that works is used.
extension ControllerEngine {
  mutating func openSession(with node: NodeID, timeout: Duration? = nil, at now: Instant) {
    guard let peer = peers[node], peer.connecting == nil else { return }
    let query = DiscoveryQuery.operational(
      compressedFabricID: fabric.compressedFabricID, nodeID: node.rawValue)
    let last = configuration.hooks.usesStoredAddress ? peer.record.address : nil
    let isEager = peer.waiting.contains { subscriptions[$0]?.isEager(configuration.renewal, at: now) == true }
    let search = Connecting(
      query, addresses: [peer.suggestedAddress, last].compactMap { $0 }, parameters: peer.record.parameters,
      restartTime: isEager ? configuration.renewal.eagerTimeout : nil,
      end: now + (timeout ?? configuration.discoveryTime))
    peers[node]?.connecting = search
    browse(query)
    for service in browser.known(query) { offer(service, to: node, at: now) }
    advanceConnecting(node, at: now)
  }

  /// Adds the addresses of a service to those of the search for a session.
  private mutating func offer(_ service: MatterService, to node: NodeID, at now: Instant) {
    guard let peer = peers[node], peer.connecting != nil else { return }
    if !configuration.hooks.followsAddressChanges, peer.record.address != nil { return }
    peers[node]?.connecting?.offer(service, at: now)
    advanceConnecting(node, at: now)
  }

  /// Starts the attempts that are due, and fails when none is left.
  mutating func advanceConnecting(_ node: NodeID, at now: Instant) {
    while let step = peers[node]?.connecting?.next(at: now, hasResponse: { core.hasReceivedResponse($0) }) {
      switch step {
      case .cancel(let handshake): cancel(handshake, at: now)
      case .start(let address): startCASE(with: node, at: address, now: now)
      case .wait(let deadline):
        connecting[node] = deadline
        return schedule(deadline)
      case .fail(let error):
        stopConnecting(node, at: now)
        for operation in peers[node]?.takeWaiting() ?? [] { failConnecting(operation, error, to: node, at: now) }
        return
      }
    }
  }

  /// Fails an operation that needs a session, or lets it wait if the node is asleep most likely.
  private mutating func failConnecting(
    _ operation: OperationID, _ error: ControllerError, to node: NodeID, at now: Instant
  ) {
    let isSilent = error == .unreachable || error == .handshake(.timedOut)
    // An established subscription has a deadline of its own.
    guard operatesLong(node), isSilent, subscriptions[operation]?.session == nil else {
      return fail(operation, error, at: now)
    }
    peers[node]?.isPresumedAsleep = true
    if let until = peers[node]?.reachableUntil, until > now { peers[node]?.reachableUntil = now }
    hold(operation, of: node, at: now)
  }

  private mutating func startCASE(with node: NodeID, at address: SocketAddress, now: Instant) {
    guard let parameters = peers[node]?.connecting?.parameters else { return }
    let isResumption = core.canResume(fabric: fabric.index, peer: node)
    let handshake = core.establishCASE(
      fabric: fabric.index, peer: node, to: address, parameters: parameters, at: now)
    handshakes[handshake] = .peer(node)
    peers[node]?.connecting?.started(handshake, at: address, isResumption: isResumption, now: now)
  }

  mutating func cancel(_ handshake: HandshakeID, at now: Instant) {
    handshakes[handshake] = nil
    core.cancel(handshake, at: now)
  }

  mutating func failedConnecting(
    _ node: NodeID, _ handshake: HandshakeID, _ error: HandshakeError, at now: Instant
  ) {
    let maximum = configuration.maximumBusyRetries
    if peers[node]?.connecting?.failed(handshake, error, busyRetries: maximum, at: now) == true {
      core.forgetResumption(fabric: fabric.index, peer: node)
      peers[node]?.resumption = nil
      if peers[node]?.isStored == true { perform(.store([StoreChange(PeerRecord.resumptionKey(node), nil)])) }
    }
    advanceConnecting(node, at: now)
  }

  /// Stores a new session with a node and runs the operations that wait for it.
  mutating func connected(
    _ node: NodeID, _ session: SessionID, _ info: SessionInfo, _ handshake: HandshakeID?, at now: Instant
  ) {
    guard info.fabric == fabric.index, peers[node] != nil else { return }
    if let handshake { peers[node]?.connecting?.remove(handshake) }
    stopConnecting(node, at: now)
    peers[node]?.session = session
    store(peers[node]?.setAddress(info.peerAddress, info.parameters))
    emit(.sessionOpened(node, info.peerAddress))
    for operation in peers[node]?.takeWaiting() ?? []
    where !proceed(operation, on: session, isOld: false, at: now) {
      // An operation before this one closed the session.
      fail(operation, .connectionLost, at: now)
    }
    peers[node]?.isPresumedAsleep = false
    if handshake == nil { opened(by: node, session, at: now) }
    registerIfNeeded(node, at: now)
    leaveDeletedGroups(node, at: now)
    updateAccessIfNeeded(node, at: now)
  }

  /// Stores the new address of a node that was received on its current session.
  mutating func noteAddress(of node: NodeID, on session: SessionID) {
    guard let address = core.peerAddress(of: session), let known = peers[node]?.record.address, known != address,
      peers[node]?.session == session, configuration.hooks.followsAddressChanges
    else { return }
    store(peers[node]?.setAddress(address))
  }

  mutating func stopConnectingIfIdle(_ node: NodeID, at now: Instant) {
    if peers[node]?.hasIdleSearch == true { stopConnecting(node, at: now) }
  }

  private mutating func stopConnecting(_ node: NodeID, at now: Instant) {
    guard let search = peers[node]?.connecting else { return }
    peers[node]?.connecting = nil
    connecting[node] = nil
    for attempt in search.attempts { cancel(attempt.handshake, at: now) }
    stopBrowsing(search.query)
  }

  // MARK: Closing

  mutating func closed(_ session: SessionID, _ info: SessionInfo, _ reason: SessionCloseReason, at now: Instant) {
    guard info.kind == .case else { return }
    transactions.keep(session)
    subscriptions.dropReports(on: session)
    let node = info.peerNodeID
    guard let peer = peers[node] else { return }
    if let timing = peer.record.longIdle {
      let until = info.lastHeard + timing.reachableTime
      peers[node]?.reachableUntil = max(until, peer.reachableUntil ?? until)
    }
    if peer.session == session || peer.session == nil {
      let other = core.newestSession(fabric: fabric.index, peer: node)
      peers[node]?.session = other
      // A session that was to be retired in favor of the closed one stays in use.
      if let other { transactions.keep(other) } else { emit(.sessionClosed(node, reason)) }
    }
    for handle in subscriptions.handles(on: session) { loseSubscription(handle, .connectionLost, at: now) }
  }

  /// Removes a node with its sessions, subscriptions, operations and records.
  /// - Parameter fabricRemoved: whether the node removed the fabric.
  mutating func forget(_ node: NodeID, fabricRemoved: Bool, at now: Instant) {
    guard let peer = peers[node] else { return }
    for handle in subscriptions.handles(with: node) { complete(handle, .failure(.unknownNode(node)), at: now) }
    for id in operations.ids(with: node) { complete(id, .failure(.unknownNode(node)), at: now) }
    stopConnecting(node, at: now)
    for changes in groupTable.remove(node, fabricRemoved: fabricRemoved) { storeGroups(changes) }
    store(tagTable.remove(node))
    peers[node] = nil
    removeRegistration(node)
    closeSessions(with: node, notifyingPeer: false, at: now)
    core.forgetResumption(fabric: fabric.index, peer: node)
    guard peer.isStored else { return }
    emit(.nodeRemoved(node))
    store([StoreChange(PeerRecord.key(node), nil, isDurable: true), StoreChange(PeerRecord.resumptionKey(node), nil)])
  }

  /// Closes all sessions and notifies their nodes, before the controller stops. Notified nodes need not keep the
  /// session, or a subscription on it, until a timeout.
  public mutating func closeSessions(at now: Instant) {
    for session in core.sessions { core.close(session.id, notifyingPeer: true, at: now) }
    settle(at: now)
  }

  /// Closes the sessions with a node and notifies it, unless an operation or subscription with the node is active.
  public mutating func closeSessions(with node: NodeID, at now: Instant) {
    guard !isSubscribed(to: node), operations.ids(with: node).isEmpty else { return }
    closeSessions(with: node, notifyingPeer: true, at: now)
    settle(at: now)
  }

  private mutating func closeSessions(with node: NodeID, notifyingPeer: Bool, at now: Instant) {
    for session in core.sessions(with: node) { core.close(session, notifyingPeer: notifyingPeer, at: now) }
  }

  // MARK: Discovery

  mutating func browse(_ query: DiscoveryQuery) {
    if browser.start(query) { perform(.browse(query)) }
  }

  mutating func stopBrowsing(_ query: DiscoveryQuery) {
    if browser.stop(query) { perform(.stopBrowsing(query)) }
  }

  mutating func found(_ service: MatterService, at now: Instant) {
    guard browser.isBrowsed(service) else { return }
    let before = browser.update(service)
    if case .operational(let fabricID, let node) = service.kind, fabricID == fabric.compressedFabricID {
      if let before { redirectSession(of: NodeID(node), from: before, to: service) }
      offer(service, to: NodeID(node), at: now)
    }
    for id in commissionings.keys.sorted() { offer(service, toCommissioning: id, at: now) }
    for id in operations.discoveries(of: service) { emit(.serviceFound(id, service)) }
  }

  /// Redirects a node's session to its newly announced address. A false announcement is used until a message of the
  /// node arrives.
  private mutating func redirectSession(of node: NodeID, from old: MatterService, to new: MatterService) {
    guard configuration.hooks.followsAddressChanges, let session = peers[node]?.session,
      let address = core.session(session)?.peerAddress, let next = new.replacement(for: address, after: old)
    else { return }
    core.redirect(session, to: next)
  }

  mutating func lost(_ service: MatterService) {
    browser.remove(service)
    for id in operations.discoveries(of: service) { emit(.serviceLost(id, service)) }
  }
}
