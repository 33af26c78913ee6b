import MatterTLV

/// The certification of a product by the standard's certification body. Core § 6.3.1.
public struct CertificationDeclaration: Hashable, Sendable {
  /// Always 1.
  public var formatVersion: UInt16
  /// Vendor of the certified product.
  public var vendorID: UInt16
  /// 1 to 100 products.
  public var productIDs: [UInt16]
  /// Primary device type, by its Device Library id.
  public var deviceTypeID: UInt32
  /// 19 characters.
  public var certificateID: String
  /// Reserved by the standard: 0.
  public var securityLevel: UInt8
  /// Reserved by the standard: 0.
  public var securityInformation: UInt16
  /// Version of the certification, assigned by the certification body.
  public var versionNumber: UInt16
  public var certificationType: CertificationType
  /// The ids in the device's DAC and PAI, if they differ from those of the product.
  public var dacOrigin: DACOrigin?
  /// Key identifiers of the roots that may issue the DAC; empty if any root may.
  public var authorizedPAAs: [[UInt8]]

  /// The ids of a DAC that was issued for another product.
  public struct DACOrigin: Hashable, Sendable {
    /// The id in the DAC and in the PAI.
    public var vendorID: UInt16
    /// The id in the DAC, and in the PAI if it has one.
    public var productID: UInt16

    public init(vendorID: UInt16, productID: UInt16) {
      self.vendorID = vendorID
      self.productID = productID
    }
  }

  /// The `certification_type`. Core § 6.3.1.
  public struct CertificationType: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let developmentAndTest = Self(rawValue: 0)
    public static let provisional = Self(rawValue: 1)
    public static let official = Self(rawValue: 2)
  }

  static let certificateIDCount = 19
  static let maximumProductCount = 100
  static let maximumPAACount = 10

  package init(
    vendorID: UInt16, productIDs: [UInt16], deviceTypeID: UInt32, certificateID: String = "CSA00000SWC00000-00",
    securityLevel: UInt8 = 0, securityInformation: UInt16 = 0, versionNumber: UInt16 = 1,
    certificationType: CertificationType = .developmentAndTest, dacOrigin: DACOrigin? = nil,
    authorizedPAAs: [[UInt8]] = []
  ) {
    formatVersion = 1
    self.vendorID = vendorID
    self.productIDs = productIDs
    self.deviceTypeID = deviceTypeID
    self.certificateID = certificateID
    self.securityLevel = securityLevel
    self.securityInformation = securityInformation
    self.versionNumber = versionNumber
    self.certificationType = certificationType
    self.dacOrigin = dacOrigin
    self.authorizedPAAs = authorizedPAAs
  }

  /// Checks the declaration against the device's information and certificates. Core § 6.3.2.
  /// - Parameters:
  ///   - vendorID, productID: from the device's Basic Information cluster.
  public func check(
    vendorID: UInt16, productID: UInt16, dac: X509Certificate, pai: X509Certificate, paa: X509Certificate
  ) throws(AttestationError) {
    guard formatVersion == 1, certificationType.rawValue <= CertificationType.official.rawValue else {
      throw .unsupportedDeclaration
    }
    guard self.vendorID == vendorID else { throw .declarationVendorID }
    guard productIDs.contains(productID) else { throw .declarationProductID }
    let certifiedVendorID = dacOrigin?.vendorID ?? vendorID
    let certifiedProductIDs = dacOrigin.map { [$0.productID] } ?? productIDs
    guard dac.subject.vendorID == certifiedVendorID, pai.subject.vendorID == certifiedVendorID else {
      throw .declarationVendorID
    }
    guard let dacProductID = dac.subject.productID, certifiedProductIDs.contains(dacProductID) else {
      throw .declarationProductID
    }
    if let paiProductID = pai.subject.productID, !certifiedProductIDs.contains(paiProductID) {
      throw .declarationProductID
    }
    if !authorizedPAAs.isEmpty {
      guard let keyID = paa.subjectKeyID, authorizedPAAs.contains(keyID) else { throw .declarationRoot }
    }
  }
}

