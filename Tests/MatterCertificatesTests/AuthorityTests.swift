import MatterCertificates
import MatterCrypto
import Testing

@Suite struct AuthorityTests {
  @Test func issuesWithIntermediate() throws {
    let fabric = try TestFabric()
    try fabric.verify(at: 800_000_000)
    try CertificateChain.verifySelfSigned(fabric.root)
    #expect(fabric.root.rcacID == 1)
    #expect(fabric.intermediate.icacID == 2)
    #expect(fabric.node.nodeID == 0x1234)
    #expect(fabric.node.fabricID == TestFabric.fabricID)
    #expect(fabric.node.caseAuthenticatedTags == [0x0001_0002])
    #expect(fabric.node.publicKey == fabric.nodeKey.publicKey.bytes)
    #expect(fabric.node.subjectKeyID == Hash.sha1(fabric.nodeKey.publicKey.bytes))
    for certificate in [fabric.root, fabric.intermediate, fabric.node] {
      #expect(try MatterCertificate(tlv: certificate.tlv) == certificate)
      #expect(try MatterCertificate(x509: certificate.x509) == certificate)
    }
  }

  @Test func issuesWithoutIntermediate() throws {
    var random = SeededRandomSource(seed: 5)
    let key = P256PrivateKey(random: &random)
    let authority = try CertificateAuthority(
      rootKey: key, rcacID: 7, validity: CertificateValidity(notBefore: .seconds(1)), random: &random)
    let node = try authority.issueNOC(
      publicKey: P256PrivateKey(random: &random).publicKey, nodeID: 1, fabricID: 2,
      tags: [0x1_0001, 0x2_0001, 0x3_0001],
      validity: CertificateValidity(notBefore: .seconds(1)), random: &random)
    #expect(authority.intermediate == nil)
    #expect(authority.root.fabricID == nil)
    try CertificateChain.verify(noc: node, icac: nil, root: authority.root, at: 100)
    // The largest certificate must fit the limit.
    #expect(node.tlv.count <= MatterCertificate.maximumTLVCount)
    #expect(node.x509.count <= MatterCertificate.maximumX509Count)
  }

  @Test func restoresAuthority() throws {
    let fabric = try TestFabric()
    let again = try CertificateAuthority(
      root: fabric.root, intermediate: fabric.intermediate, issuerKey: fabric.intermediateKey)
    var random = SeededRandomSource(seed: 9)
    let node = try again.issueNOC(
      publicKey: fabric.nodeKey.publicKey, nodeID: 9, fabricID: TestFabric.fabricID, validity: TestFabric.validity,
      random: &random)
    try CertificateChain.verify(noc: node, icac: fabric.intermediate, root: fabric.root)
    #expect(throws: CertificateError.failed(.publicKey, .intermediate)) {
      try CertificateAuthority(root: fabric.root, intermediate: fabric.intermediate, issuerKey: fabric.rootKey)
    }
    #expect(throws: CertificateError.failed(.issuer, .intermediate)) {
      let other = try MatterCertificate(tlv: CertificateVector.root01.tlv)
      _ = try CertificateAuthority(root: other, intermediate: fabric.intermediate, issuerKey: fabric.intermediateKey)
    }
  }

  @Test func rejectsIdentifiersOutOfRange() throws {
    let fabric = try TestFabric()
    var random = SeededRandomSource(seed: 5)
    func issue(_ nodeID: UInt64, _ fabricID: UInt64, _ tags: [UInt32] = []) throws {
      _ = try fabric.authority.issueNOC(
        publicKey: fabric.nodeKey.publicKey, nodeID: nodeID, fabricID: fabricID, tags: tags,
        validity: TestFabric.validity, random: &random)
    }
    try issue(0xFFFF_FFEF_FFFF_FFFF, 1)
    #expect(throws: CertificateError.invalidIdentifier(.nodeID, 0)) { try issue(0, 1) }
    #expect(throws: CertificateError.invalidIdentifier(.nodeID, 0xFFFF_FFF0_0000_0000)) {
      try issue(0xFFFF_FFF0_0000_0000, 1)
    }
    #expect(throws: CertificateError.invalidIdentifier(.fabricID, 0)) { try issue(1, 0) }
    #expect(throws: CertificateError.invalidIdentifier(.caseAuthenticatedTag, 0x0001_0000)) {
      try issue(1, 1, [0x0001_0000])
    }
    #expect(throws: CertificateError.self) { try issue(1, 1, [0x1_0001, 0x2_0001, 0x3_0001, 0x4_0001]) }
  }

  @Test func issuesSameCertificatesFromSameSeed() throws {
    let first = try TestFabric(seed: 4), second = try TestFabric(seed: 4), third = try TestFabric(seed: 5)
    #expect(first.node.tlv == second.node.tlv)
    #expect(first.root.tlv == second.root.tlv)
    #expect(first.node.tlv != third.node.tlv)
  }

  // MARK: Signing requests

  @Test func verifiesSigningRequest() throws {
    let key = try TestFabric().nodeKey
    let request = try CertificateSigningRequest(key: key)
    let read = try CertificateSigningRequest(verifying: request.der)
    #expect(read.publicKey == key.publicKey)
    for flipped in bitFlips(of: request.der) {
      // The name has no meaning, but is part of the signed content.
      #expect(throws: CertificateError.self) { try CertificateSigningRequest(verifying: flipped) }
    }
    for count in request.der.indices {
      #expect(throws: CertificateError.self) { try CertificateSigningRequest(verifying: Array(request.der[..<count])) }
    }
    #expect(throws: CertificateError.self) { try CertificateSigningRequest(verifying: request.der + [0]) }
  }

  @Test func verifiesPublishedSigningRequests() throws {
    let request = try CertificateSigningRequest(verifying: AttestationVectors.signingRequest)
    #expect(request.publicKey.bytes == AttestationVectors.signingRequestKey)
    #expect(throws: CertificateError.failed(.signature, .node)) {
      try CertificateSigningRequest(verifying: AttestationVectors.forgedSigningRequest)
    }
  }

  // MARK: Fabric identity

  @Test func derivesCompressedFabricID() throws {
    let root = bytes(
      """
      044a9f42b1ca4840d37292bbc7f6a7e11e22200c976fc900dbc98a7a383a641cb8254a2e56d4e295a847943b4e3897c4a773e930277b4d9f
      bede8a052686bfacfa
      """)
    #expect(
      try FabricIdentity.compressedFabricID(rootPublicKey: root, fabricID: 0x2906_C908_D115_D362)
        == 0x87E1_B004_E235_A130)
    #expect(throws: CryptoError.self) {
      try FabricIdentity.compressedFabricID(rootPublicKey: Array(root.dropFirst()), fabricID: 1)
    }
  }

  @Test(arguments: [
    ("00000000000000000000000000000000", "c5f2690187115150c356ad93b385bb0f"),
    ("101112131415161718191a1b1c1d1e1f", "aed95695f375d2ce78556a41730c3f43"),
    ("202122232425262728292a2b2c2d2e2f", "35ca346e5e24bbbe889cf4d35c5e820a"),
  ])
  func derivesOperationalKey(_ epochKey: String, _ expected: String) throws {
    #expect(
      try FabricIdentity.operationalKey(epochKey: bytes(epochKey), compressedFabricID: 0x87E1_B004_E235_A130)
        == bytes(expected))
  }
}
