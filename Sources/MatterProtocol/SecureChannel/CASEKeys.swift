import MatterCertificates
internal import MatterCrypto
import MatterModel
import MatterTLV

/// The key derivations and checks shared by both sides of CASE. Matter Core § 4.14.2.
enum CASEKeys {
  static let sigma2Nonce = Array("NCASE_Sigma2N".utf8), sigma3Nonce = Array("NCASE_Sigma3N".utf8)
  static let resume1Nonce = Array("NCASE_SigmaS1".utf8), resume2Nonce = Array("NCASE_SigmaS2".utf8)

  /// Returns the destination id, which identifies the target node only to nodes that know the identity protection key.
  static func destinationID(
    identityProtectionKey: [UInt8], random: [UInt8], rootPublicKey: [UInt8], fabricID: FabricID, nodeID: NodeID
  ) throws(CryptoError) -> [UInt8] {
    try HMAC.sha256(
      key: identityProtectionKey,
      random + rootPublicKey + [UInt8](littleEndian: fabricID.rawValue) + [UInt8](littleEndian: nodeID.rawValue))
  }

  static func derive(_ secret: [UInt8], salt: [UInt8], _ info: String, count: Int = 16) throws(CryptoError) -> [UInt8] {
    try HKDF.sha256(secret: secret, salt: salt, info: Array(info.utf8), count: count)
  }

  static func seal(_ plaintext: [UInt8], key: [UInt8], nonce: [UInt8]) throws(CryptoError) -> [UInt8] {
    try AESCCM(key: SymmetricKey(key)).seal(plaintext: plaintext, nonce: nonce)
  }

  static func open(_ ciphertext: [UInt8], key: [UInt8], nonce: [UInt8]) throws(CryptoError) -> [UInt8] {
    try AESCCM(key: SymmetricKey(key)).open(ciphertext: ciphertext, nonce: nonce)
  }

  /// Returns the MIC over an empty message that proves knowledge of the shared secret of an earlier session.
  static func resumeMIC(
    secret: [UInt8], random: [UInt8], resumptionID: [UInt8], info: String, nonce: [UInt8]
  ) throws(CryptoError) -> [UInt8] {
    try seal([], key: derive(secret, salt: random + resumptionID, info), nonce: nonce)
  }

  /// Verifies a peer's certificates against the root of a fabric, and its signature.
  /// - Parameter time: Seconds since 2000-01-01 00:00 UTC; nil skips the check of the validity periods.
  /// - Returns: The peer's node id and tags.
  static func authenticate(
    _ credentials: SigmaCredentials, fabric: Fabric, sender: [UInt8], receiver: [UInt8], at time: UInt32? = nil
  ) throws(HandshakeError) -> (NodeID, [CASEAuthenticatedTag]) {
    do {
      let leaf = try MatterCertificate(tlv: credentials.operationalCertificate.bytes)
      // An empty ICAC counts as absent, as in the Matter SDK.
      let sentIntermediate = credentials.intermediateCertificate?.bytes
      let intermediate = try sentIntermediate.flatMap { octets throws(CertificateError) in
        octets.isEmpty ? nil : try MatterCertificate(tlv: octets)
      }
      try CertificateChain.verify(
        noc: leaf, icac: intermediate, root: MatterCertificate(tlv: fabric.rootCertificate), at: time)
      guard leaf.fabricID == fabric.fabricID.rawValue, let node = leaf.nodeID else {
        throw HandshakeError.untrusted("the certificate is of another fabric")
      }
      let key = try P256PublicKey(bytes: leaf.publicKey)
      // The sender of an empty ICAC may include it in the signed data or omit it.
      let signedForms = sentIntermediate?.isEmpty == true ? [nil, sentIntermediate] : [sentIntermediate]
      let isSigned = signedForms.contains { intermediate in
        let signed = SigmaCredentials.toBeSigned(
          operationalCertificate: credentials.operationalCertificate.bytes, intermediateCertificate: intermediate,
          sender: sender, receiver: receiver)
        return key.verify(credentials.signature.bytes, of: signed)
      }
      guard isSigned else { throw HandshakeError.untrusted("the signature is wrong") }
      return (NodeID(node), leaf.caseAuthenticatedTags.map { CASEAuthenticatedTag($0) })
    } catch let error as HandshakeError {
      throw error
    } catch {
      throw .untrusted("\(error)")
    }
  }
}
