public import MatterModel

extension NodeCore {
  /// The Matter port, the destination port of all group messages. Matter Core § 2.5.6.
  public static let groupPort: UInt16 = GroupMessaging.port

  /// Sets the group key sets of a fabric. Key set 0 is not used for groups.
  public mutating func setGroupKeys(_ sets: [GroupKeySet], of fabric: FabricIndex) { groups.setKeys(sets, of: fabric) }

  /// Returns the group key sets of a fabric.
  public func groupKeys(of fabric: FabricIndex) -> [GroupKeySet] { groups.keys(of: fabric) }

  /// Sends a message once to all members of a group.
  /// - Parameter hasPrivacy: Whether to obfuscate the source and the group.
  /// - Returns: false if the group has no key, or the payload is too long.
  @discardableResult
  public mutating func sendToGroup(
    _ group: GroupID, fabric index: FabricIndex, _ opcode: UInt8, payload: [UInt8], hasPrivacy: Bool = false
  ) -> Bool {
    guard let fabric = fabricsByIndex[index],
      let sealed = groups.seal(
        opcode, payload: payload, to: group, of: fabric, hasPrivacy: hasPrivacy, exchange: exchanges.takeNumber(),
        random: &random)
    else { return false }
    if let reserved = sealed.reserved { emit(.groupCounterReserved(reserved)) }
    emit(.send(sealed.bytes, to: sealed.address))
    tracer?(
      PacketTrace(
        direction: .sent, session: SessionID(local: sealed.header.sessionID), exchange: sealed.exchange,
        counter: sealed.header.counter, peer: sealed.address, protocolID: .interactionModel, opcode: opcode,
        size: sealed.bytes.count))
    return true
  }

  mutating func receiveGroup(_ bytes: [UInt8], _ header: MessageHeader, _ end: Int, from address: SocketAddress) {
    var (bytes, header) = (bytes, header)
    do {
      let (message, payload) = try groups.open(&bytes, &header, from: end)
      tracer?(
        PacketTrace(
          direction: .received, session: SessionID(local: header.sessionID), exchange: payload.exchange,
          counter: header.counter, peer: address, protocolID: payload.protocolID, opcode: payload.opcode,
          size: bytes.count))
      emit(.groupMessage(message))
    } catch {
      drop(error, header, address, bytes.count)
    }
  }
}
