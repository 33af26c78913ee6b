import MatterCertificates
import MatterCrypto
import Testing

@Suite struct DeclarationTests {
  private let verifier: AttestationVerifier
  private let made: TestAttestation

  init() throws {
    verifier = try TestAttestation.verifier()
    var random = SeededRandomSource(seed: 1)
    made = try TestAttestation(vendorID: 0xFFF1, productID: 0x8001, deviceTypeID: 0x0100, random: &random)
  }

  private func open(_ cms: [UInt8]) throws(AttestationError) -> CertificationDeclaration {
    try CertificationDeclaration.verify(cms: cms, signers: verifier.declarationSigners)
  }

  @Test func verifiesPublishedDeclarations() throws {
    let example = try open(AttestationVectors.exampleDeclaration)
    #expect(example.vendorID == 0xFFF2)
    #expect(example.productIDs == [0x8001])
    #expect(example.certificateID == "ZIG20141ZB330001-24")
    #expect(example.deviceTypeID == 0x1234)
    let first = try open(AttestationVectors.signedDeclaration1)
    #expect(first.tlv == AttestationVectors.declaration1)
    #expect(first.versionNumber == 0x2694)
    #expect(first.dacOrigin == nil)
    let second = try open(AttestationVectors.signedDeclaration2)
    #expect(second.tlv == AttestationVectors.declaration2)
    #expect(second.productIDs == [0x8001, 0x8002])
    #expect(second.dacOrigin == CertificationDeclaration.DACOrigin(vendorID: 0xFFF1, productID: 0x8000))
  }

