import MatterCrypto
import MatterModel
import Testing

@testable import MatterProtocol

/// Handshakes between two tables, without sessions and exchanges.
@Suite struct HandshakeTableTests {
  private static let addresses = CorePair.addresses

  private let fabrics: [Fabric]
  private let pase: PASEParameters
  private var configuration = NodeConfiguration()
  private var random: any RandomSource = SeededRandomSource(seed: 11)

  init() throws {
    fabrics = try TestFabrics.make()
    pase = try TestPasscode.parameters()
  }

  private static func time(_ seconds: Int) -> Instant { .zero + .seconds(seconds) }

  private static func exchange(_ number: UInt16, isInitiator: Bool = false) -> ExchangeID {
    ExchangeID(session: SessionID(0x1_0000 + UInt32(number)), number: number, isInitiator: isInitiator)
  }

  private func table() -> HandshakeTable { HandshakeTable(configuration, key: 1) }

  /// The record of an earlier session between the nodes, as stored by the initiator or the responder.
  private func records(ofInitiator isInitiator: Bool, secret: UInt8 = 7) -> ResumptionRecords {
    let record = ResumptionRecord(
      fabric: 1, peer: isInitiator ? 2 : 1, resumptionID: [UInt8](repeating: 5, count: 16),
      sharedSecret: [UInt8](repeating: secret, count: 32), tags: [])
    return ResumptionRecords([record], capacity: 4)
  }

  /// Returns the first message of a new handshake.
  private mutating func firstMessage(_ credentials: Handshake.Credentials) throws -> [UInt8] {
    var initiator = table()
    let action = initiator.start(
      credentials, id: initiator.takeID(), sessionNumber: 1, peer: .init(), on: Self.exchange(1, isInitiator: true),
      at: .zero, random: &random)
    guard case .send(_, let bytes) = action else { throw CorePair.Livelock() }
    return bytes
  }

  private mutating func sigma1(isResuming: Bool = false, fabric: Fabric? = nil) throws -> [UInt8] {
    let record = isResuming ? records(ofInitiator: true).all[0] : nil
    return try firstMessage(.certificates(fabric ?? fabrics[0], peer: 2, record))
  }

  private func environment(of node: Int, fabrics own: [Fabric]? = nil) -> Handshake.Environment {
    Handshake.Environment(
      fabrics: own ?? [fabrics[node]], resumption: records(ofInitiator: node == 0),
      signatures: DeterministicSignatures(), trustedEpoch: nil, now: .zero)
  }

  private func classify(
    _ opcode: UInt8, _ payload: [UInt8], in table: HandshakeTable, records: ResumptionRecords? = nil
  ) -> String {
    let none = ResumptionRecords(capacity: 4)
    switch table.classify(opcode, payload, fabrics: [fabrics[1]], resumption: records ?? none) {
    case .request(.passcode): return "passcode"
    case .request(.certificates): return "certificates"
    case .request(.resumption): return "resumption"
    case .refused(let report, let reason): return "\(report.code) \(reason.map { "\($0)" } ?? "-")"
    case .replay: return "replay"
    }
  }

  /// Admits a first message to a table, and returns the result.
  private func admit(
    _ opcode: UInt8, _ payload: [UInt8], to table: inout HandshakeTable, on number: UInt16,
    from address: SocketAddress = addresses[0], at seconds: Int = 0
  ) throws -> HandshakeSlots.Admission {
    let classification = table.classify(
      opcode, payload, fabrics: [fabrics[1]], resumption: records(ofInitiator: false))
    guard case .request(let request) = classification else { throw CorePair.Livelock() }
    return table.admit(
      request, sessionNumber: 1000 + number, on: Self.exchange(number), from: address, at: Self.time(seconds))
  }

  // MARK: Classification

  @Test mutating func classifiesPASE() throws {
    var table = table()
    let opcode = SecureChannelOpcode.pbkdfParamRequest
    let request = try firstMessage(.passcode(TestPasscode.right))
    #expect(classify(opcode, request, in: table) == "invalid parameter notCommissionable")
    table.openPASE(pase)
    #expect(classify(opcode, request, in: table) == "passcode")
    #expect(classify(opcode, [0x15], in: table) == "invalid parameter -")
    #expect(classify(opcode, PBKDFParamRequest(passcodeID: 1).tlv, in: table) == "invalid parameter -")
    let ended = table.closePASE()
    #expect(ended.isEmpty)
    #expect(classify(opcode, request, in: table) == "invalid parameter notCommissionable")
  }

