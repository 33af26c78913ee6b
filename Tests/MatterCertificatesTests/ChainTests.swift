import MatterCrypto
import Testing

@testable import MatterCertificates

@Suite struct ChainTests {
  private func certificate(_ vector: CertificateVector) throws -> MatterCertificate {
    try MatterCertificate(tlv: vector.tlv)
  }

  @Test(arguments: [
    (CertificateVector.node0101, CertificateVector.ica01, CertificateVector.root01),
    (.node0201, .ica02, .root02), (.node0202, .ica02, .root02), (.node0203, .ica02, .root02),
    (.node0205, .ica02, .root02), (.node0206, .ica02, .root02), (.node0208, .ica02, .root02),
  ])
  func verifiesChainsWithIntermediate(
    _ node: CertificateVector, _ intermediate: CertificateVector, _ root: CertificateVector
  ) throws {
    try CertificateChain.verify(
      noc: try certificate(node), icac: try certificate(intermediate), root: try certificate(root), at: 700_000_000)
  }

  @Test func verifiesChainWithoutIntermediate() throws {
    let node = try certificate(.node0102), root = try certificate(.root01)
    try CertificateChain.verify(noc: node, icac: nil, root: root)
    #expect(throws: CertificateError.failed(.issuer, .node)) {
      try CertificateChain.verify(noc: node, icac: try certificate(.ica01), root: root)
    }
    #expect(throws: CertificateError.failed(.issuer, .node)) {
      try CertificateChain.verify(noc: try certificate(.node0101), icac: nil, root: root)
    }
  }

  @Test func rejectsSwappedRoles() throws {
    let node = try certificate(.node0101), intermediate = try certificate(.ica01), root = try certificate(.root01)
    #expect(throws: CertificateError.failed(.subject, .node)) {
      try CertificateChain.verify(noc: intermediate, icac: nil, root: root)
    }
    #expect(throws: CertificateError.failed(.subject, .root)) {
      try CertificateChain.verify(noc: node, icac: nil, root: intermediate)
    }
    #expect(throws: CertificateError.failed(.subject, .intermediate)) {
      try CertificateChain.verify(noc: node, icac: root, root: root)
    }
    #expect(throws: CertificateError.failed(.subject, .node)) {
      try CertificateChain.verify(noc: try certificate(.firmware01), icac: intermediate, root: root)
    }
  }

  @Test func verifiesSelfSignedRoots() throws {
    try CertificateChain.verifySelfSigned(try certificate(.root01), at: 656_087_023)
    try CertificateChain.verifySelfSigned(try certificate(.root02))
    for other in [CertificateVector.ica01, .ica02, .firmware01, .node0101, .node0208] {
      #expect(throws: CertificateError.failed(.subject, .root)) {
        try CertificateChain.verifySelfSigned(try certificate(other))
      }
    }
  }

  @Test func rejectsUnknownCriticalExtension() throws {
    #expect(throws: CertificateError.failed(.criticalExtension, .node)) {
      try CertificateChain.verify(
        noc: try certificate(.node0207), icac: try certificate(.ica02), root: try certificate(.root02))
    }
  }

  @Test func includesBothEndsOfValidity() throws {
    let fabric = try TestFabric()
    // The validity of the fabric's certificates.
    let (begin, end) = (700_000_000 as UInt32, 1_900_000_000 as UInt32)
    try fabric.verify(at: begin)
    try fabric.verify(at: end)
    #expect(throws: CertificateError.failed(.notYetValid, .node)) { try fabric.verify(at: begin - 1) }
    #expect(throws: CertificateError.failed(.expired, .node)) { try fabric.verify(at: end + 1) }
    var random = SeededRandomSource(seed: 3)
    let endless = try CertificateAuthority(
      rootKey: fabric.rootKey, rcacID: 1, validity: CertificateValidity(notBefore: .seconds(1)), random: &random)
    try CertificateChain.verifySelfSigned(endless.root, at: .max)
  }

  /// A modification of a fabric with valid signatures, and the check that must fail.
  struct Modification: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let check: CertificateError.Check
    let role: CertificateRole
    let apply: @Sendable (inout TestFabric) -> Void

    init(
      _ description: String, _ check: CertificateError.Check, _ role: CertificateRole,
      _ apply: @escaping @Sendable (inout TestFabric) -> Void
    ) {
      (testDescription, self.check, self.role, self.apply) = (description, check, role, apply)
    }

    static let all = [
      Modification("node is an authority", .basicConstraints, .node) {
        $0.node.replace(.basicConstraints(isAuthority: true, pathLength: nil))
      },
      Modification("node without constraints", .basicConstraints, .node) { $0.node.remove(tag: 1) },
      Modification("node without key usage", .keyUsage, .node) { $0.node.remove(tag: 2) },
      Modification("node that signs certificates only", .keyUsage, .node) {
        $0.node.replace(.keyUsage(.keyCertificateSign))
      },
      Modification("node without client authentication", .extendedKeyUsage, .node) {
        $0.node.replace(.extendedKeyUsage([.serverAuth]))
      },
      Modification("node without purposes", .extendedKeyUsage, .node) { $0.node.remove(tag: 3) },
      Modification("node without key id", .subjectKeyIdentifier, .node) { $0.node.remove(tag: 4) },
      Modification("node without issuer's key id", .authorityKeyIdentifier, .node) { $0.node.remove(tag: 5) },
      Modification("node with another issuer's key id", .authorityKeyIdentifier, .node) {
        $0.node.replace(.authorityKeyIdentifier([UInt8](repeating: 1, count: 20)))
      },
      Modification("node of another fabric", .fabricID, .root) {
        $0.node.subject = DistinguishedName([.matter(.nodeID, 1), .matter(.fabricID, 5)])
      },
      Modification("node without fabric", .subject, .node) {
        $0.node.subject = DistinguishedName([.matter(.nodeID, 1)])
      },
      Modification("node with two ids", .subject, .node) { $0.node.subject.attributes.append(.matter(.nodeID, 7)) },
      Modification("node that is also an intermediate", .subject, .node) {
        $0.node.subject.attributes.append(.matter(.icacID, 7))
      },
      Modification("two versions of one tag", .subject, .node) {
        $0.node.subject.attributes.append(.matter(.caseAuthenticatedTag, 0x0001_0003))
      },
      Modification("node by another issuer", .issuer, .node) {
        $0.node.issuer = DistinguishedName([.matter(.icacID, 9)])
      },
      Modification("key not on the curve", .publicKey, .node) { $0.node.publicKey[64] ^= 1 },
      Modification("node that is not valid yet", .notYetValid, .node) { $0.node.notBefore = 900_000_000 },
      Modification("intermediate of another fabric", .fabricID, .intermediate) {
        $0.intermediate.subject = DistinguishedName([.matter(.icacID, 2), .matter(.fabricID, 5)])
        $0.node.issuer = $0.intermediate.subject
      },
      Modification("intermediate with a tag", .subject, .intermediate) {
        $0.intermediate.subject.attributes.append(.matter(.caseAuthenticatedTag, 1))
        $0.node.issuer = $0.intermediate.subject
      },
      Modification("intermediate that is not an authority", .basicConstraints, .intermediate) {
        $0.intermediate.replace(.basicConstraints(isAuthority: false, pathLength: nil))
      },
      Modification("intermediate that may not sign", .keyUsage, .intermediate) {
        $0.intermediate.replace(.keyUsage([.crlSign, .digitalSignature]))
      },
      Modification("expired intermediate", .expired, .intermediate) { $0.intermediate.notAfter = 700_000_001 },
      Modification("intermediate by another issuer", .issuer, .intermediate) {
        $0.intermediate.issuer = DistinguishedName([.matter(.rcacID, 9)])
      },
      Modification("root that allows no intermediate", .pathLength, .root) {
        $0.root.replace(.basicConstraints(isAuthority: true, pathLength: 0))
      },
      Modification("root by another issuer", .issuer, .root) {
        $0.root.issuer = DistinguishedName([.matter(.rcacID, 9)])
      },
      Modification("root without key usage", .keyUsage, .root) { $0.root.remove(tag: 2) },
      Modification("root with another key id", .authorityKeyIdentifier, .root) {
        $0.root.replace(.authorityKeyIdentifier([UInt8](repeating: 1, count: 20)))
      },
      Modification("root with two fabrics", .subject, .root) {
        $0.root.subject.attributes.append(.matter(.fabricID, 5))
        $0.root.issuer = $0.root.subject
        $0.intermediate.issuer = $0.root.subject
      },
    ]
  }

  @Test(arguments: Modification.all)
  func failsExpectedCheck(_ modification: Modification) throws {
    var fabric = try TestFabric()
    try fabric.verify(at: 800_000_000)
    modification.apply(&fabric)
    try fabric.signAll()
    #expect(throws: CertificateError.failed(modification.check, modification.role)) {
      try fabric.verify(at: 800_000_000)
    }
  }

  @Test func verifiesSignatures() throws {
    let fabric = try TestFabric(), other = try TestFabric(seed: 2)
    var forged = fabric
    forged.node.signature = other.node.signature
    #expect(throws: CertificateError.failed(.signature, .node)) { try forged.verify() }
    forged = fabric
    forged.intermediate.signature = other.intermediate.signature
    #expect(throws: CertificateError.failed(.signature, .intermediate)) { try forged.verify() }
    forged = fabric
    forged.root.signature = other.root.signature
    #expect(throws: CertificateError.failed(.signature, .root)) { try CertificateChain.verifySelfSigned(forged.root) }
    forged = fabric
    forged.root.replace(.basicConstraints(isAuthority: true, pathLength: 2))
    try forged.signAll()
    #expect(throws: CertificateError.failed(.pathLength, .root)) { try CertificateChain.verifySelfSigned(forged.root) }
  }
}
