import MatterCrypto
import MatterModel
import Testing

@testable import MatterProtocol

/// Messages between two nodes of a fabric that share the keys of groups 7 and 8.
@Suite struct GroupMessagingTests {
  static let epochKey = Array("a key for groups".utf8)
  let fabric: Fabric
  let key: GroupKey
  var random: any RandomSource = SeededRandomSource(seed: 9)
  var sender = GroupMessaging(counter: nil)
  var receiver = GroupMessaging(counter: nil)

  init() throws {
    fabric = try TestFabrics.make()[0]
    key = try GroupKey(epochKey: Self.epochKey, compressedFabricID: fabric.compressedFabricID)
    let set = GroupKeySet(id: 1, keys: [key], groups: [7, 8])
    sender.setKeys([set], of: 1)
    receiver.setKeys([set], of: 1)
  }

  private mutating func seal(
    _ payload: [UInt8] = [0x15, 0x18], to group: GroupID = 7, hasPrivacy: Bool = false, exchange: UInt16 = 5
  ) -> GroupMessaging.Sealed? {
    sender.seal(
      8, payload: payload, to: group, of: fabric, hasPrivacy: hasPrivacy, exchange: exchange, random: &random)
  }

  private mutating func datagram(
    _ payload: [UInt8] = [0x15, 0x18], to group: GroupID = 7, hasPrivacy: Bool = false
  ) throws -> [UInt8] {
    let sealed = seal(payload, to: group, hasPrivacy: hasPrivacy)
    return try #require(sealed).bytes
  }

  /// Returns a datagram with any header and payload header, encrypted with the key.
  private func encrypt(_ header: MessageHeader, _ payload: PayloadHeader) throws -> [UInt8] {
    var (bytes, end) = header.datagram(payload, capacity: 0) { _ in }
    let nonce = Nonce(
      securityFlags: header.securityFlags, messageCounter: header.counter,
      sourceNodeID: header.source?.rawValue ?? 0)
    try key.encryption.seal(&bytes, from: end, nonce: nonce, aad: 0..<end)
    return bytes
  }

  /// Opens a datagram with a well-formed header.
  private mutating func open(_ datagram: [UInt8]) throws -> GroupMessage {
    var bytes = datagram
    var (header, end) = try MessageHeader.decode(bytes)
    return try receiver.open(&bytes, &header, from: end).message
  }

  /// Returns the reason for which a datagram is dropped; nil if it is accepted.
  private mutating func dropReason(_ datagram: [UInt8]) throws -> DropReason? {
    do {
      _ = try open(datagram)
      return nil
    } catch let reason as DropReason {
      return reason
    }
  }

  // MARK: Messages

  @Test(arguments: [false, true]) mutating func opensSealedMessages(hasPrivacy: Bool) throws {
    let result = seal([1, 2, 3], to: 8, hasPrivacy: hasPrivacy, exchange: 77)
    let sealed = try #require(result)
    #expect(sealed.address == SocketAddress(.multicast(fabricID: 0xFAB, group: 8), port: 5540))
    #expect(sealed.header.source == 1 && sealed.header.destination == .group(8) && sealed.payload.exchange == 77)
    var (header, end) = try MessageHeader.decode(sealed.bytes)
    #expect(header.sessionKind == .group && header.hasPrivacy == hasPrivacy)
    #expect((header.source == 1) == !hasPrivacy, "privacy hides the source")

    var bytes = sealed.bytes
    let (message, payload) = try receiver.open(&bytes, &header, from: end)
    #expect(header == sealed.header, "the header is deobfuscated")
    #expect(message.group == 8 && message.source == 1 && message.fabric == 1 && message.opcode == 8)
    #expect(message.bytes == bytes && Array(bytes[message.payload]) == [1, 2, 3])
    #expect(payload.exchange == 77 && payload.isFromInitiator && !payload.needsAck)

    let reason = try dropReason(sealed.bytes)
    #expect(reason == .duplicate, "a replay")
    let next = try datagram(hasPrivacy: hasPrivacy)
    let nextReason = try dropReason(next)
    #expect(nextReason == nil)
  }

  @Test mutating func requiresKeyToSend() throws {
    let tooLong = [UInt8](repeating: 0, count: InteractionLimits.maximumPayload + 1)
    var isExchangeUsed = false
    func exchange() -> UInt16 {
      isExchangeUsed = true
      return 1
    }
    let results = [
      sender.seal(8, payload: [], to: 9, of: fabric, hasPrivacy: false, exchange: exchange(), random: &random),
      sender.seal(8, payload: tooLong, to: 7, of: fabric, hasPrivacy: false, exchange: exchange(), random: &random),
    ]
    #expect(results.allSatisfy { $0 == nil } && !isExchangeUsed)
    #expect(random.next() == SeededRandomSource(seed: 9).first, "no random number was drawn")
    let longest = seal(Array(tooLong.dropLast()))
    #expect(longest != nil)
    sender.forget(1)
    let result = seal()
    #expect(result == nil)
  }

