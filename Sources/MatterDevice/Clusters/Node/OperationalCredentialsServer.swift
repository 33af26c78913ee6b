internal import MatterCertificates
internal import MatterClusters
internal import MatterCrypto
internal import MatterModel
internal import MatterProtocol

extension RootNode {
  /// Matter Core § 11.18.
  static let operationalCredentials = vendorVerification(fabricLists(ClusterServer(OperationalCredentials.self)))
    .answer(OperationalCredentials.attestationRequest) { context, request throws(StatusError) in
      guard request.attestationNonce.bytes.count == 32, let session = context.node.session else {
        throw StatusError(.invalidCommand)
      }
      let credentials = try attestation(&context)
      let elements = AttestationElements(
        certificationDeclaration: credentials.certificationDeclaration, nonce: request.attestationNonce.bytes,
        timestamp: 0
      ).tlv
      return .init(
        attestationElements: OctetString(elements),
        attestationSignature: OctetString(try sign(context, elements, session, credentials)))
    }
    .answer(OperationalCredentials.certificateChainRequest) { context, request throws(StatusError) in
      let credentials = try attestation(&context)
      switch request.certificateType {
      case .dacCertificate: return .init(certificate: OctetString(credentials.deviceCertificate))
      case .paiCertificate: return .init(certificate: OctetString(credentials.intermediateCertificate))
      default: throw StatusError(.invalidCommand)
      }
    }
    .answer(OperationalCredentials.csrRequest) { context, request throws(StatusError) in
      try csr(&context, request)
    }
    .on(OperationalCredentials.addTrustedRootCertificate) { context, request throws(StatusError) in
      try addRoot(&context, request.rootCACertificate.bytes)
    }
    .answer(OperationalCredentials.addNOC) { context, request throws(StatusError) in
      try addNOC(&context, request)
    }
    .answer(OperationalCredentials.updateNOC) { context, request throws(StatusError) in
      try updateNOC(&context, request)
    }
    .answer(OperationalCredentials.updateFabricLabel) { context, request throws(StatusError) in
      try updateFabricLabel(&context, request.label)
    }
    .answer(OperationalCredentials.removeFabric) { context, request throws(StatusError) in
      guard 1...254 ~= request.fabricIndex.rawValue else { throw StatusError(.constraintError) }
      guard context.node.commissioning.fabric(request.fabricIndex) != nil else {
        return refuse(&context, .invalidFabricIndex, "no fabric has the index \(request.fabricIndex.rawValue)")
      }
      // A fail-safe of this fabric expires: no administrator is left to disarm it.
      if let failSafe = context.node.commissioning.failSafe,
        failSafe.fabric == request.fabricIndex || failSafe.addedFabric == request.fabricIndex
          || failSafe.updatedFabric?.index == request.fabricIndex
      {
        context.node.commissioning.failSafe?.addedFabric = nil
        context.node.commissioning.failSafe?.updatedFabric = nil
        context.expireFailSafe()
      }
      context.remove(request.fabricIndex)
      return .init(statusCode: .ok, fabricIndex: request.fabricIndex)
    }

  private static func fabricLists(_ server: ClusterServer) -> ClusterServer {
    server
      .initial(OperationalCredentials.supportedFabrics, UInt8(CommissioningState.maximumFabrics))
      .onRead(OperationalCredentials.commissionedFabrics) { UInt8(clamping: $0.node.commissioning.fabrics.count) }
      .onRead(OperationalCredentials.currentFabricIndex) { $0.subject.fabric }
      .onRead(OperationalCredentials.nocs) { context in
        context.node.commissioning.fabrics.map {
          .init(
            noc: OctetString($0.operationalCertificate),
            icac: Nullable($0.intermediateCertificate.map { OctetString($0) }),
            vvsc: $0.vidVerificationSigner.isEmpty ? nil : OctetString($0.vidVerificationSigner),
            fabricIndex: $0.index)
        }
      }
      .onRead(OperationalCredentials.fabrics) { context in
        context.node.commissioning.fabrics.map {
          .init(
            rootPublicKey: OctetString($0.rootPublicKey), vendorID: $0.adminVendorID, fabricID: $0.fabricID,
            nodeID: $0.nodeID, label: $0.label,
            vidVerificationStatement: $0.vidVerificationStatement.isEmpty
              ? nil : OctetString($0.vidVerificationStatement),
            fabricIndex: $0.index)
        }
      }
      .onRead(OperationalCredentials.trustedRootCertificates) { context in
        context.node.commissioning.fabrics.map { OctetString($0.rootCertificate) }
          + (context.node.commissioning.failSafe.flatMap { $0.hasNOC ? nil : $0.root }.map { [OctetString($0)] } ?? [])
      }
  }

