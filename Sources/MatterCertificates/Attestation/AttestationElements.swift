public import MatterCrypto
import MatterTLV

/// The signed content of an attestation response. Core § 11.18.4.8.
public struct AttestationElements: Hashable, Sendable {
  /// Length of a nonce, in bytes. Core § 11.18.4.8.
  static let nonceCount = 32

  /// The signed certification declaration (CMS).
  public var certificationDeclaration: [UInt8]
  /// The commissioner's nonce, 32 bytes.
  public var nonce: [UInt8]
  /// Seconds since 2000-01-01 00:00 UTC; 0 if the device does not know the time.
  public var timestamp: UInt32
  /// Firmware information in the vendor's format, or nil. Core § 6.3.2.
  public var firmwareInformation: [UInt8]?

  public init(
    certificationDeclaration: [UInt8], nonce: [UInt8], timestamp: UInt32 = 0, firmwareInformation: [UInt8]? = nil
  ) {
    self.certificationDeclaration = certificationDeclaration
    self.nonce = nonce
    self.timestamp = timestamp
    self.firmwareInformation = firmwareInformation
  }

  /// Decodes the elements; ignores unknown and vendor-specific members.
  package init(tlv bytes: [UInt8]) throws(AttestationError) {
    let fields = try ElementFields(bytes)
    certificationDeclaration = try fields.octets(1)
    nonce = try fields.octets(2)
    guard nonce.count == Self.nonceCount else { throw .malformedElements("nonce") }
    guard case .unsigned(let seconds) = fields.values[3], let timestamp = UInt32(exactly: seconds) else {
      throw .malformedElements("timestamp")
    }
    self.timestamp = timestamp
    firmwareInformation = try fields.octetsIfPresent(4)
  }

  /// The encoding to sign, together with the session's attestation challenge.
  public var tlv: [UInt8] {
    var writer = TLVWriter()
    writer.startStructure()
    writer.write(octets: certificationDeclaration, .context(1))
    writer.write(octets: nonce, .context(2))
    writer.write(UInt64(timestamp), .context(3))
    if let firmwareInformation { writer.write(octets: firmwareInformation, .context(4)) }
    writer.end()
    return writer.bytes
  }
}

/// The signed content of a response with a certificate signing request. Core § 11.18.4.10.
public struct NOCSRElements: Hashable, Sendable {
  /// The PKCS#10 request; see ``CertificateSigningRequest``.
  public var certificateSigningRequest: [UInt8]
  /// The commissioner's nonce, 32 bytes.
  public var nonce: [UInt8]

  public init(certificateSigningRequest: [UInt8], nonce: [UInt8]) {
    self.certificateSigningRequest = certificateSigningRequest
    self.nonce = nonce
  }

  /// Decodes the elements; ignores vendor-specific members.
  public init(tlv bytes: [UInt8]) throws(AttestationError) {
    let fields = try ElementFields(bytes)
    certificateSigningRequest = try fields.octets(1)
    nonce = try fields.octets(2)
    guard nonce.count == AttestationElements.nonceCount else { throw .malformedElements("nonce") }
  }

  /// The encoding to sign, together with the session's attestation challenge.
  public var tlv: [UInt8] {
    var writer = TLVWriter()
    writer.startStructure()
    writer.write(octets: certificateSigningRequest, .context(1))
    writer.write(octets: nonce, .context(2))
    writer.end()
    return writer.bytes
  }
}

/// Signatures over either kind of elements. Core § 11.18.4.7, § 11.18.4.9.
public enum AttestationSignature {
  /// Signs elements for one session.
  /// - Parameters:
  ///   - elements: the encoded elements.
  ///   - challenge: the session's attestation challenge, 16 bytes.
  ///   - key: the DAC's key.
  /// - Returns: 64 bytes, r and s.
  package static func sign(
    elements: [UInt8], challenge: [UInt8], key: P256PrivateKey, signatures: some SignatureScheme = OpenSSLSignatures()
  ) throws(CryptoError) -> [UInt8] {
    try signatures.sign(message: elements + challenge, with: key)
  }

  /// Whether the signature is valid for the elements, exactly as received, in this session.
  public static func isValid(
    _ signature: [UInt8], elements: [UInt8], challenge: [UInt8], key: P256PublicKey
  ) -> Bool {
    key.verify(signature, of: elements + challenge)
  }
}

/// The members of a structure with ascending context tags, optionally followed by vendor-specific tags.
private struct ElementFields {
  private(set) var values: [UInt8: TLVElement.Value] = [:]

  init(_ bytes: [UInt8]) throws(AttestationError) {
    let element: TLVElement
    do { element = try TLVElement(decoding: bytes) } catch { throw .malformedElements("TLV: \(error)") }
    guard element.tag == .anonymous, case .structure(let members) = element.value else {
      throw .malformedElements("no structure")
    }
    var last: UInt8 = 0
    for member in members {
      guard case .context(let tag) = member.tag else { break }
      guard tag > last else { throw .malformedElements("order of tags") }
      last = tag
      values[tag] = member.value
    }
  }

  func octets(_ tag: UInt8) throws(AttestationError) -> [UInt8] {
    guard let octets = try octetsIfPresent(tag) else { throw .malformedElements("member \(tag) is missing") }
    return octets
  }

  func octetsIfPresent(_ tag: UInt8) throws(AttestationError) -> [UInt8]? {
    guard let value = values[tag], value != .null else { return nil }
    guard case .octets(let octets) = value else { throw .malformedElements("member \(tag)") }
    return octets
  }
}
