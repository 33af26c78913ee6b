internal import MatterCrypto
import MatterModel
import MatterTLV

/// The initiator of a CASE handshake. Matter Core § 4.14.2.
struct CASEInitiator {
  private enum State {
    case start
    case awaitingSigma2(sigma1: [UInt8], random: [UInt8], key: P256PrivateKey)
    case awaitingStatus(EstablishedKeys)
    case done
  }

  private var state = State.start
  private let fabric: Fabric
  private let target: NodeID
  private let sessionID: UInt16
  private let own: SessionParameters
  private(set) var peer: SessionParameters
  var fabricIndex: FabricIndex { fabric.index }
  private let resumption: ResumptionRecord?

  init(
    fabric: Fabric, target: NodeID, sessionID: UInt16, own: SessionParameters, peer: SessionParameters,
    resumption: ResumptionRecord?
  ) {
    (self.fabric, self.target, self.sessionID) = (fabric, target, sessionID)
    (self.own, self.peer, self.resumption) = (own, peer, resumption)
  }

  mutating func start(_ randomSource: inout any RandomSource) -> HandshakeAction {
    do {
      let random = randomSource.bytes(32)
      let key = P256PrivateKey(random: &randomSource)
      guard let protection = fabric.identityProtectionKeys.first else {
        return .fail(.untrusted("the fabric has no identity protection key"))
      }
      var sigma1 = Sigma1(
        random: Octets(random), sessionID: sessionID,
        destinationID: Octets(
          try CASEKeys.destinationID(
            identityProtectionKey: protection, random: random, rootPublicKey: fabric.rootPublicKey,
            fabricID: fabric.fabricID, nodeID: target)),
        publicKey: Octets(key.publicKey.bytes), parameters: own)
      if let resumption {
        sigma1.resumptionID = Octets(resumption.resumptionID)
        sigma1.resumeMIC = Octets(
          try CASEKeys.resumeMIC(
            secret: resumption.sharedSecret, random: random, resumptionID: resumption.resumptionID,
            info: "Sigma1_Resume", nonce: CASEKeys.resume1Nonce))
      }
      let bytes = sigma1.tlv
      state = .awaitingSigma2(sigma1: bytes, random: random, key: key)
      return .send(opcode: SecureChannelOpcode.sigma1, bytes)
    } catch {
      return .fail(.invalidMessage("\(error)"))
    }
  }

  /// Handles a message of the responder.
  /// - Parameter time: Seconds since 2000-01-01 00:00 UTC; nil if the time is unknown.
  mutating func receive(
    _ opcode: UInt8, _ payload: [UInt8], _ randomSource: inout any RandomSource, _ signatures: any SignatureScheme,
    at time: UInt32? = nil
  ) -> HandshakeAction {
    let state = self.state
    do {
      switch (state, opcode) {
      case (.awaitingSigma2(let sigma1, _, let key), SecureChannelOpcode.sigma2):
        return try receiveSigma2(payload, sigma1: sigma1, key: key, signatures, at: time)
      case (.awaitingSigma2(_, let random, _), SecureChannelOpcode.sigma2Resume):
        return try receiveResume(payload, random: random)
      case (.awaitingStatus(let keys), SecureChannelOpcode.statusReport):
        guard let report = StatusReport(decoding: payload) else { return .fail(.invalidMessage("short status report")) }
        guard report.general == .success else { return .fail(report.asHandshakeError) }
        self.state = .done
        return .established(keys)
      case (_, SecureChannelOpcode.statusReport):
        guard let report = StatusReport(decoding: payload) else { return .fail(.invalidMessage("short status report")) }
        return .fail(report.asHandshakeError)
      default:
        return .refuse(.invalidParameter, .invalidMessage("opcode \(opcode) out of turn"))
      }
    } catch let error as HandshakeError {
      return .refuse(.invalidParameter, error)
    } catch {
      return .refuse(.invalidParameter, .invalidMessage("\(error)"))
    }
  }

  private mutating func receiveSigma2(
    _ payload: [UInt8], sigma1: [UInt8], key: P256PrivateKey, _ signatures: any SignatureScheme,
    at time: UInt32?
  ) throws -> HandshakeAction {
    guard let protection = fabric.identityProtectionKeys.first else { throw HandshakeError.untrusted("no key") }
    let sigma2 = try Sigma2(tlv: payload)
    if let parameters = sigma2.parameters { peer = parameters }
    let secret = try key.sharedSecret(with: P256PublicKey(bytes: sigma2.publicKey.bytes))
    let key2 = try CASEKeys.derive(
      secret, salt: protection + sigma2.random.bytes + sigma2.publicKey.bytes + Hash.sha256(sigma1), "Sigma2")
    let credentials = try SigmaCredentials(
      tlv: CASEKeys.open(sigma2.encrypted.bytes, key: key2, nonce: CASEKeys.sigma2Nonce))
    let own = key.publicKey.bytes
    let (node, tags) = try CASEKeys.authenticate(
      credentials, fabric: fabric, sender: sigma2.publicKey.bytes, receiver: own, at: time)
    guard node == target else { throw HandshakeError.untrusted("it is node \(node), not \(target)") }
    guard let resumptionID = credentials.resumptionID else { throw HandshakeError.invalidMessage("no resumption id") }

    let mine = try SigmaCredentials.own(
      of: fabric, sender: own, receiver: sigma2.publicKey.bytes, signatures)
    let key3 = try CASEKeys.derive(secret, salt: protection + Hash.sha256(sigma1 + payload), "Sigma3")
    let encrypted = try CASEKeys.seal(mine.tlv, key: key3, nonce: CASEKeys.sigma3Nonce)
    let sigma3 = Sigma3(encrypted: OctetString(encrypted)).tlv
    let bytes = try CASEKeys.derive(
      secret, salt: protection + Hash.sha256(sigma1 + payload + sigma3), "SessionKeys", count: 48)
    var keys = EstablishedKeys(keys: bytes, peerSessionID: sigma2.sessionID, parameters: peer)
    (keys.fabric, keys.peerNodeID, keys.tags) = (fabric.index, node, tags)
    keys.resumption = ResumptionRecord(
      fabric: fabric.index, peer: node, resumptionID: resumptionID.bytes, sharedSecret: secret, tags: tags)
    state = .awaitingStatus(keys)
    return .send(opcode: SecureChannelOpcode.sigma3, sigma3)
  }

  private mutating func receiveResume(_ payload: [UInt8], random: [UInt8]) throws -> HandshakeAction {
    guard let resumption else { throw HandshakeError.invalidMessage("unsolicited resumption") }
    let message = try Sigma2Resume(tlv: payload)
    if let parameters = message.parameters { peer = parameters }
    let expected = try CASEKeys.resumeMIC(
      secret: resumption.sharedSecret, random: random, resumptionID: message.resumptionID.bytes, info: "Sigma2_Resume",
      nonce: CASEKeys.resume2Nonce)
    guard constantTimeEqual(expected, message.mic.bytes) else {
      throw HandshakeError.untrusted("the resumption proof is wrong")
    }
    let bytes = try CASEKeys.derive(
      resumption.sharedSecret, salt: random + resumption.resumptionID, "SessionResumptionKeys", count: 48)
    var keys = EstablishedKeys(keys: bytes, peerSessionID: message.sessionID, parameters: peer)
    (keys.fabric, keys.peerNodeID, keys.tags) = (fabric.index, resumption.peer, resumption.tags)
    keys.resumption = resumption
    keys.resumption?.resumptionID = message.resumptionID.bytes
    state = .done
    return .establish(keys)
  }
}
