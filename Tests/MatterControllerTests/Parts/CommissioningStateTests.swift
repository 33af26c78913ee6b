import MatterCertificates
import MatterClusters
import MatterCrypto
import MatterModel
import MatterProtocol
import Testing

@testable import MatterController

/// The steps of a commissioning, without engine, session and device.
@Suite struct CommissioningStateTests {
  private let challenge = [UInt8](repeating: 3, count: 16)
  private let credentials = Commissioning.Credentials(
    rootCertificate: [1, 2], intermediateCertificate: [3], epochKey: [UInt8](repeating: 4, count: 16),
    administrator: 0xC0, adminVendorID: 0xFFF1)
  private let attestation: TestAttestation
  private let deviceKey: P256PrivateKey
  private var random: any RandomSource = SeededRandomSource(seed: 1)

  init() throws {
    var source = SeededRandomSource(seed: 9)
    attestation = try TestAttestation(vendorID: 0xFFF1, productID: 0x8001, deviceTypeID: 0x0100, random: &source)
    deviceKey = P256PrivateKey(random: &source)
  }

  private func commissioning(
    _ step: CommissioningStep, _ change: (inout CommissioningRequest) -> Void = { _ in }
  ) -> Commissioning {
    var request = CommissioningRequest(passcode: 20_202_021, target: .any)
    change(&request)
    var commissioning = Commissioning(request, node: 5, at: .zero)
    commissioning.begin(step, at: .zero)
    return commissioning
  }

  /// The command that the current step sends.
  private mutating func sent(_ commissioning: inout Commissioning) throws -> CommandData {
    guard case .invoke(let commands, nil)? = commissioning.nextRequest(credentials, random: &random),
      let command = commands.first, commands.count == 1
    else { throw ControllerError.notFound }
    return command
  }

  private func answer(_ fields: some ModelStruct) -> Reply {
    .invoked([.command(CommandData(toggleLamp.path, fields: fields.tlv))])
  }

  private func report(_ productID: UInt16 = 0x8001, failSafe: UInt16 = 60) throws -> Reply {
    func data<C: Cluster, Value: ModelValue>(
      _ attribute: Attribute<C, Value>, _ value: Value, on endpoint: EndpointID = .root
    ) -> AttributeData {
      AttributeData(attribute.path(on: endpoint), dataVersion: 1, value: value.tlv)
    }
    return .report(
      ReassembledReport(
        [
          data(BasicInformation.vendorID, VendorID(0xFFF1)), data(BasicInformation.productID, productID),
          data(GeneralCommissioning.locationCapability, .indoor),
          data(
            GeneralCommissioning.basicCommissioningInfo,
            .init(failSafeExpiryLengthSeconds: failSafe, maxCumulativeFailsafeSeconds: 900)),
          data(Descriptor.deviceTypeList, [.init(deviceType: 0x0100, revision: 1)], on: 1),
          data(Descriptor.partsList, [1]),
        ], []))
  }

  private func signed(_ elements: [UInt8]) throws -> OctetString {
    OctetString(
      try AttestationSignature.sign(elements: elements, challenge: challenge, key: attestation.dacKey))
  }

  /// Answers the requests of the attestation step.
  private mutating func attest(_ commissioning: inout Commissioning) throws {
    for certificate in [attestation.pai, attestation.dac] {
      let request = try OperationalCredentials.CertificateChainRequest(tlv: sent(&commissioning).fields ?? [])
      #expect(request.certificateType == (certificate == attestation.pai ? .paiCertificate : .dacCertificate))
      let response = OperationalCredentials.CertificateChainResponse(certificate: OctetString(certificate.der))
      #expect(try commissioning.handle(answer(response)) == .requestAttestation)
    }
    let request = try OperationalCredentials.AttestationRequest(tlv: sent(&commissioning).fields ?? [])
    let elements = AttestationElements(
      certificationDeclaration: attestation.certificationDeclaration, nonce: request.attestationNonce.bytes
    ).tlv
    let response = OperationalCredentials.AttestationResponse(
      attestationElements: OctetString(elements), attestationSignature: try signed(elements))
    #expect(try commissioning.handle(answer(response)) == .verifyAttestation)
  }

  /// Answers the request for the signing request.
  private mutating func sign(_ commissioning: inout Commissioning, nonce: [UInt8]? = nil) throws {
    let request = try OperationalCredentials.CSRRequest(tlv: sent(&commissioning).fields ?? [])
    let elements = NOCSRElements(
      certificateSigningRequest: try CertificateSigningRequest(key: deviceKey).der,
      nonce: nonce ?? request.csrNonce.bytes
    ).tlv
    let response = OperationalCredentials.CSRResponse(
      nocsrElements: OctetString(elements), attestationSignature: try signed(elements))
    #expect(try commissioning.handle(answer(response)) == .issueCertificate)
  }

