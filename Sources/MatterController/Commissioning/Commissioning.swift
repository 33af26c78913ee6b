internal import MatterCertificates
internal import MatterClusters
internal import MatterCrypto
internal import MatterModel
internal import MatterProtocol

/// State machine of one commissioning: which request follows which answer. Matter Core § 5.5.
struct Commissioning: Sendable {
  /// The values of the fabric in the requests.
  struct Credentials: Sendable {
    let rootCertificate: [UInt8]
    let intermediateCertificate: [UInt8]?
    /// The epoch key of the identity protection key.
    let epochKey: [UInt8]
    let administrator: NodeID
    let adminVendorID: VendorID
  }

  let request: CommissioningRequest
  let nodeID: NodeID
  /// Whether it continues an earlier commissioning whose CommissioningComplete got no answer.
  let isResumed: Bool
  private let startedAt: Instant
  private(set) var step: CommissioningStep?
  private var stepStartedAt: Instant

  /// The search for the device, until a PASE session is established.
  var search: DeviceSearch?
  var session: SessionID?

  // Data from the device.
  private(set) var information = DeviceInformation()
  private var longIdle: LongIdleTiming?
  private(set) var attestationFailure: ControllerError.Attestation?
  /// Whether the fail-safe of the device is armed.
  private(set) var isArmed = false
  private var locationCapability = GeneralCommissioning.RegulatoryLocationType.indoorOutdoor
  private var failSafeSeconds: UInt16 = 0
  private var nonce: [UInt8] = []
  private var pai: [UInt8]?
  private var dac: [UInt8]?
  private var attestation: OperationalCredentials.AttestationResponse?
  /// Whether the attestation chain ends in public test keys.
  private var isTestDevice = false
  private var signing: OperationalCredentials.CSRResponse?

  // Data for the new node.
  /// The node's certificate, set by the issuer.
  var certificate: [UInt8] = []
  private var fabricIndex: FabricIndex?
  /// Whether CommissioningComplete was sent a second time.
  private var isCompletionRepeated: Bool

  /// Set after a failure, while the device disarms its fail-safe.
  private(set) var failure: (step: CommissioningStep?, error: ControllerError)?
  /// End of the time for disarming.
  private(set) var undoEnd: Instant?

  /// How long the device may take to revert its changes.
  static let undoTime: Duration = .seconds(3)
  /// How long the device may take to appear on the fabric after AddNOC.
  static let operationalTimeout: Duration = .seconds(30)

  /// Starts with the search for the device.
  init(_ request: CommissioningRequest, node: NodeID, at now: Instant) {
    (self.request, nodeID, startedAt, stepStartedAt) = (request, node, now, now)
    (isResumed, isCompletionRepeated) = (false, false)
    search = DeviceSearch(request, at: now)
  }

  /// Continues the commissioning of an unconfirmed node.
  init(_ request: CommissioningRequest, resuming node: UnconfirmedNode, at now: Instant) {
    (self.request, nodeID, startedAt, stepStartedAt) = (request, node.record.nodeID, now, now)
    (isResumed, isCompletionRepeated) = (true, true)
    attestationFailure = node.attestationFailure
  }

  /// Returns the reason for which the request is invalid, if any.
  /// - Parameter isAssignable: whether the node id is free.
  static func error(_ request: CommissioningRequest, node: NodeID, isAssignable: Bool) -> ControllerError? {
    if !SetupPasscode.isValid(request.passcode) {
      .invalidRequest("passcode \(request.passcode): invalid")
    } else if !node.isOperational {
      .invalidRequest("node id \(node): out of range; expected 1 to 0xFFFFFFEFFFFFFFFF")
    } else if !isAssignable {
      .invalidRequest("node id \(node): in use by another node")
    } else if request.tags.count > 3 {
      .invalidRequest("tags: too many; expected at most 3")
    } else {
      nil
    }
  }

  // MARK: Steps

  mutating func begin(_ step: CommissioningStep, at now: Instant) { (self.step, stepStartedAt) = (step, now) }

  /// How long the current step has taken.
  func stepDuration(at now: Instant) -> Duration { now - stepStartedAt }