  /// Returns the credentials for device attestation, and creates them when they are first needed.
  private static func attestation(_ context: inout ServerContext) throws(StatusError) -> AttestationCredentials {
    if let known = context.node.hooks.attestation ?? context.node.attestation { return known }
    guard case .onDemand(let make) = context.node.configuration.attestation, let made = try? make() else {
      throw StatusError(.failure)
    }
    context.node.attestation = AttestationCredentials(
      dacKey: made.dacKey, deviceCertificate: made.deviceCertificate.trimmed,
      intermediateCertificate: made.intermediateCertificate.trimmed,
      certificationDeclaration: made.certificationDeclaration.trimmed)
    context.node.changes.append(made.change)
    return made
  }

  private static func sign(
    _ context: ServerContext, _ elements: [UInt8], _ session: SessionInfo, _ credentials: AttestationCredentials
  ) throws(StatusError) -> [UInt8] {
    do {
      return try context.node.signatures.sign(
        message: elements + session.attestationChallenge, with: credentials.dacKey)
    } catch {
      throw StatusError(.failure)
    }
  }

  /// The fail-safe of the accessing fabric.
  private static func failSafe(_ context: ServerContext) throws(StatusError) -> FailSafe {
    guard let failSafe = context.node.commissioning.failSafe, failSafe.fabric == context.subject.fabric else {
      throw StatusError(.failsafeRequired)
    }
    return failSafe
  }

  /// Matter Core § 11.18.6.5.
  private static func csr(
    _ context: inout ServerContext, _ request: OperationalCredentials.CSRRequest
  ) throws(StatusError) -> OperationalCredentials.CSRResponse {
    let isForUpdate = request.isForUpdateNOC ?? false
    guard request.csrNonce.bytes.count == 32, let session = context.node.session else {
      throw StatusError(.invalidCommand)
    }
    guard !isForUpdate || context.subject.kind == .case else { throw StatusError(.invalidCommand) }
    var failSafe = try failSafe(context)
    guard !failSafe.hasNOC else { throw StatusError(.constraintError) }
    let credentials = try attestation(&context)
    let key = makeKey(&context)
    let signingRequest: [UInt8]
    do {
      signingRequest = try CertificateSigningRequest(key: key, signatures: context.node.signatures).der
    } catch {
      throw StatusError(.failure)
    }
    failSafe.signingRequest = (key, isForUpdate)
    context.node.commissioning.failSafe = failSafe
    let elements = NOCSRElements(certificateSigningRequest: signingRequest, nonce: request.csrNonce.bytes).tlv
    return .init(
      nocsrElements: OctetString(elements),
      attestationSignature: OctetString(try sign(context, elements, session, credentials)))
  }

  private static func makeKey(_ context: inout ServerContext) -> P256PrivateKey {
    func draw(_ random: inout some RandomSource) -> P256PrivateKey { P256PrivateKey(random: &random) }
    return draw(&context.node.random)
  }