  // MARK: Steps

  @Test("each answer leads to the next request") mutating func steps() throws {
    var commissioning = commissioning(.readInformation)
    guard case .read(let read)? = commissioning.nextRequest(credentials, random: &random) else {
      throw ControllerError.notFound
    }
    #expect(read.attributePaths.count == 6)
    commissioning.begin(try #require(try commissioning.handle(report())), at: .zero)
    #expect(commissioning.step == .armFailSafe && commissioning.information.endpoints.map(\.id) == [0, 1])

    let arm = try sent(&commissioning)
    #expect(arm.path == GeneralCommissioning.armFailSafe.path(on: .root))
    let armed = try commissioning.handle(answer(GeneralCommissioning.ArmFailSafeResponse()))
    #expect(armed == .setRegulatoryConfig && commissioning.isArmed)
    commissioning.begin(.setRegulatoryConfig, at: .zero)
    let regulatory = try GeneralCommissioning.SetRegulatoryConfigRequest(tlv: sent(&commissioning).fields ?? [])
    #expect(regulatory.newRegulatoryConfig == .indoor && regulatory.countryCode == "XX")
    let configured = try commissioning.handle(answer(GeneralCommissioning.SetRegulatoryConfigResponse()))
    #expect(configured == .requestAttestation)

    commissioning.begin(.requestAttestation, at: .zero)
    try attest(&commissioning)
    try commissioning.verifyAttestation(TestAttestation.verifier(), challenge: challenge, at: nil)
    #expect(commissioning.attestationFailure == nil)
    commissioning.begin(.requestSigning, at: .zero)
    try sign(&commissioning)
    #expect(try commissioning.verifiedKey(challenge: challenge) == deviceKey.publicKey)

    commissioning.certificate = [9, 9]
    commissioning.begin(.addTrustedRoot, at: .zero)
    let root = try sent(&commissioning)
    #expect(
      root.fields
        == OperationalCredentials.AddTrustedRootCertificateRequest(rootCACertificate: OctetString([1, 2])).tlv)
    let success = Reply.invoked([.status(CommandStatus(root.path, status: .success))])
    #expect(try commissioning.handle(success) == .addCertificate)
    commissioning.begin(.addCertificate, at: .zero)
    let added = try OperationalCredentials.AddNOCRequest(tlv: sent(&commissioning).fields ?? [])
    #expect(added.nocValue.bytes == [9, 9] && added.icacValue?.bytes == [3] && added.caseAdminSubject == 0xC0)
    let accepted = OperationalCredentials.NOCResponse(statusCode: .ok, fabricIndex: 2)
    #expect(try commissioning.handle(answer(accepted)) == .connectOperationally)

    commissioning.begin(.complete, at: .at(3))
    let complete = try sent(&commissioning)
    #expect(complete.path == GeneralCommissioning.commissioningComplete.path(on: .root))
    #expect(try commissioning.handle(answer(GeneralCommissioning.CommissioningCompleteResponse())) == nil)
    #expect(commissioning.stepDuration(at: .at(5)) == .seconds(2))
    let record = commissioning.record(SocketAddress(.loopback6, port: 7), nil)
    #expect(record.nodeID == 5 && record.productID == 0x8001 && record.attestation == .test)
    let result = commissioning.result(record, at: .at(8))
    #expect(result.fabricIndex == 2 && result.duration == .seconds(8) && result.address.port == 7)
  }

  @Test("steps of the controller have no request") mutating func stepsWithoutRequest() {
    for step in [
      CommissioningStep.discover, .connectByPasscode, .verifyAttestation, .issueCertificate, .connectOperationally,
    ] {
      var commissioning = commissioning(step)
      let request = commissioning.nextRequest(credentials, random: &random)
      #expect(request == nil, "\(step)")
      #expect(throws: ControllerError.self) { try commissioning.handle(.invoked([])) }
    }
  }

  @Test func rejectsAnswersToOtherRequests() throws {
    for step in CommissioningStep.allCases where step != .readInformation {
      var commissioning = commissioning(step)
      #expect(throws: ControllerError.self, "\(step)") { try commissioning.handle(try report()) }
      #expect(throws: ControllerError.self, "\(step)") { try commissioning.handle(.written([])) }
    }
  }

  @Test("arms the fail-safe for the longer one of the requested time and the device's")
  mutating func failSafeTime() throws {
    for (failSafe, expected) in [(30, 60), (120, 120), (60, 60)] as [(UInt16, UInt16)] {
      var commissioning = commissioning(.readInformation)
      _ = try commissioning.handle(report(failSafe: failSafe))
      commissioning.begin(.armFailSafe, at: .zero)
      let request = try GeneralCommissioning.ArmFailSafeRequest(tlv: sent(&commissioning).fields ?? [])
      #expect(request.expiryLengthSeconds == expected)
    }
  }

