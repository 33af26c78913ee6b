import MatterCertificates
import MatterTLV
import Testing

@Suite struct ConversionTests {
  @Test(arguments: CertificateVector.all)
  func convertsBothFormsWithoutLoss(_ vector: CertificateVector) throws {
    let fromTLV = try MatterCertificate(tlv: vector.tlv)
    let fromDER = try MatterCertificate(x509: vector.der)
    #expect(fromTLV == fromDER)
    #expect(fromTLV.tlv == vector.tlv)
    #expect(fromTLV.x509 == vector.der)
    #expect(fromDER.tlv == vector.tlv)
    #expect(fromDER.x509 == vector.der)
  }

  @Test func decodesFieldsOfRoot() throws {
    let root = try MatterCertificate(tlv: CertificateVector.root02.tlv)
    #expect(root.kind == .root)
    #expect(root.rcacID == 0xCACA_CACA_0000_0002)
    #expect(root.fabricID == 0xFAB0_0000_0000_001D)
    #expect(root.nodeID == nil)
    #expect(root.icacID == nil)
    #expect(root.basicConstraints?.isAuthority == true)
    #expect(root.keyUsage == [.keyCertificateSign, .crlSign])
    #expect(root.subjectKeyID == root.authorityKeyID)
    // 2020-10-15 14:23:43 and 2040-10-15 14:23:42.
    #expect(root.notBefore == 656_087_023)
    #expect(root.notAfter == 1_287_239_022)
    #expect(try MatterCertificate(tlv: CertificateVector.root03.tlv).notAfter == 0)
  }

  @Test func decodesFieldsOfNode() throws {
    let node = try MatterCertificate(tlv: CertificateVector.node0101.tlv)
    #expect(node.kind == .node)
    #expect(node.nodeID == 0xDEDE_DEDE_0001_0001)
    #expect(node.fabricID == 0xFAB0_0000_0000_001D)
    #expect(node.issuer.only(.icacID) == 0xCACA_CACA_0000_0003)
    #expect(node.keyPurposes == [.clientAuth, .serverAuth])
    #expect(node.keyUsage == .digitalSignature)
    #expect(node.caseAuthenticatedTags.isEmpty)
    #expect(node.serialNumber == [0x18, 0xE9, 0x69, 0xBA, 0x0E, 0x08, 0x9E, 0x23])
    let tagged = try MatterCertificate(tlv: CertificateVector.node0203.tlv)
    #expect(tagged.caseAuthenticatedTags == [0xABCD_0001])
    #expect(try MatterCertificate(tlv: CertificateVector.ica01.tlv).kind == .intermediate)
    #expect(try MatterCertificate(tlv: CertificateVector.firmware01.tlv).kind == .firmwareSigning)
  }

  @Test(arguments: BrokenVector.tlvRoots)
  func rejectsInvalidTLV(_ vector: BrokenVector) {
    #expect(throws: vector.error) {
      try CertificateChain.verifySelfSigned(try MatterCertificate(tlv: vector.encoded))
    }
  }

  @Test(arguments: BrokenVector.der)
  func rejectsInvalidX509(_ vector: BrokenVector) {
    #expect(throws: vector.error) { try MatterCertificate(x509: vector.encoded) }
  }

  @Test func rejectsTruncation() {
    let vector = CertificateVector.node0202
    for count in 0..<vector.tlv.count {
      #expect(throws: CertificateError.self) { try MatterCertificate(tlv: Array(vector.tlv.prefix(count))) }
    }
    for count in 0..<vector.der.count {
      #expect(throws: CertificateError.self) { try MatterCertificate(x509: Array(vector.der.prefix(count))) }
    }
    #expect(throws: CertificateError.tlv(.trailingBytes)) { try MatterCertificate(tlv: vector.tlv + [0x14]) }
    #expect(throws: CertificateError.self) { try MatterCertificate(x509: vector.der + [0]) }
  }

  @Test(arguments: [CertificateVector.node0101, .node0203])
  func rejectsFlippedBits(_ vector: CertificateVector) throws {
    let isFirst = vector.name == "Node01_01"
    let root = try MatterCertificate(tlv: (isFirst ? CertificateVector.root01 : .root02).tlv)
    let intermediate = try MatterCertificate(tlv: (isFirst ? CertificateVector.ica01 : .ica02).tlv)
    try CertificateChain.verify(noc: try MatterCertificate(tlv: vector.tlv), icac: intermediate, root: root)
    for flipped in bitFlips(of: vector.tlv, everyBit: !isFirst) {
      #expect(throws: CertificateError.self) {
        try CertificateChain.verify(noc: try MatterCertificate(tlv: flipped), icac: intermediate, root: root)
      }
    }
    for flipped in bitFlips(of: vector.der, everyBit: !isFirst) {
      #expect(throws: CertificateError.self) {
        try CertificateChain.verify(noc: try MatterCertificate(x509: flipped), icac: intermediate, root: root)
      }
    }
  }

  @Test func rejectsEveryFlippedBitOfAuthority() throws {
    let root = try MatterCertificate(tlv: CertificateVector.root02.tlv)
    let node = try MatterCertificate(tlv: CertificateVector.node0201.tlv)
    for flipped in bitFlips(of: CertificateVector.root02.tlv) {
      #expect(throws: CertificateError.self) {
        try CertificateChain.verifySelfSigned(try MatterCertificate(tlv: flipped))
      }
    }
    for flipped in bitFlips(of: CertificateVector.ica02.tlv) {
      #expect(throws: CertificateError.self) {
        try CertificateChain.verify(noc: node, icac: try MatterCertificate(tlv: flipped), root: root)
      }
    }
  }
}