  /// Matter Core § 11.18.6.13.
  private static func addRoot(_ context: inout ServerContext, _ bytes: [UInt8]) throws(StatusError) {
    var failSafe = try failSafe(context)
    guard !failSafe.hasNOC, failSafe.root == nil else { throw StatusError(.constraintError) }
    do throws(CertificateError) {
      try CertificateChain.verifySelfSigned(MatterCertificate(tlv: bytes))
    } catch {
      context.report(.note("refused a root certificate: \(error)"))
      throw StatusError(.invalidCommand)
    }
    failSafe.root = bytes
    // A new root certificate is for a new fabric, so a CSR for UpdateNOC is discarded.
    if failSafe.signingRequest?.isForUpdate == true { failSafe.signingRequest = nil }
    context.node.commissioning.failSafe = failSafe
    context.markChanged(OperationalCredentials.trustedRootCertificates)
  }

  /// Matter Core § 11.18.6.8.
  private static func addNOC(
    _ context: inout ServerContext, _ request: OperationalCredentials.AddNOCRequest
  ) throws(StatusError) -> OperationalCredentials.NOCResponse {
    guard request.ipkValue.bytes.count == 16, VendorVerification.isVendor(request.adminVendorId) else {
      throw StatusError(.invalidCommand)
    }
    var failSafe = try failSafe(context)
    guard !failSafe.hasNOC else { throw StatusError(.constraintError) }
    guard let signingRequest = failSafe.signingRequest else { return refuse(&context, .missingCsr, noSigningRequest) }
    guard !signingRequest.isForUpdate else { throw StatusError(.constraintError) }
    guard let root = failSafe.root else {
      return refuse(&context, .invalidNOC, "no root certificate was added within the fail-safe")
    }
    let (icac, noc) = (intermediate(request.icacValue), request.nocValue.bytes)
    if let (status, reason) = check(noc, icac, root: root, key: signingRequest.key) {
      return refuse(&context, status, reason)
    }
    let subject = request.caseAdminSubject
    let tag = CASEAuthenticatedTag(UInt32(truncatingIfNeeded: subject.rawValue))
    guard subject.isOperational || (subject.isTag && tag.version > 0) else {
      return refuse(&context, .invalidAdminSubject, "CaseAdminSubject is neither a node ID nor an authenticated tag")
    }
    guard !context.node.isFull(.fabrics), let index = context.node.commissioning.freeIndex else {
      return refuse(&context, .tableFull, "the table of fabrics is full")
    }
    guard
      let fabric = try? Fabric(
        index: index, rootCertificate: root, intermediateCertificate: icac, operationalCertificate: noc,
        operationalKey: signingRequest.key, epochKey: request.ipkValue.bytes, adminVendorID: request.adminVendorId)
    else { return refuse(&context, .invalidNOC, "the fabric's identity can't be derived from the certificates") }
    guard !context.node.commissioning.fabrics.contains(where: { $0.isSame(as: fabric) }) else {
      return refuse(&context, .fabricConflict, "the node is on this fabric already")
    }

    failSafe.addedFabric = index
    failSafe.fabric = index
    context.node.commissioning.failSafe = failSafe
    context.put(fabric)
    context.storeFailSafe()
    context.call(GroupKeyHooks.setIdentityProtectionKey, (index, request.ipkValue.bytes))
    if context.subject.kind == .pase {
      context.subject.fabric = index
      if let session = context.subject.session { context.node.requests.append(.setFabric(index, session)) }
    }
    context.call(
      AccessControlHooks.add,
      .init(privilege: .administer, authMode: .case, subjects: .value([subject]), targets: .null, fabricIndex: index))
    return .init(statusCode: .ok, fabricIndex: index)
  }