  @Test("draws a new nonce for each request") mutating func nonces() throws {
    var commissioning = commissioning(.requestSigning)
    let requests = try (0..<2).map { _ in
      try OperationalCredentials.CSRRequest(tlv: sent(&commissioning).fields ?? []).csrNonce.bytes
    }
    #expect(requests[0].count == 32 && requests[0] != requests[1])
  }

  @Test func rejectsDeviceErrors() throws {
    let busy = GeneralCommissioning.ArmFailSafeResponse(errorCode: .busyWithOtherAdmin, debugText: "later")
    var arming = commissioning(.armFailSafe)
    #expect(throws: ControllerError.commissioning(.busyWithOtherAdmin, "later")) { try arming.handle(answer(busy)) }
    #expect(!arming.isArmed)
    var adding = commissioning(.addCertificate)
    let refusal = OperationalCredentials.NOCResponse(statusCode: .invalidNOC)
    #expect(throws: ControllerError.operationalCredentials(.invalidNOC, "")) { try adding.handle(answer(refusal)) }
    #expect(ControllerError.commissioning(.busyWithOtherAdmin, "").isBusyDevice)
    #expect(ControllerError.status(Status(.busy)).isBusyDevice)
    #expect(!ControllerError.commissioning(.noFailSafe, "").isBusyDevice && !ControllerError.busy.isBusyDevice)
  }

  @Test("rejects another product than the one in the setup code, unless the policy is to proceed")
  func otherProduct() throws {
    let expected = CommissioningRequest.Product(vendorID: 0xFFF1, productID: 0x8002)
    var strict = commissioning(.readInformation) { $0.product = expected }
    let found = CommissioningRequest.Product(vendorID: 0xFFF1, productID: 0x8001)
    #expect(throws: ControllerError.otherProduct(expected: expected, found: found)) { try strict.handle(report()) }
    #expect(try strict.handle(report(0x8002)) == .armFailSafe)
    var lenient = commissioning(.readInformation) {
      $0.product = expected
      $0.attestationPolicy = .proceedAnyway
    }
    #expect(try lenient.handle(report()) == .armFailSafe)
  }

  // MARK: Attestation

