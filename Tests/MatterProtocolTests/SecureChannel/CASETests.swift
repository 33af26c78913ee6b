import MatterCertificates
import MatterCrypto
import MatterModel
import Testing

@testable import MatterProtocol

@Suite struct CASETests {
  @Test(arguments: [false, true])
  func establishesSession(hasIntermediate: Bool) throws {
    let fabrics = try TestFabrics.make(hasIntermediate: hasIntermediate, tags: [0x0001_0002])
    var pair = CorePair(fabrics: fabrics.map { [$0] })
    pair.beginCASE()
    try pair.settle()

    let left = try #require(pair.established(0).first.flatMap { pair.cores[0].session($0) })
    let right = try #require(pair.established(1).first.flatMap { pair.cores[1].session($0) })
    #expect(left.kind == .case && right.kind == .case)
    #expect(left.fabric == 1 && right.fabric == 1)
    #expect(left.localNodeID == 1 && left.peerNodeID == 2)
    #expect(right.localNodeID == 2 && right.peerNodeID == 1)
    #expect(right.tags == [0x0001_0002] && left.tags == [0x0001_0002])
    #expect(left.attestationChallenge == right.attestationChallenge)
    let opcodes = try pair.packets.map { try clearHeaders($0.bytes).payload.opcode }
    #expect(opcodes == [0x30, 0x31, 0x32, 0x40, 0x10])
    #expect(pair.packets.allSatisfy { $0.bytes.count <= 1232 })

    _ = pair.request([7], on: left.id)
    try pair.settle()
    #expect(pair.messages(1).map(\.content) == [[7]])
    #expect(pair.messages(0).map(\.content) == [[7]])
    #expect(pair.cores[0].newestSession(fabric: 1, peer: 2) == left.id)
    #expect(pair.cores[1].newestSession(fabric: 1, peer: 1) == right.id)
  }

  @Test func resumesSession() throws {
    var (pair, first, _) = try CorePair.connected()
    for _ in 0..<3 {
      let begin = pair.packets.count
      pair.beginCASE()
      try pair.settle()
      let opcodes = try pair.packets[begin...].map { try clearHeaders($0.bytes).payload.opcode }
      #expect(opcodes == [0x30, 0x33, 0x40, 0x10])
    }
    #expect(pair.established(0).count == 4 && pair.established(1).count == 4)
    let infos = pair.established(0).compactMap { pair.cores[0].session($0) }
    #expect(Set(infos.map(\.attestationChallenge)).count == 4)
    let peers = pair.established(1).compactMap { pair.cores[1].session($0) }
    #expect(infos.map(\.attestationChallenge) == peers.map(\.attestationChallenge))
    #expect(infos.allSatisfy { $0.peerNodeID == 2 && $0.fabric == 1 })
    #expect(peers.allSatisfy { $0.peerNodeID == 1 && $0.localNodeID == 2 })
    // There is one record per peer, and it is equal on both sides.
    #expect(pair.cores[0].resumption.all.count == 1)
    #expect(pair.cores[0].resumption.all.map(\.resumptionID) == pair.cores[1].resumption.all.map(\.resumptionID))
    _ = pair.request([1], on: try #require(pair.established(0).last))
    try pair.settle()
    #expect(pair.messages(0).count == 1)
    #expect(pair.cores[0].session(first) != nil)
  }

  @Test func resumesAfterRestart() throws {
    var (pair, _, _) = try CorePair.connected()
    let records = pair.cores.map(\.resumption.all)
    let fabrics = pair.cores.map(\.fabrics)
    for index in 0...1 {
      pair.cores[index] = NodeCore(
        random: SeededRandomSource(seed: 500 + UInt64(index)), fabrics: fabrics[index], resumption: records[index])
    }
    let begin = pair.packets.count
    pair.beginCASE()
    try pair.settle()
    #expect(try pair.packets[begin...].map { try clearHeaders($0.bytes).payload.opcode } == [0x30, 0x33, 0x40, 0x10])
  }

  /// If the responder has no record or another one, the handshake uses certificates.
  @Test(arguments: [0, 1])
  func fallsBackWithoutResponderRecord(variant: Int) throws {
    var (pair, _, _) = try CorePair.connected()
    if variant == 0 {
      pair.cores[1].resumption.remove(fabric: 1)
    } else {
      try pair.changeResumptionSecret(1)
    }
    let begin = pair.packets.count
    pair.beginCASE()
    try pair.settle()
    #expect(
      try pair.packets[begin...].map { try clearHeaders($0.bytes).payload.opcode } == [0x30, 0x31, 0x32, 0x40, 0x10])
    #expect(pair.established(0).count == 2)
    #expect(pair.cores[0].resumption.all.map(\.peer) == [2])
  }

