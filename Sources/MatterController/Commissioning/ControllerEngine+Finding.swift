internal import MatterModel
internal import MatterProtocol

// Commissioning up to the PASE session: discovery, and attempts at one address after the other.
extension ControllerEngine {
  mutating func startCommissioning(_ request: CommissioningRequest, _ id: OperationID, at now: Instant) {
    if !resumeCommissioning(request, id, at: now) { beginCommissioning(request, id, at: now) }
  }

  /// Starts a commissioning with discovery.
  mutating func beginCommissioning(_ request: CommissioningRequest, _ id: OperationID, at now: Instant) {
    let node = request.nodeID ?? nextFreeNodeID
    commissionings[id] = Commissioning(request, node: node, at: now)
    guard SetupPasscode.isValid(request.passcode) else {
      return complete(id, .failure(.invalidRequest("passcode \(request.passcode): invalid")), at: now)
    }
    guard node.isOperational else {
      return complete(
        id, .failure(.invalidRequest("node id \(node): out of range; expected 1 to 0xFFFFFFEFFFFFFFFF")), at: now)
    }
    guard isAssignable(node) else {
      return complete(id, .failure(.invalidRequest("node id \(node): in use by another node")), at: now)
    }
    guard request.tags.count <= 3 else {
      return complete(id, .failure(.invalidRequest("tags: too many; expected at most 3")), at: now)
    }
    // Reserved at once, so that two commissionings do not assign the same id.
    if let change = authority.reserve(node) { perform(.store([change])) }
    switch request.target {
    case .addresses(let addresses):
      commissionings[id]?.candidates = addresses.map {
        .init(address: $0, parameters: SessionParameters(), service: nil, notBefore: now)
      }
      guard !addresses.isEmpty else { return failCommissioning(id, .notFound, at: now) }
    case .discriminator(.long(let value)): search(.commissionable(.longDiscriminator(value)), id, at: now)
    case .discriminator(.short(let value)): search(.commissionable(.shortDiscriminator(value)), id, at: now)
    case .any: search(.commissionable(.inCommissioningMode), id, at: now)
    case .instance(let value): search(.commissionable(.instance(value)), id, at: now)
    }
    advanceCommissioning(id, at: now)
  }

  func isAssignable(_ node: NodeID) -> Bool { node.isOperational && peers[node] == nil && node != fabric.nodeID }

  var nextFreeNodeID: NodeID {
    var node = authority.nextNodeID
    // After the last operational id, allocation restarts at 1.
    if !node.isOperational { node = 1 }
    while !isAssignable(node) {
      node = NodeID(node.rawValue &+ 1)
      if !node.isOperational { node = 1 }
    }
    return node
  }

  private mutating func search(_ query: DiscoveryQuery, _ id: OperationID, at now: Instant) {
    beginStep(.discover, id, at: now)
    commissionings[id]?.query = query
    browse(query)
    for service in known(query) { offer(service, toCommissioning: id, at: now) }
  }

  /// Queries all commissionable devices, since none matched by subtype; their TXT records are matched instead.
  private mutating func widenSearch(_ id: OperationID, at now: Instant) {
    let query = DiscoveryQuery.commissionable(.any)
    commissionings[id]?.wideQuery = query
    browse(query)
    for service in known(query) { offer(service, toCommissioning: id, at: now) }
  }

  mutating func stopSearching(_ id: OperationID) {
    for query in [commissionings[id]?.query, commissionings[id]?.wideQuery] {
      if let query { stopBrowsing(query) }
    }
    commissionings[id]?.query = nil
    commissionings[id]?.wideQuery = nil
  }

  /// Adds the addresses of a service that matches the query to the candidates.
  mutating func offer(_ service: MatterService, toCommissioning id: OperationID, at now: Instant) {
    guard var commissioning = commissionings[id], commissioning.session == nil,
      let query = commissioning.query, query.matches(service), service.commissioningMode != 0,
      !commissioning.wrongServices.contains(service.kind)
    else { return }
    for ip in service.addresses {
      let address = SocketAddress(ip, port: service.port)
      guard !commissioning.candidates.contains(where: { $0.address == address }),
        commissioning.attempt?.candidate.address != address
      else { continue }
      commissioning.candidates.append(
        .init(address: address, parameters: SessionParameters(service), service: service.kind, notBefore: now))
    }
    commissionings[id] = commissioning
    advanceCommissioning(id, at: now)
  }

