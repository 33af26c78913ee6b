import MatterCertificates
import MatterCrypto
import MatterModel
import MatterProtocol

/// A minimal commissioner: a fabric of its own and a messaging core.
struct Administrator {
  struct Answer {
    let exchange: ExchangeID
    let opcode: InteractionOpcode
    let bytes: [UInt8]
  }

  var address: SocketAddress
  let vendor: VendorID
  let node: NodeID = 0x1_0001
  let deviceNode: NodeID = 0x2_0001
  let fabricID: FabricID
  let epochKey: [UInt8]
  let authority: CertificateAuthority
  var random: SeededRandomSource
  var core: NodeCore

  var established: SessionID?
  /// The messages received since the last request.
  var answers: [Answer] = []
  /// The reports on exchanges that the device opened.
  var reports: [ReportData] = []
  /// Other messages on exchanges that the device opened.
  var requests: [Answer] = []
  /// The exchange of the request that is being answered.
  var answered: ExchangeID?
  /// The status response to reports; nil for none.
  var reportStatus: StatusCode? = .success
  var closed: [SessionID] = []
  /// The payloads of Check-In messages.
  var checkIns: [[UInt8]] = []

  init(
    number: Int, vendor: VendorID, validity: CertificateValidity = CertificateValidity(notBefore: .seconds(1))
  ) throws {
    random = SeededRandomSource(seed: 1000 + UInt64(number))
    self.vendor = vendor
    address = SocketAddress(.loopback6, port: 50_000 + UInt16(number))
    fabricID = FabricID(0xFAB + UInt64(number))
    epochKey = random.bytes(16)
    authority = try CertificateAuthority(
      rootKey: P256PrivateKey(random: &random), rcacID: 1 + UInt64(number),
      validity: CertificateValidity(notBefore: .seconds(1)), random: &random, signatures: DeterministicSignatures())
    let key = P256PrivateKey(random: &random)
    let noc = try authority.issueNOC(
      publicKey: key.publicKey, nodeID: node.rawValue, fabricID: fabricID.rawValue,
      validity: validity, random: &random, signatures: DeterministicSignatures())
    let fabric = try Fabric(
      index: 1, rootCertificate: authority.root.tlv, intermediateCertificate: nil, operationalCertificate: noc.tlv,
      operationalKey: key, epochKey: epochKey, adminVendorID: vendor)
    core = NodeCore(random: random, signatures: DeterministicSignatures(), fabrics: [fabric])
  }

  mutating func issue(_ key: P256PublicKey, node: NodeID? = nil) throws -> [UInt8] {
    try authority.issueNOC(
      publicKey: key, nodeID: (node ?? deviceNode).rawValue, fabricID: fabricID.rawValue,
      validity: CertificateValidity(notBefore: .seconds(1)), random: &random, signatures: DeterministicSignatures()
    ).tlv
  }

  /// - Returns: A datagram for the device.
  mutating func react(to output: NodeOutput, at now: Instant) -> [UInt8]? {
    switch output {
    case .send(let bytes, _): return bytes
    case .sessionEstablished(let id, _): established = id
    case .sessionClosed(let id, _, _): closed.append(id)
    case .message(let message):
      let bytes = Array(message.bytes[message.payload])
      if message.exchange.isInitiator {
        answers.append(Answer(exchange: message.exchange, opcode: InteractionOpcode(message.opcode), bytes: bytes))
      } else if message.protocolID != .interactionModel || message.opcode != ReportData.opcode.rawValue {
        requests.append(Answer(exchange: message.exchange, opcode: InteractionOpcode(message.opcode), bytes: bytes))
      } else if let report = try? ReportData(decoding: bytes) {
        reports.append(report)
        if let reportStatus {
          let status = StatusResponse(reportStatus)
          core.send(
            StatusResponse.opcode.rawValue, payload: status.encoded, on: message.exchange,
            then: report.moreChunkedMessages ? .keepOpen : .close, at: now)
        }
      }
    case .checkIn(let payload, _): checkIns.append(payload)
    case .handshakeFailed, .paseAttemptFailed, .exchangeFailed, .resumptionChanged, .groupMessage,
      .groupCounterReserved:
      break
    }
    return nil
  }
}
