internal import MatterCrypto
public import MatterModel

/// Why no session came about.
public enum HandshakeError: Error, Hashable, Sendable {
  /// The peer answered with a status report.
  case refused(StatusReport)
  /// The peer has no room now and says how long to wait.
  case busy(wait: Duration)
  /// Nobody answered.
  case timedOut
  /// One of the two sides has another passcode.
  case wrongPasscode
  /// The peer's message makes no sense, or its proof is wrong.
  case invalidMessage(String)
  /// The peer's certificate does not check out.
  case untrusted(String)
  /// The session table is full of sessions that are in use.
  case noResources
}

/// What a handshake wants done in answer to an event.
enum HandshakeAction {
  case send(opcode: UInt8, [UInt8])
  /// Answer with a success report and use these keys.
  case establish(EstablishedKeys)
  /// The peer's last message was success: use these keys.
  case established(EstablishedKeys)
  /// Give up and tell the peer.
  case refuse(StatusReport, HandshakeError)
  /// Give up in silence.
  case fail(HandshakeError)
}

/// What a finished handshake leaves behind.
struct EstablishedKeys {
  var initiatorToResponder: [UInt8]
  var responderToInitiator: [UInt8]
  var attestationChallenge: [UInt8]
  var peerSessionID: UInt16
  var parameters: SessionParameters
  var fabric: FabricIndex = .none
  var peerNodeID: NodeID = .unspecified
  var tags: [CASEAuthenticatedTag] = []
  var resumption: ResumptionRecord?

  init(keys: [UInt8], peerSessionID: UInt16, parameters: SessionParameters) {
    initiatorToResponder = Array(keys[0..<16])
    responderToInitiator = Array(keys[16..<32])
    attestationChallenge = Array(keys[32..<48])
    self.peerSessionID = peerSessionID
    self.parameters = parameters
  }
}

/// What both sides keep so that the next handshake can do without certificates. Matter Core § 4.14.2.2.
public struct ResumptionRecord: Hashable, Sendable {
  /// Ours, on which the peer is.
  public var fabric: FabricIndex
  /// With whom the session was.
  public var peer: NodeID
  /// By which the peer finds its own record again: 16 bytes, other ones for each session.
  public var resumptionID: [UInt8]
  /// What the ECDH of the handshake gave: 32 bytes, secret.
  public var sharedSecret: [UInt8]
  public var tags: [CASEAuthenticatedTag]

  /// What was stored comes back.
  public init(
    fabric: FabricIndex, peer: NodeID, resumptionID: [UInt8], sharedSecret: [UInt8], tags: [CASEAuthenticatedTag]
  ) {
    self.fabric = fabric
    self.peer = peer
    self.resumptionID = resumptionID
    self.sharedSecret = sharedSecret
    self.tags = tags
  }
}

extension StatusReport {
  static let established = StatusReport(.success, .sessionEstablished)
  static let invalidParameter = StatusReport(.failure, .invalidParameter)
  static let noSharedTrustRoots = StatusReport(.failure, .noSharedTrustRoots)

  /// What a status report means to a handshake that waits for something else.
  var asHandshakeError: HandshakeError {
    if let busyWait { return .busy(wait: busyWait) }
    return .refused(self)
  }
}
