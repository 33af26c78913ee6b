internal import MatterCertificates
internal import MatterClusters
internal import MatterCrypto
internal import MatterModel
internal import MatterProtocol

// Commissioning from the PASE session on, one request after the other. Matter Core § 5.5.
extension ControllerEngine {
  mutating func perform(_ step: CommissioningStep, _ id: OperationID, at now: Instant) {
    beginStep(step, id, at: now)
    request(step, id, at: now)
  }

  private mutating func advance(to step: CommissioningStep, _ id: OperationID, at now: Instant) {
    endStep(id, at: now)
    perform(step, id, at: now)
  }

  /// Sends the next request of the step.
  private mutating func request(_ step: CommissioningStep, _ id: OperationID, at now: Instant) {
    guard let commissioning = commissionings[id] else { return }
    switch step {
    case .discover, .connectByPasscode: break
    case .readInformation: send(.read(ReadRequest(attributePaths: Self.informationPaths)), id, at: now)
    case .armFailSafe:
      let wanted = max(commissioning.request.failSafe.components.seconds, Int64(commissioning.failSafeSeconds))
      let fields = GeneralCommissioning.ArmFailSafeRequest(
        expiryLengthSeconds: UInt16(clamping: wanted), breadcrumb: 1)
      send(GeneralCommissioning.armFailSafe, fields, id, at: now)
    case .setRegulatoryConfig:
      let fields = GeneralCommissioning.SetRegulatoryConfigRequest(
        newRegulatoryConfig: commissioning.request.regulatoryLocation ?? commissioning.locationCapability,
        countryCode: commissioning.request.countryCode, breadcrumb: 2)
      send(GeneralCommissioning.setRegulatoryConfig, fields, id, at: now)
    case .requestAttestation:
      if commissioning.pai == nil || commissioning.dac == nil {
        let fields = OperationalCredentials.CertificateChainRequest(
          certificateType: commissioning.pai == nil ? .paiCertificate : .dacCertificate)
        send(OperationalCredentials.certificateChainRequest, fields, id, at: now)
      } else {
        let nonce = random.bytes(32)
        commissionings[id]?.nonce = nonce
        let fields = OperationalCredentials.AttestationRequest(attestationNonce: OctetString(nonce))
        send(OperationalCredentials.attestationRequest, fields, id, at: now)
      }
    case .verifyAttestation: verifyAttestation(id, at: now)
    case .requestSigning:
      let nonce = random.bytes(32)
      commissionings[id]?.nonce = nonce
      let fields = OperationalCredentials.CSRRequest(csrNonce: OctetString(nonce))
      send(OperationalCredentials.csrRequest, fields, id, at: now)
    case .issueCertificate: issueCertificate(id, at: now)
    case .addTrustedRoot:
      let fields = OperationalCredentials.AddTrustedRootCertificateRequest(
        rootCACertificate: OctetString(fabric.rootCertificate))
      send(OperationalCredentials.addTrustedRootCertificate, fields, id, at: now)
    case .addCertificate:
      let fields = OperationalCredentials.AddNOCRequest(
        nocValue: OctetString(commissioning.certificate),
        icacValue: fabric.intermediateCertificate.map { OctetString($0) }, ipkValue: OctetString(authority.epochKey),
        caseAdminSubject: configuration.administrator ?? fabric.nodeID,
        adminVendorId: configuration.adminVendorID)
      send(OperationalCredentials.addNOC, fields, id, at: now)
    case .connectOperationally: connectOperationally(id, at: now)
    case .complete:
      if commissioning.isResumed, let session = commissioning.session { sendCompletion(id, on: session, at: now) }
    }
  }

  /// Nine paths, the number that every node supports in one read. Matter Core § 11.1.4.4.
  private static let informationPaths: [AttributePath] = [
    AttributePath(BasicInformation.vendorID.path(on: .root)),
    AttributePath(BasicInformation.productID.path(on: .root)),
    AttributePath(BasicInformation.vendorName.path(on: .root)),
    AttributePath(BasicInformation.productName.path(on: .root)),
    AttributePath(BasicInformation.serialNumber.path(on: .root)),
    AttributePath(endpoint: .root, cluster: GeneralCommissioning.id),
    AttributePath(cluster: NetworkCommissioning.id, attribute: GlobalAttribute.featureMap),
    AttributePath(cluster: Descriptor.id, attribute: Descriptor.deviceTypeList.id),
    AttributePath(cluster: Descriptor.id, attribute: Descriptor.partsList.id),
  ]

