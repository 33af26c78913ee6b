import MatterCrypto
public import MatterModel
import MatterTLV

/// A message to a group that this node is in, or has the key of at least.
public struct GroupMessage: Sendable {
  /// Whose key it was encrypted with.
  public let fabric: FabricIndex
  public let group: GroupID
  /// Who sent it.
  public let source: NodeID
  /// Of the interaction model, the only protocol that groups use.
  public let opcode: UInt8
  /// The whole decrypted datagram.
  public let bytes: [UInt8]
  /// Where in `bytes` the application payload lies.
  public let payload: Range<Int>
}

// Messages to groups: encrypted with keys that all members have, acknowledged and answered by nobody. Matter Core § 4.16.
extension NodeCore {
  /// Matter's port, where group messages always go. Matter Core § 2.5.6.
  public static let groupPort: UInt16 = 5540

  /// Which keys a fabric's groups use from now on. Those of key set 0 are no keys of groups.
  public mutating func setGroupKeys(_ sets: [GroupKeySet], of fabric: FabricIndex) {
    groupKeys.removeAll { $0.fabric == fabric }
    guard !sets.isEmpty else { return }
    groupKeys.append(FabricGroupKeys(fabric: fabric, sets: sets))
    groupKeys.sort { $0.fabric < $1.fabric }
  }

  /// The keys as they were set.
  public func groupKeys(of fabric: FabricIndex) -> [GroupKeySet] {
    groupKeys.first { $0.fabric == fabric }?.sets ?? []
  }

  mutating func forgetGroups(of fabric: FabricIndex) {
    groupKeys.removeAll { $0.fabric == fabric }
    groupPeers.forget(fabric)
  }

  // MARK: Sending

  /// Sends a message to all members of a group, once.
  /// - Parameter hasPrivacy: hides who sends to which group.
  /// - Returns: false if there is no key for the group, or the payload is too long.
  @discardableResult
  public mutating func sendToGroup(
    _ group: GroupID, fabric index: FabricIndex, _ opcode: UInt8, payload: [UInt8], hasPrivacy: Bool = false
  ) -> Bool {
    guard let fabric = fabricsByIndex[index], payload.count <= InteractionLimits.maximumPayload,
      let set = groupKeys(of: index).first(where: { $0.groups.contains(group) }), let key = set.current
    else { return false }
    let (counter, reserved) = groupCounter.take(first: Self.initialCounter(&random))
    if let reserved { emit(.groupCounterReserved(reserved)) }
    let header = MessageHeader(
      sessionID: key.sessionID, sessionKind: .group, counter: counter, source: fabric.nodeID,
      destination: .group(group), hasPrivacy: hasPrivacy)
    nextExchangeNumber &+= 1
    let payloadHeader = PayloadHeader(
      isFromInitiator: true, needsAck: false, opcode: opcode, exchange: nextExchangeNumber,
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

  /// Tries all keys that the message may be under.
  mutating func receiveGroup(
    _ bytes: [UInt8], _ header: MessageHeader, _ end: Int, from address: SocketAddress
  ) {
    // Control messages are for counters that are synchronized, which the feature CacheAndSync would ask for.
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

  /// - Parameter groups: those that use the key; for others nothing is decrypted.
  /// - Returns: the header as it was before it was obfuscated, and the decrypted datagram; nil if it is under another key.
  static func open(
    _ bytes: [UInt8], _ header: MessageHeader, _ end: Int, with key: GroupKey, groups: [GroupID]
  ) -> (MessageHeader, [UInt8])? {
    var bytes = bytes
    var header = header
    if header.hasPrivacy {
      // Extensions, which nobody defines yet, are not hidden.
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

  /// Eight bytes that all headers have, a node id and a group id.
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
