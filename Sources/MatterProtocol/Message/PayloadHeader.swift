/// Whose messages these are. Matter Core § 4.4.3.4.
public struct ProtocolID: Hashable, Sendable {
  /// 0 for the standard's own.
  public var vendor: UInt16
  /// As the vendor numbers them.
  public var number: UInt16

  public init(vendor: UInt16 = 0, _ number: UInt16) { (self.vendor, self.number) = (vendor, number) }

  /// What the standard has on UDP.
  public static let secureChannel = ProtocolID(0), interactionModel = ProtocolID(1)
  /// What it has besides; neither is served here.
  public static let bulkData = ProtocolID(2), userDirectedCommissioning = ProtocolID(3)
}

/// The part of a message in front of the application payload, encrypted with it. Matter Core § 4.4.3.
public struct PayloadHeader: Hashable, Sendable {
  /// I: sent by whoever began the exchange.
  public var isFromInitiator: Bool
  /// R: the sender wants an acknowledgement.
  public var needsAck: Bool
  /// Which message of the protocol it is.
  public var opcode: UInt8
  /// The exchange's number, as who began it chose it.
  public var exchange: UInt16
  public var protocolID: ProtocolID
  /// A: the counter of the message that this one acknowledges.
  public var acknowledged: UInt32?

  public init(
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
  /// - Returns: the header, and where the application payload begins.
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
    if flags & 0x08 != 0 {  // SX: secured extensions, passed over
      guard let length = reader.u16(), reader.skip(Int(length)) else { throw .truncated }
    }
    return (header, reader.offset)
  }

  public func encode(to bytes: inout [UInt8]) {
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
