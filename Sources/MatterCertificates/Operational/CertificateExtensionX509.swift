/// Extensions in their X.509 form, RFC 5280 § 4.2.
extension CertificateExtension {
  private static let known = [
    OID.basicConstraints, OID.keyUsage, OID.extendedKeyUsage, OID.subjectKeyIdentifier, OID.authorityKeyIdentifier,
  ]

  /// Reads the next `Extension`. Basic constraints and the usages must be critical, the key identifiers must not be.
  init(from reader: inout DERReader) throws(CertificateError) {
    let element = try reader.next()
    guard element.tag == DERTag.sequence else { throw .malformed("extension") }
    var parts = DERReader(element.content)
    let type = try parts.objectIdentifier()
    let isCritical = try parts.booleanIfTrue()
    var value = DERReader(try parts.read(DERTag.octetString))
    try parts.finish()
    guard Self.known.contains(type) else {
      self = .future(Array(element.encoded))
      return
    }
    let isIdentifier = type == OID.subjectKeyIdentifier || type == OID.authorityKeyIdentifier
    guard isCritical != isIdentifier else { throw .malformed("criticality of an extension") }
    switch type {
    case OID.basicConstraints:
      var constraints = try value.enter()
      let isAuthority = try constraints.booleanIfTrue()
      let pathLength = constraints.isAtEnd ? nil : try constraints.smallInteger()
      try constraints.finish()
      guard isAuthority || pathLength == nil else { throw .malformed("path length constraint") }
      self = .basicConstraints(isAuthority: isAuthority, pathLength: pathLength)
    case OID.keyUsage:
      let usage = KeyUsage(rawValue: try value.namedBits())
      guard KeyUsage.all.isSuperset(of: usage) else { throw .malformed("key usage") }
      self = .keyUsage(usage)
    case OID.extendedKeyUsage:
      var list = try value.enter()
      var purposes: [KeyPurpose] = []
      while !list.isAtEnd {
        let identifier = try list.objectIdentifier()
        guard let purpose = KeyPurpose.allCases.first(where: { $0.objectIdentifier == identifier }) else {
          throw .unsupported("key purpose")
        }
        purposes.append(purpose)
      }
      guard !purposes.isEmpty else { throw .malformed("extended key usage") }
      self = .extendedKeyUsage(purposes)
    case OID.subjectKeyIdentifier:
      self = .subjectKeyIdentifier(try Self.keyIdentifier(try value.read(DERTag.octetString)))
    default:
      var identifier = try value.enter()
      self = .authorityKeyIdentifier(try Self.keyIdentifier(try identifier.read(DERTag.implicit(0))))
      try identifier.finish()
    }
    try value.finish()
  }

  private static func keyIdentifier(_ content: ArraySlice<UInt8>) throws(CertificateError) -> [UInt8] {
    guard content.count == keyIdentifierCount else { throw .malformed("key identifier") }
    return Array(content)
  }

  func write(to writer: inout DERWriter) {
    if case .future(let der) = self {
      writer.append(der)
      return
    }
    writer.nest { parts in
      parts.write(objectIdentifier: Self.known[Int(tag) - 1])
      if tag <= 3 { parts.writeTrue() }
      parts.nest(DERTag.octetString) { writeValue(to: &$0) }
    }
  }

  private func writeValue(to writer: inout DERWriter) {
    switch self {
    case .basicConstraints(let isAuthority, let pathLength):
      writer.nest { constraints in
        if isAuthority { constraints.writeTrue() }
        if let pathLength { constraints.write(integer: pathLength) }
      }
    case .keyUsage(let usage): writer.write(namedBits: usage.rawValue)
    case .extendedKeyUsage(let purposes):
      writer.nest { list in
        for purpose in purposes { list.write(objectIdentifier: purpose.objectIdentifier) }
      }
    case .subjectKeyIdentifier(let identifier): writer.write(octets: identifier)
    case .authorityKeyIdentifier(let identifier): writer.nest { $0.write(DERTag.implicit(0), identifier) }
    case .future: break
    }
  }

  /// Reads the header of a future extension, which must be one complete `Extension` of an unknown type.
  static func header(of der: [UInt8]) throws(CertificateError) -> (type: [UInt8], isCritical: Bool) {
    var outer = DERReader(der)
    var parts = try outer.enter()
    try outer.finish()
    let type = try parts.objectIdentifier()
    let isCritical = try parts.booleanIfTrue()
    _ = try parts.read(DERTag.octetString)
    try parts.finish()
    guard !known.contains(type) else { throw .malformed("known extension in place of a future one") }
    return (type, isCritical)
  }
}