  @Test func keepsRecordDuringHandshake() throws {
    var (pair, _, _) = try CorePair.connected()
    let begin = pair.packets.count
    pair.beginCASE()
    // The handshake uses the record with which it started: with this one, it would reject the answer.
    try pair.changeResumptionSecret(0)
    try pair.settle()
    #expect(try pair.packets[begin...].map { try clearHeaders($0.bytes).payload.opcode } == [0x30, 0x33, 0x40, 0x10])
    #expect(pair.handshakeErrors(0).isEmpty && pair.established(0).count == 2 && pair.established(1).count == 2)
  }

  @Test func survivesLossOfOnePacket() throws {
    for lost in 0..<9 {
      var pair = try TestFabrics.pair()
      pair.losses = [lost]
      pair.beginCASE()
      try pair.settle()
      pair.beginCASE()
      try pair.settle()
      #expect(pair.established(0).count == 2, "packet \(lost)")
      #expect(pair.established(1).count == 2, "packet \(lost)")
      #expect(pair.cores.allSatisfy { $0.exchanges.isEmpty && $0.handshakes.isEmpty }, "packet \(lost)")
    }
  }

  @Test func rejectsUnknownRoot() throws {
    let left = try TestFabrics.make(), right = try TestFabrics.make(seed: 78)
    var pair = CorePair(fabrics: [[left[0]], [right[1]]])
    pair.beginCASE()
    try pair.settle()
    #expect(pair.handshakeErrors(0) == [.refused(StatusReport(.failure, .noSharedTrustRoots))])
    #expect(pair.cores.allSatisfy { $0.sessions.isEmpty && $0.handshakes.isEmpty && $0.exchanges.isEmpty })
  }

  @Test func rejectsOtherNodeOfFabric() throws {
    let fabrics = try TestFabrics.make(nodes: [1, 2, 3])
    var pair = CorePair(fabrics: [[fabrics[0]], [fabrics[2]]])
    pair.beginCASE(peer: 2)
    try pair.settle()
    #expect(pair.handshakeErrors(0) == [.refused(StatusReport(.failure, .noSharedTrustRoots))])
  }

  @Test func rejectsOtherEpochKey() throws {
    let left = try TestFabrics.make()
    let right = try TestFabrics.make(epochKey: Array("another epoch's!".utf8))
    var pair = CorePair(fabrics: [[left[0]], [right[1]]])
    pair.beginCASE()
    try pair.settle()
    #expect(pair.handshakeErrors(0) == [.refused(StatusReport(.failure, .noSharedTrustRoots))])

    // During a key rotation, the responder has several keys.
    var both = right[1]
    both.identityProtectionKeys += left[1].identityProtectionKeys
    pair = CorePair(fabrics: [[left[0]], [both]])
    pair.beginCASE()
    try pair.settle()
    #expect(pair.established(0).count == 1 && pair.established(1).count == 1)
  }

  @Test func rejectsSignatureOfOtherKey() throws {
    let fabrics = try TestFabrics.make(nodes: [1, 2, 3])
    let impostor = try Fabric(
      index: 1, rootCertificate: fabrics[0].rootCertificate, intermediateCertificate: nil,
      operationalCertificate: fabrics[1].operationalCertificate, operationalKey: fabrics[2].operationalKey,
      epochKey: TestFabrics.epochKey, adminVendorID: 0xFFF1)
    var pair = CorePair(fabrics: [[fabrics[0]], [impostor]])
    pair.beginCASE()
    try pair.settle()
    #expect(pair.handshakeErrors(0) == [.untrusted("the signature is wrong")])

    // With exchanged roles, the responder refuses.
    pair = CorePair(fabrics: [[impostor], [fabrics[0]]])
    pair.beginCASE(peer: 1)
    try pair.settle()
    #expect(pair.handshakeErrors(0) == [.refused(.invalidParameter)])
    #expect(pair.cores[1].sessions.isEmpty)
  }

  @Test func answersBusyWithoutFreeSlot() throws {
    var configuration = NodeConfiguration()
    configuration.maximumInboundHandshakes = 0
    var pair = try TestFabrics.pair([.init(), configuration])
    pair.beginCASE()
    try pair.settle()
    #expect(pair.handshakeErrors(0) == [.busy(wait: .milliseconds(500))])
    #expect(pair.cores[1].drops[.handshakesExhausted] == 1)
  }

  /// A peer that abandons its handshake loses the slot to the next one, but only after the timeout of the slot.
  @Test func evictsAbandonedHandshake() throws {
    var configuration = NodeConfiguration()
    configuration.maximumInboundHandshakes = 1
    var pair = try TestFabrics.pair([.init(), configuration])
    // The opcode follows a header with a source: core 0 never sends Sigma3.
    pair.isLost = { core, bytes in core == 0 && bytes.count > 17 && bytes[17] == SecureChannelOpcode.sigma3 }
    pair.beginCASE()
    try pair.run(for: .seconds(4))
    #expect(pair.cores[1].handshakes.count == 1)
    pair.beginCASE()
    try pair.run(for: .milliseconds(500))
    #expect(pair.handshakeErrors(0).last == .busy(wait: .milliseconds(500)))

    try pair.run(for: .seconds(1))
    pair.isLost = { _, _ in false }
    pair.beginCASE()
    try pair.settle()
    #expect(!pair.cores[1].sessions.isEmpty)
    #expect(pair.cores[1].handshakes.isEmpty)
  }

