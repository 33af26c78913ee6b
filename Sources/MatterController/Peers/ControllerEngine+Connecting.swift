internal import MatterModel
internal import MatterProtocol

// Opens a session with a node: tries the cached address and DNS-SD in parallel; the first that works is used.
extension ControllerEngine {
  mutating func openSession(with node: NodeID, timeout: Duration? = nil, at now: Instant) {
    guard let peer = peers[node], peer.connecting == nil else { return }
    let query = DiscoveryQuery.operational(
      compressedFabricID: fabric.compressedFabricID, nodeID: node.rawValue)
    var connecting = Connecting(
      query: query, timeoutEnd: now + (timeout ?? configuration.discoveryTime), parameters: peer.record.parameters)
    let last = configuration.hooks.usesStoredAddress ? peer.record.address : nil
    for case let address? in [peer.suggestedAddress, last] where !connecting.isKnown(address) {
      connecting.untried.append(address)
    }
    connecting.isEager = peer.waiting.contains {
      subscriptions[$0]?.isEager(configuration.renewal, at: now) == true
    }
    peers[node]?.connecting = connecting
    browse(query)
    for service in known(query) { offer(service, to: node, at: now) }
    advanceConnecting(node, at: now)
  }

  /// Adds the addresses of a service to the untried ones.
  mutating func offer(_ service: MatterService, to node: NodeID, at now: Instant) {
    guard var connecting = peers[node]?.connecting else { return }
    connecting.parameters = SessionParameters(service)
    let addresses = service.addresses.map { SocketAddress($0, port: service.port) }
    if !configuration.hooks.followsAddressChanges, peers[node]?.record.address != nil { return }
    for address in addresses
    where !connecting.isKnown(address) && connecting.failures[address, default: 0] < Connecting.maximumFailures {
      connecting.untried.append(address)
    }
    // The node apparently no longer has the address under attempt.
    if !connecting.attempts.contains(where: { addresses.contains($0.address) }) { connecting.nextAttemptAt = now }
    peers[node]?.connecting = connecting
    advanceConnecting(node, at: now)
  }

  /// Starts the attempts that are due, and fails when none is left.
  mutating func advanceConnecting(_ node: NodeID, at now: Instant) {
    guard var connecting = peers[node]?.connecting else { return }
    connecting.untried += connecting.retries.filter { $0.at <= now }.map(\.address)
    connecting.retries.removeAll { $0.at <= now }
    restartUnanswered(&connecting, at: now)
    while !connecting.untried.isEmpty, connecting.attempts.count < Connecting.maximumAttempts,
      connecting.attempts.isEmpty || connecting.nextAttemptAt.map({ $0 <= now }) ?? false
    {
      let address = connecting.untried.removeFirst()
      let isResumption = core.canResume(fabric: fabric.index, peer: node)
      let handshake = core.establishCASE(
        fabric: fabric.index, peer: node, to: address, parameters: connecting.parameters, at: now)
      handshakes[handshake] = .peer(node)
      var attempt = Connecting.Attempt(handshake: handshake, address: address, isResumption: isResumption)
      if connecting.isEager { attempt.restartAt = now + configuration.renewal.eagerTimeout }
      connecting.attempts.append(attempt)
      connecting.nextAttemptAt = now + Connecting.stagger
    }
    peers[node]?.connecting = connecting
    guard connecting.attempts.isEmpty, connecting.retries.isEmpty, connecting.timeoutEnd <= now else {
      return schedule(connecting.wakeUp)
    }
    let error: ControllerError
    switch connecting.lastError {
    case nil, .timedOut: error = .unreachable
    case .busy, .noResources: error = .busy
    case .some(let other): error = .handshake(other)
    }
    stopConnecting(node, at: now)
    let waiting = peers[node]?.waiting ?? []
    peers[node]?.waiting = []
    for operation in waiting { fail(operation, error, at: now) }
  }

  /// Restarts attempts without an answer: the intervals between retransmissions grow too long to find a restarted node
  /// quickly.
  private mutating func restartUnanswered(_ connecting: inout Connecting, at now: Instant) {
    for (index, attempt) in connecting.attempts.enumerated().reversed() {
      guard let restartAt = attempt.restartAt, restartAt <= now else { continue }
      if core.hasReceivedResponse(attempt.handshake) {
        connecting.attempts[index].restartAt = nil
        continue
      }
      connecting.attempts.remove(at: index)
      handshakes[attempt.handshake] = nil
      core.cancel(attempt.handshake, at: now)
      connecting.lastError = .timedOut
      let failures = connecting.failures[attempt.address, default: 0] + 1
      connecting.failures[attempt.address] = failures
      if failures < Connecting.maximumFailures { connecting.untried.append(attempt.address) }
    }
  }

