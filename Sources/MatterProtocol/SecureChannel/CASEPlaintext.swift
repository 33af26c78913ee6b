package import MatterCrypto
package import MatterModel

/// The encrypted content of Sigma2 and Sigma3, for testing its decoder without a handshake.
package enum CASEPlaintext {
  /// Returns encoded credentials, signed over both ephemeral keys; nil if signing fails.
  package static func make(
    of fabric: Fabric, sender: [UInt8], receiver: [UInt8], resumptionID: [UInt8]?, _ signatures: any SignatureScheme
  ) -> [UInt8]? {
    try? SigmaCredentials.own(
      of: fabric, sender: sender, receiver: receiver, resumptionID: resumptionID, signatures
    ).tlv
  }

  /// Decodes credentials and verifies them against a fabric.
  /// - Returns: The node id of the sender; nil if the credentials are invalid.
  package static func sender(
    of bytes: [UInt8], fabric: Fabric, sender: [UInt8], receiver: [UInt8]
  ) -> NodeID? {
    guard let credentials = try? SigmaCredentials(tlv: bytes) else { return nil }
    return try? CASEKeys.authenticate(credentials, fabric: fabric, sender: sender, receiver: receiver).0
  }
}
