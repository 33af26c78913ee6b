internal import MatterCrypto
internal import MatterModel
internal import MatterTLV

/// The first message of CASE. Matter Core § 4.14.2.4.1.
struct Sigma1: ModelStruct {
  var random: Octets<32> = []
  var sessionID: UInt16 = 0
  var destinationID: Octets<32> = []
  var publicKey: Octets<65> = []
  var parameters: SessionParameters?
  var resumptionID: Octets<16>?
  var resumeMIC: Octets<16>?

  static let fields: [Field<Self>] = [
    .init(1, "InitiatorRandom", \.random), .init(2, "InitiatorSessionID", \.sessionID),
    .init(3, "DestinationID", \.destinationID), .init(4, "InitiatorEphPubKey", \.publicKey),
    .init(5, "InitiatorSessionParams", \.parameters), .init(6, "ResumptionID", \.resumptionID),
    .init(7, "InitiatorResumeMIC", \.resumeMIC),
  ]

  /// Whether the resumption fields are both present or both absent; one alone is an error.
  var isComplete: Bool { (resumptionID == nil) == (resumeMIC == nil) }
}

/// Matter Core § 4.14.2.4.2.
struct Sigma2: ModelStruct {
  var random: Octets<32> = []
  var sessionID: UInt16 = 0
  var publicKey: Octets<65> = []
  var encrypted: OctetString = []
  var parameters: SessionParameters?

  static let fields: [Field<Self>] = [
    .init(1, "ResponderRandom", \.random), .init(2, "ResponderSessionID", \.sessionID),
    .init(3, "ResponderEphPubKey", \.publicKey), .init(4, "Encrypted2", \.encrypted),
    .init(5, "ResponderSessionParams", \.parameters),
  ]
}

/// Matter Core § 4.14.2.4.4.
struct Sigma2Resume: ModelStruct {
  var resumptionID: Octets<16> = []
  var mic: Octets<16> = []
  var sessionID: UInt16 = 0
  var parameters: SessionParameters?

  static let fields: [Field<Self>] = [
    .init(1, "ResumptionID", \.resumptionID), .init(2, "Sigma2ResumeMIC", \.mic),
    .init(3, "ResponderSessionID", \.sessionID), .init(4, "ResponderSessionParams", \.parameters),
  ]
}

/// Matter Core § 4.14.2.4.3.
struct Sigma3: ModelStruct {
  var encrypted: OctetString = []
  static let fields: [Field<Self>] = [.init(1, "Encrypted3", \.encrypted)]
}

/// The encrypted content of Sigma2 and Sigma3.
struct SigmaCredentials: ModelStruct {
  var operationalCertificate: OctetString = []
  var intermediateCertificate: OctetString?
  var signature: Octets<64> = []
  /// Present in Sigma2 only.
  var resumptionID: Octets<16>?

  static let fields: [Field<Self>] = [
    .init(1, "SenderNOC", \.operationalCertificate), .init(2, "SenderICAC", \.intermediateCertificate),
    .init(3, "Signature", \.signature), .init(4, "ResumptionID", \.resumptionID),
  ]

  /// The data that the sender signs: its certificates, its ephemeral key and that of the receiver.
  struct ToBeSigned: ModelStruct {
    var operationalCertificate: OctetString = []
    var intermediateCertificate: OctetString?
    var sender: OctetString = []
    var receiver: OctetString = []

    static let fields: [Field<Self>] = [
      .init(1, "SenderNOC", \.operationalCertificate), .init(2, "SenderICAC", \.intermediateCertificate),
      .init(3, "SenderPubKey", \.sender), .init(4, "ReceiverPubKey", \.receiver),
    ]
  }

  static func toBeSigned(
    operationalCertificate: [UInt8], intermediateCertificate: [UInt8]?, sender: [UInt8], receiver: [UInt8]
  ) -> [UInt8] {
    ToBeSigned(
      operationalCertificate: OctetString(operationalCertificate),
      intermediateCertificate: intermediateCertificate.map(OctetString.init), sender: OctetString(sender),
      receiver: OctetString(receiver)
    ).tlv
  }

  /// Returns the credentials of this node on a fabric, signed over both ephemeral keys.
  static func own(
    of fabric: Fabric, sender: [UInt8], receiver: [UInt8], resumptionID: [UInt8]? = nil,
    _ signatures: any SignatureScheme
  ) throws(CryptoError) -> SigmaCredentials {
    let signed = toBeSigned(
      operationalCertificate: fabric.operationalCertificate, intermediateCertificate: fabric.intermediateCertificate,
      sender: sender, receiver: receiver)
    return SigmaCredentials(
      operationalCertificate: OctetString(fabric.operationalCertificate),
      intermediateCertificate: fabric.intermediateCertificate.map(OctetString.init),
      signature: Octets(try signatures.sign(message: signed, with: fabric.operationalKey)),
      resumptionID: resumptionID.map { Octets($0) })
  }
}