  @Test mutating func classifiesCASE() throws {
    let table = table()
    let opcode = SecureChannelOpcode.sigma1
    #expect(classify(opcode, try sigma1(), in: table) == "certificates")
    let resuming = try sigma1(isResuming: true)
    #expect(classify(opcode, resuming, in: table) == "certificates", "without a record")
    #expect(classify(opcode, resuming, in: table, records: records(ofInitiator: false)) == "resumption")
    let others = records(ofInitiator: false, secret: 8)
    #expect(classify(opcode, resuming, in: table, records: others) == "certificates", "another secret")
    let unknown = try TestFabrics.make(seed: 5)[0]
    #expect(classify(opcode, try sigma1(fabric: unknown), in: table) == "no shared trust roots -")
    #expect(classify(opcode, [0x15, 0x18], in: table) == "invalid parameter -")
  }

  @Test(arguments: [false, true]) mutating func detectsReplays(isResuming: Bool) throws {
    var table = table()
    let opcode = SecureChannelOpcode.sigma1
    let message = try sigma1(isResuming: isResuming)
    let admission = try admit(opcode, message, to: &table, on: 1)
    #expect(admission == .admitted(evicting: nil))
    #expect(classify(opcode, message, in: table, records: records(ofInitiator: false)) == "replay")
    _ = table.remove(Self.exchange(1))
    #expect(classify(opcode, message, in: table) == "replay", "also after the handshake")
    #expect(classify(opcode, try sigma1(), in: table) == "certificates")
  }

  // MARK: Admission

  @Test mutating func separatesSlots() throws {
    configuration.maximumInboundHandshakes = 2
    configuration.maximumInboundResumptions = 1
    configuration.maximumInboundPASEHandshakes = 1
    var table = table()
    table.openPASE(pase)
    let full = try sigma1()
    let results = [
      try admit(SecureChannelOpcode.sigma1, sigma1(isResuming: true), to: &table, on: 1),
      // The slot for resumptions is taken, so the next one uses a slot for certificates.
      try admit(SecureChannelOpcode.sigma1, sigma1(isResuming: true), to: &table, on: 2),
      try admit(SecureChannelOpcode.sigma1, sigma1(), to: &table, on: 3, from: Self.addresses[1]),
      try admit(SecureChannelOpcode.sigma1, full, to: &table, on: 4, from: Self.addresses[1]),
      try admit(SecureChannelOpcode.sigma1, sigma1(isResuming: true), to: &table, on: 5, from: Self.addresses[1]),
      try admit(
        SecureChannelOpcode.pbkdfParamRequest, firstMessage(.passcode(TestPasscode.right)), to: &table, on: 6),
    ]
    let admitted = HandshakeSlots.Admission.admitted(evicting: nil)
    #expect(results == [admitted, admitted, admitted, .full, .full, admitted])
    #expect(table.exchanges == [1, 2, 3, 6].map { Self.exchange($0) })
    #expect(table.sessionNumbers.sorted() == [1001, 1002, 1003, 1006])
    #expect(table.admission.resumption.slots.count == 1 && table.admission.certificates.slots.count == 2)
    // A message that found no slot is not a replay. The slot of a removed handshake is free.
    #expect(classify(SecureChannelOpcode.sigma1, full, in: table) == "certificates")
    let removed = table.remove(Self.exchange(2))
    #expect(removed?.sessionNumber == 1002)
    let admission = try admit(SecureChannelOpcode.sigma1, full, to: &table, on: 7, from: Self.addresses[1])
    #expect(admission == admitted)
  }

  @Test mutating func evictsTimedOutHandshakes() throws {
    configuration.maximumInboundHandshakes = 2
    var table = table()
    for number in 1...2 as ClosedRange<UInt16> {
      _ = try admit(
        SecureChannelOpcode.sigma1, sigma1(), to: &table, on: number, from: Self.addresses[Int(number) - 1],
        at: Int(number))
    }
    let other = SocketAddress(.loopback4, port: 1)
    let slotTimeout = 5
    var admission = try admit(
      SecureChannelOpcode.sigma1, sigma1(), to: &table, on: 3, from: other, at: 1 + slotTimeout)
    #expect(admission == .full, "no slot is older than its timeout")
    admission = try admit(
      SecureChannelOpcode.sigma1, sigma1(), to: &table, on: 3, from: other, at: 3 + slotTimeout)
    #expect(admission == .admitted(evicting: Self.exchange(1)), "the oldest")
    // The owner of the exchange removes the evicted handshake, which releases no other slot.
    _ = table.remove(Self.exchange(1))
    #expect(table.count == 2 && table.admission.certificates.slots.count == 2)
  }