// MARK: TLV

extension CertificationDeclaration {
  /// Decodes the content of a declaration. Core § 6.3.1.
  package init(tlv bytes: [UInt8]) throws(AttestationError) {
    let element: TLVElement
    do { element = try TLVElement(decoding: bytes) } catch { throw .malformedDeclaration("TLV: \(error)") }
    guard case .structure(let members) = element.value else { throw .malformedDeclaration("no structure") }
    var fields: [UInt8: TLVElement.Value] = [:]
    for member in members {
      guard case .context(let tag) = member.tag, fields.updateValue(member.value, forKey: tag) == nil else {
        throw .malformedDeclaration("tag")
      }
    }
    formatVersion = try Self.number(fields, 0)
    vendorID = try Self.number(fields, 1)
    guard case .array(let products) = fields[2], 1...Self.maximumProductCount ~= products.count else {
      throw .malformedDeclaration("product_id_array")
    }
    productIDs = []
    for product in products {
      guard case .unsigned(let number) = product.value, let id = UInt16(exactly: number) else {
        throw .malformedDeclaration("product_id_array")
      }
      productIDs.append(id)
    }
    deviceTypeID = try Self.number(fields, 3)
    guard case .string(let text) = fields[4], text.utf8.count == Self.certificateIDCount else {
      throw .malformedDeclaration("certificate_id")
    }
    certificateID = text
    securityLevel = try Self.number(fields, 5)
    securityInformation = try Self.number(fields, 6)
    versionNumber = try Self.number(fields, 7)
    certificationType = CertificationType(rawValue: try Self.number(fields, 8))
    if fields[9] != nil || fields[10] != nil {
      dacOrigin = DACOrigin(vendorID: try Self.number(fields, 9), productID: try Self.number(fields, 10))
    }
    authorizedPAAs = []
    if let value = fields[11] {
      guard case .array(let entries) = value, 1...Self.maximumPAACount ~= entries.count else {
        throw .malformedDeclaration("authorized_paa_list")
      }
      for entry in entries {
        guard case .octets(let keyID) = entry.value, keyID.count == CertificateExtension.keyIdentifierCount else {
          throw .malformedDeclaration("authorized_paa_list")
        }
        authorizedPAAs.append(keyID)
      }
    }
  }

  private static func number<Number: FixedWidthInteger>(
    _ fields: [UInt8: TLVElement.Value], _ tag: UInt8
  ) throws(AttestationError) -> Number {
    guard case .unsigned(let value) = fields[tag], let number = Number(exactly: value) else {
      throw .malformedDeclaration("member \(tag)")
    }
    return number
  }

  /// The content to sign.
  package var tlv: [UInt8] {
    var writer = TLVWriter()
    writer.startStructure()
    writer.write(UInt64(formatVersion), .context(0))
    writer.write(UInt64(vendorID), .context(1))
    writer.startArray(.context(2))
    for id in productIDs { writer.write(UInt64(id)) }
    writer.end()
    writer.write(UInt64(deviceTypeID), .context(3))
    writer.write(certificateID, .context(4))
    writer.write(UInt64(securityLevel), .context(5))
    writer.write(UInt64(securityInformation), .context(6))
    writer.write(UInt64(versionNumber), .context(7))
    writer.write(UInt64(certificationType.rawValue), .context(8))
    if let dacOrigin {
      writer.write(UInt64(dacOrigin.vendorID), .context(9))
      writer.write(UInt64(dacOrigin.productID), .context(10))
    }
    if !authorizedPAAs.isEmpty {
      writer.startArray(.context(11))
      for keyID in authorizedPAAs { writer.write(octets: keyID) }
      writer.end()
    }
    writer.end()
    return writer.bytes
  }
}