  private mutating func send<C: Cluster, Request: ModelStruct, Response: ModelStruct>(
    _ command: Command<C, Request, Response>, _ fields: Request, _ id: OperationID, at now: Instant
  ) {
    send(.invoke([CommandData(command.path(on: .root), fields: fields.tlv)], timed: nil), id, at: now)
  }

  private mutating func send(_ request: NodeRequest, _ id: OperationID, at now: Instant) {
    guard let session = commissionings[id]?.session, begin(request, for: id, on: session, isOld: false, at: now)
    else { return failCommissioning(id, .connectionLost, at: now) }
  }

  // MARK: Answers

  mutating func resolveCommissioning(
    _ id: OperationID, _ result: Result<Reply, ControllerError>, at now: Instant
  ) {
    guard let commissioning = commissionings[id], let step = commissioning.step else { return }
    if commissioning.failure != nil {
      // The device has confirmed that it reverted its changes.
      if case .success(.invoked(let results)) = result,
        let response = try? results.response(as: GeneralCommissioning.ArmFailSafeResponse.self),
        response.errorCode == .ok
      {
        forgetUnconfirmed(commissioning.nodeID)
      }
      return finishFailure(id, at: now)
    }
    do throws(ControllerError) {
      switch (step, try result.get()) {
      case (.readInformation, .report(let report)):
        try storeInformation(report, id)
        try checkProduct(id)
        advance(to: commissioning.isResumed ? .complete : .armFailSafe, id, at: now)
      case (_, .invoked(let results)):
        try handleResults(results, step, id, at: now)
      default:
        throw .unexpectedResponse("an answer to another kind of request")
      }
    } catch {
      if isBusy(error), waitForBusy(id, at: now) { return }
      if step == .complete, error.isTransport, !commissioning.isCompletionRepeated {
        return confirmCompletion(id, at: now)
      }
      if step == .complete, !error.isTransport { forgetUnconfirmed(commissioning.nodeID) }
      failCommissioning(id, error, at: now)
    }
  }

  /// Whether the device asks for a retry later.
  private func isBusy(_ error: ControllerError) -> Bool {
    switch error {
    case .status(let status): status.isTransient
    case .commissioning(.busyWithOtherAdmin, _): true
    default: false
    }
  }

  /// Resends the request that the device refused as busy.
  mutating func repeatStep(_ id: OperationID, at now: Instant) {
    guard let commissioning = commissionings[id], commissioning.failure == nil, let step = commissioning.step else {
      return
    }
    guard step == .complete else { return request(step, id, at: now) }
    guard let session = peers[commissioning.nodeID]?.session else { return confirmCompletion(id, at: now) }
    sendCompletion(id, on: session, at: now)
  }

  /// Repeats CommissioningComplete over a new session: its answer was lost, so the device may or may not be
  /// commissioned.
  private mutating func confirmCompletion(_ id: OperationID, at now: Instant) {
    guard let node = commissionings[id]?.nodeID else { return }
    commissionings[id]?.isCompletionRepeated = true
    peers[node]?.session = nil
    peers[node]?.waiting = [id]
    openSession(with: node, at: now)
  }

  private mutating func sendCompletion(_ id: OperationID, on session: SessionID, at now: Instant) {
    keepUnconfirmed(id)
    let command = CommandData(GeneralCommissioning.commissioningComplete.path(on: .root), fields: NoFields().tlv)
    guard begin(.invoke([command], timed: nil), for: id, on: session, isOld: false, at: now) else {
      return failCommissioning(id, .connectionLost, at: now)
    }
  }

