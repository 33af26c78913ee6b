import MatterCrypto
public import MatterModel
import MatterTLV

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

// Group messages are encrypted with a key shared by all members, and are neither acknowledged nor answered. Matter Core
// § 4.16.
extension NodeCore {
  /// The Matter port, the destination port of all group messages. Matter Core § 2.5.6.
  public static let groupPort: UInt16 = 5540

  /// Sets the group key sets of a fabric. Key set 0 is not used for groups.
  public mutating func setGroupKeys(_ sets: [GroupKeySet], of fabric: FabricIndex) {
    groupKeys.removeAll { $0.fabric == fabric }
    guard !sets.isEmpty else { return }
    groupKeys.append(FabricGroupKeys(fabric: fabric, sets: sets))
    groupKeys.sort { $0.fabric < $1.fabric }
  }

  /// Returns the group key sets of a fabric.
  public func groupKeys(of fabric: FabricIndex) -> [GroupKeySet] {
    groupKeys.first { $0.fabric == fabric }?.sets ?? []
  }

  mutating func forgetGroups(of fabric: FabricIndex) {
    groupKeys.removeAll { $0.fabric == fabric }
    groupPeers.forget(fabric)
  }

  // MARK: Sending

  /// Sends a message once to all members of a group.
  /// - Parameter hasPrivacy: Whether to obfuscate the source and the group.
  /// - Returns: false if the group has no key, or the payload is too long.
  @discardableResult
  public mutating func sendToGroup(
    _ group: GroupID, fabric index: FabricIndex, _ opcode: UInt8, payload: [UInt8], hasPrivacy: Bool = false
  ) -> Bool {
    guard let fabric = fabricsByIndex[index], payload.count <= InteractionLimits.maximumPayload,
      let set = groupKeys(of: index).first(where: { $0.groups.contains(group) }), let key = set.current
    else { return false }
    let (counter, reserved) = groupCounter.take(first: random.initialMessageCounter())
    if let reserved { emit(.groupCounterReserved(reserved)) }
    let header = MessageHeader(
      sessionID: key.sessionID, sessionKind: .group, counter: counter, source: fabric.nodeID,
      destination: .group(group), hasPrivacy: hasPrivacy)
    let payloadHeader = PayloadHeader(
      isFromInitiator: true, needsAck: false, opcode: opcode, exchange: exchanges.takeNumber(),
      protocolID: .interactionModel)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(payload.count + 48)
    header.encode(to: &bytes)
    let end = bytes.count
    payloadHeader.encode(to: &bytes)
    bytes += payload
    let nonce = Nonce(
      securityFlags: header.securityFlags, messageCounter: counter, sourceNodeID: fabric.nodeID.rawValue)
    guard (try? key.encryption.seal(&bytes, from: end, nonce: nonce, aad: 0..<end)) != nil,
      !hasPrivacy || key.obfuscate(&bytes, headerEnd: end)
    else { return false }
    let address = SocketAddress(set.address(of: group, fabricID: fabric.fabricID), port: Self.groupPort)
    emit(.send(bytes, to: address))
    tracer?(
      PacketTrace(
        direction: .sent, session: SessionID(local: key.sessionID), exchange: payloadHeader.exchange, counter: counter,
        peer: address, protocolID: .interactionModel, opcode: opcode, size: bytes.count))
    return true
  }

  // MARK: Receiving

  /// Decrypts a group message with each key that has its session id.
  mutating func receiveGroup(
    _ bytes: [UInt8], _ header: MessageHeader, _ end: Int, from address: SocketAddress
  ) {
    // Control messages are for counter synchronization, a part of the feature CacheAndSync, which is not implemented.
    guard !header.isControl, case .group = header.destination, header.source != nil,
      bytes.count >= end + AESCCM.tagByteCount
    else { return drop(.improperGroupMessage, header, address, bytes.count) }
    var isKnown = false
    for known in groupKeys {
      for set in known.sets {
        for key in set.keys where key.sessionID == header.sessionID {
          isKnown = true
          guard let (clear, opened) = Self.open(bytes, header, end, with: key, groups: set.groups) else { continue }
          return accept(opened, clear, end, known.fabric, from: address)
        }
      }
    }
    drop(isKnown ? .decryptionFailed : .unknownGroupKey, header, address, bytes.count)
  }

  /// Decrypts a group message.
  /// - Parameter groups: The groups that use the key; messages to other groups are not decrypted.
  /// - Returns: The deobfuscated header and the decrypted datagram; nil if the message is not under this key.
  static func open(
    _ bytes: [UInt8], _ header: MessageHeader, _ end: Int, with key: GroupKey, groups: [GroupID]
  ) -> (MessageHeader, [UInt8])? {
    var bytes = bytes
    var header = header
    if header.hasPrivacy {
      // Message extensions are not obfuscated; the specification defines none.
      guard key.obfuscate(&bytes, headerEnd: groupHeaderSize), let clear = try? MessageHeader.decode(bytes).header
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
  private static let groupHeaderSize = 18

  private mutating func accept(
    _ bytes: [UInt8], _ header: MessageHeader, _ end: Int, _ fabric: FabricIndex, from address: SocketAddress
  ) {
    guard let (payload, offset) = try? PayloadHeader.decode(bytes, at: end) else {
      return drop(.malformedPayloadHeader, header, address, bytes.count)
    }
    guard case .group(let group) = header.destination, let source = header.source, source.isOperational,
      payload.protocolID == .interactionModel, payload.isFromInitiator, !payload.needsAck, payload.acknowledged == nil
    else { return drop(.improperGroupMessage, header, address, bytes.count) }
    switch groupPeers.accept(header.counter, from: source, fabric: fabric) {
    case .new: break
    case .duplicate: return drop(.duplicate, header, address, bytes.count)
    case .exhausted: return drop(.groupPeersExhausted, header, address, bytes.count)
    }
    tracer?(
      PacketTrace(
        direction: .received, session: SessionID(local: header.sessionID), exchange: payload.exchange,
        counter: header.counter, peer: address, protocolID: payload.protocolID, opcode: payload.opcode,
        size: bytes.count))
    emit(
      .groupMessage(
        GroupMessage(
          fabric: fabric, group: group, source: source, opcode: payload.opcode, bytes: bytes,
          payload: offset..<bytes.count)))
  }
}
