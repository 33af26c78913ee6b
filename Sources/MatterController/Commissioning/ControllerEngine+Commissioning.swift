internal import MatterCertificates
internal import MatterCrypto
internal import MatterModel
public import MatterProtocol

extension ControllerEngine {
  /// Commissions a device into the fabric and reports each step. Completes with ``OperationOutcome/commissioned(_:)``
  /// or ``ControllerError/commissioningFailed(_:_:)``.
  public mutating func commission(_ request: CommissioningRequest, at now: Instant) -> OperationID {
    let id = operations.add(.commission, deadline: now + request.timeout)
    schedule(now + request.timeout)
    if !resumeCommissioning(request, id, at: now) { beginCommissioning(request, id, at: now) }
    settle(at: now)
    return id
  }

  private func isAssignable(_ node: NodeID) -> Bool {
    node.isOperational && peers[node] == nil && node != fabric.nodeID
  }

  private func unconfirmedNode(of request: CommissioningRequest) -> UnconfirmedNode? {
    unconfirmed.node(of: request) { peers[$0] == nil }
  }

  private var freeNodeID: NodeID { authority.freeNodeID { peers[$0] != nil } }
}

// Effects of the state machine ``Commissioning``.
extension ControllerEngine {
  // MARK: Search and PASE

  private mutating func beginCommissioning(_ request: CommissioningRequest, _ id: OperationID, at now: Instant) {
    let node = request.nodeID ?? freeNodeID
    if let error = Commissioning.error(request, node: node, isAssignable: isAssignable(node)) {
      return complete(id, .failure(error), at: now)
    }
    // Reserved at once, so that two commissionings do not assign the same id.
    if let change = authority.reserve(node) { perform(.store([change])) }
    commissionings[id] = Commissioning(request, node: node, at: now)
    if let query = commissionings[id]?.search?.queries.first {
      beginStep(.discover, id, at: now)
      search(query, id, at: now)
    }
    advanceCommissioning(id, at: now)
  }

  private mutating func search(_ query: DiscoveryQuery, _ id: OperationID, at now: Instant) {
    browse(query)
    for service in browser.known(query) { offer(service, toCommissioning: id, at: now) }
  }

  private mutating func stopSearching(_ id: OperationID, at now: Instant) {
    guard let search = commissionings[id]?.search else { return }
    commissionings[id]?.search = nil
    if let attempt = search.attempt { cancel(attempt.handshake, at: now) }
    for query in search.queries { stopBrowsing(query) }
  }

  mutating func offer(_ service: MatterService, toCommissioning id: OperationID, at now: Instant) {
    guard commissionings[id]?.search?.offer(service, at: now) == true else { return }
    advanceCommissioning(id, at: now)
  }

  /// Starts the next PASE attempt that is due, or fails the commissioning.
  mutating func advanceCommissioning(_ id: OperationID, at now: Instant) {
    if let undoEnd = commissionings[id]?.undoEnd {
      if undoEnd <= now { finishFailure(id, at: now) }
      return
    }
    while let step = commissionings[id]?.search?.next(at: now, hasResponse: { core.hasReceivedResponse($0) }) {
      switch step {
      case .cancel(let handshake): cancel(handshake, at: now)
      case .start(let candidate): startPASE(candidate, id, at: now)
      case .widen(let query): search(query, id, at: now)
      case .fail(let error): return failCommissioning(id, error, at: now)
      case .wait(let deadline): return schedule(deadline)
      }
    }
    // The search for a session with an unconfirmed node ends at the first timer.
    if commissionings[id]?.restarts(after: .notFound) == true { restartCommissioning(id, at: now) }
  }

  private mutating func startPASE(_ candidate: DeviceSearch.Candidate, _ id: OperationID, at now: Instant) {
    guard let commissioning = commissionings[id] else { return }
    if commissioning.step == .discover { endStep(id, at: now) }
    if commissioning.step != .connectByPasscode { beginStep(.connectByPasscode, id, at: now) }
    let handshake = core.establishPASE(
      passcode: commissioning.request.passcode, to: candidate.address, parameters: candidate.parameters, at: now)
    handshakes[handshake] = .commissioning(id)
    commissionings[id]?.search?.started(handshake, with: candidate, at: now)
  }

  /// Records which passcode handshakes have been answered, because the core removes a handshake before it reports its
  /// failure.
  mutating func noteResponses() {
    for id in commissionings.keys {
      guard let attempt = commissionings[id]?.search?.attempt, core.hasReceivedResponse(attempt.handshake) else {
        continue
      }
      commissionings[id]?.search?.noteResponse()
    }
  }

  mutating func failedPASE(_ id: OperationID, _ error: HandshakeError, at now: Instant) {
    guard commissionings[id]?.search?.attempt != nil else { return }
    commissionings[id]?.search?.failed(error, at: now)
    advanceCommissioning(id, at: now)
  }

  mutating func establishedPASE(_ session: SessionID, for id: OperationID, at now: Instant) {
    guard commissionings[id] != nil else { return core.close(session, notifyingPeer: true, at: now) }
    stopSearching(id, at: now)
    commissionings[id]?.session = session
    advance(to: .readInformation, id, at: now)
  }

