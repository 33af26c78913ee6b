import MatterCrypto
import MatterModel
import Testing

@testable import MatterProtocol

/// Messages between two nodes of a fabric that share the keys of groups 7 and 8.
@Suite struct GroupMessageTests {
  static let epochKey = Array("a key for groups".utf8)
  static let sender = SocketAddress(.loopback6, port: 40_000)
  var cores: [NodeCore]

  init() throws {
    cores = try TestFabrics.make().enumerated().map { index, fabric in
      var core = NodeCore(
        random: SeededRandomSource(seed: 9 + UInt64(index)), signatures: DeterministicSignatures(), fabrics: [fabric])
      let key = try GroupKey(epochKey: Self.epochKey, compressedFabricID: fabric.compressedFabricID)
      core.setGroupKeys([GroupKeySet(id: 1, keys: [key], groups: [7, 8])], of: 1)
      return core
    }
  }

  /// Returns the outputs of a core without changing it.
  private func outputs(of core: NodeCore) -> [NodeOutput] {
    var core = core
    var result: [NodeOutput] = []
    while let output = core.nextOutput() { result.append(output) }
    return result
  }

  private mutating func drain(_ index: Int) -> [NodeOutput] {
    var result: [NodeOutput] = []
    while let output = cores[index].nextOutput() { result.append(output) }
    return result
  }

  /// Sends a message from core 0.
  private mutating func send(
    _ group: GroupID, fabric: FabricIndex = 1, _ payload: [UInt8] = [], hasPrivacy: Bool = false
  ) -> Bool {
    cores[0].sendToGroup(group, fabric: fabric, 8, payload: payload, hasPrivacy: hasPrivacy)
  }

  /// Returns a datagram sent by core 0.
  private mutating func datagram(
    to group: GroupID = 7, _ payload: [UInt8] = [0x15, 0x18], hasPrivacy: Bool = false
  ) throws -> [UInt8] {
    let isSent = send(group, payload, hasPrivacy: hasPrivacy)
    #expect(isSent)
    for case .send(let bytes, let address) in drain(0) {
      #expect(address == SocketAddress(.multicast(fabricID: 0xFAB, group: group), port: 5540))
      return bytes
    }
    throw MessageError.truncated
  }

  private mutating func receive(_ bytes: [UInt8]) -> GroupMessage? {
    cores[1].receive(bytes, from: Self.sender, at: .zero)
    let outputs = drain(1)
    // Group messages are never answered.
    #expect(outputs.count <= 1)
    guard case .groupMessage(let message)? = outputs.first else {
      #expect(outputs.isEmpty)
      return nil
    }
    return message
  }

  @Test(arguments: [false, true]) mutating func deliversMessage(hasPrivacy: Bool) throws {
    let bytes = try datagram(to: 8, [1, 2, 3], hasPrivacy: hasPrivacy)
    let (header, _) = try MessageHeader.decode(bytes)
    #expect(header.sessionKind == .group && header.hasPrivacy == hasPrivacy)
    #expect((header.source == 1) == !hasPrivacy, "privacy hides the source")
    let received = receive(bytes)
    let message = try #require(received)
    #expect(message.group == 8 && message.source == 1 && message.fabric == 1 && message.opcode == 8)
    #expect(Array(message.bytes[message.payload]) == [1, 2, 3])
    #expect(cores[1].drops.total == 0)
    #expect(cores[1].nextDeadline == nil, "no acknowledgement is pending")

    #expect(receive(bytes) == nil)
    #expect(cores[1].drops[.duplicate] == 1, "a replay")
    #expect(try receive(datagram(hasPrivacy: hasPrivacy)) != nil)
  }

  @Test mutating func dropsMessagesWithoutKey() throws {
    let tooLong = [UInt8](repeating: 0, count: InteractionLimits.maximumPayload + 1)
    let (noKey, noFabric, isTooLong) = (send(9), send(7, fabric: 2), send(7, tooLong))
    #expect(!noKey && !noFabric && !isTooLong)
    let outputs = drain(0)
    #expect(outputs.isEmpty)
    let bytes = try datagram()
    let keys = cores[1].groupKeys(of: 1)
    cores[1].setGroupKeys([], of: 1)
    #expect(receive(bytes) == nil)
    #expect(cores[1].drops[.unknownGroupKey] == 1)
    cores[1].setGroupKeys([GroupKeySet(id: 1, keys: keys[0].keys, groups: [8])], of: 1)
    #expect(receive(bytes) == nil)
    #expect(cores[1].drops[.decryptionFailed] == 1, "the group does not use the key")
    cores[1].setGroupKeys(keys, of: 1)
    #expect(receive(bytes) != nil)
    cores[1].removeFabric(1, at: .zero)
    #expect(try receive(datagram()) == nil)
    #expect(cores[1].drops[.unknownGroupKey] == 2)
  }

  /// Drops every truncation and every single-bit flip, with and without privacy.
  @Test(arguments: [false, true]) mutating func dropsCorruptedMessages(hasPrivacy: Bool) throws {
    let bytes = try datagram(hasPrivacy: hasPrivacy)
    var variants = (0..<bytes.count).map { Array(bytes.prefix($0)) }
    for index in bytes.indices {
      for bit in 0..<8 as Range<UInt8> {
        var flipped = bytes
        flipped[index] ^= 1 << bit
        variants.append(flipped)
      }
    }
    for variant in variants {
      var core = cores[1]
      core.receive(variant, from: Self.sender, at: .zero)
      #expect(core.drops.total == 1, "\(variant)")
      #expect(outputs(of: core).isEmpty, "\(variant)")
    }
    #expect(receive(bytes) != nil, "the unaltered message is accepted")
  }

