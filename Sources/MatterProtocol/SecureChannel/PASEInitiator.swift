import MatterCrypto
import MatterModel
import MatterTLV

/// The initiator of a PASE handshake, which knows the passcode. Matter Core § 4.14.1.
struct PASEInitiator {
  private enum State {
    case start
    case awaitingParameters(request: [UInt8], random: [UInt8])
    case awaitingPake2(SPAKE2PlusProver, peerSessionID: UInt16)
    case awaitingStatus(SPAKE2PlusKeys, peerSessionID: UInt16)
    case done
  }

  private var state = State.start
  private let passcode: UInt32
  private let sessionID: UInt16
  private let own: SessionParameters
  private(set) var peer: SessionParameters

  init(passcode: UInt32, sessionID: UInt16, own: SessionParameters, peer: SessionParameters) {
    (self.passcode, self.sessionID, self.own, self.peer) = (passcode, sessionID, own, peer)
  }

  mutating func start(_ randomSource: inout any RandomSource) -> HandshakeAction {
    let random = randomSource.bytes(32)
    let request = PBKDFParamRequest(random: Octets(random), sessionID: sessionID, parameters: own).tlv
    state = .awaitingParameters(request: request, random: random)
    return .send(opcode: SecureChannelOpcode.pbkdfParamRequest, request)
  }

  mutating func receive(_ opcode: UInt8, _ payload: [UInt8], _ randomSource: inout any RandomSource) -> HandshakeAction
  {
    let state = self.state
    do {
      switch (state, opcode) {
      case (.awaitingParameters(let request, let random), SecureChannelOpcode.pbkdfParamResponse):
        let response = try PBKDFParamResponse(tlv: payload)
        guard response.initiatorRandom.bytes == random, let pbkdf = response.pbkdf, pbkdf.isAllowed else {
          return refuse("the PBKDF parameters are missing or out of range")
        }
        if let parameters = response.parameters { peer = parameters }
        let prover = try SPAKE2PlusProver(
          passcode: passcode, salt: pbkdf.salt.bytes, iterations: Int(pbkdf.iterations),
          context: PASEKeys.context(request, payload), random: &randomSource)
        self.state = .awaitingPake2(prover, peerSessionID: response.sessionID)
        return .send(opcode: SecureChannelOpcode.pake1, Pake1(pA: Octets(prover.pA)).tlv)

      case (.awaitingPake2(let prover, let peerSessionID), SecureChannelOpcode.pake2):
        let message = try Pake2(tlv: payload)
        let keys = try prover.finish(pB: message.pB.bytes)
        guard constantTimeEqual(keys.cB, message.cB.bytes) else { return .refuse(.invalidParameter, .wrongPasscode) }
        self.state = .awaitingStatus(keys, peerSessionID: peerSessionID)
        return .send(opcode: SecureChannelOpcode.pake3, Pake3(cA: Octets(keys.cA)).tlv)

      case (.awaitingStatus(let keys, let peerSessionID), SecureChannelOpcode.statusReport):
        guard let report = StatusReport(decoding: payload), report.general == .success else {
          return .fail(StatusReport(decoding: payload)?.asHandshakeError ?? .invalidMessage("short status report"))
        }
        self.state = .done
        return .established(try PASEKeys.session(keys, peerSessionID: peerSessionID, parameters: peer))

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