  // MARK: Steps

  private mutating func beginStep(_ step: CommissioningStep, _ id: OperationID, at now: Instant) {
    commissionings[id]?.begin(step, at: now)
    operations[id]?.resetRetries()
    emit(.commissioningStep(id, step, .started))
  }

  private mutating func endStep(_ id: OperationID, at now: Instant) {
    guard let commissioning = commissionings[id], let step = commissioning.step else { return }
    emit(.commissioningStep(id, step, .finished(commissioning.stepDuration(at: now))))
  }

  private mutating func advance(to step: CommissioningStep, _ id: OperationID, at now: Instant) {
    endStep(id, at: now)
    beginStep(step, id, at: now)
    perform(step, id, at: now)
  }

  /// Performs a step, or sends its next request.
  private mutating func perform(_ step: CommissioningStep, _ id: OperationID, at now: Instant) {
    do throws(ControllerError) {
      let session = commissionings[id]?.session
      let challenge = session.flatMap { core.session($0)?.attestationChallenge }
      switch step {
      case .verifyAttestation:
        let verifier = commissionings[id]?.request.attestation ?? configuration.attestation
        let time = configuration.currentTime?.components.seconds
        try commissionings[id]?.verifyAttestation(verifier, challenge: challenge, at: time)
        advance(to: .requestSigning, id, at: now)
      case .issueCertificate:
        try issueCertificate(id, challenge: challenge)
        advance(to: .addTrustedRoot, id, at: now)
      case .connectOperationally:
        let info = session.flatMap { core.session($0) }
        guard let record = commissionings[id]?.record(info?.peerAddress, info?.parameters) else { return }
        connect(to: record, for: id, timeout: Commissioning.operationalTimeout, at: now)
      default: send(id, on: session, at: now)
      }
    } catch {
      failCommissioning(id, error, at: now)
    }
  }

  /// Sends the next request of the current step.
  private mutating func send(_ id: OperationID, on session: SessionID?, at now: Instant) {
    let credentials = Commissioning.Credentials(
      rootCertificate: fabric.rootCertificate, intermediateCertificate: fabric.intermediateCertificate,
      epochKey: authority.epochKey, administrator: configuration.administrator ?? fabric.nodeID,
      adminVendorID: configuration.adminVendorID)
    if commissionings[id]?.step == .complete { keepUnconfirmed(id) }
    guard let request = commissionings[id]?.nextRequest(credentials, random: &random) else { return }
    guard let session, begin(request, for: id, on: session, isOld: false, at: now) else {
      return failCommissioning(id, .connectionLost, at: now)
    }
  }

  private mutating func issueCertificate(_ id: OperationID, challenge: [UInt8]?) throws(ControllerError) {
    guard let commissioning = commissionings[id] else { return }
    let key = try commissioning.verifiedKey(challenge: challenge)
    do {
      let certificate = try authority.issue(
        key, to: commissioning.nodeID, tags: commissioning.request.tags, notBefore: configuration.notBefore,
        random: &random, signatures: configuration.signatures)
      commissionings[id]?.certificate = certificate
    } catch {
      throw .certificate("\(error)")
    }
  }

  // MARK: Answers

  mutating func resolveCommissioning(
    _ id: OperationID, _ result: Result<Reply, ControllerError>, at now: Instant
  ) {
    guard let commissioning = commissionings[id], let step = commissioning.step else { return }
    if commissioning.failure != nil {
      if Commissioning.isReverted(result) { store(unconfirmed.remove(commissioning.nodeID)) }
      return finishFailure(id, at: now)
    }
    do throws(ControllerError) {
      let reply = try result.get()
      let followingStep = try commissionings[id]?.handle(reply)
      if step == .readInformation, case .report(let report) = reply { emit(.report(id, report)) }
      guard let next = followingStep else {
        endStep(id, at: now)
        return finishCommissioning(id, at: now)
      }
      if next == step { perform(step, id, at: now) } else { advance(to: next, id, at: now) }
    } catch {
      if error.isBusyDevice, waitForBusy(id, at: now) { return }
      if commissioning.repeatsCompletion(after: error) { return confirmCompletion(id, at: now) }
      if step == .complete, !error.isTransport { store(unconfirmed.remove(commissioning.nodeID)) }
      failCommissioning(id, error, at: now)
    }
  }

  /// Resends the request that the device refused as busy.
  mutating func repeatStep(_ id: OperationID, at now: Instant) {
    guard let commissioning = commissionings[id], commissioning.failure == nil, let step = commissioning.step else {
      return
    }
    guard step == .complete else { return perform(step, id, at: now) }
    guard let session = peers[commissioning.nodeID]?.session else { return confirmCompletion(id, at: now) }
    send(id, on: session, at: now)
  }

  /// Repeats CommissioningComplete over a new session.
  private mutating func confirmCompletion(_ id: OperationID, at now: Instant) {
    guard let node = commissionings[id]?.nodeID else { return }
    commissionings[id]?.repeatCompletion()
    peers[node]?.session = nil
    peers[node]?.waiting = [id]
    openSession(with: node, at: now)
  }