  @Test("fails attestation according to the policy") mutating func attestationPolicy() throws {
    for policy in [CommissioningRequest.AttestationPolicy.requireTrusted, .proceedAnyway] {
      var commissioning = commissioning(.readInformation) { $0.attestationPolicy = policy }
      _ = try commissioning.handle(report())
      commissioning.begin(.requestAttestation, at: .zero)
      try attest(&commissioning)
      var verifier = try TestAttestation.verifier()
      verifier.trustedRoots = []
      func verify() throws(ControllerError) {
        try commissioning.verifyAttestation(verifier, challenge: challenge, at: nil)
      }
      if policy == .requireTrusted {
        #expect(throws: ControllerError.attestation(.init(.noTrustedRoot))) { try verify() }
      } else {
        try verify()
        #expect(commissioning.attestationFailure?.description == "noTrustedRoot")
        #expect(commissioning.record(nil, nil).attestation == .unverified)
      }
    }
    var early = commissioning(.verifyAttestation)
    let verifier = try TestAttestation.verifier()
    #expect(throws: ControllerError.connectionLost) {
      try early.verifyAttestation(verifier, challenge: challenge, at: nil)
    }
  }

  @Test("rejects a signing request with another nonce, signature or session") mutating func signingRequest() throws {
    var commissioning = commissioning(.readInformation)
    _ = try commissioning.handle(report())
    #expect(throws: ControllerError.connectionLost) { try commissioning.verifiedKey(challenge: challenge) }
    commissioning.begin(.requestAttestation, at: .zero)
    try attest(&commissioning)
    commissioning.begin(.requestSigning, at: .zero)
    try sign(&commissioning, nonce: [UInt8](repeating: 0, count: 32))
    #expect(throws: ControllerError.attestation(.init("nonce of the signing request"))) {
      try commissioning.verifiedKey(challenge: challenge)
    }
    try sign(&commissioning)
    #expect(throws: ControllerError.connectionLost) { try commissioning.verifiedKey(challenge: nil) }
    #expect(throws: ControllerError.attestation(.init("signature of the signing request"))) {
      try commissioning.verifiedKey(challenge: [0])
    }
    #expect(try commissioning.verifiedKey(challenge: challenge) == deviceKey.publicKey)
  }

  // MARK: Completion and failures

  @Test("repeats a lost completion once, and accepts that the device is done then") func repeatsCompletion() throws {
    let done = GeneralCommissioning.CommissioningCompleteResponse(errorCode: .noFailSafe, debugText: "")
    var commissioning = commissioning(.complete)
    #expect(commissioning.repeatsCompletion(after: .noResponse) && !commissioning.repeatsCompletion(after: .canceled))
    #expect(throws: ControllerError.commissioning(.noFailSafe, "")) { try commissioning.handle(answer(done)) }
    commissioning.repeatCompletion()
    #expect(!commissioning.repeatsCompletion(after: .noResponse))
    #expect(try commissioning.handle(answer(done)) == nil)
    #expect(!self.commissioning(.addCertificate).repeatsCompletion(after: .noResponse))
  }

  @Test("resumes an unconfirmed node, or restarts if no session opens") mutating func resumes() throws {
    let request = CommissioningRequest(passcode: 20_202_021, target: .any)
    let node = UnconfirmedNode(PeerRecord(9), request, attestationFailure: .init("noTrustedRoot", "?"))
    var commissioning = Commissioning(request, resuming: node, at: .zero)
    #expect(commissioning.nodeID == 9 && commissioning.search == nil && commissioning.wakeUp == nil)
    #expect(commissioning.attestationFailure?.description == "noTrustedRoot")
    #expect(commissioning.restarts(after: .unreachable) && !commissioning.restarts(after: .timedOut))
    #expect(!commissioning.restarts(after: .canceled))
    commissioning.session = .number(1)
    #expect(!commissioning.restarts(after: .unreachable))
    commissioning.begin(.readInformation, at: .zero)
    #expect(try commissioning.handle(report()) == .complete, "the device needs only the confirmation")
    #expect(!self.commissioning(.discover).restarts(after: .unreachable))
  }

  @Test("disarms an armed fail-safe after a failure if the device can be reached") mutating func disarms() throws {
    var unarmed = commissioning(.armFailSafe)
    let nothing = unarmed.fail(.timedOut, isSessionLost: false)
    #expect(nothing == nil)
    for isLost in [true, false] {
      var armed = commissioning(.armFailSafe)
      _ = try armed.handle(answer(GeneralCommissioning.ArmFailSafeResponse()))
      let undo = armed.fail(.timedOut, isSessionLost: isLost)
      #expect(armed.error == .commissioningFailed(.armFailSafe, .timedOut))
      guard case .invoke(let commands, nil)? = undo else {
        #expect(isLost)
        continue
      }
      let request = try GeneralCommissioning.ArmFailSafeRequest(tlv: commands.first?.fields ?? [])
      #expect(!isLost && request.expiryLengthSeconds == 0)
      armed.waitForUndo(at: .at(5))
      #expect(armed.undoEnd == .at(8) && armed.wakeUp == .at(8))
    }
  }

  @Test func reportsErrors() {
    func error(_ cause: ControllerError, _ step: CommissioningStep) -> ControllerError {
      var commissioning = commissioning(step)
      _ = commissioning.fail(cause, isSessionLost: true)
      return commissioning.error
    }
    #expect(error(.timedOut, .addCertificate) == .commissioningFailed(.addCertificate, .timedOut))
    #expect(error(.canceled, .addCertificate) == .canceled)
    let request = CommissioningRequest(passcode: 20_202_021, target: .any)
    var early = Commissioning(request, node: 5, at: .zero)
    _ = early.fail(.notFound, isSessionLost: true)
    #expect(early.error == .commissioningFailed(.connectByPasscode, .notFound), "no step has begun")
  }

  @Test func recognizesRevertedDevice() {
    let refusal = GeneralCommissioning.ArmFailSafeResponse(errorCode: .busyWithOtherAdmin, debugText: "")
    #expect(Commissioning.isReverted(.success(answer(GeneralCommissioning.ArmFailSafeResponse()))))
    #expect(!Commissioning.isReverted(.success(answer(refusal))) && !Commissioning.isReverted(.failure(.noResponse)))
  }

  @Test func validatesRequests() {
    var request = CommissioningRequest(passcode: 12_345_678, target: .any)
    func message(_ node: NodeID = 5, isAssignable: Bool = true) -> String? {
      guard case .invalidRequest(let text)? = Commissioning.error(request, node: node, isAssignable: isAssignable)
      else { return nil }
      return text
    }
    #expect(message() == "passcode 12345678: invalid")
    request.passcode = 20_202_021
    #expect(message() == nil)
    #expect(message(0)?.hasSuffix("out of range; expected 1 to 0xFFFFFFEFFFFFFFFF") == true)
    #expect(message(isAssignable: false)?.hasSuffix("in use by another node") == true)
    request.tags = [1, 2, 3]
    #expect(message() == nil)
    request.tags.append(4)
    #expect(message() == "tags: too many; expected at most 3")
  }
}