  /// Starts the next PASE attempt that is due, or fails the commissioning.
  mutating func advanceCommissioning(_ id: OperationID, at now: Instant) {
    guard let commissioning = commissionings[id] else { return }
    if let undoEnd = commissioning.undoEnd {
      if undoEnd <= now { finishFailure(id, at: now) }
      return
    }
    guard commissioning.session == nil else { return }
    if let attempt = commissioning.attempt {
      // The candidate is retried after the others.
      guard !commissioning.candidates.isEmpty, attempt.startedAt + Commissioning.stagger <= now else {
        return schedule(commissioning.wakeUp)
      }
      handshakes[attempt.handshake] = nil
      core.cancel(attempt.handshake, at: now)
      commissionings[id]?.attempt = nil
      requeue(attempt.candidate, id, at: now)
    }
    tryNext(id, at: now)
  }

  private mutating func tryNext(_ id: OperationID, at now: Instant) {
    guard let commissioning = commissionings[id] else { return }
    if let index = commissioning.candidates.firstIndex(where: { $0.notBefore <= now }) {
      if commissioning.step == .discover { endStep(id, at: now) }
      if commissioning.step != .connectByPasscode { beginStep(.connectByPasscode, id, at: now) }
      guard let candidate = commissionings[id]?.candidates.remove(at: index) else { return }
      let handshake = core.establishPASE(
        passcode: commissioning.request.passcode, to: candidate.address, parameters: candidate.parameters, at: now)
      handshakes[handshake] = .commissioning(id)
      commissionings[id]?.attempt = .init(handshake: handshake, candidate: candidate, startedAt: now)
    } else if commissioning.candidates.isEmpty {
      let end =
        commissioning.query == nil
        ? now
        : commissioning.lastError == nil
          ? commissioning.discoveryEnd
          : min(commissioning.discoveryEnd, commissioning.startedAt + Commissioning.settling)
      if end <= now { return failCommissioning(id, commissioning.lastError ?? .notFound, at: now) }
      if let due = commissioning.widensAt, due <= now { widenSearch(id, at: now) }
    }
    schedule(commissionings[id]?.wakeUp)
  }

  private mutating func requeue(
    _ candidate: Commissioning.Candidate, _ id: OperationID, after wait: Duration = .zero, at now: Instant
  ) {
    var candidate = candidate
    candidate.failures += 1
    candidate.notBefore = now + wait
    guard candidate.failures < Commissioning.maximumFailures else { return }
    commissionings[id]?.candidates.append(candidate)
  }

  mutating func failedPASE(_ id: OperationID, _ error: HandshakeError, at now: Instant) {
    guard let attempt = commissionings[id]?.attempt else { return }
    commissionings[id]?.attempt = nil
    switch error {
    case .wrongPasscode:
      commissionings[id]?.lastError = .wrongPasscode
      if let service = attempt.candidate.service {
        commissionings[id]?.wrongServices.insert(service)
        commissionings[id]?.candidates.removeAll { $0.service == service }
      }
    case .busy(let wait):
      commissionings[id]?.lastError = .busy
      var candidate = attempt.candidate
      // Other commissioners may be trying at the same time. A slot becomes free within this time.
      if let start = commissionings[id]?.startedAt, now - start < Commissioning.busyTimeout { candidate.failures -= 1 }
      requeue(candidate, id, after: min(wait, .seconds(60)), at: now)
    case .timedOut:
      if commissionings[id]?.lastError == nil { commissionings[id]?.lastError = .unreachable }
    default:
      commissionings[id]?.lastError = .handshake(error)
    }
    advanceCommissioning(id, at: now)
  }

  mutating func establishedPASE(_ session: SessionID, for id: OperationID, at now: Instant) {
    stopSearching(id)
    beginConversation(session, id, at: now)
  }

  private mutating func beginConversation(_ session: SessionID, _ id: OperationID, at now: Instant) {
    guard commissionings[id] != nil else { return core.close(session, notifyingPeer: true, at: now) }
    commissionings[id]?.attempt = nil
    commissionings[id]?.session = session
    endStep(id, at: now)
    perform(.readInformation, id, at: now)
  }

  // MARK: Progress events

  mutating func beginStep(_ step: CommissioningStep, _ id: OperationID, at now: Instant) {
    commissionings[id]?.step = step
    commissionings[id]?.stepStartedAt = now
    operations[id]?.busyRetries = 0
    emit(.commissioningStep(id, step, .started))
  }

  mutating func endStep(_ id: OperationID, at now: Instant) {
    guard let commissioning = commissionings[id], let step = commissioning.step else { return }
    emit(.commissioningStep(id, step, .finished(now - commissioning.stepStartedAt)))
  }
}