  /// Matter Core § 11.18.6.9.
  private static func updateNOC(
    _ context: inout ServerContext, _ request: OperationalCredentials.UpdateNOCRequest
  ) throws(StatusError) -> OperationalCredentials.NOCResponse {
    var failSafe = try failSafe(context)
    guard !failSafe.hasNOC else { throw StatusError(.constraintError) }
    guard let signingRequest = failSafe.signingRequest else { return refuse(&context, .missingCsr, noSigningRequest) }
    guard signingRequest.isForUpdate, failSafe.root == nil else { throw StatusError(.constraintError) }
    guard let old = context.node.commissioning.fabric(context.subject.fabric) else {
      return refuse(&context, .invalidFabricIndex, noFabric)
    }
    let (icac, noc) = (intermediate(request.icacValue), request.nocValue.bytes)
    if let (status, reason) = check(noc, icac, root: old.rootCertificate, key: signingRequest.key) {
      return refuse(&context, status, reason)
    }
    guard
      var fabric = try? Fabric(
        index: old.index, rootCertificate: old.rootCertificate, intermediateCertificate: icac,
        operationalCertificate: noc, operationalKey: signingRequest.key, epochKey: [UInt8](repeating: 0, count: 16),
        adminVendorID: old.adminVendorID, label: old.label), fabric.fabricID == old.fabricID
    else { return refuse(&context, .invalidNOC, "the node certificate is of another fabric") }
    fabric.identityProtectionKeys = old.identityProtectionKeys
    fabric.vidVerificationStatement = old.vidVerificationStatement
    // A fabric has either an intermediate certificate or a verification signer, never both.
    fabric.vidVerificationSigner = icac == nil ? old.vidVerificationSigner : []
    failSafe.updatedFabric = old
    context.node.commissioning.failSafe = failSafe
    context.put(fabric)
    context.storeFailSafe()
    context.node.forgottenFabrics.append(old.index)
    context.node.requests.append(.closeSessions(old.index, except: context.subject.session))
    return .init(statusCode: .ok, fabricIndex: old.index)
  }

  private static let noSigningRequest = "no CSRRequest within the fail-safe"
  private static let noFabric = "the accessing fabric is unknown"

  /// Treats an empty ICACValue as absent, since some controllers always send the field.
  private static func intermediate(_ value: OctetString?) -> [UInt8]? {
    value.flatMap { $0.bytes.isEmpty ? nil : $0.bytes }
  }

  /// Returns a response that refuses a command, and logs the reason.
  private static func refuse(
    _ context: inout ServerContext, _ status: OperationalCredentials.NodeOperationalCertStatus, _ reason: String,
    fabric: FabricIndex? = nil
  ) -> OperationalCredentials.NOCResponse {
    context.report(.note("refused operational credentials (\(status)): \(reason)"))
    return .init(statusCode: status, fabricIndex: fabric, debugText: DebugText.limited(reason))
  }

  /// Returns the status and the reason to refuse a node certificate with, or nil if it is valid.
  private static func check(
    _ noc: [UInt8], _ icac: [UInt8]?, root: [UInt8], key: P256PrivateKey
  ) -> (OperationalCredentials.NodeOperationalCertStatus, String)? {
    do throws(CertificateError) {
      let leaf = try MatterCertificate(tlv: noc)
      let intermediate = try icac.map { octets throws(CertificateError) in try MatterCertificate(tlv: octets) }
      guard leaf.publicKey == key.publicKey.bytes else {
        return (.invalidPublicKey, "the public key of the node certificate is not that of the CSR")
      }
      try CertificateChain.verify(noc: leaf, icac: intermediate, root: MatterCertificate(tlv: root))
      return nil
    } catch {
      // An invalid node id has its own status; all other faults share InvalidNOC.
      if case .invalidIdentifier(.nodeID, _) = error { return (.invalidNodeOpId, "\(error)") }
      return (.invalidNOC, "\(error)")
    }
  }

  /// Matter Core § 11.18.6.11.
  private static func updateFabricLabel(
    _ context: inout ServerContext, _ label: String
  ) throws(StatusError) -> OperationalCredentials.NOCResponse {
    guard label.utf8.count <= 32 else { throw StatusError(.constraintError) }
    guard var fabric = context.node.commissioning.fabric(context.subject.fabric) else {
      return refuse(&context, .invalidFabricIndex, noFabric)
    }
    let isTaken = context.node.commissioning.fabrics.contains {
      $0.index != fabric.index && !label.isEmpty && $0.label == label
    }
    guard !isTaken else {
      return refuse(&context, .labelConflict, "another fabric has this label", fabric: fabric.index)
    }
    if fabric.label != label {
      fabric.label = label
      context.put(fabric)
    }
    return .init(statusCode: .ok, fabricIndex: fabric.index)
  }
}