  // MARK: Operational session

  /// Opens the first operational session with a device.
  private mutating func connect(to record: PeerRecord, for id: OperationID, timeout: Duration, at now: Instant) {
    var peer = Peer(record)
    peer.isStored = false
    peer.waiting = [id]
    peers[record.nodeID] = peer
    operations[id]?.node = record.nodeID
    openSession(with: record.nodeID, timeout: timeout, at: now)
  }

  mutating func connectedOperationally(_ id: OperationID, on session: SessionID, at now: Instant) {
    guard let commissioning = commissionings[id], commissioning.failure == nil else { return }
    if commissioning.isResumed, commissioning.session == nil {
      // The device information of the earlier commissioning was not stored.
      commissionings[id]?.session = session
      return advance(to: .readInformation, id, at: now)
    }
    if commissioning.step != .complete {
      endStep(id, at: now)
      beginStep(.complete, id, at: now)
    }
    send(id, on: session, at: now)
  }

  /// Stores a device to which CommissioningComplete is sent, until its answer arrives.
  private mutating func keepUnconfirmed(_ id: OperationID) {
    guard let commissioning = commissionings[id], let record = peers[commissioning.nodeID]?.record else { return }
    let (request, failure) = (commissioning.request, commissioning.attestationFailure)
    store(unconfirmed.add(UnconfirmedNode(record, request, attestationFailure: failure)))
  }

  private mutating func finishCommissioning(_ id: OperationID, at now: Instant) {
    guard let commissioning = commissionings[id], let record = peers[commissioning.nodeID]?.record,
      let changes = peers[commissioning.nodeID]?.confirm()
    else { return }
    emit(.nodeAdded(id, commissioning.nodeID))
    perform(.store(changes + unconfirmed.removeAll(of: commissioning.request)))
    // The device closes its end itself. Matter Core § 5.5.
    if let session = commissioning.session, !commissioning.isResumed {
      core.close(session, notifyingPeer: false, at: now)
    }
    let result = commissioning.result(record, at: now)
    defer { updateAccessIfNeeded(commissioning.nodeID, at: now) }
    guard record.longIdle != nil else { return complete(id, .success(.commissioned(result)), at: now) }
    commissionings[id] = nil
    operations[id]?.deadline = nil
    register(commissioning.nodeID, after: (id, result), at: now)
  }

  // MARK: Resumption

  /// Resumes the unanswered commissioning of the same request.
  /// - Returns: false if there is none.
  private mutating func resumeCommissioning(
    _ request: CommissioningRequest, _ id: OperationID, at now: Instant
  ) -> Bool {
    guard let known = unconfirmedNode(of: request) else { return false }
    // The policy for test devices may have become stricter since the commissioning began.
    let isRefused =
      known.record.attestation == .test
      && !(request.attestation ?? configuration.attestation).acceptsTestKeys
    if isRefused, request.attestationPolicy != .proceedAnyway { return false }
    commissionings[id] = Commissioning(request, resuming: known, at: now)
    beginStep(.connectOperationally, id, at: now)
    connect(to: known.record, for: id, timeout: configuration.discoveryTime, at: now)
    return true
  }

  /// Restarts a commissioning from the search because no session with the unconfirmed device opens.
  private mutating func restartCommissioning(_ id: OperationID, at now: Instant) {
    guard let commissioning = commissionings[id] else { return }
    operations[id]?.node = nil
    forget(commissioning.nodeID, fabricRemoved: false, at: now)
    beginCommissioning(commissioning.request, id, at: now)
  }

  // MARK: Failures

  /// Fails a commissioning and disarms the device's fail-safe if the device can be reached.
  mutating func failCommissioning(_ id: OperationID, _ error: ControllerError, at now: Instant) {
    guard let commissioning = commissionings[id] else { return }
    guard commissioning.failure == nil else { return finishFailure(id, at: now) }
    if commissioning.restarts(after: error) { return restartCommissioning(id, at: now) }
    // Once the operational session is in use, its loss does not imply that the PASE session is lost.
    let isOnFirstSession = peers[commissioning.nodeID]?.isStored != false
    let isLost = isOnFirstSession && (error == .connectionLost || error == .unreachable)
    let undo = commissionings[id]?.fail(error, isSessionLost: isLost)
    dropTransactions(of: id, at: now)
    stopSearching(id, at: now)
    guard let undo, let session = commissioning.session, begin(undo, for: id, on: session, isOld: false, at: now) else {
      return finishFailure(id, at: now)
    }
    commissionings[id]?.waitForUndo(at: now)
    operations[id]?.deadline = nil
    schedule(commissionings[id]?.undoEnd)
  }

  private mutating func finishFailure(_ id: OperationID, at now: Instant) {
    guard let commissioning = commissionings[id] else { return }
    if let session = commissioning.session { core.close(session, notifyingPeer: true, at: now) }
    let node = commissioning.nodeID
    complete(id, .failure(commissioning.error), at: now) {
      if $0.peers[node]?.isStored == false { $0.forget(node, fabricRemoved: true, at: now) }
    }
  }
}
