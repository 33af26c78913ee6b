internal import MatterCrypto
public import MatterModel

/// The reason why a handshake failed.
public enum HandshakeError: Error, Hashable, Sendable {
  /// The peer answered with a status report.
  case refused(StatusReport)
  /// The peer is busy and asks to retry after a delay.
  case busy(wait: Duration)
  /// The peer did not answer in time.
  case timedOut
  /// The passcodes of the two sides differ.
  case wrongPasscode
  /// A message of the peer is malformed, out of order, or fails a cryptographic check.
  case invalidMessage(String)
  /// The certificates or the proof of the peer are invalid.
  case untrusted(String)
  /// No session id or session is available.
  case noResources
}

/// The action that a handshake requests in response to an event.
enum HandshakeAction {
  case send(opcode: UInt8, [UInt8])
  /// Send a success report and use these keys.
  case establish(EstablishedKeys)
  /// The peer reported success: use these keys.
  case established(EstablishedKeys)
  /// Fail and notify the peer.
  case refuse(StatusReport, HandshakeError)
  /// Fail without notifying the peer.
  case fail(HandshakeError)
}

/// The result of a successful handshake.
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

/// The state that lets the next CASE handshake with a peer resume the session without certificates. Matter Core §
/// 4.14.2.2.
public struct ResumptionRecord: Hashable, Sendable {
  /// The local index of the fabric shared with the peer.
  public var fabric: FabricIndex
  /// The operational node ID of the peer.
  public var peer: NodeID
  /// The 16 bytes by which the peer finds its record. They change with each session.
  public var resumptionID: [UInt8]
  /// The secret result of the handshake's ECDH, 32 bytes.
  public var sharedSecret: [UInt8]
  public var tags: [CASEAuthenticatedTag]

  /// Creates a record, for example from its stored values.
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

  /// The error for a status report received in place of a handshake message.
  var asHandshakeError: HandshakeError {
    if let busyWait { return .busy(wait: busyWait) }
    return .refused(self)
  }
}
