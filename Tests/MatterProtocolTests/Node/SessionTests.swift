import MatterCrypto
import MatterModel
import Testing

@testable import MatterProtocol

@Suite struct SessionTests {
  @Test func notifiesPeerWhenSessionCloses() throws {
    var (pair, session, peerSession) = try CorePair.connected()
    let request = pair.request(on: session)
    let waiting = try #require(request)
    pair.on(0) { core, now in core.close(session, notifyingPeer: true, at: now) }
    #expect(pair.closures(0) == [.byUs])
    #expect(pair.failures(0).map(\.failure) == [.sessionClosed])
    #expect(pair.cores[0].exchanges[waiting] == nil)
    try pair.settle()
    #expect(pair.closures(1) == [.byPeer])
    #expect(pair.cores[1].session(peerSession) == nil)
    #expect(pair.cores.allSatisfy { $0.sessions.isEmpty && $0.exchanges.isEmpty })
    // The session accepts no new exchanges.
    let late = pair.request(on: session)
    #expect(late == nil)
  }

  @Test func dropsMessageOfUnknownSession() throws {
    var (pair, session, _) = try CorePair.connected()
    _ = pair.request(on: session)
    try pair.settle()
    let datagram = try #require(pair.packets.last { $0.sender == 0 }).bytes
    var other = NodeCore(random: SeededRandomSource(seed: 5))
    other.receive(datagram, from: CorePair.addresses[0], at: .zero)
    #expect(other.drops[.unknownSession] == 1)
    #expect(other.drops.total == 1)
    var output = other.nextOutput()
    #expect(output.map { "\($0)" } == nil)
    // The node has no group keys.
    let toGroup = "067ddb01785634120100000000000000020065c767bc6cda0106c9801323900e9b3ce6d4bb0327d6"
    other.receive(hexadecimal(toGroup), from: CorePair.addresses[0], at: .zero)
    #expect(other.drops[.unknownGroupKey] == 1)
    output = other.nextOutput()
    #expect(output.map { "\($0)" } == nil)
  }

  /// Sessions with open exchanges are evicted last.
  @Test func evictsLeastRecentlyUsedSession() throws {
    var small = NodeConfiguration()
    small.maximumSessions = 3
    var pair = try TestFabrics.pair([.init(), small])
    for _ in 0..<3 {
      pair.beginCASE()
      try pair.run(for: .seconds(1))
    }
    let own = pair.established(0), other = pair.established(1)
    #expect(pair.cores[1].sessions.map(\.id) == other.sorted())
    // The first session is used last, and the second one has an open exchange, so the third one is evicted.
    _ = pair.request(on: other[1], from: 1, then: .keepOpen)
    try pair.run(for: .seconds(1))
    _ = pair.request(on: own[2])
    try pair.run(for: .seconds(1))
    _ = pair.request(on: own[0])
    try pair.run(for: .seconds(1))
    pair.beginCASE()
    try pair.run(for: .seconds(2))
    let evicted = pair.outputs(of: 1).compactMap {
      if case .sessionClosed(let id, _, .evicted) = $0 { id } else { nil }
    }
    #expect(evicted == [other[2]])
    #expect(pair.cores[1].sessions.count == 3)
    #expect(pair.cores[1].session(other[1]) != nil)
  }

  @Test func closesSessionsAfterFabricRemoval() throws {
    var (pair, session, peerSession) = try CorePair.connected()
    pair.serve = { core, message, now in
      core.removeFabric(1, at: now)
      CorePair.echo(&core, message, now)
    }
    _ = pair.request([1, 2], on: session)
    try pair.settle()
    // The request that removed the fabric is answered before the session closes.
    #expect(pair.messages(0).map(\.content) == [[2, 1]])
    #expect(pair.closures(1) == [.fabricRemoved])
    #expect(pair.cores[1].session(peerSession) == nil)
    #expect(pair.cores[1].fabrics.isEmpty && pair.cores[1].resumption.all.isEmpty)
    // The next request of the peer times out.
    _ = pair.request([3], on: session)
    try pair.settle()
    #expect(pair.failures(0).map(\.failure) == [.noAcknowledgment])
    #expect(pair.cores[1].drops[.unknownSession] > 0)
  }

  @Test func followsAddressOfPeer() throws {
    var (pair, session, peerSession) = try CorePair.connected()
    let moved = SocketAddress(.v4(0x0A00_0001), port: 7777)
    _ = pair.request([1], on: session, isReliable: false, then: .close)
    let old = try #require(pair.packets.last).bytes
    _ = pair.request([2], on: session, isReliable: false, then: .close)
    let new = try #require(pair.packets.last).bytes
    pair.serve = { core, message, now in core.close(message.exchange, at: now) }
    pair.cores[1].receive(new, from: moved, at: pair.now)
    #expect(pair.cores[1].session(peerSession)?.peerAddress == moved)
    // An older message or a replay does not change the address.
    pair.cores[1].receive(old, from: CorePair.addresses[0], at: pair.now)
    pair.cores[1].receive(new, from: CorePair.addresses[0], at: pair.now)
    #expect(pair.cores[1].session(peerSession)?.peerAddress == moved)
    // A forged message does not change it either.
    var forged = new
    forged[4] &+= 1
    pair.cores[1].receive(forged, from: CorePair.addresses[0], at: pair.now)
    #expect(pair.cores[1].session(peerSession)?.peerAddress == moved)
    #expect(pair.cores[1].drops[.decryptionFailed] == 1)
  }

  @Test func closesSessionWithExhaustedCounters() throws {
    var (pair, session, _) = try CorePair.connected()
    pair.cores[0].secured.row[0].counter = .max - 1
    _ = pair.request(on: session, isReliable: false, then: .close)
    #expect(pair.cores[0].session(session) != nil)
    _ = pair.request(on: session, isReliable: false, then: .close)
    #expect(pair.cores[0].session(session) == nil)
    #expect(pair.closures(0) == [.byUs])
    try pair.settle()
    #expect(pair.messages(1).count == 1)
  }

  @Test func storesAndRestoresFabric() throws {
    for hasIntermediate in [false, true] {
      let fabrics = try TestFabrics.make(hasIntermediate: hasIntermediate)
      var fabric = fabrics[0]
      fabric.label = "Zuhause"
      fabric.identityProtectionKeys.append([UInt8](repeating: 7, count: 16))
      let back = try Fabric(tlv: fabric.tlv)
      #expect(back == fabric)
      #expect(back.compressedFabricID == fabric.compressedFabricID && back.rootPublicKey == fabric.rootPublicKey)
      #expect(fabrics[0].isSame(as: fabrics[1]) && fabrics[0] != fabrics[1])
      for count in 0..<fabric.tlv.count {
        #expect(throws: (any Error).self) { try Fabric(tlv: Array(fabric.tlv[..<count])) }
      }
    }
  }

  /// The same seed produces the same bytes at the same times.
  @Test func replaysFromSeed() throws {
    func run() throws -> [CorePair.Packet] {
      var (pair, session, _) = try CorePair.connected(seed: 42)
      pair.losses = [4, 6, 9]
      try pair.beginPASE()
      _ = pair.request([1, 2, 3], on: session)
      try pair.settle()
      return pair.packets
    }
    let first = try run(), second = try run()
    #expect(first.map(\.bytes) == second.map(\.bytes))
    #expect(first.map(\.sentAt) == second.map(\.sentAt))
    #expect(first.count > 15)
  }
}