  private mutating func handleResults(
    _ results: [CommandResult], _ step: CommissioningStep, _ id: OperationID, at now: Instant
  ) throws(ControllerError) {
    switch step {
    case .armFailSafe:
      let response = try results.response(as: GeneralCommissioning.ArmFailSafeResponse.self)
      guard response.errorCode == .ok else { throw .commissioning(response.errorCode, response.debugText) }
      commissionings[id]?.isArmed = true
      advance(to: .setRegulatoryConfig, id, at: now)
    case .setRegulatoryConfig:
      let response = try results.response(as: GeneralCommissioning.SetRegulatoryConfigResponse.self)
      guard response.errorCode == .ok else { throw .commissioning(response.errorCode, response.debugText) }
      advance(to: .requestAttestation, id, at: now)
    case .requestAttestation: try handleAttestation(results, id, at: now)
    case .requestSigning:
      commissionings[id]?.signing = try results.response(as: OperationalCredentials.CSRResponse.self)
      advance(to: .issueCertificate, id, at: now)
    case .addTrustedRoot:
      try results.checkStatus()
      advance(to: .addCertificate, id, at: now)
    case .addCertificate:
      let response = try results.response(as: OperationalCredentials.NOCResponse.self)
      guard response.statusCode == .ok else {
        throw .operationalCredentials(response.statusCode, response.debugText ?? "")
      }
      commissionings[id]?.fabricIndex = response.fabricIndex
      advance(to: .connectOperationally, id, at: now)
    case .complete:
      let response = try results.response(as: GeneralCommissioning.CommissioningCompleteResponse.self)
      // A commissioned device answers a repeated CommissioningComplete over CASE with `noFailSafe`.
      let isDone = response.errorCode == .noFailSafe && commissionings[id]?.isCompletionRepeated == true
      guard response.errorCode == .ok || isDone else { throw .commissioning(response.errorCode, response.debugText) }
      endStep(id, at: now)
      finishCommissioning(id, at: now)
    default:
      throw .unexpectedResponse("an answer to another kind of request")
    }
  }

  private mutating func storeInformation(_ report: ReassembledReport, _ id: OperationID) throws(ControllerError) {
    var information = DeviceInformation()
    information.vendorID = try report.value(of: BasicInformation.vendorID, on: .root)
    information.productID = try report.value(of: BasicInformation.productID, on: .root)
    information.vendorName = (try? report.value(of: BasicInformation.vendorName, on: .root)) ?? ""
    information.productName = (try? report.value(of: BasicInformation.productName, on: .root)) ?? ""
    information.serialNumber = (try? report.value(of: BasicInformation.serialNumber, on: .root)) ?? ""
    let endpoints = Set(
      report.attributes.filter { $0.path.cluster == Descriptor.id }.map(\.path.endpoint)
    ).sorted()
    information.endpoints = endpoints.map { endpoint in
      let types = (try? report.value(of: Descriptor.deviceTypeList, on: endpoint)) ?? []
      return .init(
        id: endpoint, deviceTypes: types.map(\.deviceType),
        parts: (try? report.value(of: Descriptor.partsList, on: endpoint)) ?? [])
    }
    for attribute in report.attributes
    where attribute.path.cluster == NetworkCommissioning.id && attribute.path.attribute == GlobalAttribute.featureMap {
      let features = try? UInt32(tlv: attribute.value)
      information.networkFeatures[attribute.path.endpoint] = features
    }
    commissionings[id]?.information = information
    if let capability = try? report.value(of: GeneralCommissioning.locationCapability, on: .root) {
      commissionings[id]?.locationCapability = capability
    }
    if let basic = try? report.value(of: GeneralCommissioning.basicCommissioningInfo, on: .root) {
      commissionings[id]?.failSafeSeconds = basic.failSafeExpiryLengthSeconds
    }
  }

  /// Rejects a device whose vendor or product differs from the setup code: another device with the same passcode, or a
  /// counterfeit.
  private func checkProduct(_ id: OperationID) throws(ControllerError) {
    guard let commissioning = commissionings[id], let expected = commissioning.request.product else { return }
    let found = CommissioningRequest.Product(
      vendorID: commissioning.information.vendorID, productID: commissioning.information.productID)
    guard found == expected || commissioning.request.attestationPolicy == .proceedAnyway else {
      throw .otherProduct(expected: expected, found: found)
    }
  }

  // MARK: Attestation