  mutating func failedConnecting(
    _ node: NodeID, _ handshake: HandshakeID, _ error: HandshakeError, at now: Instant
  ) {
    guard var connecting = peers[node]?.connecting,
      let index = connecting.attempts.firstIndex(where: { $0.handshake == handshake })
    else { return }
    let attempt = connecting.attempts.remove(at: index)
    let address = attempt.address
    if attempt.isResumption, error.mayRejectResumption {
      // The node may reject only the resumption: retries at once with certificates.
      forgetResumption(of: node)
      if error != .timedOut {
        connecting.untried.insert(address, at: 0)
        peers[node]?.connecting = connecting
        return advanceConnecting(node, at: now)
      }
    }
    let failures = connecting.failures[address, default: 0] + 1
    connecting.failures[address] = failures
    connecting.lastError = error
    if case .busy(let wait) = error, failures <= configuration.maximumBusyRetries {
      connecting.retries.append((address, now + min(wait, .seconds(60))))
    } else if failures < Connecting.maximumFailures, now + .seconds(1) < connecting.timeoutEnd {
      connecting.retries.append((address, now + .seconds(1)))
    }
    peers[node]?.connecting = connecting
    advanceConnecting(node, at: now)
  }

  /// Stores a new session with a node and runs the operations that wait for it.
  mutating func connected(
    _ node: NodeID, _ session: SessionID, _ info: SessionInfo, _ handshake: HandshakeID?, at now: Instant
  ) {
    guard info.fabric == fabric.index, peers[node] != nil else { return }
    if let handshake { peers[node]?.connecting?.attempts.removeAll { $0.handshake == handshake } }
    stopConnecting(node, at: now)
    peers[node]?.session = session
    remember(info, of: node)
    emit(.sessionOpened(node, info.peerAddress))
    let waiting = peers[node]?.waiting ?? []
    peers[node]?.waiting = []
    for operation in waiting where !proceed(operation, on: session, isOld: false, at: now) {
      // An operation before this one closed the session.
      fail(operation, .connectionLost, at: now)
    }
    if handshake == nil { opened(by: node, session, at: now) }
    leaveDeletedGroups(node, at: now)
  }

  private mutating func remember(_ info: SessionInfo, of node: NodeID) {
    guard var record = peers[node]?.record else { return }
    record.address = info.peerAddress
    // Stores only the timing: the node sends the other parameters with each new session.
    record.parameters = SessionParameters(
      idleInterval: info.parameters.idleInterval, activeInterval: info.parameters.activeInterval,
      activeThreshold: info.parameters.activeThreshold)
    save(record)
  }

  /// Stores the new address of a node that was received on its current session.
  mutating func noteAddress(of node: NodeID, on session: SessionID) {
    guard let address = core.session(session)?.peerAddress, let known = peers[node]?.record.address, known != address,
      peers[node]?.session == session, configuration.hooks.followsAddressChanges,
      var record = peers[node]?.record
    else { return }
    record.address = address
    save(record)
  }

  /// Updates a record and stores it if it has changed.
  mutating func save(_ record: PeerRecord) {
    let isChanged = peers[record.nodeID].map { $0.record.tlv != record.tlv } ?? true
    peers[record.nodeID]?.record = record
    guard isChanged, peers[record.nodeID]?.isStored == true else { return }
    perform(.store([StoreChange(PeerRecord.key(record.nodeID), record.tlv)]))
  }

  mutating func stopConnectingIfIdle(_ node: NodeID, at now: Instant) {
    if peers[node]?.waiting.isEmpty == true { stopConnecting(node, at: now) }
  }

  private mutating func stopConnecting(_ node: NodeID, at now: Instant) {
    guard let connecting = peers[node]?.connecting else { return }
    peers[node]?.connecting = nil
    for attempt in connecting.attempts {
      handshakes[attempt.handshake] = nil
      core.cancel(attempt.handshake, at: now)
    }
    stopBrowsing(connecting.query)
  }

  // MARK: Session closure

  mutating func closed(_ session: SessionID, _ info: SessionInfo, _ reason: SessionCloseReason, at now: Instant) {
    guard info.kind == .case else { return }
    retiring.remove(session)
    let node = info.peerNodeID
    for (exchange, report) in pendingReports where exchange.session == session && report.node == node {
      pendingReports[exchange] = nil
    }
    guard peers[node] != nil else { return }
    if peers[node]?.session == session || peers[node]?.session == nil {
      let other = core.newestSession(fabric: fabric.index, peer: node)
      peers[node]?.session = other
      // A session that was to be retired in favor of the closed one stays in use.
      if let other { retiring.remove(other) } else { emit(.sessionClosed(node, reason)) }
    }
    for handle in subscriptions.keys.sorted() where subscriptions[handle]?.isOn(session) == true {
      loseSubscription(handle, .connectionLost, at: now)
    }
  }

