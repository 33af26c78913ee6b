import MatterCrypto
import MatterModel
import Testing

@testable import MatterProtocol

@Suite struct FloodTests {
  private func expectBounded(_ core: NodeCore) {
    let configuration = core.configuration
    #expect(core.unsecured.count <= configuration.maximumUnsecuredSessions)
    #expect(
      core.handshakes.count
        <= configuration.maximumInboundHandshakes + configuration.maximumInboundPASEHandshakes
        + configuration.maximumInboundResumptions)
    #expect(core.handshakes.count <= core.unsecured.count)
    #expect(core.handshakes.admission.passcode.slots.count <= configuration.maximumInboundPASEHandshakes)
    #expect(core.handshakes.admission.certificates.slots.count <= configuration.maximumInboundHandshakes)
    #expect(core.exchanges.count <= configuration.maximumUnsecuredSessions * 4)
    #expect(core.secured.count <= configuration.maximumSessions)
  }

  @Test(arguments: [
    "Sigma1 of an unknown fabric", "Sigma1 of a known fabric", "passcode", "one peer", "garbage", "spread in time",
  ])
  func boundsUnsecuredState(kind: String) throws {
    var (pair, session, peerSession) = try CorePair.connected()
    // Payloads of real first messages, created by other cores.
    var attacker = NodeCore(random: SeededRandomSource(seed: 9), fabrics: try TestFabrics.make(seed: 5))
    var member = NodeCore(random: SeededRandomSource(seed: 9), fabrics: [pair.cores[0].fabrics[0]])
    let unknownFabric = try FirstMessage.payload(&attacker) {
      _ = $0.establishCASE(fabric: 1, peer: 2, to: CorePair.addresses[1], parameters: .init(), at: .zero)
    }
    let knownFabric = try FirstMessage.payload(&member) {
      _ = $0.establishCASE(fabric: 1, peer: 2, to: CorePair.addresses[1], parameters: .init(), at: .zero)
    }
    let passcode = try FirstMessage.payload(&member) {
      _ = $0.establishPASE(passcode: 1, to: CorePair.addresses[1], parameters: .init(), at: .zero)
    }
    let parameters = try TestPasscode.parameters()
    pair.on(1) { core, _ in core.openPASE(parameters) }

    var answers = 0
    for number in 0..<3000 {
      let bytes =
        switch kind {
        case "Sigma1 of an unknown fabric", "spread in time": FirstMessage.datagram(0x30, number, unknownFabric)
        case "Sigma1 of a known fabric": FirstMessage.datagram(0x30, number, knownFabric)
        case "passcode": FirstMessage.datagram(0x20, number, passcode)
        case "one peer":
          Array(
            FirstMessage.datagram(0x30, number, unknownFabric).prefix(8) + [UInt8](repeating: 3, count: 8)
              + FirstMessage.datagram(0x30, number, unknownFabric).dropFirst(16))
        default:
          FirstMessage.datagram(UInt8(truncatingIfNeeded: number), number, [UInt8](repeating: 0x15, count: number % 40))
        }
      let from = SocketAddress(.v4(UInt32(number)), port: 9)
      pair.cores[1].receive(bytes, from: from, at: pair.now)
      if kind == "spread in time" {
        pair.now += .milliseconds(20)
        pair.cores[1].advance(to: pair.now)
      }
      while let output = pair.cores[1].nextOutput() { if case .send = output { answers += 1 } }
      if number % 300 == 0 { expectBounded(pair.cores[1]) }
    }
    expectBounded(pair.cores[1])
    #expect(answers > 0)
    #expect(pair.cores[1].sessions.map(\.id) == [peerSession])

    // The existing session still works.
    _ = pair.request([1, 2], on: session)
    try pair.run(for: .seconds(1))
    #expect(pair.messages(0).map(\.content) == [[2, 1]])

    // All state of the flood times out.
    try pair.run(for: .seconds(120))
    #expect(pair.cores[1].exchanges.isEmpty && pair.cores[1].handshakes.isEmpty)
    pair.beginCASE()
    try pair.settle()
    #expect(pair.established(0).count == 2)
  }

  /// A message that would open an exchange beyond the limit is dropped; its retransmission succeeds when an exchange
  /// has closed.
  @Test func limitsInboundExchanges() throws {
    var configuration = NodeConfiguration()
    configuration.maximumInboundExchanges = 4
    var (pair, session, _) = try CorePair.connected([.init(), configuration])
    var open: [ExchangeID] = []
    pair.serve = { _, message, _ in open.append(message.exchange) }
    for number in 0..<5 { _ = pair.request([UInt8(number)], on: session, then: .expectResponse(within: .seconds(30))) }
    try pair.run(for: .milliseconds(50))
    #expect(open.count == 4)
    #expect(pair.cores[1].drops[.exchangesExhausted] == 1)
    let first = open[0]
    pair.on(1) { core, now in
      _ = core.send(9, payload: [9], on: first, then: .close, at: now)
    }
    try pair.run(for: .seconds(1))
    #expect(open.count == 5)
    #expect(pair.messages(1).map(\.content) == [[0], [1], [2], [3], [4]])
  }
}