  private mutating func handleAttestation(
    _ results: [CommandResult], _ id: OperationID, at now: Instant
  ) throws(ControllerError) {
    guard let commissioning = commissionings[id] else { return }
    if commissioning.pai == nil || commissioning.dac == nil {
      let response = try results.response(as: OperationalCredentials.CertificateChainResponse.self)
      if commissioning.pai == nil {
        commissionings[id]?.pai = response.certificate.bytes
      } else {
        commissionings[id]?.dac = response.certificate.bytes
      }
      request(.requestAttestation, id, at: now)
    } else {
      commissionings[id]?.attestation = try results.response(as: OperationalCredentials.AttestationResponse.self)
      advance(to: .verifyAttestation, id, at: now)
    }
  }

  private mutating func verifyAttestation(_ id: OperationID, at now: Instant) {
    guard let commissioning = commissionings[id], let response = commissioning.attestation,
      let pai = commissioning.pai, let dac = commissioning.dac,
      let challenge = commissioning.session.flatMap({ core.session($0)?.attestationChallenge })
    else { return failCommissioning(id, .connectionLost, at: now) }
    do throws(AttestationError) {
      let outcome = try configuration.attestation.verify(
        .init(
          elements: response.attestationElements.bytes, signature: response.attestationSignature.bytes, dac: dac,
          pai: pai, nonce: commissioning.nonce, challenge: challenge),
        vendorID: commissioning.information.vendorID.rawValue, productID: commissioning.information.productID,
        at: configuration.currentTime)
      commissionings[id]?.isTestDevice = outcome.isTest
    } catch {
      commissionings[id]?.isTestDevice = error == .testKeys
      let failure = ControllerError.Attestation(error)
      guard commissioning.request.attestationPolicy == .proceedAnyway else {
        return failCommissioning(id, .attestation(failure), at: now)
      }
      commissionings[id]?.attestationFailure = failure
    }
    advance(to: .requestSigning, id, at: now)
  }

  // MARK: The certificate

  private mutating func issueCertificate(_ id: OperationID, at now: Instant) {
    guard let commissioning = commissionings[id] else { return }
    do {
      let certificate = try certificate(for: commissioning)
      commissionings[id]?.certificate = certificate
    } catch let error as ControllerError {
      return failCommissioning(id, error, at: now)
    } catch {
      return failCommissioning(id, .certificate("\(error)"), at: now)
    }
    advance(to: .addTrustedRoot, id, at: now)
  }

  /// Verifies the device's certificate signing request and issues its certificate.
  private mutating func certificate(for commissioning: Commissioning) throws -> [UInt8] {
    guard let response = commissioning.signing,
      let challenge = commissioning.session.flatMap({ core.session($0)?.attestationChallenge })
    else { throw ControllerError.connectionLost }
    let bytes = response.nocsrElements.bytes
    do {
      let key = try X509Certificate(der: commissioning.dac ?? []).publicKey
      guard
        AttestationSignature.isValid(
          response.attestationSignature.bytes, elements: bytes, challenge: challenge, key: key)
      else { throw AttestationError.responseSignature }
    } catch {
      // Without a valid attestation certificate the signature cannot be verified.
      guard commissioning.attestationFailure != nil else {
        throw ControllerError.attestation(.init("signature of the signing request"))
      }
    }
    let elements: NOCSRElements
    do { elements = try NOCSRElements(tlv: bytes) } catch { throw ControllerError.attestation(.init(error)) }
    guard elements.nonce == commissioning.nonce else {
      throw ControllerError.attestation(.init("nonce of the signing request"))
    }
    let signing = try CertificateSigningRequest(verifying: elements.certificateSigningRequest)
    return try authority.issue(
      signing.publicKey, to: commissioning.nodeID, tags: commissioning.request.tags,
      notBefore: configuration.notBefore, random: &random, signatures: configuration.signatures)
  }

  // MARK: Operational session

  private mutating func connectOperationally(_ id: OperationID, at now: Instant) {
    guard let commissioning = commissionings[id] else { return }
    let node = commissioning.nodeID
    var record = PeerRecord(node)
    // Tries the current address first instead of waiting for DNS-SD.
    if let info = commissioning.session.flatMap({ core.session($0) }) {
      record.address = info.peerAddress
      record.parameters = info.parameters
    }
    record.vendorID = commissioning.information.vendorID
    record.productID = commissioning.information.productID
    record.attestation =
      commissioning.isTestDevice ? .test : commissioning.attestationFailure == nil ? .production : .unverified
    connect(to: record, for: id, timeout: Commissioning.operationalTimeout, at: now)
  }

