public import MatterCertificates
public import MatterCrypto
public import MatterModel
internal import MatterTLV

/// All that a node needs to take part in one fabric. Matter Core § 6.4.6 and § 11.18.
public struct Fabric: Sendable, Hashable {
  public var index: FabricIndex
  public let fabricID: FabricID
  public let nodeID: NodeID
  /// RCAC, in Matter TLV, as are the other two.
  public let rootCertificate: [UInt8]
  /// ICAC
  public let intermediateCertificate: [UInt8]?
  /// NOC
  public let operationalCertificate: [UInt8]
  /// Of the operational certificate.
  public let operationalKey: P256PrivateKey
  /// Uncompressed, 65 bytes.
  public let rootPublicKey: [UInt8]
  /// What stands for root and fabric id in names and salts. § 4.3.2.2.
  public let compressedFabricID: UInt64
  /// The keys that come out of the epoch keys of the identity protection key set (key set 0), newest first.
  public var identityProtectionKeys: [[UInt8]]
  /// Whose administrator made the fabric known here.
  public var adminVendorID: VendorID
  /// What its administrator calls it, 32 bytes at most.
  public var label: String
  /// What ties the vendor to the fabric, if its administrator said so: 85 bytes, or none. § 11.18.4.5.
  public var vidVerificationStatement: [UInt8] = []
  /// The certificate of who signed that, in Matter TLV, or none. § 11.18.4.4.
  public var vidVerificationSigner: [UInt8] = []

  /// Takes what is known from the certificates and derives the rest; the chain itself is not checked here.
  /// - Parameters:
  ///   - intermediateCertificate: nil or empty where the root issued the operational certificate.
  ///   - epochKey: the identity protection epoch key, 16 bytes.
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

  /// What a fabric id and a root have in common with another's: two fabrics with both equal are the same.
  public func isSame(as other: Fabric) -> Bool {
    fabricID == other.fabricID && rootPublicKey == other.rootPublicKey
  }

  // MARK: Storing

  /// Everything, the private key included, for the node's own store.
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

  /// Reads back what ``tlv`` gave.
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
