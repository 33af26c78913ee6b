import MatterTLV

/// The TLV form. Core § 6.5.2.
extension MatterCertificate {
  /// The only defined algorithms and curve. Core § 6.5.5, § 6.5.8, § 6.5.9.
  private static let ecdsaWithSHA256: UInt64 = 1, ecPublicKey: UInt64 = 1, prime256v1: UInt64 = 1

  /// Decodes the TLV form. ``CertificateChain`` verifies the signature.
  public init(tlv bytes: [UInt8]) throws(CertificateError) {
    guard bytes.count <= Self.maximumTLVCount else { throw .tooLong(maximum: Self.maximumTLVCount) }
    let element: TLVElement
    do { element = try TLVElement(decoding: bytes) } catch { throw .tlv(error) }
    guard element.tag == .anonymous, case .structure(let members) = element.value, members.count == 11 else {
      throw .malformed("certificate structure")
    }
    for (index, member) in members.enumerated() where member.tag != .context(UInt8(index + 1)) {
      throw .malformed("certificate member \(index + 1)")
    }
    guard case .unsigned(Self.ecdsaWithSHA256) = members[1].value else { throw .unsupported("signature algorithm") }
    guard case .unsigned(Self.ecPublicKey) = members[6].value else { throw .unsupported("public key algorithm") }
    guard case .unsigned(Self.prime256v1) = members[7].value else { throw .unsupported("elliptic curve") }
    guard case .list(let extensionList) = members[9].value, !extensionList.isEmpty else {
      throw .malformed("extensions")
    }
    serialNumber = try Self.octets(members[0])
    issuer = try Self.name(members[2])
    notBefore = try Self.time(members[3])
    notAfter = try Self.time(members[4])
    subject = try Self.name(members[5])
    publicKey = try Self.octets(members[8])
    extensions = []
    for member in extensionList { extensions.append(try CertificateExtension(member)) }
    signature = try Self.octets(members[10])
    try validate()
  }

  private static func octets(_ element: TLVElement) throws(CertificateError) -> [UInt8] {
    guard case .octets(let bytes) = element.value else { throw .malformed("octet string expected") }
    return bytes
  }

  private static func name(_ element: TLVElement) throws(CertificateError) -> DistinguishedName {
    guard case .list(let members) = element.value else { throw .malformed("name expected") }
    return try DistinguishedName(members: members)
  }

  private static func time(_ element: TLVElement) throws(CertificateError) -> UInt32 {
    guard case .unsigned(let number) = element.value, let seconds = UInt32(exactly: number) else {
      throw .malformed("time expected")
    }
    return seconds
  }

  /// The TLV form in the shortest encoding.
  public var tlv: [UInt8] {
    var writer = TLVWriter(reservingCapacity: Self.maximumTLVCount)
    writer.startStructure()
    writer.write(octets: serialNumber, .context(1))
    writer.write(Self.ecdsaWithSHA256, .context(2))
    issuer.write(to: &writer, .context(3))
    writer.write(UInt64(notBefore), .context(4))
    writer.write(UInt64(notAfter), .context(5))
    subject.write(to: &writer, .context(6))
    writer.write(Self.ecPublicKey, .context(7))
    writer.write(Self.prime256v1, .context(8))
    writer.write(octets: publicKey, .context(9))
    writer.startList(.context(10))
    for entry in extensions { entry.write(to: &writer) }
    writer.end()
    writer.write(octets: signature, .context(11))
    writer.end()
    return writer.bytes
  }
}