  /// Removes a node with its sessions, subscriptions, operations and records.
  /// - Parameter fabricRemoved: whether the node removed the fabric.
  mutating func forget(_ node: NodeID, fabricRemoved: Bool, at now: Instant) {
    guard let peer = peers[node] else { return }
    for handle in subscriptions.keys.sorted() where subscriptions[handle]?.node == node {
      complete(handle, .failure(.unknownNode(node)), at: now)
    }
    for id in operations.keys.sorted() where operations[id]?.node == node {
      complete(id, .failure(.unknownNode(node)), at: now)
    }
    stopConnecting(node, at: now)
    leaveGroups(node, fabricRemoved: fabricRemoved)
    peers[node] = nil
    for session in core.sessions where session.kind == .case && session.peerNodeID == node {
      core.close(session.id, notifyingPeer: false, at: now)
    }
    core.forgetResumption(fabric: fabric.index, peer: node)
    if peer.isStored {
      perform(
        .store([
          StoreChange(PeerRecord.key(node), nil, isDurable: true), StoreChange(PeerRecord.resumptionKey(node), nil),
        ]))
    }
  }

  /// Drops the resumption record, so that the next session uses certificates.
  private mutating func forgetResumption(of node: NodeID) {
    core.forgetResumption(fabric: fabric.index, peer: node)
    peers[node]?.resumption = nil
    if peers[node]?.isStored == true { perform(.store([StoreChange(PeerRecord.resumptionKey(node), nil)])) }
  }

  // MARK: Discovery

  mutating func browse(_ query: DiscoveryQuery) {
    browsing[query, default: 0] += 1
    if browsing[query] == 1 { perform(.browse(query)) }
  }

  mutating func stopBrowsing(_ query: DiscoveryQuery) {
    guard let count = browsing[query] else { return }
    browsing[query] = count == 1 ? nil : count - 1
    guard count == 1 else { return }
    if case .operational(let fabricID?, let node?) = query {
      // The query matches only one service.
      let kind = MatterService.Kind.operational(compressedFabricID: fabricID, nodeID: node)
      if let service = services[kind], !isBrowsed(service) { services[kind] = nil }
    } else {
      services = services.filter { isBrowsed($0.value) }
    }
    perform(.stopBrowsing(query))
  }

  private func isBrowsed(_ service: MatterService) -> Bool { browsing.keys.contains { $0.matches(service) } }

  /// Services found for a query, in a fixed order.
  func known(_ query: DiscoveryQuery) -> [MatterService] {
    if case .operational(let fabricID?, let node?) = query {
      return services[.operational(compressedFabricID: fabricID, nodeID: node)].map { [$0] } ?? []
    }
    return services.values.filter { query.matches($0) }
      .sorted { "\($0.kind.instanceName)" < "\($1.kind.instanceName)" }
  }

  mutating func found(_ service: MatterService, at now: Instant) {
    guard isBrowsed(service) else { return }
    let before = services.updateValue(service, forKey: service.kind)
    if case .operational(let fabricID, let node) = service.kind, fabricID == fabric.compressedFabricID {
      if let before { redirectSession(of: NodeID(node), from: before, to: service) }
      offer(service, to: NodeID(node), at: now)
    }
    for id in commissionings.keys.sorted() { offer(service, toCommissioning: id, at: now) }
    for id in operations.keys.sorted() {
      if case .discover(let query)? = operations[id]?.task, query.matches(service) { emit(.serviceFound(id, service)) }
    }
  }

  /// Redirects a node's session to its newly announced address. An address that was never announced, as behind a NAT,
  /// is kept. A false announcement is used until a message of the node arrives.
  private mutating func redirectSession(of node: NodeID, from old: MatterService, to new: MatterService) {
    guard configuration.hooks.followsAddressChanges, let session = peers[node]?.session,
      let address = core.session(session)?.peerAddress, old.isAt(address), !new.isAt(address),
      let ip = new.addresses.first(where: { $0.family == address.ip.family }) ?? new.addresses.first
    else { return }
    core.redirect(session, to: SocketAddress(ip, port: new.port))
  }

  mutating func lost(_ service: MatterService, at now: Instant) {
    services[service.kind] = nil
    for id in operations.keys.sorted() {
      if case .discover(let query)? = operations[id]?.task, query.matches(service) { emit(.serviceLost(id, service)) }
    }
  }

  // MARK: Cache

  mutating func cache(_ attributes: [AttributeData], of node: NodeID) {
    guard var cache = peers[node]?.cache else { return }
    peers[node]?.cache = [:]
    for attribute in attributes {
      guard cache.count < Peer.maximumCachedValues || cache[attribute.path] != nil else { continue }
      cache[attribute.path] = .init(value: attribute.value, dataVersion: attribute.dataVersion)
    }
    peers[node]?.cache = cache
  }
}

extension HandshakeError {
  /// Whether a failed resumption attempt may have this error because the peer rejected the resumption.
  fileprivate var mayRejectResumption: Bool {
    switch self {
    case .refused, .invalidMessage, .untrusted, .timedOut: true
    case .busy, .wrongPasscode, .noResources: false
    }
  }
}

extension MatterService {
  fileprivate func isAt(_ address: SocketAddress) -> Bool { port == address.port && addresses.contains(address.ip) }
}
