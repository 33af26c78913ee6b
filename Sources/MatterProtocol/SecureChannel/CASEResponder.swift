internal import MatterCrypto
import MatterModel
import MatterTLV

/// The responder of a CASE handshake. Matter Core § 4.14.2.
struct CASEResponder {
  private enum State {
    case start
    case awaitingSigma3(Pending)
    case awaitingStatus(EstablishedKeys)
    case done
  }

  private struct Pending {
    var fabric: Fabric
    var protection: [UInt8]
    var sigma1: [UInt8]
    var sigma2: [UInt8]
    var secret: [UInt8]
    var ownKey: [UInt8]
    var peerKey: [UInt8]
    var peerSessionID: UInt16
    var resumptionID: [UInt8]
  }

  private var state = State.start
  private let sessionID: UInt16
  private let own: SessionParameters
  private(set) var peer = SessionParameters()
  /// The fabric that the initiator selected; nil before its first message.
  var fabricIndex: FabricIndex? {
    switch state {
    case .awaitingSigma3(let pending): pending.fabric.index
    case .awaitingStatus(let keys): keys.fabric
    case .start, .done: nil
    }
  }

  init(sessionID: UInt16, own: SessionParameters) { (self.sessionID, self.own) = (sessionID, own) }

  /// The credentials that a Sigma1 proves. Determined with a few hashes, before any public-key cryptography.
  enum Claim {
    case malformed
    /// The destination id matches none of the fabrics.
    case unknownFabric
    /// The sender knows an identity protection key of a fabric, unless the message is a replay. With the first 8 bytes
    /// of the initiator random.
    case member(UInt64)
    /// The sender knows the secret of an earlier session, unless the message is a replay. With the first 8 bytes of the
    /// initiator random.
    case peer(UInt64)
  }

  static func claim(
    _ payload: [UInt8], fabrics: [Fabric], resumption records: ResumptionRecords
  ) -> Claim {
    guard let sigma1 = try? Sigma1(tlv: payload), sigma1.isComplete else { return .malformed }
    let random = sigma1.random.bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    if (try? record(of: sigma1, records)) != nil { return .peer(random) }
    return (try? destination(of: sigma1, among: fabrics)) != nil ? .member(random) : .unknownFabric
  }

