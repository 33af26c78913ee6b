internal import MatterCrypto
public import MatterModel
internal import MatterTLV

/// Identifies a session, secured or unsecured, within a node. Ids are not reused soon.
public struct SessionID: Hashable, Comparable, Sendable, CustomStringConvertible {
  public let rawValue: UInt32
  init(_ rawValue: UInt32) { self.rawValue = rawValue }

  /// Secured sessions use the 16-bit session id of messages; unsecured sessions use the numbers above.
  init(local: UInt16) { rawValue = UInt32(local) }
  var isUnsecured: Bool { rawValue > 0xFFFF }
  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  public var description: String { isUnsecured ? "u\(rawValue - 0x1_0000)" : "\(rawValue)" }
}

/// The protocol that established a session.
public enum SessionKind: Sendable {
  /// PASE, by passcode, during commissioning.
  case pase
  /// CASE, by certificates.
  case `case`
}

/// The reason why a session was closed.
public enum SessionCloseReason: Hashable, Sendable {
  case byPeer, byUs, evicted, fabricRemoved
}

/// The public properties of a session.
public struct SessionInfo: Sendable {
  public let id: SessionID
  public let kind: SessionKind
  /// Whether this node initiated the session.
  public let isInitiator: Bool
  /// The fabric of the session; 0 until commissioning has added one.
  public internal(set) var fabric: FabricIndex
  /// The id of this node on the fabric; 0 without a fabric.
  let localNodeID: NodeID
  /// The id of the peer on the fabric; 0 without a fabric.
  public let peerNodeID: NodeID
  public let tags: [CASEAuthenticatedTag]
  /// The 16 bytes that bind attestation to this session.
  public let attestationChallenge: [UInt8]
  /// The source of the newest authenticated message.
  public internal(set) var peerAddress: SocketAddress
  public internal(set) var parameters: SessionParameters
  /// The time at which the handshake ended.
  public let establishedAt: Instant
  /// The time of the last authenticated message.
  public internal(set) var lastHeard: Instant
  /// The time at which a message was last sent or received.
  var lastUsed: Instant
  /// Whether the session closes with its last exchange, because its fabric was removed or its certificates replaced. The
  /// owner must reject new requests on it, because its fabric index may already belong to another fabric.
  public internal(set) var isExpiring = false
}

/// A secured session: keys, counters and the properties of the peer.
struct SecureSession: Sendable {
  var info: SessionInfo
  let peerSessionID: UInt16
  let encryption: AESCCM
  let decryption: AESCCM
  var counter: UInt32
  var window = ReceptionWindow(mode: .secured)

  init(info: SessionInfo, keys: EstablishedKeys, counter: UInt32) throws(CryptoError) {
    self.info = info
    peerSessionID = keys.peerSessionID
    let initiatorKey = try AESCCM(key: SymmetricKey(keys.initiatorToResponder))
    let responderKey = try AESCCM(key: SymmetricKey(keys.responderToInitiator))
    (encryption, decryption) = info.isInitiator ? (initiatorKey, responderKey) : (responderKey, initiatorKey)
    self.counter = counter
  }

  func peer(at now: Instant) -> PeerState {
    PeerState(
      address: info.peerAddress, parameters: info.parameters,
      isActive: now - info.lastHeard < info.parameters.activeThreshold)
  }

  /// Encodes and encrypts a message with the payload written by `body`.
  mutating func seal(
    _ payload: PayloadHeader, at now: Instant, capacity: Int, _ body: (inout TLVWriter) -> Void
  ) throws(TransmissionError) -> Transmission {
    guard counter < .max else { throw .countersExhausted }
    let header = MessageHeader(sessionID: peerSessionID, counter: counter)
    counter += 1
    info.lastUsed = now
    var (bytes, end) = header.datagram(payload, capacity: capacity, body)
    let nonce = Nonce(
      securityFlags: header.securityFlags, messageCounter: header.counter, sourceNodeID: info.localNodeID.rawValue)
    guard (try? encryption.seal(&bytes, from: end, nonce: nonce, aad: 0..<end)) != nil else { throw .encryptionFailed }
    return Transmission(counter: header.counter, bytes: bytes, peer: peer(at: now))
  }

  /// Records the counter of an authenticated message, and the time and the source of a new one.
  /// - Returns: false if the message is a duplicate.
  mutating func accept(_ counter: UInt32, from address: SocketAddress, at now: Instant) -> Bool {
    guard window.accept(counter) else { return false }
    // Only the newest authenticated message changes the address, so that a replay can't redirect a session.
    if window.maximum == counter { info.peerAddress = address }
    info.lastHeard = now
    info.lastUsed = now
    return true
  }
}
