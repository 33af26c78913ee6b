internal import MatterCrypto
internal import MatterModel

/// Identifies an outbound handshake.
public struct HandshakeID: Hashable, Comparable, Sendable {
  let rawValue: UInt32
  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// A handshake in progress.
struct Handshake: Sendable {
  enum Kind: Sendable {
    case paseInitiator(PASEInitiator), paseResponder(PASEResponder)
    case caseInitiator(CASEInitiator), caseResponder(CASEResponder)
  }

  /// The credentials for an outbound handshake.
  enum Credentials {
    case passcode(UInt32)
    /// With the record of an earlier session, if there is one.
    case certificates(Fabric, peer: NodeID, ResumptionRecord?)
  }

  /// The state of the node on which the result of a message depends.
  struct Environment {
    let fabrics: [Fabric]
    let resumption: ResumptionRecords
    let signatures: any SignatureScheme
    /// The time at ``Instant/zero`` in seconds since 2000-01-01 00:00 UTC; nil if the time is unknown.
    let trustedEpoch: Int64?
    let now: Instant

    /// The time for checking the validity of certificates; nil if it is unknown.
    var time: UInt32? {
      trustedEpoch.map { UInt32(clamping: $0.saturatingAdd(now.nanoseconds / 1_000_000_000)) }
    }
  }

  private(set) var kind: Kind
  /// Set if this node initiated the handshake.
  let id: HandshakeID?
  /// The local session id, which the handshake offers to the peer.
  let sessionNumber: UInt16
  /// The deadline of the whole handshake.
  let deadline: Instant

  init(kind: Kind, id: HandshakeID?, sessionNumber: UInt16, deadline: Instant) {
    (self.kind, self.id, self.sessionNumber, self.deadline) = (kind, id, sessionNumber, deadline)
  }

  var sessionKind: SessionKind {
    switch kind {
    case .paseInitiator, .paseResponder: .pase
    case .caseInitiator, .caseResponder: .case
    }
  }

  /// Whether this node has proved that it knows the passcode, and waits for the proof of the peer.
  var isAwaitingPasscodeProof: Bool {
    if case .paseResponder(let state) = kind { state.isAwaitingProof } else { false }
  }

  /// The parameters that the peer declared; defaults until it has.
  var peerParameters: SessionParameters {
    switch kind {
    case .paseInitiator(let state): state.peer
    case .paseResponder(let state): state.peer
    case .caseInitiator(let state): state.peer
    case .caseResponder(let state): state.peer
    }
  }

  /// The fabric of a CASE handshake; nil while it is not determined yet.
  var fabric: FabricIndex? {
    switch kind {
    case .paseInitiator, .paseResponder: nil
    case .caseInitiator(let state): state.fabricIndex
    case .caseResponder(let state): state.fabricIndex
    }
  }

  /// Whether the fabric of a finished CASE handshake still exists; it may have been removed during the handshake.
  func mayEstablish(_ keys: EstablishedKeys, in fabrics: [Fabric]) -> Bool {
    sessionKind == .pase || fabrics.contains { $0.index == keys.fabric }
  }

  /// Handles a message of the peer.
  mutating func receive(
    _ opcode: UInt8, _ payload: [UInt8], _ environment: Environment, random: inout any RandomSource
  ) -> HandshakeAction {
    let action: HandshakeAction
    switch kind {
    case .paseInitiator(var state):
      action = state.receive(opcode, payload, &random)
      kind = .paseInitiator(state)
    case .paseResponder(var state):
      action = state.receive(opcode, payload, &random)
      kind = .paseResponder(state)
    case .caseInitiator(var state):
      action = state.receive(opcode, payload, &random, environment.signatures, at: environment.time)
      kind = .caseInitiator(state)
    case .caseResponder(var state):
      action = state.receive(
        opcode, payload, fabrics: environment.fabrics, resumption: environment.resumption, &random,
        environment.signatures, at: environment.time)
      kind = .caseResponder(state)
    }
    if case .establish(let keys) = action, !mayEstablish(keys, in: environment.fabrics) {
      return .refuse(.noSharedTrustRoots, .untrusted("the fabric was removed"))
    }
    return action
  }

  /// The timeout of a whole handshake. Matter Core § 4.14.1.1 specifies 60 s for PASE.
  static let timeLimit: Duration = .seconds(60)
  /// The age at which the slot of an inbound handshake may be evicted. See ``HandshakeSlots``.
  static let slotTimeout: Duration = .seconds(5)
  /// The peer's processing time between two messages.
  static let timeout: Duration = .seconds(10)
}

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

extension StatusReport {
  static let established = StatusReport(.success, .sessionEstablished)
  static let invalidParameter = StatusReport(.failure, .invalidParameter)
  static let noSharedTrustRoots = StatusReport(.failure, .noSharedTrustRoots)

  /// Returns a report that asks the peer to retry after a delay of at most 65 s.
  static func busy(wait: Duration) -> StatusReport {
    StatusReport(.busy, .busy, data: [UInt8](littleEndian: UInt16(clamping: wait.milliseconds)))
  }

  /// The error for a status report received in place of a handshake message.
  var asHandshakeError: HandshakeError {
    if let busyWait { return .busy(wait: busyWait) }
    return .refused(self)
  }
}