  @Test mutating func reusesSlotOfAddressForPASE() throws {
    configuration.maximumInboundPASEHandshakes = 1
    var table = table()
    table.openPASE(pase)
    let opcode = SecureChannelOpcode.pbkdfParamRequest
    let request = try firstMessage(.passcode(TestPasscode.right))
    let results = try [
      admit(opcode, request, to: &table, on: 1), admit(opcode, request, to: &table, on: 2),
      admit(opcode, request, to: &table, on: 3, from: Self.addresses[1]),
    ]
    #expect(results == [.admitted(evicting: nil), .admitted(evicting: Self.exchange(1)), .full])
    // After its second message, the peer keeps the slot longer than 500 ms.
    table.confirm(Self.exchange(2))
    let confirmed = try admit(opcode, request, to: &table, on: 3, from: Self.addresses[1], at: 1)
    #expect(confirmed == .full)
    let late = try admit(opcode, request, to: &table, on: 3, from: Self.addresses[1], at: 6)
    #expect(late == .admitted(evicting: Self.exchange(2)))
  }

  @Test mutating func limitsStarts() {
    configuration.maximumStartsPerSecond = 2
    var table = table()
    let results = [0, 0, 0, 1].map { seconds in table.allowsStart(from: Self.addresses[0], at: Self.time(seconds)) }
    #expect(results == [true, true, false, true])
  }

  // MARK: Finding

  @Test mutating func identifiesOutboundHandshakes() throws {
    var table = table()
    let ids = [table.takeID(), table.takeID()]
    #expect(ids[0] < ids[1])
    let exchange = Self.exchange(1, isInitiator: true)
    _ = table.start(
      .passcode(1), id: ids[1], sessionNumber: 1, peer: .init(), on: exchange, at: .zero, random: &random)
    _ = try admit(SecureChannelOpcode.sigma1, sigma1(), to: &table, on: 1)
    #expect(table.exchange(of: ids[0]) == nil && table.exchange(of: ids[1]) == exchange)
    #expect(table.contains(exchange) && table[exchange]?.sessionKind == .pase && table.count == 2)
    let removed = table.remove(exchange)
    #expect(removed?.id == ids[1])
    #expect(table.exchange(of: ids[1]) == nil && !table.contains(exchange) && table.remove(exchange) == nil)
  }

  @Test mutating func findsHandshakesToEnd() throws {
    var table = table()
    table.openPASE(pase)
    let outbound = Self.exchange(9, isInitiator: true), passcode = Self.exchange(8, isInitiator: true)
    _ = table.start(
      .certificates(fabrics[1], peer: 1, nil), id: table.takeID(), sessionNumber: 1, peer: .init(), on: outbound,
      at: .zero, random: &random)
    _ = table.start(
      .passcode(1), id: table.takeID(), sessionNumber: 2, peer: .init(), on: passcode, at: .zero, random: &random)
    let message = try sigma1()
    _ = try admit(SecureChannelOpcode.sigma1, message, to: &table, on: 3)
    let request = try firstMessage(.passcode(TestPasscode.right))
    for (number, address) in [(5, Self.addresses[0]), (4, Self.addresses[1])] as [(UInt16, SocketAddress)] {
      _ = try admit(SecureChannelOpcode.pbkdfParamRequest, request, to: &table, on: number, from: address)
    }
    #expect(table.exchanges(of: 1) == [outbound], "the responder has not determined its fabric")
    _ = table.receive(
      SecureChannelOpcode.sigma1, message, on: Self.exchange(3), environment(of: 1), random: &random)
    #expect(table.exchanges(of: 1) == [Self.exchange(3), outbound] && table.exchanges(of: 2).isEmpty)
    let ended = table.closePASE()
    #expect(ended == [4, 5].map { Self.exchange($0) }, "inbound PASE handshakes only")
    #expect(table.pase == nil && table.count == 5)
  }

  @Test mutating func returnsHandshakesPastDeadline() throws {
    var table = table()
    for (number, seconds) in [(2, 0), (1, 0), (3, 10)] as [(UInt16, Int)] {
      _ = try admit(SecureChannelOpcode.sigma1, sigma1(), to: &table, on: number, at: seconds)
    }
    #expect(table.earliestDeadline == Self.time(60))
    #expect(table.due(at: Self.time(60) + .nanoseconds(-1)).isEmpty)
    #expect(table.due(at: Self.time(60)) == [1, 2].map { Self.exchange($0) })
    for exchange in table.due(at: Self.time(60)) { _ = table.remove(exchange) }
    #expect(table.earliestDeadline == Self.time(60), "a lower bound")
    table.updateEarliestDeadline()
    #expect(table.earliestDeadline == Self.time(70))
    _ = table.remove(Self.exchange(3))
    table.updateEarliestDeadline()
    #expect(table.earliestDeadline == nil && table.isEmpty)
  }