  @Test mutating func requiresKeyOfGroupToOpen() throws {
    let bytes = try datagram()
    receiver.setKeys([], of: 1)
    var reason = try dropReason(bytes)
    #expect(reason == .unknownGroupKey)
    receiver.setKeys([GroupKeySet(id: 1, keys: [key], groups: [8])], of: 1)
    reason = try dropReason(bytes)
    #expect(reason == .decryptionFailed, "the group does not use the key")
    receiver.setKeys([GroupKeySet(id: 1, keys: [key], groups: [7])], of: 1)
    reason = try dropReason(bytes)
    #expect(reason == nil)
    // The keys of a fabric are forgotten with its senders, and those of other fabrics remain.
    receiver.setKeys([GroupKeySet(id: 1, keys: [], groups: [7])], of: 2)
    receiver.forget(1)
    reason = try dropReason(bytes)
    #expect(reason == .unknownGroupKey)
    #expect(receiver.keys(of: 1).isEmpty && receiver.keys(of: 2).count == 1)
    receiver.setKeys([GroupKeySet(id: 1, keys: [key], groups: [7])], of: 1)
    reason = try dropReason(bytes)
    #expect(reason == nil, "the window of the sender was removed")
  }

  /// Rejects every truncation and every single-bit flip, with and without privacy.
  @Test(arguments: [false, true]) mutating func rejectsCorruptedMessages(hasPrivacy: Bool) throws {
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
      // Headers that can't be decoded are dropped before.
      guard let header = try? MessageHeader.decode(variant).header, header.sessionKind == .group else { continue }
      let reason = try dropReason(variant)
      #expect(reason != nil, "\(variant)")
    }
    let reason = try dropReason(bytes)
    #expect(reason == nil, "the unaltered message is accepted")
  }

  /// Rejects messages that a member of the group can encrypt, but that are invalid as group messages.
  @Test mutating func rejectsImproperMessages() throws {
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
      let reason = try dropReason(encrypt(header, payload))
      #expect(reason == .improperGroupMessage, "\(header), \(payload)")
    }
    // An encrypted part that is too short for a payload header.
    var bytes: [UInt8] = []
    header.encode(to: &bytes)
    let end = bytes.count
    bytes += [1, 2, 3]
    try key.encryption.seal(
      &bytes, from: end, nonce: Nonce(securityFlags: 1, messageCounter: 1, sourceNodeID: 1), aad: 0..<end)
    var reason = try dropReason(bytes)
    #expect(reason == .malformedPayloadHeader)
    // None of them used up the counter.
    reason = try dropReason(encrypt(header, proper))
    #expect(reason == nil)
  }

  /// Several keys may have the same 16-bit session id.
  @Test mutating func triesAllKeysWithSameSessionID() throws {
    var source = SeededRandomSource(seed: 3)
    var known: [UInt16: GroupKey] = [:]
    var pair: (GroupKey, GroupKey)?
    while pair == nil {
      let key = try GroupKey(epochKey: source.bytes(16), compressedFabricID: fabric.compressedFabricID)
      if let other = known.updateValue(key, forKey: key.sessionID) { pair = (other, key) }
    }
    let (first, second) = try #require(pair)
    let sets = [
      GroupKeySet(id: 1, keys: [first], groups: [7, 8]), GroupKeySet(id: 2, keys: [second], groups: [8]),
    ]
    receiver.setKeys(sets, of: 1)
    for set in sets.reversed() {
      sender.setKeys([set], of: 1)
      let bytes = try datagram(to: 8)
      let reason = try dropReason(bytes)
      #expect(reason == nil)
    }
  }

  // MARK: Counters

  @Test mutating func reservesCounters() throws {
    let first = seal()
    let reserved = try #require(first?.reserved)
    #expect(reserved == first.map { $0.header.counter + GroupDataCounter.reserve })
    for _ in 1..<GroupDataCounter.reserve {
      let sealed = seal()
      #expect(sealed != nil && sealed?.reserved == nil)
    }
    // The reservation is renewed with the first counter that is not reserved.
    let next = seal()
    #expect(next?.header.counter == reserved && next?.reserved == reserved + GroupDataCounter.reserve)
    // After a restart, the unused counters are skipped.
    sender = GroupMessaging(counter: reserved)
    sender.setKeys([GroupKeySet(id: 1, keys: [key], groups: [7])], of: 1)
    let resumed = seal()
    #expect(resumed?.header.counter == reserved && resumed?.reserved == reserved + GroupDataCounter.reserve)
  }

  @Test func wrapsCounters() {
    var counters = GroupDataCounter(stored: 70)
    let resumed = counters.next(first: 5)
    #expect(resumed.counter == 70 && resumed.reserved == 70 + GroupDataCounter.reserve)
    var wrapping = GroupDataCounter(stored: .max)
    #expect(wrapping.next(first: 5).counter == .max)
    #expect(wrapping.next(first: 5).counter == 0, "group counters wrap")
  }

  @Test mutating func limitsSenders() throws {
    let payload = PayloadHeader(
      isFromInitiator: true, needsAck: false, opcode: 8, exchange: 1, protocolID: .interactionModel)
    func message(from node: UInt64, counter: UInt32 = 1) throws -> [UInt8] {
      let header = MessageHeader(
        sessionID: key.sessionID, sessionKind: .group, counter: counter, source: NodeID(node), destination: .group(7))
      return try encrypt(header, payload)
    }
    let count = UInt64(GroupPeerTable.maximumPeers)
    for node in 1...count + 1 {
      let reason = try dropReason(message(from: node))
      #expect(reason == (node > count ? .groupPeersExhausted : nil))
    }
    var reason = try dropReason(message(from: 1))
    #expect(reason == .duplicate, "no sender was evicted")
    reason = try dropReason(message(from: 1, counter: 2))
    #expect(reason == nil)
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