  /// Drops messages that a member of the group can encrypt, but that are invalid as group messages.
  @Test mutating func dropsImproperMessages() throws {
    let key = try #require(cores[0].groupKeys(of: 1).first?.keys.first)
    func make(_ header: MessageHeader, _ payload: PayloadHeader) throws -> [UInt8] {
      var bytes: [UInt8] = []
      header.encode(to: &bytes)
      let end = bytes.count
      payload.encode(to: &bytes)
      let nonce = Nonce(
        securityFlags: header.securityFlags, messageCounter: header.counter,
        sourceNodeID: header.source?.rawValue ?? 0)
      try key.encryption.seal(&bytes, from: end, nonce: nonce, aad: 0..<end)
      return bytes
    }
    let header = MessageHeader(
      sessionID: key.sessionID, sessionKind: .group, counter: 1, source: 1, destination: .group(7))
    let proper = PayloadHeader(
      isFromInitiator: true, needsAck: false, opcode: 8, exchange: 1, protocolID: .interactionModel)
    var control = header
    control.isControl = true
    var unicast = header
    unicast.destination = .node(2)
    var unspecified = header
    unspecified.source = .unspecified
    var wantsAck = proper
    wantsAck.needsAck = true
    var acknowledges = proper
    acknowledges.acknowledged = 1
    var answer = proper
    answer.isFromInitiator = false
    var secureChannel = proper
    secureChannel.protocolID = .secureChannel
    let improper = [
      (control, proper), (unicast, proper), (unspecified, proper), (header, wantsAck), (header, acknowledges),
      (header, answer), (header, secureChannel),
    ]
    for (header, payload) in improper {
      let taken = receive(try make(header, payload))
      #expect(taken == nil)
    }
    #expect(cores[1].drops[.improperGroupMessage] == improper.count)
    #expect(try receive(make(header, proper)) != nil)
    // A group header without a source is malformed.
    var anonymous = header
    anonymous.source = nil
    #expect(try receive(make(anonymous, proper)) == nil)
    #expect(cores[1].drops[.malformedHeader] == 1)
  }

  /// Several keys may have the same 16-bit session id.
  @Test mutating func triesAllKeysWithSameSessionID() throws {
    let fabric = try #require(cores[0].fabric(1))
    var random = SeededRandomSource(seed: 3)
    var known: [UInt16: GroupKey] = [:]
    var pair: (GroupKey, GroupKey)?
    while pair == nil {
      let key = try GroupKey(epochKey: random.bytes(16), compressedFabricID: fabric.compressedFabricID)
      if let other = known.updateValue(key, forKey: key.sessionID) { pair = (other, key) }
    }
    let (first, second) = try #require(pair)
    let sets = [
      GroupKeySet(id: 1, keys: [first], groups: [7, 8]), GroupKeySet(id: 2, keys: [second], groups: [8]),
    ]
    cores[1].setGroupKeys(sets, of: 1)
    cores[0].setGroupKeys([sets[1]], of: 1)
    #expect(try receive(datagram(to: 8)) != nil)
    cores[0].setGroupKeys([sets[0]], of: 1)
    #expect(try receive(datagram(to: 8)) != nil)
    #expect(cores[1].drops.total == 0)
  }

  // MARK: Counters

  @Test mutating func continuesCounterAfterRestart() throws {
    let isFirstSent = send(7)
    #expect(isFirstSent)
    let first = drain(0)
    // The counter is stored before it is used.
    guard case .groupCounterReserved(let reserved)? = first.first, case .send(let bytes, _)? = first.last else {
      Issue.record("the counter was not stored: \(first)")
      return
    }
    let counter = try MessageHeader.decode(bytes).header.counter
    #expect(reserved == counter + GroupDataCounter.reserve)
    for _ in 1..<GroupDataCounter.reserve {
      let isSent = send(7)
      let outputs = drain(0)
      #expect(isSent && outputs.count == 1)
    }
    let isSent = send(7)
    #expect(isSent)
    guard case .groupCounterReserved(let next)? = drain(0).first else {
      Issue.record("a counter was used that is not reserved")
      return
    }
    #expect(next == reserved + GroupDataCounter.reserve)

    var counters = GroupDataCounter(stored: reserved)
    let resumed = counters.take(first: 5)
    #expect(resumed.counter == reserved && resumed.reserved == reserved + GroupDataCounter.reserve)
    var wrapping = GroupDataCounter(stored: .max)
    #expect(wrapping.take(first: 5).counter == .max)
    #expect(wrapping.take(first: 5).counter == 0, "group counters wrap")
  }

  @Test func tracksCountersPerSender() {
    var table = GroupPeerTable()
    #expect(table.accept(1000, from: 1, fabric: 1) == .new)
    #expect(table.accept(1000, from: 1, fabric: 1) == .duplicate)
    #expect(table.accept(1000, from: 2, fabric: 1) == .new)
    #expect(table.accept(1000, from: 1, fabric: 2) == .new)
    #expect(table.accept(900, from: 1, fabric: 1) == .duplicate, "behind the window")
    #expect(table.accept(990, from: 1, fabric: 1) == .new, "late")
    #expect(table.accept(990, from: 1, fabric: 1) == .duplicate)
    #expect(table.accept(1001, from: 1, fabric: 1) == .new)
    for node in 3...UInt64(GroupPeerTable.maximumPeers) {
      #expect(table.accept(1, from: NodeID(node), fabric: 1) == .new)
    }
    #expect(table.accept(1, from: 99, fabric: 1) == .exhausted)
    #expect(table.accept(1, from: 99, fabric: 2) == .new, "each fabric has its own limit")
    #expect(table.accept(1001, from: 1, fabric: 1) == .duplicate, "no sender was evicted")
    table.forget(1)
    #expect(table.accept(1, from: 99, fabric: 1) == .new)
  }
}
