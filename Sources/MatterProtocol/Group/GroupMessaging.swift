internal import MatterCrypto
public import MatterModel

/// A message to a group that this node has a key for.
public struct GroupMessage: Sendable {
  /// The fabric of the key that decrypted the message.
  public let fabric: FabricIndex
  public let group: GroupID
  /// The sender.
  public let source: NodeID
  /// The opcode of the interaction model, the only protocol of group messages.
  public let opcode: UInt8
  /// The whole decrypted datagram.
  public let bytes: [UInt8]
  /// The range of the application payload in `bytes`.
  public let payload: Range<Int>
}

/// The group keys of a node, its message counter, and those of the senders.
///
/// Group messages are encrypted with a key shared by all members, and are neither acknowledged nor answered. Matter Core
/// § 4.16.
struct GroupMessaging: Sendable {
  /// A message to be sent.
  struct Sealed {
    let header: MessageHeader
    let payload: PayloadHeader
    let bytes: [UInt8]
    /// The multicast address of the group.
    let address: SocketAddress
    /// The counter to continue with after a restart. To be stored before the message is sent.
    let reserved: UInt32?
  }

  /// The destination port of all group messages. Matter Core § 2.5.6.
  static let port: UInt16 = 5540

  /// Sorted by fabric.
  private var keys: [FabricGroupKeys] = []
  private var peers = GroupPeerTable()
  private var counter: GroupDataCounter

  /// - Parameter counter: The last reserved counter, also from before a restart.
  init(counter: UInt32?) { self.counter = GroupDataCounter(stored: counter) }

  // MARK: Keys

  /// Sets the group key sets of a fabric.
  mutating func setKeys(_ sets: [GroupKeySet], of fabric: FabricIndex) {
    keys.removeAll { $0.fabric == fabric }
    guard !sets.isEmpty else { return }
    keys.append(FabricGroupKeys(fabric: fabric, sets: sets))
    keys.sort { $0.fabric < $1.fabric }
  }

  /// Returns the group key sets of a fabric.
  func keys(of fabric: FabricIndex) -> [GroupKeySet] { keys.first { $0.fabric == fabric }?.sets ?? [] }

  /// Removes the keys and the senders of a fabric.
  mutating func forget(_ fabric: FabricIndex) {
    keys.removeAll { $0.fabric == fabric }
    peers.forget(fabric)
  }

  // MARK: Sending

  /// Encodes and encrypts a message of the interaction model.
  /// - Parameters:
  ///   - hasPrivacy: Whether to obfuscate the source and the group.
  ///   - exchange: The exchange id, evaluated if the message can be sent.
  ///   - random: The source of the initial counter of a node that has not sent a group message yet.
  /// - Returns: nil if the group has no key, or the payload is too long.
  mutating func seal(
    _ opcode: UInt8, payload: [UInt8], to group: GroupID, of fabric: Fabric, hasPrivacy: Bool,
    exchange: @autoclosure () -> UInt16, random: inout any RandomSource
  ) -> Sealed? {
    guard payload.count <= InteractionLimits.maximumPayload,
      let set = keys(of: fabric.index).first(where: { $0.groups.contains(group) }), let key = set.current
    else { return nil }
    // Stored only with the message, so that a failure loses no reservation.
    var counter = counter
    let (number, reserved) = counter.next(first: random.initialMessageCounter())
    let header = MessageHeader(
      sessionID: key.sessionID, sessionKind: .group, counter: number, source: fabric.nodeID,
      destination: .group(group), hasPrivacy: hasPrivacy)
    let payloadHeader = PayloadHeader(
      isFromInitiator: true, needsAck: false, opcode: opcode, exchange: exchange(), protocolID: .interactionModel)
    var (bytes, end) = header.datagram(payloadHeader, capacity: payload.count) { $0.append(raw: payload) }
    let nonce = Nonce(
      securityFlags: header.securityFlags, messageCounter: number, sourceNodeID: fabric.nodeID.rawValue)
    guard (try? key.encryption.seal(&bytes, from: end, nonce: nonce, aad: 0..<end)) != nil,
      !hasPrivacy || key.obfuscate(&bytes, headerEnd: end)
    else { return nil }
    self.counter = counter
    let address = SocketAddress(set.address(of: group, fabricID: fabric.fabricID), port: Self.port)
    return Sealed(header: header, payload: payloadHeader, bytes: bytes, address: address, reserved: reserved)
  }

