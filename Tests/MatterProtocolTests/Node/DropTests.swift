import MatterCrypto
import MatterModel
import Testing

@testable import MatterProtocol

/// Provokes each drop reason.
@Suite struct DropTests {
  private static let sender = SocketAddress(.loopback4, port: 9)

  private func clear(
    _ opcode: UInt8, source: NodeID = 77, counter: UInt32 = 1, exchange: UInt16 = 1,
    protocolID: ProtocolID = .secureChannel, _ payload: [UInt8] = []
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    MessageHeader(sessionID: 0, counter: counter, source: source).encode(to: &bytes)
    PayloadHeader(isFromInitiator: true, needsAck: false, opcode: opcode, exchange: exchange, protocolID: protocolID)
      .encode(to: &bytes)
    return bytes + payload
  }

  private func group(_ key: GroupKey, source: NodeID, counter: UInt32 = 1, needsAck: Bool = false) throws -> [UInt8] {
    var bytes: [UInt8] = []
    let header = MessageHeader(
      sessionID: key.sessionID, sessionKind: .group, counter: counter, source: source, destination: .group(7))
    header.encode(to: &bytes)
    let end = bytes.count
    PayloadHeader(isFromInitiator: true, needsAck: needsAck, opcode: 8, exchange: 1, protocolID: .interactionModel)
      .encode(to: &bytes)
    let nonce = Nonce(
      securityFlags: header.securityFlags, messageCounter: counter, sourceNodeID: source.rawValue)
    try key.encryption.seal(&bytes, from: end, nonce: nonce, aad: 0..<end)
    return bytes
  }

  @Test(arguments: DropReason.allCases) func countsEachReasonOnce(_ reason: DropReason) throws {
    var configuration = NodeConfiguration()
    if reason == .handshakesExhausted { configuration.maximumInboundPASEHandshakes = 0 }
    var (pair, session, _) = try CorePair.connected([.init(), configuration])
    let key = try GroupKey(
      epochKey: Array("a key for groups".utf8), compressedFabricID: pair.cores[1].fabrics[0].compressedFabricID)
    pair.on(1) { core, _ in core.setGroupKeys([GroupKeySet(id: 1, keys: [key], groups: [7])], of: 1) }
    let before = pair.cores[1].drops
    func receive(_ bytes: [UInt8]) {
      pair.cores[1].receive(bytes, from: Self.sender, at: pair.now)
      while pair.cores[1].nextOutput() != nil {}
    }
    /// Returns an undelivered message of core 0 on the session.
    func secured(_ send: (inout CorePair) -> Void = { _ = $0.request(on: $0.cores[0].sessions[0].id) }) throws
      -> [UInt8]
    {
      pair.isLost = { _, _ in true }
      send(&pair)
      return try #require(pair.packets.last { $0.sender == 0 }).bytes
    }
    var begin = PBKDFParamRequest()
    begin.random = Octets([UInt8](repeating: 7, count: 32))
    let request = begin.tlv
    let parameters = try TestPasscode.parameters()
    switch reason {
    case .oversized: receive([UInt8](repeating: 0, count: 1281))
    case .malformedHeader: receive([0])
    case .unknownVersion: receive([0x10] + [UInt8](repeating: 0, count: 40))
    case .unknownSession:
      var bytes = try secured()
      bytes[1] ^= 0x55
      receive(bytes)
    case .decryptionFailed:
      var bytes = try secured()
      bytes[bytes.count - 1] ^= 1
      receive(bytes)
    case .malformedPayloadHeader: receive(Array(clear(0x30).dropLast(3)))
    case .duplicate:
      let bytes = try secured()
      receive(bytes)
      receive(bytes)
    case .unknownExchange: receive(clear(SecureChannelOpcode.pake1))
    case .exchangesExhausted:
      // Unacknowledged responses keep their exchanges open.
      for number in 1...5 {
        receive(clear(SecureChannelOpcode.sigma1, counter: UInt32(number), exchange: UInt16(number)))
      }
    case .unexpectedOpcode:
      receive(
        try secured { pair in
          pair.on(0) { core, now in
            guard let exchange = core.openExchange(on: session, at: now) else { return }
            core.send(
              SecureChannelOpcode.statusReport, protocolID: .secureChannel, payload: StatusReport.established.encoded,
              on: exchange, then: .close, at: now)
          }
        })
    case .unsecuredMessage: receive(clear(8, protocolID: .interactionModel))
    case .handshakesExhausted:
      pair.on(1) { core, _ in core.openPASE(parameters) }
      receive(clear(SecureChannelOpcode.pbkdfParamRequest, request))
    case .tooManyStarts:
      for number in 0...UInt64(configuration.maximumStartsPerSecond) {
        receive(clear(SecureChannelOpcode.sigma1, source: NodeID(100 + number)))
      }
    case .unknownGroupKey:
      pair.on(1) { core, _ in core.setGroupKeys([], of: 1) }
      receive(try group(key, source: 1))
    case .improperGroupMessage: receive(try group(key, source: 1, needsAck: true))
    case .groupPeersExhausted:
      for node in 1...UInt64(GroupPeerTable.maximumPeers + 1) { receive(try group(key, source: NodeID(node))) }
    case .notCommissionable: receive(clear(SecureChannelOpcode.pbkdfParamRequest, request))
    case .malformedMessage:
      pair.on(1) { core, _ in core.openPASE(parameters) }
      receive(clear(SecureChannelOpcode.pbkdfParamRequest, request))
      receive(clear(SecureChannelOpcode.statusReport, counter: 2, [1, 0]))
      #expect(pair.cores[1].handshakes.isEmpty)
    case .unexpectedMessage:
      // Counted by the layer above; see the tests of MatterDevice.
      pair.on(1) { core, _ in core.countDrop(.unexpectedMessage) }
    }
    #expect(pair.cores[1].drops[reason] == before[reason] + 1)
    #expect(pair.cores[1].drops.total == before.total + 1, "\(pair.cores[1].drops.all)")
  }

  /// For both kinds of handshakes and all of their stages.
  @Test func dropsTruncatedStatusReports() throws {
    for isPASE in [true, false] {
      for stage in 0..<4 {
        var pair = try TestFabrics.pair()
        if isPASE { try pair.beginPASE() } else { pair.beginCASE() }
        for _ in 0..<stage { try pair.step() }
        for index in 0...1 {
          guard let exchange = pair.cores[index].handshakes.exchanges.first,
            let handshake = pair.cores[index].handshakes[exchange]
          else { continue }
          let context = try #require(pair.cores[index].unsecured[exchange.session])
          var bytes: [UInt8] = []
          MessageHeader(
            sessionID: 0, counter: 0x4000_0000, source: context.isInitiator ? nil : context.ephemeralID,
            destination: context.isInitiator ? .node(context.ephemeralID) : .none
          ).encode(to: &bytes)
          PayloadHeader(
            isFromInitiator: !context.isInitiator, needsAck: false, opcode: SecureChannelOpcode.statusReport,
            exchange: exchange.number, protocolID: .secureChannel
          ).encode(to: &bytes)
          var core = pair.cores[index]
          core.receive(bytes + [0], from: CorePair.addresses[1 - index], at: pair.now)
          #expect(core.drops[.malformedMessage] == 1 && core.drops.total == 1, "\(handshake.kind) \(stage)")
          #expect(core.handshakes.isEmpty)
        }
      }
    }
  }
}
