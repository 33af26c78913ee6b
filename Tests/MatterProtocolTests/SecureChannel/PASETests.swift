import MatterCrypto
import MatterModel
import Testing

@testable import MatterProtocol

@Suite struct PASETests {
  @Test func establishesSession() throws {
    var pair = CorePair()
    let handshake = try pair.beginPASE()
    try pair.settle()

    let own = try #require(pair.established(0).first)
    let other = try #require(pair.established(1).first)
    guard case .sessionEstablished(_, handshake)? = pair.outputs(of: 0).first else {
      Issue.record("the session does not name its handshake")
      return
    }
    let left = try #require(pair.cores[0].session(own))
    let right = try #require(pair.cores[1].session(other))
    #expect(left.kind == .pase && right.kind == .pase)
    #expect(left.isInitiator && !right.isInitiator)
    #expect(left.attestationChallenge.count == 16)
    #expect(left.attestationChallenge == right.attestationChallenge)
    #expect(left.attestationChallenge != [UInt8](repeating: 0, count: 16))
    #expect(left.fabric == .none && left.peerNodeID == .unspecified && right.localNodeID == .unspecified)
    #expect(left.parameters == .own && right.parameters == .own)

    // Request, response, Pake1 to Pake3, StatusReport and its standalone acknowledgment.
    let opcodes = try pair.packets.map { try clearHeaders($0.bytes).payload.opcode }
    #expect(opcodes == [0x20, 0x21, 0x22, 0x23, 0x24, 0x40, 0x10])
    #expect(pair.cores.allSatisfy { $0.handshakes.isEmpty && $0.exchanges.isEmpty })
    #expect(pair.cores.allSatisfy { $0.drops.total == 0 })

    // The keys work in both directions.
    _ = pair.request([1, 2, 3], on: own)
    _ = pair.request([4, 5], on: other, from: 1, then: .close)
    try pair.settle()
    #expect(pair.messages(1).map(\.content) == [[1, 2, 3]])
    #expect(Set(pair.messages(0).map(\.content)) == [[4, 5], [3, 2, 1]])
  }

  @Test func piggybacksAcknowledgments() throws {
    var pair = CorePair()
    try pair.beginPASE()
    try pair.settle()
    let headers = try pair.packets.map { try clearHeaders($0.bytes) }
    for (previous, next) in zip(headers, headers.dropFirst()) {
      #expect(next.payload.acknowledged == previous.message.counter)
      #expect(next.payload.exchange == previous.payload.exchange)
    }
    // The initiator uses an ephemeral node id in the operational range as source, and as destination of the responses.
    let ephemeral = try #require(headers[0].message.source)
    #expect(ephemeral.isOperational)
    #expect(headers[1].message.destination == .node(ephemeral))
    #expect(headers[1].message.source == nil)
    #expect(headers.dropLast().allSatisfy { $0.payload.needsAck })
    #expect(headers.last?.payload.needsAck == false)
  }

  @Test func countsWrongPasscodeAsAttempt() throws {
    var pair = CorePair()
    try pair.beginPASE(12_345_679)
    try pair.settle()
    #expect(pair.established(0).isEmpty && pair.established(1).isEmpty)
    #expect(pair.handshakeErrors(0) == [.wrongPasscode])
    #expect(pair.attempts == 1)
    // The device receives a status report with the code invalid parameter.
    let report = try #require(pair.packets.last { $0.sender == 0 && $0.bytes.count > 30 })
    #expect(StatusReport(decoding: try clearHeaders(report.bytes).content) == .invalidParameter)
    #expect(pair.cores.allSatisfy { $0.handshakes.isEmpty && $0.sessions.isEmpty })

    // The right passcode works after that.
    try pair.beginPASE()
    try pair.settle()
    #expect(pair.established(1).count == 1)
    #expect(pair.attempts == 1)
  }

  /// The proof of the responder is enough to verify a guess, so silence after it must count as an attempt.
  @Test func countsSilenceAfterProofAsAttempt() throws {
    var pair = CorePair()
    pair.isLost = { sender, bytes in
      guard let headers = try? clearHeaders(bytes) else { return false }
      return sender == 0 && headers.payload.opcode >= SecureChannelOpcode.pake3
    }
    try pair.beginPASE()
    try pair.settle()
    #expect(pair.established(1).isEmpty)
    #expect(pair.attempts == 1)
    #expect(pair.cores[1].handshakes.isEmpty)
  }

  @Test func ignoresSilenceBeforeProof() throws {
    var pair = CorePair()
    pair.isLost = { sender, bytes in
      guard let headers = try? clearHeaders(bytes) else { return false }
      return sender == 0 && headers.payload.opcode == SecureChannelOpcode.pake1
    }
    try pair.beginPASE()
    try pair.settle()
    #expect(pair.attempts == 0)
    #expect(pair.handshakeErrors(0) == [.timedOut])
    #expect(pair.cores[1].handshakes.isEmpty)
  }

