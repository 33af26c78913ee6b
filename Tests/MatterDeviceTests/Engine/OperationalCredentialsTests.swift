import MatterCertificates
import MatterClusters
import MatterCrypto
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

private let nonce = OctetString([UInt8](repeating: 7, count: 32))

extension Lab {
  fileprivate mutating func arm(_ seconds: UInt16, on session: SessionID) throws -> UInt8 {
    try call(
      GeneralCommissioning.armFailSafe, .init(expiryLengthSeconds: seconds, breadcrumb: 9), on: session
    ).errorCode.rawValue
  }

  fileprivate mutating func newKey(isForUpdate: Bool? = nil, on session: SessionID) throws -> P256PublicKey {
    let csr = try call(
      OperationalCredentials.csrRequest, .init(csrNonce: nonce, isForUpdateNOC: isForUpdate), on: session)
    let elements = try NOCSRElements(tlv: csr.nocsrElements.bytes)
    return try CertificateSigningRequest(verifying: elements.certificateSigningRequest).publicKey
  }
}

@Test func provesAttestation() throws {
  var lab = try Lab()
  try lab.addAdministrator()
  let opened = lab.openPASE()
  let session = try #require(opened)
  let challenge = try #require(lab.administrators[0].core.session(session)).attestationChallenge
  let chain = OperationalCredentials.certificateChainRequest
  let dac = try lab.call(chain, .init(certificateType: .dacCertificate), on: session).certificate.bytes
  let credentials = try #require(lab.device.context.node.attestation)
  #expect(dac == credentials.deviceCertificate)
  #expect(
    try lab.call(chain, .init(certificateType: .paiCertificate), on: session).certificate.bytes
      == credentials.intermediateCertificate)
  #expect(try lab.status(chain, .init(certificateType: .init(3)), on: session) == Status(.invalidCommand))
  let request = OperationalCredentials.attestationRequest
  let answer = try lab.call(request, .init(attestationNonce: nonce), on: session)
  #expect(
    AttestationSignature.isValid(
      answer.attestationSignature.bytes, elements: answer.attestationElements.bytes, challenge: challenge,
      key: try X509Certificate(der: dac).publicKey))
  #expect(try AttestationElements(tlv: answer.attestationElements.bytes).nonce == nonce.bytes)
  #expect(try lab.status(request, .init(attestationNonce: [1]), on: session) == Status(.invalidCommand))
}

@Test func createsAttestationOnceOnDemand() throws {
  var lab = try Lab {
    $0.attestation = .onDemand {
      // Other credentials each time.
      var random = SystemRandomSource()
      return AttestationCredentials(
        try TestAttestation(vendorID: 0xFFF1, productID: 0x8000, deviceTypeID: 0x0100, random: &random))
    }
  }
  try lab.addAdministrator()
  #expect(lab.store[StoreKey.attestation] == nil)
  func certificates() throws -> [[UInt8]] {
    let opened = lab.openPASE()
    let session = try #require(opened)
    return try (0..<2).map { _ in
      try lab.call(
        OperationalCredentials.certificateChainRequest, .init(certificateType: .dacCertificate), on: session
      ).certificate.bytes
    }
  }
  let first = try certificates()
  #expect(first[0] == first[1])
  #expect(lab.store[StoreKey.attestation] != nil)
  lab.crash()
  #expect(try certificates() == first)
  lab.device.factoryReset(at: lab.now)
  lab.settle()
  lab.crash()
  #expect(try certificates() == first)
}