  /// Returns the next request of the current step; nil if the step has none.
  mutating func nextRequest(_ credentials: Credentials, random: inout any RandomSource) -> NodeRequest? {
    switch step {
    case .readInformation: return .read(ReadRequest(attributePaths: Self.informationPaths))
    case .armFailSafe:
      return arm(seconds: max(request.failSafe.components.seconds, Int64(failSafeSeconds)), breadcrumb: 1)
    case .setRegulatoryConfig:
      let fields = GeneralCommissioning.SetRegulatoryConfigRequest(
        newRegulatoryConfig: request.regulatoryLocation ?? locationCapability, countryCode: request.countryCode,
        breadcrumb: 2)
      return command(GeneralCommissioning.setRegulatoryConfig, fields)
    case .requestAttestation:
      if pai == nil || dac == nil {
        let fields = OperationalCredentials.CertificateChainRequest(
          certificateType: pai == nil ? .paiCertificate : .dacCertificate)
        return command(OperationalCredentials.certificateChainRequest, fields)
      }
      nonce = random.bytes(32)
      let fields = OperationalCredentials.AttestationRequest(attestationNonce: OctetString(nonce))
      return command(OperationalCredentials.attestationRequest, fields)
    case .requestSigning:
      nonce = random.bytes(32)
      return command(OperationalCredentials.csrRequest, .init(csrNonce: OctetString(nonce)))
    case .addTrustedRoot:
      let fields = OperationalCredentials.AddTrustedRootCertificateRequest(
        rootCACertificate: OctetString(credentials.rootCertificate))
      return command(OperationalCredentials.addTrustedRootCertificate, fields)
    case .addCertificate:
      let fields = OperationalCredentials.AddNOCRequest(
        nocValue: OctetString(certificate), icacValue: credentials.intermediateCertificate.map { OctetString($0) },
        ipkValue: OctetString(credentials.epochKey), caseAdminSubject: credentials.administrator,
        adminVendorId: credentials.adminVendorID)
      return command(OperationalCredentials.addNOC, fields)
    case .complete: return command(GeneralCommissioning.commissioningComplete, .init())
    case .discover, .connectByPasscode, .verifyAttestation, .issueCertificate, .connectOperationally, nil: return nil
    }
  }

  /// At most nine paths, the number that every node supports in one read. Matter Core § 11.1.4.4.
  private static let informationPaths: [AttributePath] = [
    AttributePath(endpoint: .root, cluster: BasicInformation.id),
    AttributePath(endpoint: .root, cluster: GeneralCommissioning.id),
    AttributePath(cluster: NetworkCommissioning.id, attribute: GlobalAttribute.featureMap),
    AttributePath(cluster: Descriptor.id), AttributePath(cluster: BridgedDeviceBasicInformation.id),
    AttributePath(endpoint: .root, cluster: IcdManagement.id),
  ]

  private func arm(seconds: Int64, breadcrumb: UInt64) -> NodeRequest {
    command(
      GeneralCommissioning.armFailSafe,
      .init(expiryLengthSeconds: UInt16(clamping: seconds), breadcrumb: breadcrumb))
  }

  private func command<C: Cluster, Request: ModelStruct, Response: ModelStruct>(
    _ command: Command<C, Request, Response>, _ fields: Request
  ) -> NodeRequest {
    .invoke([CommandData(command.path(on: .root), fields: fields.tlv)], timed: nil)
  }

  // MARK: Answers

  /// Handles the answer to a request of the current step.
  /// - Returns: the next step, or the current one if it has another request; nil if the device is commissioned.
  mutating func handle(_ reply: Reply) throws(ControllerError) -> CommissioningStep? {
    switch (step, reply) {
    case (.readInformation, .report(let report)):
      try store(report)
      return isResumed ? .complete : .armFailSafe
    case (.armFailSafe, .invoked(let results)):
      let response = try results.response(as: GeneralCommissioning.ArmFailSafeResponse.self)
      try Self.check(response.errorCode, response.debugText)
      isArmed = true
      return .setRegulatoryConfig
    case (.setRegulatoryConfig, .invoked(let results)):
      let response = try results.response(as: GeneralCommissioning.SetRegulatoryConfigResponse.self)
      try Self.check(response.errorCode, response.debugText)
      return .requestAttestation
    case (.requestAttestation, .invoked(let results)) where pai == nil || dac == nil:
      let response = try results.response(as: OperationalCredentials.CertificateChainResponse.self)
      if pai == nil { pai = response.certificate.bytes } else { dac = response.certificate.bytes }
      return .requestAttestation
    case (.requestAttestation, .invoked(let results)):
      attestation = try results.response(as: OperationalCredentials.AttestationResponse.self)
      return .verifyAttestation
    case (.requestSigning, .invoked(let results)):
      signing = try results.response(as: OperationalCredentials.CSRResponse.self)
      return .issueCertificate
    case (.addTrustedRoot, .invoked(let results)):
      try results.checkStatus()
      return .addCertificate
    case (.addCertificate, .invoked(let results)):
      let response = try results.response(as: OperationalCredentials.NOCResponse.self)
      guard response.statusCode == .ok else {
        throw .operationalCredentials(response.statusCode, response.debugText ?? "")
      }
      fabricIndex = response.fabricIndex
      return .connectOperationally
    case (.complete, .invoked(let results)):
      let response = try results.response(as: GeneralCommissioning.CommissioningCompleteResponse.self)
      // A commissioned device answers a repeated CommissioningComplete over CASE with `noFailSafe`.
      if response.errorCode == .noFailSafe, isCompletionRepeated { return nil }
      try Self.check(response.errorCode, response.debugText)
      return nil
    default: throw .unexpectedResponse("an answer to another kind of request")
    }
  }

