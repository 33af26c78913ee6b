import MatterCrypto
import Testing

@testable import MatterCertificates

@Suite struct AttestationTests {
  private let paa: X509Certificate
  private let paaFFF1: X509Certificate

  init() throws {
    paa = try X509Certificate(der: PublicTestMaterial.paa)
    paaFFF1 = try X509Certificate(der: PublicTestMaterial.paaFFF1)
  }

  private func attestation(seed: UInt64 = 1) throws -> TestAttestation {
    var random = SeededRandomSource(seed: seed)
    return try TestAttestation(
      vendorID: 0xFFF1, productID: 0x8001, deviceTypeID: 0x0100, name: "Lamp", random: &random,
      signatures: DeterministicSignatures())
  }

  @Test func errorsNameTheCertificate() { #expect("\(AttestationError.expired(.dac))" == "expired(dac)") }

  @Test func containsMatchingTestMaterial() throws {
    #expect(try P256PrivateKey(scalar: PublicTestMaterial.paaKey).publicKey == paa.publicKey)
    #expect(try P256PrivateKey(scalar: PublicTestMaterial.paaFFF1Key).publicKey == paaFFF1.publicKey)
    #expect(paa.isSigned(by: paa.publicKey))
    #expect(paaFFF1.isSigned(by: paaFFF1.publicKey))
    let signer = try P256PrivateKey(scalar: PublicTestMaterial.declarationSignerKey).publicKey
    #expect(Hash.sha1(signer.bytes) == PublicTestMaterial.declarationSignerKeyID)
  }

  @Test func decodesFieldsOfCertificate() throws {
    let dac = try X509Certificate(der: AttestationVectors.dacFFF1)
    #expect(dac.subject.commonName == "Matter Test DAC 0000")
    #expect(dac.subject.vendorID == 0xFFF1)
    #expect(dac.subject.productID == 0x8000)
    #expect(dac.notBefore == 678_205_423)
    #expect(dac.notAfter == DERTime.noExpiry)
    #expect(dac.keyUsage == .digitalSignature)
    #expect(dac.basicConstraints == X509Certificate.BasicConstraints(isAuthority: false, pathLength: nil))
    #expect(dac.serialNumber == bytes("1bd63818f144a797"))
    #expect(paa.subject.vendorID == nil)
    #expect(paaFFF1.subject.vendorID == 0xFFF1)
  }

  @Test func verifiesPublishedChains() throws {
    let pai = try X509Certificate(der: AttestationVectors.paiFFF1)
    let dac = try X509Certificate(der: AttestationVectors.dacFFF1)
    let root = try AttestationChain.verify(
      dac: dac, pai: pai, trustedRoots: [paa, paaFFF1], vendorID: 0xFFF1, productID: 0x8000, at: 800_000_000)
    #expect(root == paaFFF1)
    #expect(throws: AttestationError.noTrustedRoot) {
      try AttestationChain.verify(dac: dac, pai: pai, trustedRoots: [paa])
    }
    #expect(throws: AttestationError.vendorID(.dac)) {
      try AttestationChain.verify(dac: dac, pai: pai, trustedRoots: [paaFFF1], vendorID: 0xFFF2)
    }
    #expect(throws: AttestationError.productID(.dac)) {
      try AttestationChain.verify(dac: dac, pai: pai, trustedRoots: [paaFFF1], productID: 0x8001)
    }
    #expect(throws: AttestationError.notYetValid(.dac)) {
      try AttestationChain.verify(dac: dac, pai: pai, trustedRoots: [paaFFF1], at: 678_205_422)
    }
    #expect(throws: AttestationError.basicConstraints(.pai)) {
      try AttestationChain.verify(dac: dac, pai: dac, trustedRoots: [paaFFF1])
    }
    #expect(throws: AttestationError.basicConstraints(.dac)) {
      try AttestationChain.verify(dac: pai, pai: pai, trustedRoots: [paaFFF1])
    }
  }

  @Test func readsIdentifiersInCommonName() throws {
    let pai = try X509Certificate(der: AttestationVectors.paiFallback)
    let dac = try X509Certificate(der: AttestationVectors.dacFallback)
    #expect(pai.subject.vendorID == 0xFFF2)
    #expect(dac.subject.productID == 0x8004)
    try AttestationChain.verify(dac: dac, pai: pai, trustedRoots: [paa])
  }

  static let names: [(String, UInt16?, UInt16?)] = [
    ("ACME Matter Devel DAC 5CDA9899 Mvid:FFF1 Mpid:00B1", 0xFFF1, 0x00B1),
    ("Mpid:00B1,ACME Matter Devel DAC 5CDA9899,Mvid:FFF1", 0xFFF1, 0x00B1),
    ("ACME Matter Devel DAC 5CDA9899 Mvid:FFF1ACME Mpid:00B1", 0xFFF1, 0x00B1),
    ("Mvid:Mvid:FFF1", 0xFFF1, nil), ("ACME", nil, nil), ("mvid:FFF1", nil, nil),
  ]

  @Test(arguments: names)
  func parsesCommonNames(_ text: String, _ vendorID: UInt16?, _ productID: UInt16?) throws {
    var reader = DERReader(X509Name(commonName: text).encoded)
    let name = try X509Name(from: &reader)
    #expect(name.vendorID == vendorID)
    #expect(name.productID == productID)
  }

  @Test(arguments: ["Mvid:FFF", "Mvid:fff1", "Mvid:", "x Mpid:00G1"])
  func rejectsInvalidCommonNames(_ text: String) {
    #expect(throws: CertificateError.self) {
      var reader = DERReader(X509Name(commonName: text).encoded)
      _ = try X509Name(from: &reader)
    }
  }

  @Test func verifiesTestAttestation() throws {
    let made = try attestation()
    let root = try AttestationChain.verify(
      dac: made.dac, pai: made.pai, trustedRoots: [paaFFF1, paa], vendorID: 0xFFF1, productID: 0x8001,
      at: 800_000_000)
    #expect(root == paa)
    #expect(made.dac.publicKey == made.dacKey.publicKey)
    #expect(made.pai.subject.productID == nil)
    #expect(try attestation().dac == made.dac)
    #expect(try attestation(seed: 2).dac != made.dac)
  }

  @Test func rejectsModifiedCertificates() throws {
    let made = try attestation()
    for flipped in bitFlips(of: made.dac.der) {
      #expect(throws: (any Error).self) {
        try AttestationChain.verify(dac: try X509Certificate(der: flipped), pai: made.pai, trustedRoots: [paa])
      }
    }
    for flipped in bitFlips(of: made.pai.der, everyBit: false) {
      #expect(throws: (any Error).self) {
        try AttestationChain.verify(dac: made.dac, pai: try X509Certificate(der: flipped), trustedRoots: [paa])
      }
    }
    for count in made.dac.der.indices {
      #expect(throws: CertificateError.self) { try X509Certificate(der: Array(made.dac.der[..<count])) }
    }
  }

  /// Chains with valid signatures and one fault in the certificates.
  @Test func rejectsInvalidChains() throws {
    var random = SeededRandomSource(seed: 8)
    let rootKey = try P256PrivateKey(scalar: PublicTestMaterial.paaKey)
    let rootKeyFFF1 = try P256PrivateKey(scalar: PublicTestMaterial.paaFFF1Key)
    let paiKey = P256PrivateKey(random: &random), dacKey = P256PrivateKey(random: &random)
    func make(
      _ subject: X509Name, by issuer: X509Certificate, _ signer: P256PrivateKey, _ key: P256PrivateKey,
      _ profile: X509Certificate.Profile, notBefore: Int64 = 700_000_000
    ) throws -> X509Certificate {
      try X509Certificate.make(
        subject: subject, issuer: issuer.subject, publicKey: key.publicKey, profile: profile, notBefore: notBefore,
        serialNumber: [1], signer: signer, signatures: OpenSSLSignatures())
    }
    func verify(_ dac: X509Certificate, _ pai: X509Certificate) throws(AttestationError) {
      try AttestationChain.verify(dac: dac, pai: pai, trustedRoots: [paa, paaFFF1])
    }
    let paiName = X509Name(commonName: "PAI", vendorID: 0xFFF2)
    let dacName = X509Name(commonName: "DAC", vendorID: 0xFFF2, productID: 1)
    let pai = try make(paiName, by: paa, rootKey, paiKey, .authority(pathLength: 0))
    let dac = try make(dacName, by: pai, paiKey, dacKey, .device)
    try verify(dac, pai)

    let otherVendor = X509Name(commonName: "DAC", vendorID: 0xFFF1, productID: 1)
    #expect(throws: AttestationError.vendorID(.dac)) {
      try verify(try make(otherVendor, by: pai, paiKey, dacKey, .device), pai)
    }
    let noProduct = X509Name(commonName: "DAC", vendorID: 0xFFF2)
    #expect(throws: AttestationError.productID(.dac)) {
      try verify(try make(noProduct, by: pai, paiKey, dacKey, .device), pai)
    }
    let noVendor = try make(X509Name(commonName: "PAI"), by: paa, rootKey, paiKey, .authority(pathLength: 0))
    #expect(throws: AttestationError.vendorID(.pai)) {
      try verify(try make(dacName, by: noVendor, paiKey, dacKey, .device), noVendor)
    }
    let bound = try make(
      X509Name(commonName: "PAI", vendorID: 0xFFF2, productID: 2), by: paa, rootKey, paiKey, .authority(pathLength: 0))
    #expect(throws: AttestationError.productID(.dac)) {
      try verify(try make(dacName, by: bound, paiKey, dacKey, .device), bound)
    }
    let deep = try make(paiName, by: paa, rootKey, paiKey, .authority(pathLength: 1))
    #expect(throws: AttestationError.basicConstraints(.pai)) { try verify(dac, deep) }
    // A PAI of one vendor below the root of another.
    let stray = try make(paiName, by: paaFFF1, rootKeyFFF1, paiKey, .authority(pathLength: 0))
    #expect(throws: AttestationError.vendorID(.pai)) {
      try verify(try make(dacName, by: stray, paiKey, dacKey, .device), stray)
    }
    #expect(throws: AttestationError.issuer(.dac)) {
      try verify(try make(dacName, by: paa, paiKey, dacKey, .device), pai)
    }
    #expect(throws: AttestationError.issuer(.dac)) {
      try verify(try make(dacName, by: pai, dacKey, dacKey, .device), pai)
    }
    #expect(throws: AttestationError.notYetValid(.pai)) {
      try verify(try make(dacName, by: pai, paiKey, dacKey, .device, notBefore: 699_999_999), pai)
    }
  }
}
