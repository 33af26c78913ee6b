internal import MatterClusters
internal import MatterCrypto
internal import MatterModel
internal import MatterProtocol

/// Verification of the vendor of a fabric's administrator. Matter Core § 6.4.10.2, § 11.18.6.14.
enum VendorVerification {
  static let version: UInt8 = 1
  /// The length of a statement of the only version: version, key identifier, signature.
  static let statementCount = 1 + 20 + 64
  static let longestSigner = 400
  static let challengeCount = 32

  /// Returns whether the number is assigned to a vendor, or is one of the four test vendors. Matter Core § 2.5.2.
  static func isVendor(_ vendor: VendorID) -> Bool { 1...0xFFF4 ~= vendor.rawValue }

  /// Returns the public binding of a fabric to its vendor. Numbers are big-endian here, unlike elsewhere in Matter.
  static func binding(of fabric: Fabric) -> [UInt8] {
    [version] + fabric.rootPublicKey + bigEndian(fabric.fabricID.rawValue) + bigEndian(fabric.adminVendorID.rawValue)
  }

  /// Returns the message that the node signs with its operational key.
  static func toBeSigned(_ fabric: Fabric, clientChallenge: [UInt8], attestationChallenge: [UInt8]) -> [UInt8] {
    [version] + clientChallenge + attestationChallenge + [fabric.index.rawValue] + binding(of: fabric)
      + fabric.vidVerificationStatement
  }

  private static func bigEndian(_ number: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: number.bigEndian) { Array($0) }
  }
}

extension RootNode {
  static func vendorVerification(_ server: ClusterServer) -> ClusterServer {
    server
      .on(OperationalCredentials.setVIDVerificationStatement) { context, request throws(StatusError) in
        try setStatement(&context, request)
      }
      .answer(OperationalCredentials.signVIDVerificationRequest) { context, request throws(StatusError) in
        guard request.clientChallenge.bytes.count == VendorVerification.challengeCount,
          let fabric = context.node.commissioning.fabric(request.fabricIndex)
        else { throw StatusError(.constraintError) }
        guard let session = context.node.session else { throw StatusError(.failure) }
        let message = VendorVerification.toBeSigned(
          fabric, clientChallenge: request.clientChallenge.bytes, attestationChallenge: session.attestationChallenge)
        guard let signature = try? context.node.signatures.sign(message: message, with: fabric.operationalKey) else {
          throw StatusError(.failure)
        }
        return .init(
          fabricIndex: fabric.index, fabricBindingVersion: VendorVerification.version,
          signature: OctetString(signature))
      }
  }

  /// Sets the fields that the request contains; empty octets remove a value. All fields are checked before any is set.
  private static func setStatement(
    _ context: inout ServerContext, _ request: OperationalCredentials.SetVIDVerificationStatementRequest
  ) throws(StatusError) {
    guard request.vendorID != nil || request.vidVerificationStatement != nil || request.vvsc != nil else {
      throw StatusError(.invalidCommand)
    }
    guard let old = context.node.commissioning.fabric(context.subject.fabric) else { throw StatusError(.failure) }
    var fabric = old
    if let vendor = request.vendorID {
      guard VendorVerification.isVendor(vendor) else { throw StatusError(.constraintError) }
      fabric.adminVendorID = vendor
    }
    if let statement = request.vidVerificationStatement?.bytes {
      guard statement.isEmpty || statement.count == VendorVerification.statementCount else {
        throw StatusError(.constraintError)
      }
      fabric.vidVerificationStatement = statement
    }
    if let signer = request.vvsc?.bytes {
      guard signer.count <= VendorVerification.longestSigner else { throw StatusError(.constraintError) }
      guard signer.isEmpty || fabric.intermediateCertificate == nil else { throw StatusError(.invalidCommand) }
      fabric.vidVerificationSigner = signer
    }
    if fabric != old { context.put(fabric) }
  }
}