  // MARK: Receiving

  /// Decrypts a message with each key that has its session id, and records its counter.
  /// - Parameters:
  ///   - bytes: The datagram; decrypted if it is under one of the keys.
  ///   - header: The decoded header; deobfuscated if the datagram is decrypted.
  ///   - end: The offset of the end of the header.
  /// - Throws: The reason for dropping the message.
  mutating func open(
    _ bytes: inout [UInt8], _ header: inout MessageHeader, from end: Int
  ) throws(DropReason) -> (message: GroupMessage, payload: PayloadHeader) {
    // Control messages are for counter synchronization, a part of the feature CacheAndSync, which is not implemented.
    guard !header.isControl, case .group = header.destination, header.source != nil,
      bytes.count >= end + AESCCM.tagByteCount
    else { throw .improperGroupMessage }
    var isKnown = false
    for known in keys {
      for set in known.sets {
        for key in set.keys where key.sessionID == header.sessionID {
          isKnown = true
          guard let opened = Self.decrypt(bytes, header, from: end, with: key, groups: set.groups) else { continue }
          (header, bytes) = opened
          return try accept(bytes, header, end, of: known.fabric)
        }
      }
    }
    throw isKnown ? .decryptionFailed : .unknownGroupKey
  }

  /// Decrypts a message.
  /// - Parameter groups: The groups that use the key; messages to other groups are not decrypted.
  /// - Returns: The deobfuscated header and the decrypted datagram; nil if the message is not under this key.
  static func decrypt(
    _ bytes: [UInt8], _ header: MessageHeader, from end: Int, with key: GroupKey, groups: [GroupID]
  ) -> (MessageHeader, [UInt8])? {
    var bytes = bytes
    var header = header
    if header.hasPrivacy {
      // Message extensions are not obfuscated; the specification defines none.
      guard key.obfuscate(&bytes, headerEnd: headerSize), let clear = try? MessageHeader.decode(bytes).header
      else { return nil }
      header = clear
    }
    guard case .group(let group) = header.destination, groups.contains(group), let source = header.source else {
      return nil
    }
    let nonce = Nonce(
      securityFlags: header.securityFlags, messageCounter: header.counter, sourceNodeID: source.rawValue)
    guard (try? key.encryption.open(&bytes, from: end, nonce: nonce, aad: 0..<end)) != nil else { return nil }
    return (header, bytes)
  }

  /// The 8 fixed bytes of the header, a node id and a group id.
  private static let headerSize = 18

  private mutating func accept(
    _ bytes: [UInt8], _ header: MessageHeader, _ end: Int, of fabric: FabricIndex
  ) throws(DropReason) -> (message: GroupMessage, payload: PayloadHeader) {
    guard let (payload, offset) = try? PayloadHeader.decode(bytes, at: end) else { throw .malformedPayloadHeader }
    guard case .group(let group) = header.destination, let source = header.source, source.isOperational,
      payload.protocolID == .interactionModel, payload.isFromInitiator, !payload.needsAck, payload.acknowledged == nil
    else { throw .improperGroupMessage }
    switch peers.accept(header.counter, from: source, fabric: fabric) {
    case .new: break
    case .duplicate: throw .duplicate
    case .exhausted: throw .groupPeersExhausted
    }
    let message = GroupMessage(
      fabric: fabric, group: group, source: source, opcode: payload.opcode, bytes: bytes,
      payload: offset..<bytes.count)
    return (message, payload)
  }
}
