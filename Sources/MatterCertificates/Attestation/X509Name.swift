/// The subject or issuer name of an attestation certificate.
public struct X509Name: Hashable, Sendable {
  /// The encoded `Name` (DER).
  package let encoded: [UInt8]
  /// The vendor id in the Matter attribute, or else after "Mvid:" in the common name. Core § 6.2.2.2.
  public let vendorID: UInt16?
  /// The product id in the Matter attribute, or else after "Mpid:" in the common name. Core § 6.2.2.2.
  public let productID: UInt16?
  /// The first common name.
  public let commonName: String?

  init(from reader: inout DERReader) throws(CertificateError) {
    let element = try reader.next()
    guard element.tag == DERTag.sequence else { throw .malformed("name") }
    encoded = Array(element.encoded)
    var name = DERReader(element.content)
    var vendorID: UInt16?, productID: UInt16?, commonName: [UInt8]?
    while !name.isAtEnd {
      var relative = try name.enter(DERTag.set)
      while !relative.isAtEnd {
        var pair = try relative.enter()
        let type = try pair.objectIdentifier()
        let value = try pair.next()
        try pair.finish()
        switch type {
        case OID.matterVendorID:
          guard vendorID == nil else { throw .malformed("vendor id twice") }
          vendorID = try Self.identifier(value)
        case OID.matterProductID:
          guard productID == nil else { throw .malformed("product id twice") }
          productID = try Self.identifier(value)
        case OID.commonName:
          commonName = commonName ?? Array(value.content)
        default: break
        }
      }
    }
    if let commonName, vendorID == nil, productID == nil {
      vendorID = try Self.fallback("Mvid:", in: commonName)
      productID = try Self.fallback("Mpid:", in: commonName)
    }
    self.vendorID = vendorID
    self.productID = productID
    self.commonName = commonName.map { String(decoding: $0, as: UTF8.self) }
  }

  /// Creates a name like that of the test certificates: common name, vendor id, product id.
  init(commonName: String, vendorID: UInt16? = nil, productID: UInt16? = nil) {
    var writer = DERWriter()
    writer.nest { name in
      func add(_ type: [UInt8], _ value: [UInt8]) {
        name.nest(DERTag.set) { relative in
          relative.nest { pair in
            pair.write(objectIdentifier: type)
            pair.write(DERTag.utf8String, value)
          }
        }
      }
      add(OID.commonName, Array(commonName.utf8))
      if let vendorID { add(OID.matterVendorID, DistinguishedName.hexadecimal(UInt64(vendorID), digits: 4)) }
      if let productID { add(OID.matterProductID, DistinguishedName.hexadecimal(UInt64(productID), digits: 4)) }
    }
    encoded = writer.bytes
    self.vendorID = vendorID
    self.productID = productID
    self.commonName = commonName
  }

  private static func identifier(_ value: DERElement) throws(CertificateError) -> UInt16 {
    guard value.tag == DERTag.utf8String || value.tag == DERTag.printableString,
      let number = hexadecimal(value.content)
    else { throw .malformed("vendor or product id") }
    return number
  }

  /// Parses exactly four uppercase digits.
  private static func hexadecimal(_ digits: ArraySlice<UInt8>) -> UInt16? {
    guard digits.count == 4, digits.allSatisfy({ 0x30...0x39 ~= $0 || 0x41...0x46 ~= $0 }) else { return nil }
    return digits.reduce(0) { $0 << 4 | UInt16($1 < 0x40 ? $1 - 0x30 : $1 - 0x37) }
  }

  /// Returns the number after the first `prefix` with a number; throws if the prefix occurs only without one.
  private static func fallback(_ prefix: String, in commonName: [UInt8]) throws(CertificateError) -> UInt16? {
    let prefix = Array(prefix.utf8)
    var hasPrefix = false
    for start in commonName.indices where commonName[start...].starts(with: prefix) {
      hasPrefix = true
      if let number = hexadecimal(commonName[(start + prefix.count)...].prefix(4)) { return number }
    }
    guard !hasPrefix else { throw .malformed("vendor or product id in the common name") }
    return nil
  }
}