  private static func check(
    _ code: GeneralCommissioning.CommissioningError, _ text: String
  ) throws(ControllerError) {
    guard code == .ok else { throw .commissioning(code, text) }
  }

  /// Stores the device information. Rejects a device whose vendor or product differs from the setup code: another
  /// device with the same passcode, or a counterfeit.
  private mutating func store(_ report: ReassembledReport) throws(ControllerError) {
    information = try DeviceInformation(report)
    longIdle = DeviceInformation.longIdle(report)
    if let capability = try? report.value(of: GeneralCommissioning.locationCapability, on: .root) {
      locationCapability = capability
    }
    if let basic = try? report.value(of: GeneralCommissioning.basicCommissioningInfo, on: .root) {
      failSafeSeconds = basic.failSafeExpiryLengthSeconds
    }
    let found = CommissioningRequest.Product(vendorID: information.vendorID, productID: information.productID)
    guard let expected = request.product, found != expected, request.attestationPolicy != .proceedAnyway else { return }
    throw .otherProduct(expected: expected, found: found)
  }

  // MARK: Attestation and certificate

  /// Verifies the device's attestation.
  /// - Parameter challenge: the attestation challenge of the session.
  /// - Throws: the failure, unless the policy is to proceed.
  mutating func verifyAttestation(
    _ verifier: AttestationVerifier, challenge: [UInt8]?, at time: Int64?
  ) throws(ControllerError) {
    guard let attestation, let pai, let dac, let challenge else { throw .connectionLost }
    do throws(AttestationError) {
      let outcome = try verifier.verify(
        .init(
          elements: attestation.attestationElements.bytes, signature: attestation.attestationSignature.bytes, dac: dac,
          pai: pai, nonce: nonce, challenge: challenge),
        vendorID: information.vendorID.rawValue, productID: information.productID, at: time)
      isTestDevice = outcome.isTest
    } catch {
      isTestDevice = error == .testKeys
      let failure = ControllerError.Attestation(error)
      guard request.attestationPolicy == .proceedAnyway else { throw .attestation(failure) }
      attestationFailure = failure
    }
  }

  /// Verifies the device's certificate signing request and returns the key for its certificate.
  /// - Parameter challenge: the attestation challenge of the session.
  func verifiedKey(challenge: [UInt8]?) throws(ControllerError) -> P256PublicKey {
    guard let signing, let challenge else { throw .connectionLost }
    let bytes = signing.nocsrElements.bytes
    let dacKey = try? X509Certificate(der: dac ?? []).publicKey
    let isSigned = dacKey.map {
      AttestationSignature.isValid(
        signing.attestationSignature.bytes, elements: bytes, challenge: challenge, key: $0)
    }
    // Without a valid attestation certificate the signature cannot be verified.
    guard isSigned == true || attestationFailure != nil else {
      throw .attestation(.init("signature of the signing request"))
    }
    let elements: NOCSRElements
    do { elements = try NOCSRElements(tlv: bytes) } catch { throw .attestation(.init(error)) }
    guard elements.nonce == nonce else { throw .attestation(.init("nonce of the signing request")) }
    do { return try CertificateSigningRequest(verifying: elements.certificateSigningRequest).publicKey } catch {
      throw .certificate("\(error)")
    }
  }

