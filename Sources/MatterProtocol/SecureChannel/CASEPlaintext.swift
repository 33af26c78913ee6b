package import MatterCrypto
package import MatterModel

/// What is encrypted inside of Sigma2 and Sigma3, for those who want to see how it is read without a handshake around it.
package enum CASEPlaintext {
  /// A member's credentials, signed over both ephemeral keys; nil if they can't be signed.
  package static func make(
    of fabric: Fabric, sender: [UInt8], receiver: [UInt8], resumptionID: [UInt8]?, _ signatures: any SignatureScheme
  ) -> [UInt8]? {
    try? SigmaCredentials.own(
      of: fabric, sender: sender, receiver: receiver, resumptionID: resumptionID, signatures
    ).tlv
  }

  /// Reads it, and checks it against a fabric.
  /// - Returns: who the sender is; nil if it does not prove that.
  package static func sender(
    of bytes: [UInt8], fabric: Fabric, sender: [UInt8], receiver: [UInt8]
  ) -> NodeID? {
    guard let credentials = try? SigmaCredentials(tlv: bytes) else { return nil }
    return try? CASEKeys.authenticate(credentials, fabric: fabric, sender: sender, receiver: receiver).0
  }
}