  @Test func roundTripsSignedDeclarations() throws {
    var random = SeededRandomSource(seed: 3)
    let key = P256PrivateKey(random: &random)
    let keyID = Hash.sha1(key.publicKey.bytes)
    let declaration = CertificationDeclaration(
      vendorID: 1, productIDs: Array(1...100), deviceTypeID: 0xFFF1_0001, securityInformation: 7,
      certificationType: .official, dacOrigin: CertificationDeclaration.DACOrigin(vendorID: 2, productID: 3),
      authorizedPAAs: [keyID])
    let cms = try declaration.sign(with: key, keyID: keyID)
    #expect(try CertificationDeclaration.verify(cms: cms, signers: [keyID: key.publicKey]) == declaration)
    #expect(throws: AttestationError.unknownDeclarationSigner(keyID)) { try open(cms) }
    #expect(throws: AttestationError.declarationSignature) {
      try CertificationDeclaration.verify(cms: cms, signers: [keyID: made.dac.publicKey])
    }
  }

  @Test func rejectsEveryFlippedBit() {
    for flipped in bitFlips(of: AttestationVectors.exampleDeclaration) {
      #expect(throws: AttestationError.self) { try open(flipped) }
    }
    for count in AttestationVectors.exampleDeclaration.indices {
      #expect(throws: AttestationError.self) { try open(Array(AttestationVectors.exampleDeclaration[..<count])) }
    }
  }

  @Test func rejectsInvalidContent() {
    let content = AttestationVectors.declaration1
    for count in content.indices {
      #expect(throws: AttestationError.self) { try CertificationDeclaration(tlv: Array(content[..<count])) }
    }
    var shortID = CertificationDeclaration(vendorID: 1, productIDs: [1], deviceTypeID: 1)
    shortID.certificateID = "CSA"
    #expect(throws: AttestationError.malformedDeclaration("certificate_id")) {
      try CertificationDeclaration(tlv: shortID.tlv)
    }
    let none = CertificationDeclaration(vendorID: 1, productIDs: [], deviceTypeID: 1)
    #expect(throws: AttestationError.malformedDeclaration("product_id_array")) {
      try CertificationDeclaration(tlv: none.tlv)
    }
    // An empty list of roots authorizes none, unlike an absent list.
    #expect(throws: AttestationError.malformedDeclaration("authorized_paa_list")) {
      try CertificationDeclaration(tlv: content.dropLast() + [0x36, 11, 0x18, 0x18])
    }
  }

  @Test func checksDeclarationAgainstDevice() throws {
    let paa = try X509Certificate(der: PublicTestMaterial.paa)
    func check(
      _ vendorID: UInt16 = 0xFFF1, _ productID: UInt16 = 0x8001,
      _ change: (inout CertificationDeclaration) -> Void = { _ in }
    ) throws(AttestationError) {
      var declaration = CertificationDeclaration(vendorID: 0xFFF1, productIDs: [0x8001], deviceTypeID: 1)
      change(&declaration)
      try declaration.check(vendorID: vendorID, productID: productID, dac: made.dac, pai: made.pai, paa: paa)
    }
    try check()
    #expect(throws: AttestationError.declarationVendorID) { try check(0xFFF2) }
    #expect(throws: AttestationError.declarationProductID) { try check(0xFFF1, 0x8002) }
    #expect(throws: AttestationError.declarationProductID) { try check(0xFFF1, 0x8002) { $0.productIDs = [0x8002] } }
    #expect(throws: AttestationError.declarationVendorID) { try check(0xFFF2) { $0.vendorID = 0xFFF2 } }
    // A product of another vendor with this DAC.
    try check(0xFFF2, 5) {
      $0.vendorID = 0xFFF2
      $0.productIDs = [5]
      $0.dacOrigin = CertificationDeclaration.DACOrigin(vendorID: 0xFFF1, productID: 0x8001)
    }
    #expect(throws: AttestationError.declarationProductID) {
      try check { $0.dacOrigin = CertificationDeclaration.DACOrigin(vendorID: 0xFFF1, productID: 7) }
    }
    #expect(throws: AttestationError.declarationVendorID) {
      try check { $0.dacOrigin = CertificationDeclaration.DACOrigin(vendorID: 7, productID: 0x8001) }
    }
    try check { $0.authorizedPAAs = [[UInt8](repeating: 0, count: 20), paa.subjectKeyID ?? []] }
    #expect(throws: AttestationError.declarationRoot) {
      try check { $0.authorizedPAAs = [[UInt8](repeating: 0, count: 20)] }
    }
    #expect(throws: AttestationError.unsupportedDeclaration) { try check { $0.formatVersion = 2 } }
    #expect(throws: AttestationError.unsupportedDeclaration) {
      try check { $0.certificationType = CertificationDeclaration.CertificationType(rawValue: 3) }
    }
  }

  // MARK: Elements

  @Test func decodesPublishedElements() throws {
    let elements = try AttestationElements(tlv: AttestationVectors.elements)
    #expect(elements.timestamp == 677_103_357)
    #expect(elements.nonce == bytes("e0421b91c6fdcdb40e2a4d2cf31db2b4e18b411b1d3ad4d12a9d90aa8e52fae2"))
    #expect(elements.certificationDeclaration.count == 0x70)
    #expect(elements.firmwareInformation == nil)
    // All members except the vendor-specific ones.
    #expect(AttestationVectors.elements.starts(with: elements.tlv.dropLast()))
    #expect(throws: AttestationError.malformedElements("order of tags")) {
      try AttestationElements(tlv: AttestationVectors.unorderedElements)
    }
    let request = try NOCSRElements(tlv: AttestationVectors.nocsrElements)
    #expect(request.certificateSigningRequest.count == 0xDD)
    #expect(AttestationVectors.nocsrElements.starts(with: request.tlv.dropLast()))
    #expect(try NOCSRElements(tlv: request.tlv) == request)
    let full = AttestationElements(
      certificationDeclaration: [1], nonce: elements.nonce, timestamp: 5, firmwareInformation: [2])
    #expect(try AttestationElements(tlv: full.tlv) == full)
    #expect(throws: AttestationError.malformedElements("nonce")) {
      try AttestationElements(
        tlv: AttestationElements(certificationDeclaration: [1], nonce: [1]).tlv)
    }
  }

  @Test func verifiesCompleteAttestation() throws {
    let nonce = [UInt8](repeating: 0xAA, count: 32), challenge = [UInt8](repeating: 0xBB, count: 16)
    func response(
      declaration: [UInt8]? = nil, signedFor session: [UInt8]? = nil
    ) throws -> AttestationVerifier.Response {
      let elements = AttestationElements(
        certificationDeclaration: declaration ?? made.certificationDeclaration, nonce: nonce
      ).tlv
      return AttestationVerifier.Response(
        elements: elements,
        signature: try AttestationSignature.sign(
          elements: elements, challenge: session ?? challenge, key: made.dacKey),
        dac: made.dac.der, pai: made.pai.der, nonce: nonce, challenge: challenge)
    }
    func verify(_ response: AttestationVerifier.Response) throws(AttestationError) {
      try verifier.verify(response, vendorID: 0xFFF1, productID: 0x8001, at: 800_000_000)
    }
    try verify(try response())
    var bent = try response()
    bent.nonce[0] ^= 1
    #expect(throws: AttestationError.nonce) { try verify(bent) }
    #expect(throws: AttestationError.responseSignature) {
      try verify(try response(signedFor: [UInt8](repeating: 0, count: 16)))
    }
    bent = try response()
    bent.elements[bent.elements.count - 2] ^= 1
    #expect(throws: AttestationError.responseSignature) { try verify(bent) }
    bent = try response()
    bent.pai = []
    #expect(throws: AttestationError.malformedCertificate(.pai, .malformed("DER: missing element"))) {
      try verify(bent)
    }
    #expect(throws: AttestationError.declarationVendorID) {
      try verify(try response(declaration: AttestationVectors.exampleDeclaration))
    }
    #expect(throws: AttestationError.declarationProductID) {
      try verifier.verify(try response(), vendorID: 0xFFF1, productID: 0x8002)
    }
    // The keys above are public test keys.
    #expect(try verifier.verify(try response(), vendorID: 0xFFF1, productID: 0x8001).isTest)
    var strict = verifier
    strict.acceptsTestKeys = false
    #expect(throws: AttestationError.testKeys) {
      try strict.verify(try response(), vendorID: 0xFFF1, productID: 0x8001)
    }
    // Other faults are reported first.
    #expect(throws: AttestationError.declarationProductID) {
      try strict.verify(try response(), vendorID: 0xFFF1, productID: 0x8002)
    }
  }

  @Test("recognizes test devices by root, signer and vendor")
  func recognizesTestDevices() throws {
    func outcome(vendorID: UInt16, testKeys: Set<P256PublicKey>) throws -> AttestationVerifier.Outcome {
      var random = SeededRandomSource(seed: 12)
      let made = try TestAttestation(vendorID: vendorID, productID: 0x8001, deviceTypeID: 0x0100, random: &random)
      let nonce = [UInt8](repeating: 1, count: 32), challenge = [UInt8](repeating: 2, count: 16)
      let elements = AttestationElements(certificationDeclaration: made.certificationDeclaration, nonce: nonce).tlv
      let signature = try AttestationSignature.sign(elements: elements, challenge: challenge, key: made.dacKey)
      var strict = verifier
      strict.testKeys = testKeys
      return try strict.verify(
        .init(
          elements: elements, signature: signature, dac: made.dac.der, pai: made.pai.der, nonce: nonce,
          challenge: challenge), vendorID: vendorID, productID: 0x8001)
    }
    let root = try X509Certificate(der: PublicTestMaterial.paa).publicKey
    let signer = try P256PrivateKey(scalar: PublicTestMaterial.declarationSignerKey).publicKey
    #expect(verifier.testKeys.isSuperset(of: [root, signer]))
    #expect(try !outcome(vendorID: 0x1234, testKeys: []).isTest)
    #expect(try outcome(vendorID: 0x1234, testKeys: [root]).isTest)
    #expect(try outcome(vendorID: 0x1234, testKeys: [signer]).isTest)
    #expect(try outcome(vendorID: 0xFFF4, testKeys: []).isTest)
    #expect(try !outcome(vendorID: 0xFFF5, testKeys: []).isTest)
  }
}