  @Test func refusesWithoutOpenWindow() throws {
    var pair = CorePair()
    _ = pair.on(0) { core, now in
      core.establishPASE(passcode: 20_202_021, to: CorePair.addresses[1], parameters: .init(), at: now)
    }
    try pair.settle()
    #expect(pair.handshakeErrors(0) == [.refused(.invalidParameter)])
  }

  @Test func endsHandshakesWhenWindowCloses() throws {
    var pair = CorePair()
    try pair.beginPASE()
    try pair.run(for: .milliseconds(12))
    #expect(pair.cores[1].handshakes.count == 1)
    pair.on(1) { core, now in core.closePASE(at: now) }
    #expect(pair.cores[1].handshakes.isEmpty)
    try pair.settle()
    #expect(pair.established(0).isEmpty && pair.established(1).isEmpty)
    #expect(pair.handshakeErrors(0).count == 1)
  }

  @Test func survivesLossOfOnePacket() throws {
    for lost in 0..<7 {
      var pair = CorePair()
      pair.losses = [lost]
      try pair.beginPASE()
      try pair.settle()
      #expect(pair.established(0).count == 1, "packet \(lost)")
      #expect(pair.established(1).count == 1, "packet \(lost)")
      #expect(pair.cores.allSatisfy { $0.exchanges.isEmpty && $0.handshakes.isEmpty }, "packet \(lost)")
      #expect(pair.attempts == 0, "packet \(lost)")
    }
  }

  /// A handshake that was abandoned after the parameters does not block another commissioner.
  @Test func admitsSecondCommissioner() throws {
    var pair = CorePair()
    try pair.beginPASE()
    try pair.run(for: .milliseconds(7))
    var request = pair.packets[0].bytes
    // The same first message with another source node and message counter.
    request[4] ^= 0x55
    request[8] ^= 0x55
    pair.cores[1].receive(request, from: SocketAddress(.loopback4, port: 1234), at: pair.now)
    #expect(pair.cores[1].handshakes.count == 2)
    try pair.settle()
    #expect(pair.established(0).count == 1)
    #expect(pair.established(1).count == 1)
    #expect(pair.attempts == 0)
  }

  @Test func answersBusyWithoutFreeSlot() throws {
    var configuration = NodeConfiguration()
    configuration.maximumInboundPASEHandshakes = 1
    var pair = CorePair(configurations: [.init(), configuration])
    try pair.beginPASE()
    try pair.run(for: .milliseconds(7))
    #expect(pair.cores[1].handshakes.count == 1)
    var third = NodeCore(random: SeededRandomSource(seed: 99))
    _ = third.establishPASE(
      passcode: 20_202_021, to: CorePair.addresses[1], parameters: .init(), at: pair.now)
    guard case .send(let bytes, _)? = third.nextOutput() else {
      Issue.record("nothing was sent")
      return
    }
    let source = SocketAddress(.loopback4, port: 1234)
    pair.cores[1].receive(bytes, from: source, at: pair.now)
    guard case .send(let answer, source)? = pair.cores[1].nextOutput() else {
      Issue.record("nothing was answered")
      return
    }
    third.receive(answer, from: CorePair.addresses[1], at: pair.now)
    var errors: [HandshakeError] = []
    while let output = third.nextOutput() {
      if case .handshakeFailed(_, let error) = output { errors.append(error) }
    }
    #expect(errors == [.busy(wait: .milliseconds(500))])
    try pair.settle()
    #expect(pair.established(0).count == 1)
  }

  @Test func replacesHandshakeOfSameAddress() throws {
    var pair = CorePair()
    try pair.beginPASE()
    try pair.run(for: .milliseconds(7))
    let second = try pair.beginPASE()
    try pair.settle()
    #expect(pair.established(1).count == 1)
    #expect(
      pair.outputs(of: 0).contains { if case .sessionEstablished(_, second) = $0 { true } else { false } })
  }

  @Test(arguments: [
    (15, 1000), (33, 1000), (16, 999), (16, 100_001), (0, 0),
  ])
  func refusesParametersOutOfRange(saltLength: Int, iterations: UInt32) throws {
    var pair = CorePair()
    var parameters = try TestPasscode.parameters()
    parameters.salt = [UInt8](repeating: 1, count: saltLength)
    parameters.iterations = iterations
    pair.on(1) { core, _ in core.openPASE(parameters) }
    _ = pair.on(0) { core, now in
      core.establishPASE(passcode: 20_202_021, to: CorePair.addresses[1], parameters: .init(), at: now)
    }
    try pair.settle()
    #expect(pair.handshakeErrors(0) == [.invalidMessage("the PBKDF parameters are missing or out of range")])
    #expect(pair.attempts == 0)
  }
}

extension CorePair {
  /// The number of failed PASE attempts that core 1 reported.
  var attempts: Int {
    outputs(of: 1).count { if case .paseAttemptFailed = $0 { true } else { false } }
  }
}