  /// CASE handshakes have their own slots, so they can't block commissioning.
  @Test func separatesPASESlotsFromCASESlots() throws {
    var configuration = NodeConfiguration()
    configuration.maximumInboundHandshakes = 0
    var pair = try TestFabrics.pair([.init(), configuration])
    _ = try pair.beginPASE()
    try pair.settle()
    #expect(pair.cores[1].sessions.map(\.kind) == [.pase])
  }

  @Test func timesOutWithoutAnswer() throws {
    var pair = try TestFabrics.pair()
    pair.isLost = { _, _ in true }
    pair.beginCASE()
    try pair.settle()
    #expect(pair.handshakeErrors(0) == [.timedOut])
    #expect(pair.packets.count == 5)
    #expect(Set(pair.packets.map(\.bytes)).count == 1)
    #expect(pair.cores[0].exchanges.isEmpty)
  }

  @Test func cancelsHandshakeSilently() throws {
    var pair = try TestFabrics.pair()
    let handshake = pair.beginCASE()
    pair.on(0) { core, now in core.cancel(handshake, at: now) }
    try pair.settle()
    #expect(pair.outputs(of: 0).isEmpty)
    #expect(pair.cores[0].handshakes.isEmpty && pair.cores[0].exchanges.isEmpty)
    #expect(pair.cores[1].handshakes.isEmpty && pair.cores[1].exchanges.isEmpty)
  }

  @Test func failsForUnknownFabric() throws {
    var pair = CorePair()
    pair.beginCASE()
    try pair.settle()
    #expect(pair.handshakeErrors(0) == [.noResources])
    #expect(pair.cores[0].exchanges.isEmpty && pair.cores[0].unsecured.count == 0)
  }

  @Test func failsWhenFabricIsRemovedDuringHandshake() throws {
    var pair = try TestFabrics.pair()
    pair.beginCASE()
    try pair.run(for: .milliseconds(7))
    #expect(pair.cores[1].handshakes.count == 1)
    pair.on(1) { core, now in core.removeFabric(1, at: now) }
    try pair.settle()
    #expect(pair.established(1).isEmpty)
    #expect(pair.cores[1].sessions.isEmpty && pair.cores[1].resumption.all.isEmpty)
    #expect(pair.established(0).isEmpty, "the initiator must not receive a success report")
  }

  @Test(
    "treats an empty or null ICAC and resumption id as absent", arguments: [[0x30, 2, 0], [0x34, 2]] as [[UInt8]])
  func absentCredentials(icac: [UInt8]) throws {
    let fabrics = try TestFabrics.make(hasIntermediate: false, tags: [])
    let (own, peer) = ([UInt8](repeating: 2, count: 65), [UInt8](repeating: 3, count: 65))
    let sound = try SigmaCredentials.own(
      of: fabrics[0], sender: own, receiver: peer, DeterministicSignatures()
    ).tlv
    let id: [UInt8] = icac.count == 2 ? [0x34, 4] : [0x30, 4, 0]
    let credentials = try SigmaCredentials(tlv: sound.dropLast() + icac + id + [0x18])
    #expect(credentials.resumptionID == nil)
    let node = try CASEKeys.authenticate(credentials, fabric: fabrics[1], sender: own, receiver: peer).0
    #expect(node == fabrics[0].nodeID)
    // Signed including the empty ICAC.
    var signed = credentials
    let empty = SigmaCredentials.toBeSigned(
      operationalCertificate: fabrics[0].operationalCertificate, intermediateCertificate: [], sender: own,
      receiver: peer)
    signed.intermediateCertificate = []
    signed.signature = Octets(try DeterministicSignatures().sign(message: empty, with: fabrics[0].operationalKey))
    #expect(try CASEKeys.authenticate(signed, fabric: fabrics[1], sender: own, receiver: peer).0 == node)
    // Empty resumption fields count as absent.
    var sigma1 = Sigma1(random: Octets([UInt8](repeating: 1, count: 32)), sessionID: 5)
    sigma1.destinationID = Octets([UInt8](repeating: 1, count: 32))
    sigma1.publicKey = Octets(own)
    let read = try Sigma1(tlv: sigma1.tlv.dropLast() + [0x30, 6, 0, 0x30, 7, 0, 0x18])
    #expect(read.resumptionID == nil && read.resumeMIC == nil && read.isComplete)
    #expect(throws: TLVError.self) { try Sigma1(tlv: sigma1.tlv.dropLast() + [0x30, 6, 1, 9, 0x18]) }
  }
}
