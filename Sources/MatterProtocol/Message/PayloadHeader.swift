/// The protocol of a message: a vendor and a protocol number. Matter Core § 4.4.3.4.
public struct ProtocolID: Hashable, Sendable {
  /// The vendor; 0 for the protocols of the specification.
  public var vendor: UInt16
  /// The protocol number, assigned by the vendor.
  public var number: UInt16

  init(vendor: UInt16 = 0, _ number: UInt16) { (self.vendor, self.number) = (vendor, number) }

  /// The standard protocols that this module implements.
  public static let secureChannel = ProtocolID(0), interactionModel = ProtocolID(1), bulkData = ProtocolID(2)
  /// A standard protocol that this module does not implement.
  public static let userDirectedCommissioning = ProtocolID(3)
}

/// The protocol header, which precedes the application payload and is encrypted with it. Matter Core § 4.4.3.
public struct PayloadHeader: Hashable, Sendable {
  /// The I flag: sent by the initiator of the exchange.
  public var isFromInitiator: Bool
  /// The R flag: the sender requests an acknowledgment.
  public var needsAck: Bool
  /// The message type within the protocol.
  public var opcode: UInt8
  /// The exchange id, chosen by the initiator.
  public var exchange: UInt16
  public var protocolID: ProtocolID
  /// The A field: the counter of the message that this one acknowledges.
  public var acknowledged: UInt32?

  package init(
    isFromInitiator: Bool, needsAck: Bool, opcode: UInt8, exchange: UInt16, protocolID: ProtocolID,
    acknowledged: UInt32? = nil
  ) {
    self.isFromInitiator = isFromInitiator
    self.needsAck = needsAck
    self.opcode = opcode
    self.exchange = exchange
    self.protocolID = protocolID
    self.acknowledged = acknowledged
  }

  /// Reads a header from decrypted bytes, beginning at `offset`.
  /// - Returns: The header, and the offset at which the application payload begins.
  public static func decode(_ bytes: [UInt8], at offset: Int) throws(MessageError) -> (header: PayloadHeader, end: Int)
  {
    var reader = LittleEndianReader(bytes, at: offset)
    guard let flags = reader.u8(), let opcode = reader.u8(), let exchange = reader.u16(), let number = reader.u16()
    else { throw .truncated }
    var header = PayloadHeader(
      isFromInitiator: flags & 0x01 != 0, needsAck: flags & 0x04 != 0, opcode: opcode, exchange: exchange,
      protocolID: ProtocolID(number))
    if flags & 0x10 != 0 {
      guard let vendor = reader.u16() else { throw .truncated }
      header.protocolID.vendor = vendor
    }
    if flags & 0x02 != 0 {
      guard let counter = reader.u32() else { throw .truncated }
      header.acknowledged = counter
    }
    if flags & 0x08 != 0 {  // SX: secured extensions; skipped
      guard let length = reader.u16(), reader.skip(Int(length)) else { throw .truncated }
    }
    return (header, reader.offset)
  }

  package func encode(to bytes: inout [UInt8]) {
    var flags: UInt8 = isFromInitiator ? 0x01 : 0
    if acknowledged != nil { flags |= 0x02 }
    if needsAck { flags |= 0x04 }
    if protocolID.vendor != 0 { flags |= 0x10 }
    bytes.append(flags)
    bytes.append(opcode)
    bytes.append(littleEndian: exchange)
    bytes.append(littleEndian: protocolID.number)
    if protocolID.vendor != 0 { bytes.append(littleEndian: protocolID.vendor) }
    if let acknowledged { bytes.append(littleEndian: acknowledged) }
  }
}