  mutating func connectedOperationally(
    _ id: OperationID, _ node: NodeID, _ session: SessionID, at now: Instant
  ) {
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
    sendCompletion(id, on: session, at: now)
  }

  private mutating func finishCommissioning(_ id: OperationID, at now: Instant) {
    guard let commissioning = commissionings[id], let record = peers[commissioning.nodeID]?.record else { return }
    peers[record.nodeID]?.isStored = true
    var changes = [StoreChange(PeerRecord.key(record.nodeID), record.tlv, isDurable: true)]
    if let resumption = peers[record.nodeID]?.resumption {
      changes.append(StoreChange(PeerRecord.resumptionKey(record.nodeID), resumption.stored))
    }
    let request = UnconfirmedNode.fingerprint(of: commissioning.request)
    changes += forgettingUnconfirmed { $0.request == request }
    perform(.store(changes))
    // The device closes its end itself. Matter Core § 5.5.
    if let session = commissioning.session, !commissioning.isResumed {
      core.close(session, notifyingPeer: false, at: now)
    }
    let result = CommissioningResult(
      nodeID: record.nodeID, fabricIndex: commissioning.fabricIndex, information: commissioning.information,
      attestationFailure: commissioning.attestationFailure, attestation: record.attestation ?? .unverified,
      address: record.address ?? SocketAddress(.loopback6, port: 0), duration: now - commissioning.startedAt)
    complete(id, .success(.commissioned(result)), at: now)
  }

  // MARK: Failing

  /// Fails a commissioning and disarms the device's fail-safe if the device can be reached.
  mutating func failCommissioning(_ id: OperationID, _ error: ControllerError, at now: Instant) {
    guard let commissioning = commissionings[id] else { return }
    guard commissioning.failure == nil else { return finishFailure(id, at: now) }
    if commissioning.isResumed, commissioning.session == nil, error.isTransport, error != .timedOut {
      return abandonResumption(id, at: now)
    }
    commissionings[id]?.failure = (commissioning.step, error)
    dropTransactions(of: id, at: now)
    if let attempt = commissioning.attempt {
      handshakes[attempt.handshake] = nil
      core.cancel(attempt.handshake, at: now)
      commissionings[id]?.attempt = nil
    }
    commissionings[id]?.candidates = []
    // Once the operational session is in use, its loss does not imply that the PASE session is lost.
    let isOnFirstSession = peers[commissioning.nodeID]?.isStored != false
    let isLost = isOnFirstSession && (error == .connectionLost || error == .unreachable)
    guard commissioning.isArmed, !isLost, let session = commissioning.session else {
      return finishFailure(id, at: now)
    }
    let fields = GeneralCommissioning.ArmFailSafeRequest(expiryLengthSeconds: 0, breadcrumb: 0)
    let command = CommandData(GeneralCommissioning.armFailSafe.path(on: .root), fields: fields.tlv)
    guard begin(.invoke([command], timed: nil), for: id, on: session, isOld: false, at: now) else {
      return finishFailure(id, at: now)
    }
    let end = now + Commissioning.undoTime
    commissionings[id]?.undoEnd = end
    operations[id]?.deadline = nil
    schedule(end)
  }

  mutating func finishFailure(_ id: OperationID, at now: Instant) {
    guard let commissioning = commissionings[id] else { return }
    stopSearching(id)
    if let session = commissioning.session { core.close(session, notifyingPeer: true, at: now) }
    let node = commissioning.nodeID
    let cause = commissioning.failure?.error ?? .notFound
    let step = commissioning.failure?.step ?? .connectByPasscode
    let error = cause == .cancelled ? cause : .commissioningFailed(step, cause)
    complete(id, .failure(error), at: now) {
      if $0.peers[node]?.isStored == false { $0.forget(node, fabricRemoved: true, at: now) }
    }
  }
}