@Test func rejectsStepsOutOfOrder() throws {
  var lab = try Lab()
  try lab.addAdministrator()
  let session = try lab.commission()
  let csr = OperationalCredentials.csrRequest
  let root = OctetString(lab.administrators[0].authority.root.tlv)
  let addRoot = OperationalCredentials.addTrustedRootCertificate
  #expect(try lab.status(csr, .init(csrNonce: nonce), on: session) == Status(.failsafeRequired))
  #expect(try lab.status(addRoot, .init(rootCACertificate: root), on: session) == Status(.failsafeRequired))
  #expect(try lab.arm(60, on: session) == 0)
  #expect(try lab.read(GeneralCommissioning.breadcrumb, on: session) == 9)
  #expect(try lab.status(csr, .init(csrNonce: [1]), on: session) == Status(.invalidCommand))
  #expect(try lab.status(addRoot, .init(rootCACertificate: [1, 2]), on: session) == Status(.invalidCommand))
  #expect(try lab.status(addRoot, .init(rootCACertificate: root), on: session) == .success)
  #expect(try lab.status(addRoot, .init(rootCACertificate: root), on: session) == Status(.constraintError))

  func request(_ noc: [UInt8], subject: NodeID = 5) -> OperationalCredentials.AddNOCRequest {
    .init(
      nocValue: OctetString(noc), ipkValue: OctetString([UInt8](repeating: 1, count: 16)), caseAdminSubject: subject,
      adminVendorId: 0xFFF1)
  }
  let add = OperationalCredentials.addNOC
  #expect(try lab.call(add, request([]), on: session).statusCode == .missingCsr)
  let key = try lab.newKey(on: session)
  #expect(try lab.call(add, request([1, 2, 3]), on: session).statusCode == .invalidNOC)
  let foreignKey = P256PrivateKey(random: &lab.administrators[0].random).publicKey
  let wrong = try lab.administrators[0].issue(foreignKey)
  #expect(try lab.call(add, request(wrong), on: session).statusCode == .invalidPublicKey)
  let right = try lab.administrators[0].issue(key)
  // A certificate without a node id, or with one that is not operational: 0, and a tag.
  let named: [UInt8] = [0x26, 0x11, 0x01, 0x00, 0x02, 0x00]
  let range = try #require(right.firstRange(of: named))
  for (subject, status) in [
    ([], .invalidNOC), ([0x24, 0x11, 0], .invalidNodeOpId),
    ([0x27, 0x11, 1, 0, 1, 0, 0xFD, 0xFF, 0xFF, 0xFF], .invalidNodeOpId),
  ] as [([UInt8], OperationalCredentials.NodeOperationalCertStatus)] {
    var other = right
    other.replaceSubrange(range, with: subject)
    #expect(try lab.call(add, request(other), on: session).statusCode == status)
  }
  #expect(try lab.call(add, request(right, subject: 0), on: session).statusCode == .invalidAdminSubject)
  #expect(try lab.call(add, request(right), on: session).statusCode == .fabricConflict)
  #expect(try lab.arm(0, on: session) == 0)
  #expect(lab.device.fabrics.count == 1)
  #expect(try lab.read(GeneralCommissioning.breadcrumb, on: session) == 0)
}

/// The encodings of an absent intermediate certificate.
private let absentIntermediates: [OctetString?] = [nil, []]

@Test("treats an empty ICACValue of AddNOC and UpdateNOC as absent", arguments: absentIntermediates)
func acceptsEmptyIntermediate(icac: OctetString?) throws {
  var lab = try Lab()
  try lab.addAdministrator()
  try lab.addAdministrator()
  let session = try lab.commission()
  let root = OctetString(lab.administrators[1].authority.root.tlv)
  #expect(try lab.arm(60, on: session) == 0)
  var key = try lab.newKey(on: session)
  let added = OperationalCredentials.addTrustedRootCertificate
  #expect(try lab.status(added, .init(rootCACertificate: root), on: session) == .success)
  let response = try lab.call(
    OperationalCredentials.addNOC,
    .init(
      nocValue: OctetString(try lab.administrators[1].issue(key)), icacValue: icac,
      ipkValue: OctetString(lab.administrators[1].epochKey), caseAdminSubject: lab.administrators[1].node,
      adminVendorId: 0xFFF1), on: session)
  #expect(response == .init(statusCode: .ok, fabricIndex: 2))
  let opened = lab.openCASE(1)
  let guest = try #require(opened)
  #expect(try lab.call(GeneralCommissioning.commissioningComplete, .init(), on: guest, 1).errorCode == .ok)
  #expect(try lab.arm(60, on: session) == 0)
  key = try lab.newKey(isForUpdate: true, on: session)
  let noc = OctetString(try lab.administrators[0].issue(key))
  #expect(
    try lab.call(OperationalCredentials.updateNOC, .init(nocValue: noc, icacValue: icac), on: session)
      == .init(statusCode: .ok, fabricIndex: 1))
  #expect(lab.device.fabrics.allSatisfy { $0.intermediateCertificate == nil })
}

