import MatterCrypto
import MatterModel
import Testing

@testable import MatterProtocol

/// The records of a node, and the proof by which a responder resumes a session.
@Suite struct ResumptionTests {
  private func record(_ peer: NodeID, fabric: FabricIndex = 1, id: UInt8) -> ResumptionRecord {
    ResumptionRecord(
      fabric: fabric, peer: peer, resumptionID: [UInt8](repeating: id, count: 16),
      sharedSecret: [UInt8](repeating: id, count: 32), tags: [])
  }

  // MARK: Records

  @Test func storesOneRecordPerPeer() {
    var records = ResumptionRecords(capacity: 9)
    records.store(record(2, id: 1))
    records.store(record(2, fabric: 2, id: 2))
    records.store(record(3, id: 3))
    records.store(record(2, id: 4))
    #expect(records.all.map { $0.resumptionID[0] } == [2, 3, 4])
    #expect(records.record(fabric: 1, peer: 2) == record(2, id: 4))
    #expect(records.record(fabric: 2, peer: 2) == record(2, fabric: 2, id: 2))
    #expect(records.record(fabric: 2, peer: 3) == nil)
    #expect(records.record(resumptionID: [UInt8](repeating: 3, count: 16))?.peer == 3)
    #expect(records.record(resumptionID: [UInt8](repeating: 1, count: 16)) == nil, "the record was replaced")
  }

  @Test func evictsOldestRecord() {
    var records = ResumptionRecords([record(1, id: 1), record(2, id: 2)], capacity: 2)
    // A renewed record is the newest.
    records.store(record(1, id: 3))
    #expect(records.all.map(\.peer) == [2, 1])
    records.store(record(3, id: 4))
    #expect(records.all.map(\.peer) == [1, 3])
    var none = ResumptionRecords(capacity: 0)
    none.store(record(1, id: 1))
    none.store(record(2, id: 2))
    #expect(none.all.map(\.peer) == [2])
  }

  @Test func removesRecords() {
    let all = [record(1, id: 1), record(2, id: 2), record(1, fabric: 2, id: 3)]
    var records = ResumptionRecords(all, capacity: 9)
    records.remove(fabric: 1, peer: 1)
    #expect(records.all == [all[1], all[2]])
    records.remove(fabric: 2)
    #expect(records.all == [all[1]])
    records.remove(fabric: 1, peer: 1)
    #expect(records.all.count == 1)
  }

  // MARK: The answer of the responder

  /// Returns the action of an initiator for an answer that `change` made from a valid one.
  private func action(
    _ change: (inout Sigma2Resume, Sigma1, ResumptionRecord) throws -> Void
  ) throws -> HandshakeAction {
    let record = record(2, id: 5)
    var random: any RandomSource = SeededRandomSource(seed: 3)
    var initiator = CASEInitiator(
      fabric: try TestFabrics.make()[0], target: 2, sessionID: 7, own: .own, peer: .init(), resumption: record)
    guard case .send(_, let bytes) = initiator.start(&random) else { throw CorePair.Livelock() }
    let sigma1 = try Sigma1(tlv: bytes)
    let id = [UInt8](repeating: 9, count: 16)
    var answer = Sigma2Resume(resumptionID: Octets(id), sessionID: 8)
    answer.mic = try mic(of: record, id, sigma1)
    try change(&answer, sigma1, record)
    return initiator.receive(SecureChannelOpcode.sigma2Resume, answer.tlv, &random, DeterministicSignatures())
  }

  private func mic(
    of record: ResumptionRecord, _ id: [UInt8], _ sigma1: Sigma1, info: String = "Sigma2_Resume",
    nonce: [UInt8] = CASEKeys.resume2Nonce
  ) throws -> Octets<16> {
    Octets(
      try CASEKeys.resumeMIC(
        secret: record.sharedSecret, random: sigma1.random.bytes, resumptionID: id, info: info, nonce: nonce))
  }

  private func expectRejection(
    _ comment: Comment, _ change: (inout Sigma2Resume, Sigma1, ResumptionRecord) throws -> Void
  ) throws {
    guard case .refuse(.invalidParameter, let error) = try action(change) else {
      Issue.record("accepted: \(comment)")
      return
    }
    #expect(error == .untrusted("the resumption proof is wrong"), comment)
  }

  @Test func acceptsProofOfResponder() throws {
    guard case .establish(let keys) = try action({ _, _, _ in }) else {
      Issue.record("a valid answer was rejected")
      return
    }
    #expect(keys.peerNodeID == 2 && keys.peerSessionID == 8)
    #expect(keys.resumption?.resumptionID == [UInt8](repeating: 9, count: 16))
  }

  @Test func rejectsFalseProofOfResponder() throws {
    for index in 0..<16 {
      try expectRejection("byte \(index)") { answer, _, _ in
        var bytes = answer.mic.bytes
        bytes[index] ^= 0x80
        answer.mic = Octets(bytes)
      }
    }
    try expectRejection("another resumption id") { answer, _, _ in
      answer.resumptionID = Octets([UInt8](repeating: 8, count: 16))
    }
    try expectRejection("another secret") { answer, sigma1, _ in
      answer.mic = try mic(of: record(2, id: 6), answer.resumptionID.bytes, sigma1)
    }
    try expectRejection("the proof of another handshake") { answer, sigma1, record in
      var other = sigma1
      other.random = Octets([UInt8](repeating: 1, count: 32))
      answer.mic = try mic(of: record, answer.resumptionID.bytes, other)
    }
    // A responder without the secret can only repeat the proof of the initiator.
    try expectRejection("the initiator's own proof") { answer, sigma1, _ in
      answer.resumptionID = sigma1.resumptionID ?? []
      answer.mic = sigma1.resumeMIC ?? []
    }
  }

  @Test func failsHandshakeOnFalseProof() throws {
    var (pair, session, _) = try CorePair.connected()
    let records = pair.cores[0].resumption.all
    pair.isLost = { core, _ in core == 1 }
    pair.beginCASE()
    try pair.run(for: .milliseconds(20))
    // The answer of core 1 is replaced by an altered one.
    let sent = try #require(pair.sent(by: 1).last).bytes
    let (message, payload, content) = try clearHeaders(sent)
    #expect(payload.opcode == SecureChannelOpcode.sigma2Resume)
    var answer = try Sigma2Resume(tlv: content)
    answer.mic = Octets(answer.mic.bytes.map { ~$0 })
    let forged = message.datagram(payload, capacity: 64) { $0.append(raw: answer.tlv) }.bytes
    pair.on(0) { core, now in core.receive(forged, from: CorePair.addresses[1], at: now) }
    #expect(pair.handshakeErrors(0) == [.untrusted("the resumption proof is wrong")])
    #expect(pair.cores[0].sessions.map(\.id) == [session] && pair.cores[0].handshakes.isEmpty)
    #expect(pair.cores[0].resumption.all == records, "the record stays valid")
    // The responder is notified, and establishes no session.
    pair.isLost = { _, _ in false }
    try pair.settle()
    let report = try #require(pair.sent(by: 0).last { $0.bytes.count > 30 })
    #expect(StatusReport(decoding: try clearHeaders(report.bytes).content) == .invalidParameter)
    #expect(pair.established(1).count == 1 && pair.cores.allSatisfy { $0.handshakes.isEmpty && $0.exchanges.isEmpty })
  }
}