  // MARK: Result

  /// Returns the record of the new node.
  /// - Parameters:
  ///   - address: the current address, which is tried before DNS-SD.
  ///   - parameters: the parameters of the session.
  func record(_ address: SocketAddress?, _ parameters: SessionParameters?) -> PeerRecord {
    var record = PeerRecord(nodeID)
    record.address = address
    if let parameters { record.parameters = parameters }
    record.vendorID = information.vendorID
    record.productID = information.productID
    record.longIdle = longIdle
    record.attestation = isTestDevice ? .test : attestationFailure == nil ? .production : .unverified
    return record
  }

  func result(_ record: PeerRecord, at now: Instant) -> CommissioningResult {
    CommissioningResult(
      nodeID: record.nodeID, fabricIndex: fabricIndex, information: information,
      attestationFailure: attestationFailure, attestation: record.attestation ?? .unverified,
      address: record.address ?? SocketAddress(.loopback6, port: 0), duration: now - startedAt)
  }

  // MARK: Failures

  /// Whether to repeat CommissioningComplete over a new session after an error: its answer was lost, so the device may
  /// or may not be commissioned.
  func repeatsCompletion(after error: ControllerError) -> Bool {
    step == .complete && error.isTransport && !isCompletionRepeated
  }

  mutating func repeatCompletion() { isCompletionRepeated = true }

  /// Whether to restart from the search after an error, because no session with the unconfirmed node opens.
  func restarts(after error: ControllerError) -> Bool {
    isResumed && session == nil && error.isTransport && error != .timedOut
  }

  /// Records a failure.
  /// - Parameter isSessionLost: whether the device cannot be reached over ``session``.
  /// - Returns: the request that disarms the fail-safe, if needed.
  mutating func fail(_ error: ControllerError, isSessionLost: Bool) -> NodeRequest? {
    failure = (step, error)
    return isArmed && !isSessionLost ? arm(seconds: 0, breadcrumb: 0) : nil
  }

  /// Waits for the answer to the request that disarms the fail-safe.
  mutating func waitForUndo(at now: Instant) { undoEnd = now + Self.undoTime }

  /// Whether the device has confirmed that it reverted its changes.
  static func isReverted(_ result: Result<Reply, ControllerError>) -> Bool {
    guard case .success(.invoked(let results)) = result else { return false }
    return (try? results.response(as: GeneralCommissioning.ArmFailSafeResponse.self))?.errorCode == .ok
  }

  var wakeUp: Instant? { undoEnd ?? search?.wakeUp }

  /// The error of the operation after a failure.
  var error: ControllerError {
    let cause = failure?.error ?? .notFound
    return cause == .canceled ? cause : .commissioningFailed(failure?.step ?? .connectByPasscode, cause)
  }
}

extension DeviceInformation {
  /// - Throws: an error unless the report has vendor and product.
  fileprivate init(_ report: ReassembledReport) throws(ControllerError) {
    vendorID = try report.value(of: BasicInformation.vendorID, on: .root)
    productID = try report.value(of: BasicInformation.productID, on: .root)
    vendorName = (try? report.value(of: BasicInformation.vendorName, on: .root)) ?? ""
    productName = (try? report.value(of: BasicInformation.productName, on: .root)) ?? ""
    serialNumber = (try? report.value(of: BasicInformation.serialNumber, on: .root)) ?? ""
    let ids = Set(report.attributes.filter { $0.path.cluster == Descriptor.id }.map(\.path.endpoint)).sorted()
    endpoints = ids.map { endpoint in
      let types = (try? report.value(of: Descriptor.deviceTypeList, on: endpoint)) ?? []
      return .init(
        id: endpoint, deviceTypes: types.map(\.deviceType),
        parts: (try? report.value(of: Descriptor.partsList, on: endpoint)) ?? [])
    }
    for attribute in report.attributes
    where attribute.path.cluster == NetworkCommissioning.id && attribute.path.attribute == GlobalAttribute.featureMap {
      networkFeatures[attribute.path.endpoint] = try? UInt32(tlv: attribute.value)
    }
  }
}

extension ControllerError {
  /// Whether a device asks to repeat a commissioning request later.
  var isBusyDevice: Bool {
    switch self {
    case .status(let status): status.isTransient
    case .commissioning(.busyWithOtherAdmin, _): true
    default: false
    }
  }
}
