import MatterCrypto
import MatterModel
import MatterTLV

/// The responder of a PASE handshake, which holds the verifier. Matter Core § 4.14.1.
struct PASEResponder {
  private enum State {
    case start
    case awaitingPake1(context: [UInt8], peerSessionID: UInt16)
    case awaitingPake3(SPAKE2PlusKeys, peerSessionID: UInt16)
    case done
  }

  private var state = State.start
  private let parameters: PASEParameters
  private let sessionID: UInt16
  private let own: SessionParameters
  private(set) var peer = SessionParameters()
  /// Whether the responder has sent its proof and waits for the initiator's. The responder's proof is enough to verify
  /// a guess of the passcode, so any failure in this state counts as an attempt.
  var isAwaitingProof: Bool { if case .awaitingPake3 = state { true } else { false } }

  init(parameters: PASEParameters, sessionID: UInt16, own: SessionParameters) {
    (self.parameters, self.sessionID, self.own) = (parameters, sessionID, own)
  }

  /// Whether a first message is valid and gets a response.
  static func canAnswer(_ payload: [UInt8]) -> Bool { (try? PBKDFParamRequest(tlv: payload))?.passcodeID == 0 }

  mutating func receive(_ opcode: UInt8, _ payload: [UInt8], _ randomSource: inout any RandomSource) -> HandshakeAction
  {
    let state = self.state
    do {
      switch (state, opcode) {
      case (.start, SecureChannelOpcode.pbkdfParamRequest):
        let request = try PBKDFParamRequest(tlv: payload)
        guard request.passcodeID == 0 else { return refuse("passcode id \(request.passcodeID)") }
        if let parameters = request.parameters { peer = parameters }
        let response = PBKDFParamResponse(
          initiatorRandom: request.random, responderRandom: Octets(randomSource.bytes(32)), sessionID: sessionID,
          pbkdf: request.hasParameters
            ? nil : .init(iterations: parameters.iterations, salt: OctetString(parameters.salt)),
          parameters: own
        ).tlv
        self.state = .awaitingPake1(context: PASEKeys.context(payload, response), peerSessionID: request.sessionID)
        return .send(opcode: SecureChannelOpcode.pbkdfParamResponse, response)

      case (.awaitingPake1(let context, let peerSessionID), SecureChannelOpcode.pake1):
        let message = try Pake1(tlv: payload)
        let responder = SPAKE2PlusResponder(
          verifier: try parameters.makeVerifier(), context: context, random: &randomSource)
        let (pB, keys) = try responder.respond(pA: message.pA.bytes)
        self.state = .awaitingPake3(keys, peerSessionID: peerSessionID)
        return .send(opcode: SecureChannelOpcode.pake2, Pake2(pB: Octets(pB), cB: Octets(keys.cB)).tlv)

      case (.awaitingPake3(let keys, let peerSessionID), SecureChannelOpcode.pake3):
        let message = try Pake3(tlv: payload)
        guard constantTimeEqual(keys.cA, message.cA.bytes) else { return .refuse(.invalidParameter, .wrongPasscode) }
        self.state = .done
        return .establish(try PASEKeys.session(keys, peerSessionID: peerSessionID, parameters: peer))

      case (_, SecureChannelOpcode.statusReport):
        guard let report = StatusReport(decoding: payload) else { return .fail(.invalidMessage("short status report")) }
        return .fail(report.asHandshakeError)
      default:
        return refuse("opcode \(opcode) out of turn")
      }
    } catch {
      return refuse("\(error)")
    }
  }

  private func refuse(_ reason: String) -> HandshakeAction { .refuse(.invalidParameter, .invalidMessage(reason)) }
}
