internal import MatterCrypto
public import MatterModel

/// A node's own number of a session, secured or not. Numbers are not used again soon.
public struct SessionID: Hashable, Comparable, Sendable, CustomStringConvertible {
  public let rawValue: UInt32
  init(_ rawValue: UInt32) { self.rawValue = rawValue }

  /// Secured sessions have the 16 bits that stand in messages; unsecured ones count on from there.
  init(local: UInt16) { rawValue = UInt32(local) }
  var isUnsecured: Bool { rawValue > 0xFFFF }
  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  public var description: String { isUnsecured ? "u\(rawValue - 0x1_0000)" : "\(rawValue)" }
}

/// How a session came about.
public enum SessionKind: Sendable {
  /// By passcode, during commissioning.
  case pase
  /// By certificates.
  case `case`
}

/// What may be known of a session from outside.
public struct SessionInfo: Sendable {
  public let id: SessionID
  public let kind: SessionKind
  /// Whether we opened it.
  public let isInitiator: Bool
  /// 0 before there is one: during commissioning.
  public internal(set) var fabric: FabricIndex
  /// Ours on the fabric; 0 without one.
  public let localNodeID: NodeID
  /// The peer's on the fabric; 0 without one.
  public let peerNodeID: NodeID
  public let tags: [CASEAuthenticatedTag]
  /// 16 bytes that bind attestation to this session.
  public let attestationChallenge: [UInt8]
  /// Where the newest authenticated message came from.
  public internal(set) var peerAddress: SocketAddress
  public internal(set) var parameters: SessionParameters
  /// When the handshake ended.
  public let establishedAt: Instant
  /// When an authenticated message last came.
  public internal(set) var lastHeard: Instant
  /// When something was last sent or came.
  public internal(set) var lastUsed: Instant
}

/// A secured session: keys, counters, and what is known of the peer.
struct SecureSession: Sendable {
  var info: SessionInfo
  let peerSessionID: UInt16
  let encryption: AESCCM
  let decryption: AESCCM
  var counter: UInt32
  var window = ReceptionWindow(mode: .secured)
  /// To be closed as soon as its last exchange is done.
  var isExpiring = false

  init(
    info: SessionInfo, keys: EstablishedKeys, counter: UInt32
  ) throws(CryptoError) {
    self.info = info
    peerSessionID = keys.peerSessionID
    let initiatorKey = try AESCCM(key: SymmetricKey(keys.initiatorToResponder))
    let responderKey = try AESCCM(key: SymmetricKey(keys.responderToInitiator))
    (encryption, decryption) = info.isInitiator ? (initiatorKey, responderKey) : (responderKey, initiatorKey)
    self.counter = counter
  }

  /// Whether the peer is awake, as far as we can know.
  func isPeerActive(at now: Instant) -> Bool { now - info.lastHeard < info.parameters.activeThreshold }
}

/// The context of messages in the clear: handshakes only. Matter Core § 4.13.2.1.
struct UnsecuredSession: Sendable {
  let id: SessionID
  /// The number that the initiator made up for itself.
  let ephemeralID: NodeID
  /// Whether that is us.
  let isInitiator: Bool
  var peerAddress: SocketAddress
  var parameters: SessionParameters
  var window = ReceptionWindow(mode: .unsecured)
  /// Whether a handshake goes on in it.
  var hasHandshake = false
  var lastHeard: Instant?
  var lastUsed: Instant

  func isPeerActive(at now: Instant) -> Bool { lastHeard.map { now - $0 < parameters.activeThreshold } ?? false }
}