@Test("reports the reason of a refusal in DebugText and in a note")
func reportsReasonsOfRefusals() throws {
  var lab = try Lab()
  try lab.addAdministrator()
  let session = try lab.commission()
  func notes() -> [String] { lab.events.compactMap { if case .note(let text) = $0 { text } else { nil } } }
  #expect(notes().isEmpty)
  #expect(try lab.arm(60, on: session) == 0)
  let root = OctetString(lab.administrators[0].authority.root.tlv)
  let addRoot = OperationalCredentials.addTrustedRootCertificate
  #expect(try lab.status(addRoot, .init(rootCACertificate: [1, 2]), on: session) == Status(.invalidCommand))
  #expect(try lab.status(addRoot, .init(rootCACertificate: root), on: session) == .success)
  let key = try lab.newKey(on: session)
  let noc = OctetString(try lab.administrators[0].issue(key))
  let ipk = OctetString([UInt8](repeating: 1, count: 16))
  func request(icac: OctetString?) -> OperationalCredentials.AddNOCRequest {
    .init(nocValue: noc, icacValue: icac, ipkValue: ipk, caseAdminSubject: 5, adminVendorId: 0xFFF1)
  }
  for icac in [[1, 2, 3], root, nil] as [OctetString?] {
    let response = try lab.call(OperationalCredentials.addNOC, request(icac: icac), on: session)
    let text = try #require(response.debugText)
    #expect(response.statusCode != .ok && !text.isEmpty && text.utf8.count <= 128)
    #expect(notes().last?.contains(text) == true)
  }
  #expect(notes().count == 5)
  #expect(try lab.arm(0, on: session) == 0)
  let refused = try lab.call(GeneralCommissioning.commissioningComplete, .init(), on: session)
  #expect(refused.errorCode == .noFailSafe && !refused.debugText.isEmpty)
  #expect(notes().last?.contains(refused.debugText) == true)
}

@Test func restoresCertificateWhenFailSafeExpires() throws {
  var lab = try Lab()
  try lab.addAdministrator()
  let session = try lab.commission()
  let before = lab.published.map(\.kind)
  #expect(try lab.arm(60, on: session) == 0)
  let key = try lab.newKey(isForUpdate: true, on: session)
  let noc = try lab.administrators[0].issue(key, node: 0x2_0002)
  let response = try lab.call(
    OperationalCredentials.updateNOC, .init(nocValue: OctetString(noc)), on: session)
  #expect(response == .init(statusCode: .ok, fabricIndex: 1))
  #expect(lab.device.fabrics.map(\.nodeID) == [0x2_0002])
  #expect(lab.published.map(\.kind) != before)
  lab.advance(by: .seconds(61))
  #expect(lab.device.fabrics.map(\.nodeID) == [0x2_0001])
  #expect(lab.published.map(\.kind) == before)
  #expect(lab.openCASE() != nil)
}

@Test func rejectsDuplicateFabricLabels() throws {
  var lab = try Lab()
  try lab.addAdministrator()
  try lab.addAdministrator()
  let first = try lab.commission()
  _ = try lab.status(
    AdministratorCommissioning.openBasicCommissioningWindow, .init(commissioningTimeout: 180), on: first, isTimed: true)
  let second = try lab.commission(1)
  let label = OperationalCredentials.updateFabricLabel
  #expect(try lab.call(label, .init(label: "Home"), on: first).statusCode == .ok)
  #expect(try lab.call(label, .init(label: "Home"), on: second, 1).statusCode == .labelConflict)
  #expect(
    try lab.status(label, .init(label: String(repeating: "x", count: 33)), on: first) == Status(.constraintError))
  lab.crash()
  #expect(lab.device.fabrics.map(\.label) == ["Home", ""])
}

