import MatterCrypto
import MatterModel
import Testing

@testable import MatterProtocol

/// Isolation of fabrics from each other, and from a later fabric with the same index.
@Suite struct IsolationTests {
  /// A handshake must not result in a session of another fabric that reuses the index.
  @Test func endsHandshakeWhenFabricIsRemoved() throws {
    var pair = try TestFabrics.pair()
    pair.beginCASE()
    try pair.run(for: .milliseconds(7))
    #expect(pair.cores[1].handshakes.count == 1, "the last message is still pending")
    let other = try TestFabrics.make(fabricID: 0xBAD, seed: 5)[1]
    pair.on(1) { core, now in
      core.removeFabric(1, at: now)
      core.install(other)
    }
    #expect(pair.cores[1].handshakes.isEmpty)
    try pair.run(for: .seconds(120))
    #expect(pair.established(1).isEmpty)
    #expect(pair.cores[1].sessions.isEmpty && pair.cores[1].exchanges.isEmpty)
  }

  /// A new certificate ends handshakes and resumption under the old one; a new label does not.
  @Test func removesResumptionWhenCertificateChanges() throws {
    var (pair, _, _) = try CorePair.connected()
    #expect(pair.cores[1].resumption.all.count == 1)
    var fabric = pair.cores[1].fabrics[0]
    fabric.label = "Home"
    pair.on(1) { core, _ in core.install(fabric) }
    #expect(pair.cores[1].resumption.all.count == 1)
    let renewed = try TestFabrics.make(nodes: [1, 3])[1]
    pair.on(1) { core, _ in core.install(renewed) }
    #expect(pair.cores[1].resumption.all.isEmpty)
    // Only the new node id is answered.
    pair.beginCASE(peer: 2)
    try pair.run(for: .seconds(90))
    pair.beginCASE(peer: 3)
    try pair.run(for: .seconds(1))
    #expect(pair.established(1).count == 2)
  }

  /// The session of a removed fabric remains while an exchange is open, but rejects new exchanges.
  @Test func rejectsNewExchangeOnExpiringSession() throws {
    var (pair, session, peerSession) = try CorePair.connected()
    pair.serve = { _, _, _ in }
    _ = pair.request([1], on: session, then: .expectResponse(within: .seconds(30)))
    try pair.run(for: .seconds(1))
    pair.on(1) { core, now in core.removeFabric(1, at: now) }
    #expect(pair.cores[1].isExpiring(peerSession))
    _ = pair.request([2], on: session)
    try pair.run(for: .seconds(1))
    #expect(pair.messages(1).map(\.content) == [[1]])
    #expect(pair.cores[1].drops[.unknownExchange] == 1)
  }

  private func twoFabrics(_ configuration: NodeConfiguration) throws -> CorePair {
    let first = try TestFabrics.make()
    let second = try TestFabrics.make(fabricID: 0xFAC, seed: 5, index: 2)
    return CorePair(
      configurations: [.init(), configuration], fabrics: [[first[0], second[0]], [first[1], second[1]]])
  }

  private func open(_ fabric: FabricIndex, in pair: inout CorePair) throws {
    pair.on(0) { core, now in
      _ = core.establishCASE(fabric: fabric, peer: 2, to: CorePair.addresses[1], parameters: .init(), at: now)
    }
    try pair.run(for: .seconds(1))
  }

  @Test func evictsSessionsOfLargestFabric() throws {
    var small = NodeConfiguration()
    small.maximumSessions = 4
    var pair = try twoFabrics(small)
    try open(1, in: &pair)
    for _ in 0..<8 { try open(2, in: &pair) }
    #expect(pair.cores[1].sessions.map(\.fabric.rawValue).sorted() == [1, 2, 2, 2])
  }

  @Test func dropsOversizedDatagrams() {
    var core = NodeCore(random: SeededRandomSource(seed: 5))
    core.receive([UInt8](repeating: 0, count: 1281), from: CorePair.addresses[0], at: .zero)
    #expect(core.drops[.oversized] == 1 && core.drops.total == 1)
  }
}
