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
    tracer?(PacketTrace(sending: sealed))
    return true
  }
}
