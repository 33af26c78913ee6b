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
    #expect(core.admission.passcode.slots.count <= configuration.maximumInboundPASEHandshakes)
    #expect(core.admission.certificates.slots.count <= configuration.maximumInboundHandshakes)
    #expect(core.exchanges.count <= configuration.maximumUnsecuredSessions * 4)
    #expect(core.secured.count <= configuration.maximumSessions)
  }

  @Test(arguments: ["sigma1 for nobody", "sigma1 for us", "passcode", "one peer", "garbage", "spread in time"])
  func aFloodInTheClear(kind: String) throws {
    var (pair, session, peerSession) = try CorePair.connected()
    // Payloads of real first messages, from cores of their own.
    var stranger = NodeCore(random: SeededRandomSource(seed: 9), fabrics: try TestFabrics.make(seed: 5))
    var member = NodeCore(random: SeededRandomSource(seed: 9), fabrics: [pair.cores[0].fabrics[0]])
    let forNobody = try FirstMessage.payload(&stranger) {
      _ = $0.establishCASE(fabric: 1, peer: 2, to: CorePair.addresses[1], parameters: .init(), at: .zero)
    }
    let forUs = try FirstMessage.payload(&member) {
      _ = $0.establishCASE(fabric: 1, peer: 2, to: CorePair.addresses[1], parameters: .init(), at: .zero)
    }
    let passcode = try FirstMessage.payload(&member) {
      _ = $0.establishPASE(passcode: 1, to: CorePair.addresses[1], parameters: .init(), at: .zero)
    }
    let parameters = try TestPasscode.parameters()
    pair.on(1) { core, _ in core.openPASE(parameters) }

    var answers = 0
    for number in 0..<10_000 {
      let bytes =
        switch kind {
        case "sigma1 for nobody", "spread in time": FirstMessage.datagram(0x30, number, forNobody)
        case "sigma1 for us": FirstMessage.datagram(0x30, number, forUs)
        case "passcode": FirstMessage.datagram(0x20, number, passcode)
        case "one peer":
          Array(
            FirstMessage.datagram(0x30, number, forNobody).prefix(8) + [UInt8](repeating: 3, count: 8)
              + FirstMessage.datagram(0x30, number, forNobody).dropFirst(16))
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
      if number % 1000 == 0 { expectBounded(pair.cores[1]) }
    }
    expectBounded(pair.cores[1])
    #expect(answers > 0)
    #expect(pair.cores[1].sessions.map(\.id) == [peerSession])

    // The session that was there works in the midst of it.
    _ = pair.request([1, 2], on: session)
    try pair.run(for: .seconds(1))
    #expect(pair.messages(0).map(\.content) == [[2, 1]])

    // And all of it passes.
    try pair.run(for: .seconds(120))
    #expect(pair.cores[1].exchanges.isEmpty && pair.cores[1].handshakes.isEmpty)
    pair.beginCASE()
    try pair.settle()
    #expect(pair.established(0).count == 2)
  }

  /// A peer with a session may have no more exchanges open than there is room for; when there is room again, the
  /// retransmission of what was dropped gets in.
  @Test func exchangesAreBounded() throws {
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