@Test func reservesFailSafeForOneAdministrator() throws {
  var lab = try Lab()
  try lab.addAdministrator()
  try lab.addAdministrator()
  let first = try lab.commission()
  _ = try lab.status(
    AdministratorCommissioning.openBasicCommissioningWindow, .init(commissioningTimeout: 900), on: first, isTimed: true)
  #expect(try lab.arm(10, on: first) == 4, "the window is reserved for PASE")
  let opened = lab.openPASE(1)
  let pase = try #require(opened)
  let arm = GeneralCommissioning.armFailSafe
  #expect(try lab.call(arm, .init(expiryLengthSeconds: 20, breadcrumb: 1), on: pase, 1).errorCode == .ok)
  #expect(try lab.arm(10, on: first) == 4)
  #expect(
    try lab.call(GeneralCommissioning.commissioningComplete, NoFields(), on: first).errorCode == .invalidAuthentication)
  lab.advance(by: .seconds(21))
  #expect(try lab.call(GeneralCommissioning.commissioningComplete, NoFields(), on: first).errorCode == .noFailSafe)
  #expect(lab.device.isCommissionable, "the window is still open")
  lab.advance(by: .seconds(900))
  #expect(try lab.arm(10, on: first) == 0)
}

@Test func storesGroupKeysWithoutRevealingThem() throws {
  var lab = try Lab()
  try lab.addAdministrator()
  let session = try lab.commission()
  let key = OctetString([UInt8](repeating: 3, count: 16))
  var set = GroupKeyManagement.GroupKeySetStruct(
    groupKeySetID: 5, groupKeySecurityPolicy: .trustFirst, epochKey0: .value(key), epochStartTime0: .value(1),
    epochKey1: .null, epochStartTime1: .null, epochKey2: .null, epochStartTime2: .null)
  let write = GroupKeyManagement.keySetWrite
  #expect(try lab.status(write, .init(groupKeySet: set), on: session) == .success)
  let read = try lab.call(GroupKeyManagement.keySetRead, .init(groupKeySetID: 5), on: session).groupKeySet
  #expect(read.epochKey0 == .null && read.epochStartTime0 == .value(1))
  #expect(
    try lab.call(GroupKeyManagement.keySetReadAllIndices, NoFields(), on: session).groupKeySetIDs == [0, 5])
  set.epochKey1 = .value(key)
  #expect(try lab.status(write, .init(groupKeySet: set), on: session) == Status(.invalidCommand))
  set.epochStartTime1 = .value(1)
  #expect(
    try lab.status(write, .init(groupKeySet: set), on: session) == Status(.invalidCommand), "start times not ascending")
  set.epochKey1 = .null
  set.epochStartTime1 = .null
  for (id, status) in [(6, Status.success), (7, Status(.resourceExhausted))] as [(UInt16, Status)] {
    set.groupKeySetID = id
    #expect(try lab.status(write, .init(groupKeySet: set), on: session) == status)
  }
  let remove = GroupKeyManagement.keySetRemove
  #expect(try lab.status(remove, .init(groupKeySetID: 0), on: session) == Status(.invalidCommand))
  #expect(try lab.status(remove, .init(groupKeySetID: 9), on: session) == Status(.notFound))
  #expect(try lab.status(remove, .init(groupKeySetID: 5), on: session) == .success)
}

@Test func removesDataOnFactoryReset() throws {
  var lab = try Lab()
  try lab.addAdministrator()
  let session = try lab.commission()
  _ = try lab.write([AttributeWrite(BasicInformation.nodeLabel.path(on: 0), value: "Desk".tlv)], on: session)
  #expect(lab.store.keys.contains { $0.hasPrefix("resumption/1/") })
  lab.device.factoryReset(at: lab.now)
  lab.settle()
  #expect(lab.device.fabrics.isEmpty)
  #expect(
    lab.store.keys.filter { !$0.hasPrefix("event/record/") }.sorted()
      == ["attribute/0/33/1", "composition", "event/number"],
    "entries of the restarted device")
  #expect(lab.published.map(\.commissioningMode) == [1])
  #expect(lab.administrators[0].closed.contains(session))
  _ = try lab.commission()
}