  /// Handles a message of the initiator.
  /// - Parameter time: Seconds since 2000-01-01 00:00 UTC; nil if the time is unknown.
  mutating func receive(
    _ opcode: UInt8, _ payload: [UInt8], fabrics: [Fabric], resumption: ResumptionRecords,
    _ randomSource: inout any RandomSource, _ signatures: any SignatureScheme, at time: UInt32? = nil
  ) -> HandshakeAction {
    let state = self.state
    do {
      switch (state, opcode) {
      case (.start, SecureChannelOpcode.sigma1):
        let sigma1 = try Sigma1(tlv: payload)
        guard sigma1.isComplete else { throw HandshakeError.invalidMessage("incomplete resumption fields") }
        if let parameters = sigma1.parameters { peer = parameters }
        if let action = try resume(sigma1, resumption, &randomSource) { return action }
        return try receiveSigma1(payload, sigma1, fabrics, &randomSource, signatures)
      case (.awaitingSigma3(let pending), SecureChannelOpcode.sigma3):
        return try receiveSigma3(payload, pending, at: time)
      case (.awaitingStatus(let keys), SecureChannelOpcode.statusReport):
        guard let report = StatusReport(decoding: payload), report.general == .success else {
          return .fail(StatusReport(decoding: payload)?.asHandshakeError ?? .invalidMessage("short status report"))
        }
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

  /// Returns the record of the session to resume, if the initiator proves that it knows the shared secret.
  private static func record(
    of sigma1: Sigma1, _ records: ResumptionRecords
  ) throws(CryptoError) -> ResumptionRecord? {
    guard let id = sigma1.resumptionID?.bytes, let mic = sigma1.resumeMIC?.bytes,
      let record = records.record(resumptionID: id)
    else {
      return nil
    }
    let expected = try CASEKeys.resumeMIC(
      secret: record.sharedSecret, random: sigma1.random.bytes, resumptionID: id, info: "Sigma1_Resume",
      nonce: CASEKeys.resume1Nonce)
    return constantTimeEqual(expected, mic) ? record : nil
  }

  /// Resumes an earlier session; returns nil if the initiator does not prove that it knows the shared secret of one.
  private mutating func resume(
    _ sigma1: Sigma1, _ records: ResumptionRecords, _ randomSource: inout any RandomSource
  ) throws -> HandshakeAction? {
    guard let id = sigma1.resumptionID?.bytes, var record = try Self.record(of: sigma1, records) else { return nil }
    let fresh = randomSource.bytes(16)
    let answer = Sigma2Resume(
      resumptionID: Octets(fresh),
      mic: Octets(
        try CASEKeys.resumeMIC(
          secret: record.sharedSecret, random: sigma1.random.bytes, resumptionID: fresh, info: "Sigma2_Resume",
          nonce: CASEKeys.resume2Nonce)),
      sessionID: sessionID, parameters: own)
    let bytes = try CASEKeys.derive(
      record.sharedSecret, salt: sigma1.random.bytes + id, "SessionResumptionKeys", count: 48)
    var keys = EstablishedKeys(keys: bytes, peerSessionID: sigma1.sessionID, parameters: peer)
    (keys.fabric, keys.peerNodeID, keys.tags) = (record.fabric, record.peer, record.tags)
    record.resumptionID = fresh
    keys.resumption = record
    state = .awaitingStatus(keys)
    return .send(opcode: SecureChannelOpcode.sigma2Resume, answer.tlv)
  }

  private mutating func receiveSigma1(
    _ payload: [UInt8], _ sigma1: Sigma1, _ fabrics: [Fabric], _ randomSource: inout any RandomSource,
    _ signatures: any SignatureScheme
  ) throws -> HandshakeAction {
    guard let (fabric, protection) = try Self.destination(of: sigma1, among: fabrics) else {
      return .refuse(.noSharedTrustRoots, .untrusted("the destination id matches no fabric"))
    }
    let key = P256PrivateKey(random: &randomSource)
    let random = randomSource.bytes(32)
    let resumptionID = randomSource.bytes(16)
    let ownKey = key.publicKey.bytes
    let secret = try key.sharedSecret(with: P256PublicKey(bytes: sigma1.publicKey.bytes))
    let credentials = try SigmaCredentials.own(
      of: fabric, sender: ownKey, receiver: sigma1.publicKey.bytes, resumptionID: resumptionID, signatures)
    let key2 = try CASEKeys.derive(secret, salt: protection + random + ownKey + Hash.sha256(payload), "Sigma2")
    let sigma2 = Sigma2(
      random: Octets(random), sessionID: sessionID, publicKey: Octets(ownKey),
      encrypted: OctetString(try CASEKeys.seal(credentials.tlv, key: key2, nonce: CASEKeys.sigma2Nonce)),
      parameters: own
    ).tlv
    state = .awaitingSigma3(
      Pending(
        fabric: fabric, protection: protection, sigma1: payload, sigma2: sigma2, secret: secret, ownKey: ownKey,
        peerKey: sigma1.publicKey.bytes, peerSessionID: sigma1.sessionID, resumptionID: resumptionID))
    return .send(opcode: SecureChannelOpcode.sigma2, sigma2)
  }

  /// Returns the fabric and the identity protection key that match the destination id.
  private static func destination(
    of sigma1: Sigma1, among fabrics: [Fabric]
  ) throws(CryptoError) -> (Fabric, [UInt8])? {
    for fabric in fabrics {
      for key in fabric.identityProtectionKeys {
        let candidate = try CASEKeys.destinationID(
          identityProtectionKey: key, random: sigma1.random.bytes, rootPublicKey: fabric.rootPublicKey,
          fabricID: fabric.fabricID, nodeID: fabric.nodeID)
        if constantTimeEqual(candidate, sigma1.destinationID.bytes) { return (fabric, key) }
      }
    }
    return nil
  }

  private mutating func receiveSigma3(_ payload: [UInt8], _ pending: Pending, at time: UInt32?) throws
    -> HandshakeAction
  {
    let encrypted = try Sigma3(tlv: payload).encrypted.bytes
    let key3 = try CASEKeys.derive(
      pending.secret, salt: pending.protection + Hash.sha256(pending.sigma1 + pending.sigma2), "Sigma3")
    let credentials = try SigmaCredentials(tlv: CASEKeys.open(encrypted, key: key3, nonce: CASEKeys.sigma3Nonce))
    let (node, tags) = try CASEKeys.authenticate(
      credentials, fabric: pending.fabric, sender: pending.peerKey, receiver: pending.ownKey, at: time)
    let keyBytes = try CASEKeys.derive(
      pending.secret, salt: pending.protection + Hash.sha256(pending.sigma1 + pending.sigma2 + payload), "SessionKeys",
      count: 48)
    var keys = EstablishedKeys(keys: keyBytes, peerSessionID: pending.peerSessionID, parameters: peer)
    (keys.fabric, keys.peerNodeID, keys.tags) = (pending.fabric.index, node, tags)
    keys.resumption = ResumptionRecord(
      fabric: pending.fabric.index, peer: node, resumptionID: pending.resumptionID, sharedSecret: pending.secret,
      tags: tags)
    state = .done
    return .establish(keys)
  }
}