  // MARK: Progress

  /// Passes messages between an initiator and a responder until one of them ends.
  /// - Parameter last: The fabrics of the responder when it receives its last message.
  private mutating func run(
    _ credentials: Handshake.Credentials, removingFabric isFabricRemoved: Bool = false
  ) throws -> (opcodes: [UInt8], last: HandshakeAction, tables: [HandshakeTable]) {
    var tables = [table(), table()]
    tables[1].openPASE(pase)
    let exchanges = [Self.exchange(1, isInitiator: true), Self.exchange(1)]
    var action: HandshakeAction? = tables[0].start(
      credentials, id: tables[0].takeID(), sessionNumber: 1, peer: .init(), on: exchanges[0], at: .zero,
      random: &random)
    var opcodes: [UInt8] = []
    var receiver = 1
    while case .send(let opcode, let payload)? = action {
      opcodes.append(opcode)
      if opcodes.count == 1 { _ = try admit(opcode, payload, to: &tables[1], on: 1) }
      let isLast = isFabricRemoved && opcode == SecureChannelOpcode.sigma3
      action = tables[receiver].receive(
        opcode, payload, on: exchanges[receiver], environment(of: receiver, fabrics: isLast ? [] : nil),
        random: &random)
      receiver = 1 - receiver
    }
    return (opcodes, try #require(action), tables)
  }

  @Test mutating func establishesPASE() throws {
    let (opcodes, last, tables) = try run(.passcode(TestPasscode.right))
    #expect(opcodes == [0x20, 0x21, 0x22, 0x23, 0x24])
    guard case .establish(let keys) = last else {
      Issue.record("\(last)")
      return
    }
    #expect(keys.peerSessionID == 1 && keys.fabric == .none && keys.parameters == configuration.parameters)
    let responder = try #require(tables[1][Self.exchange(1)])
    #expect(responder.sessionKind == .pase && !responder.isAwaitingPasscodeProof && responder.fabric == nil)
    #expect(responder.peerParameters == .own)
  }

  /// The responder has proved that it knows the passcode, so the next failure counts as an attempt.
  @Test mutating func awaitsProofOfPasscode() throws {
    let (opcodes, last, tables) = try run(.passcode(TestPasscode.right + 1))
    #expect(opcodes == [0x20, 0x21, 0x22, 0x23])
    guard case .refuse(.invalidParameter, .wrongPasscode) = last else {
      Issue.record("\(last)")
      return
    }
    #expect(tables[1][Self.exchange(1)]?.isAwaitingPasscodeProof == true)
    #expect(tables[0][Self.exchange(1, isInitiator: true)]?.isAwaitingPasscodeProof == false)
  }

  @Test(arguments: [false, true]) mutating func establishesCASE(isResuming: Bool) throws {
    let record = isResuming ? records(ofInitiator: true).all[0] : nil
    let (opcodes, last, _) = try run(.certificates(fabrics[0], peer: 2, record))
    #expect(opcodes == (isResuming ? [0x30, 0x33] : [0x30, 0x31, 0x32]))
    guard case .establish(let keys) = last else {
      Issue.record("\(last)")
      return
    }
    #expect(keys.fabric == 1 && keys.peerNodeID == (isResuming ? 2 : 1))
    #expect(keys.peerSessionID == (isResuming ? 1001 : 1))
  }

  @Test mutating func refusesAfterFabricRemoval() throws {
    let (opcodes, last, _) = try run(.certificates(fabrics[0], peer: 2, nil), removingFabric: true)
    #expect(opcodes == [0x30, 0x31, 0x32])
    guard case .refuse(.noSharedTrustRoots, .untrusted) = last else {
      Issue.record("\(last)")
      return
    }
  }

  @Test mutating func ignoresMessageWithoutHandshake() throws {
    var table = table()
    let action = table.receive(
      SecureChannelOpcode.sigma1, try sigma1(), on: Self.exchange(1), environment(of: 1), random: &random)
    #expect(action == nil)
  }

  /// Seconds since 2000, saturated at the range of certificates.
  @Test func determinesTimeOfCertificates() {
    func time(_ epoch: Int64?, at seconds: Int) -> UInt32? {
      Handshake.Environment(
        fabrics: [], resumption: ResumptionRecords(capacity: 0), signatures: DeterministicSignatures(),
        trustedEpoch: epoch, now: Self.time(seconds)
      ).time
    }
    #expect(time(nil, at: 5) == nil)
    #expect(time(100, at: 5) == 105)
    #expect(time(.max, at: 5) == .max && time(-100, at: 5) == 0)
  }
}
