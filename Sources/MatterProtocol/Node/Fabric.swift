public import MatterCertificates
public import MatterCrypto
public import MatterModel
internal import MatterTLV

/// The credentials and metadata of a node's membership in a fabric. Matter Core § 6.4.6 and § 11.18.
public struct Fabric: Sendable, Hashable {
  public var index: FabricIndex
  public let fabricID: FabricID
  public let nodeID: NodeID
  /// The root certificate (RCAC) in Matter TLV.
  public let rootCertificate: [UInt8]
  /// The intermediate certificate (ICAC) in Matter TLV.
  public let intermediateCertificate: [UInt8]?
  /// The operational certificate (NOC) in Matter TLV.
  public let operationalCertificate: [UInt8]
  /// The private key of the operational certificate.
  public let operationalKey: P256PrivateKey
  /// The public key of the root certificate, uncompressed, 65 bytes.
  public let rootPublicKey: [UInt8]
  /// The compressed fabric id, which represents root key and fabric id in service names and salts. § 4.3.2.2.
  public let compressedFabricID: UInt64
  /// The operational keys derived from the identity protection key set (key set 0), newest first.
  public var identityProtectionKeys: [[UInt8]]
  /// The vendor of the administrator that added the fabric.
  public var adminVendorID: VendorID
  /// The label set by the administrator, at most 32 bytes.
  public var label: String
  /// The statement that binds the vendor to the fabric: 85 bytes, or empty. § 11.18.4.5.
  public var vidVerificationStatement: [UInt8] = []
  /// The certificate of the statement's signer in Matter TLV, or empty. § 11.18.4.4.
  public var vidVerificationSigner: [UInt8] = []

  /// Creates a fabric from its certificates. Does not verify the certificate chain.
  /// - Parameters:
  ///   - intermediateCertificate: nil or empty if the root issued the operational certificate.
  ///   - epochKey: The identity protection epoch key, 16 bytes.
  public init(
    index: FabricIndex, rootCertificate: [UInt8], intermediateCertificate: [UInt8]?, operationalCertificate: [UInt8],
    operationalKey: P256PrivateKey, epochKey: [UInt8], adminVendorID: VendorID, label: String = ""
  ) throws(CertificateError) {
    let root = try MatterCertificate(tlv: rootCertificate)
    let leaf = try MatterCertificate(tlv: operationalCertificate)
    guard let fabricID = leaf.fabricID, let nodeID = leaf.nodeID else { throw .failed(.subject, .node) }
    self.index = index
    self.fabricID = FabricID(fabricID)
    self.nodeID = NodeID(nodeID)
    self.rootCertificate = rootCertificate
    self.intermediateCertificate = intermediateCertificate.flatMap { $0.isEmpty ? nil : $0 }
    self.operationalCertificate = operationalCertificate
    self.operationalKey = operationalKey
    rootPublicKey = root.publicKey
    self.adminVendorID = adminVendorID
    self.label = label
    do {
      compressedFabricID = try FabricIdentity.compressedFabricID(rootPublicKey: root.publicKey, fabricID: fabricID)
      identityProtectionKeys = [
        try FabricIdentity.operationalKey(epochKey: epochKey, compressedFabricID: compressedFabricID)
      ]
    } catch {
      throw .crypto(error)
    }
  }

  public static func == (left: Fabric, right: Fabric) -> Bool {
    left.index == right.index && left.rootCertificate == right.rootCertificate
      && left.intermediateCertificate == right.intermediateCertificate
      && left.operationalCertificate == right.operationalCertificate
      && left.operationalKey.scalar == right.operationalKey.scalar
      && left.identityProtectionKeys == right.identityProtectionKeys && left.adminVendorID == right.adminVendorID
      && left.label == right.label && left.vidVerificationStatement == right.vidVerificationStatement
      && left.vidVerificationSigner == right.vidVerificationSigner
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(index)
    hasher.combine(operationalCertificate)
  }

  /// Whether both values denote the same fabric: fabric id and root public key are equal.
  public func isSame(as other: Fabric) -> Bool {
    fabricID == other.fabricID && rootPublicKey == other.rootPublicKey
  }

  // MARK: Storing

  /// The complete encoding for the node's own store, including the private key.
  public var tlv: [UInt8] {
    var writer = TLVWriter()
    writer.structure {
      $0.write(UInt64(index.rawValue), .context(0))
      $0.write(octets: rootCertificate, .context(1))
      if let intermediateCertificate { $0.write(octets: intermediateCertificate, .context(2)) }
      $0.write(octets: operationalCertificate, .context(3))
      $0.write(octets: operationalKey.scalar, .context(4))
      $0.array(.context(5)) { for key in identityProtectionKeys { $0.write(octets: key) } }
      $0.write(UInt64(adminVendorID.rawValue), .context(6))
      $0.write(label, .context(7))
      if !vidVerificationStatement.isEmpty { $0.write(octets: vidVerificationStatement, .context(8)) }
      if !vidVerificationSigner.isEmpty { $0.write(octets: vidVerificationSigner, .context(9)) }
    }
    return writer.bytes
  }

  /// Decodes the encoding produced by ``tlv``.
  public init(tlv: [UInt8]) throws(CertificateError) {
    do {
      let element = try TLVElement(decoding: tlv)
      guard case .unsigned(let index)? = element[0]?.value, case .octets(let root)? = element[1]?.value,
        case .octets(let leaf)? = element[3]?.value, case .octets(let scalar)? = element[4]?.value,
        case .array(let keys)? = element[5]?.value, case .unsigned(let vendor)? = element[6]?.value,
        case .string(let label)? = element[7]?.value
      else { throw CertificateError.malformed("a stored fabric") }
      var intermediate: [UInt8]?
      if case .octets(let bytes)? = element[2]?.value { intermediate = bytes }
      try self.init(
        index: FabricIndex(UInt8(truncatingIfNeeded: index)), rootCertificate: root,
        intermediateCertificate: intermediate, operationalCertificate: leaf,
        operationalKey: P256PrivateKey(scalar: scalar), epochKey: [UInt8](repeating: 0, count: 16),
        adminVendorID: VendorID(UInt16(truncatingIfNeeded: vendor)), label: label)
      if case .octets(let bytes)? = element[8]?.value { vidVerificationStatement = bytes }
      if case .octets(let bytes)? = element[9]?.value { vidVerificationSigner = bytes }
      identityProtectionKeys = keys.compactMap { if case .octets(let key) = $0.value { key } else { nil } }
    } catch let error as CertificateError {
      throw error
    } catch {
      throw .malformed("a stored fabric: \(error)")
    }
  }
}
