/// The message types of the Bulk Data Exchange protocol. Matter Core § 11.22.3.1.
package enum BulkDataOpcode {
  /// The proposal of a sender, and its acceptance.
  package static let sendInit: UInt8 = 0x01, sendAccept: UInt8 = 0x02
  /// The proposal of a receiver, and its acceptance.
  package static let receiveInit: UInt8 = 0x04, receiveAccept: UInt8 = 0x05
  /// Requests, blocks and their acknowledgments.
  package static let blockQuery: UInt8 = 0x10, block: UInt8 = 0x11, blockEOF: UInt8 = 0x12, blockAck: UInt8 = 0x13
  /// The acknowledgment of the last block, and a request that leaves out bytes.
  package static let blockAckEOF: UInt8 = 0x14, blockQueryWithSkip: UInt8 = 0x15
}

/// A message of the Bulk Data Exchange protocol (BDX). Matter Core § 11.22.5.
public enum BulkDataMessage: Hashable, Sendable {
  /// The sender proposes a transfer.
  case sendInit(BulkTransferProposal)
  /// The receiver proposes a transfer.
  case receiveInit(BulkTransferProposal)
  /// The receiver accepts a proposal.
  case sendAccept(BulkTransferAcceptance)
  /// The sender accepts a proposal.
  case receiveAccept(BulkTransferAcceptance)
  /// The driving receiver requests a block.
  case blockQuery(UInt32)
  /// The driving receiver skips bytes and requests a block.
  case blockQueryWithSkip(UInt32, bytes: UInt64)
  /// A block with its counter, which is not the last one.
  case block(UInt32, [UInt8])
  /// The last block, which may be empty.
  case blockEOF(UInt32, [UInt8])
  /// The acknowledgment of a block.
  case blockAck(UInt32)
  /// The acknowledgment of the last block.
  case blockAckEOF(UInt32)

  /// The type of the message in the protocol header.
  public var opcode: UInt8 {
    switch self {
    case .sendInit: BulkDataOpcode.sendInit
    case .receiveInit: BulkDataOpcode.receiveInit
    case .sendAccept: BulkDataOpcode.sendAccept
    case .receiveAccept: BulkDataOpcode.receiveAccept
    case .blockQuery: BulkDataOpcode.blockQuery
    case .blockQueryWithSkip: BulkDataOpcode.blockQueryWithSkip
    case .block: BulkDataOpcode.block
    case .blockEOF: BulkDataOpcode.blockEOF
    case .blockAck: BulkDataOpcode.blockAck
    case .blockAckEOF: BulkDataOpcode.blockAckEOF
    }
  }

  /// Decodes the payload of a message.
  /// - Throws: `unexpectedMessage` for an unknown message type, `badMessageContents` for a truncated payload.
  public init(_ opcode: UInt8, decoding bytes: some Sequence<UInt8>) throws(BulkDataStatus) {
    var reader = LittleEndianReader(Array(bytes))
    switch opcode {
    case BulkDataOpcode.sendInit: self = .sendInit(try BulkTransferProposal(&reader))
    case BulkDataOpcode.receiveInit: self = .receiveInit(try BulkTransferProposal(&reader))
    case BulkDataOpcode.sendAccept: self = .sendAccept(try BulkTransferAcceptance(&reader, hasRange: false))
    case BulkDataOpcode.receiveAccept: self = .receiveAccept(try BulkTransferAcceptance(&reader, hasRange: true))
    case BulkDataOpcode.blockQuery: self = .blockQuery(try reader.counter())
    case BulkDataOpcode.blockQueryWithSkip:
      let counter = try reader.counter()
      guard let count = reader.u64() else { throw .badMessageContents }
      self = .blockQueryWithSkip(counter, bytes: count)
    case BulkDataOpcode.block: self = .block(try reader.counter(), reader.rest())
    case BulkDataOpcode.blockEOF: self = .blockEOF(try reader.counter(), reader.rest())
    case BulkDataOpcode.blockAck: self = .blockAck(try reader.counter())
    case BulkDataOpcode.blockAckEOF: self = .blockAckEOF(try reader.counter())
    default: throw .unexpectedMessage
    }
  }

  /// The payload of the message.
  public var encoded: [UInt8] {
    switch self {
    case .sendInit(let proposal), .receiveInit(let proposal): return proposal.encoded
    case .sendAccept(let acceptance): return acceptance.encoded(hasRange: false)
    case .receiveAccept(let acceptance): return acceptance.encoded(hasRange: true)
    case .blockQuery(let counter), .blockAck(let counter), .blockAckEOF(let counter):
      return [UInt8](littleEndian: counter)
    case .blockQueryWithSkip(let counter, let count):
      return [UInt8](littleEndian: counter) + [UInt8](littleEndian: count)
    case .block(let counter, let data), .blockEOF(let counter, let data):
      return [UInt8](littleEndian: counter) + data
    }
  }
}

/// The ways in which a transfer may proceed. Matter Core § 11.22.5.1.1.
public struct BulkTransferMode: OptionSet, Hashable, Sendable {
  public var rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }
  /// The sender sends a block after each acknowledgment.
  public static let senderDrive = Self(rawValue: 0x10)
  /// The receiver requests each block.
  public static let receiverDrive = Self(rawValue: 0x20)
  /// Blocks are not acknowledged one by one. Provisional, and not implemented here.
  public static let asynchronous = Self(rawValue: 0x40)
}

/// The contents of SendInit and ReceiveInit. Matter Core § 11.22.5.1.
public struct BulkTransferProposal: Hashable, Sendable {
  /// The version of the protocol, at most 15.
  public var version: UInt8 = 0
  /// The supported modes.
  public var modes: BulkTransferMode
  /// The largest block that the initiator supports, in bytes.
  public var maximumBlockSize: UInt16
  /// The first byte to transfer.
  public var startOffset: UInt64 = 0
  /// The number of bytes; 0 if it is not known.
  public var length: UInt64 = 0
  /// The name of the file.
  public var file: [UInt8]
  /// Application data in TLV; usually empty.
  public var metadata: [UInt8] = []

  package init(modes: BulkTransferMode, maximumBlockSize: UInt16, file: [UInt8]) {
    (self.modes, self.maximumBlockSize, self.file) = (modes, maximumBlockSize, file)
  }

  init(_ reader: inout LittleEndianReader) throws(BulkDataStatus) {
    guard let control = reader.u8(), let range = reader.u8(), let size = reader.u16() else {
      throw .badMessageContents
    }
    (version, modes) = (control & 0x0F, BulkTransferMode(rawValue: control & 0xF0))
    maximumBlockSize = size
    (startOffset, length) = try reader.range(range)
    guard let count = reader.u16() else { throw .badMessageContents }
    let rest = reader.rest()
    guard rest.count >= Int(count) else { throw .badMessageContents }
    (file, metadata) = (Array(rest.prefix(Int(count))), Array(rest.dropFirst(Int(count))))
  }

  var encoded: [UInt8] {
    var bytes = [version & 0x0F | modes.rawValue, RangeFlags.flags(startOffset, length)]
    bytes.append(littleEndian: maximumBlockSize)
    RangeFlags.append(startOffset, length, to: &bytes)
    let name = file.prefix(Int(UInt16.max))
    bytes.append(littleEndian: UInt16(name.count))
    return bytes + name + metadata
  }
}

/// The contents of SendAccept and ReceiveAccept. Matter Core § 11.22.5.2 and § 11.22.5.3.
public struct BulkTransferAcceptance: Hashable, Sendable {
  /// The version of the protocol, at most 15.
  public var version: UInt8 = 0
  /// The one mode that is used.
  public var mode: BulkTransferMode
  /// The largest block of the transfer, in bytes.
  public var maximumBlockSize: UInt16
  /// The first byte to transfer; not in a SendAccept.
  public var startOffset: UInt64 = 0
  /// The number of bytes, 0 if it is not known; not in a SendAccept.
  public var length: UInt64 = 0
  /// Application data in TLV; usually empty.
  public var metadata: [UInt8] = []

  package init(mode: BulkTransferMode, maximumBlockSize: UInt16) {
    (self.mode, self.maximumBlockSize) = (mode, maximumBlockSize)
  }

  init(_ reader: inout LittleEndianReader, hasRange: Bool) throws(BulkDataStatus) {
    guard let control = reader.u8() else { throw .badMessageContents }
    (version, mode) = (control & 0x0F, BulkTransferMode(rawValue: control & 0xF0))
    var range: UInt8 = 0
    if hasRange {
      guard let flags = reader.u8() else { throw .badMessageContents }
      range = flags
    }
    guard let size = reader.u16() else { throw .badMessageContents }
    maximumBlockSize = size
    (startOffset, length) = try reader.range(range)
    metadata = reader.rest()
  }

  func encoded(hasRange: Bool) -> [UInt8] {
    var bytes = [version & 0x0F | mode.rawValue]
    if hasRange { bytes.append(RangeFlags.flags(startOffset, length)) }
    bytes.append(littleEndian: maximumBlockSize)
    if hasRange { RangeFlags.append(startOffset, length, to: &bytes) }
    return bytes + metadata
  }
}

/// The range control field: which part of the file is transferred. Matter Core § 11.22.5.1.2.
private enum RangeFlags {
  static let definiteLength: UInt8 = 0x01, startOffset: UInt8 = 0x02, wide: UInt8 = 0x10

  private static func isWide(_ start: UInt64, _ length: UInt64) -> Bool { max(start, length) > UInt64(UInt32.max) }

  static func flags(_ start: UInt64, _ length: UInt64) -> UInt8 {
    (length > 0 ? definiteLength : 0) | (start > 0 ? startOffset : 0) | (isWide(start, length) ? wide : 0)
  }

  static func append(_ start: UInt64, _ length: UInt64, to bytes: inout [UInt8]) {
    for value in [start, length] where value > 0 {
      if isWide(start, length) {
        bytes.append(littleEndian: value)
      } else {
        bytes.append(littleEndian: UInt32(truncatingIfNeeded: value))
      }
    }
  }
}

extension LittleEndianReader {
  fileprivate mutating func counter() throws(BulkDataStatus) -> UInt32 {
    guard let counter = u32() else { throw .badMessageContents }
    return counter
  }

  fileprivate mutating func rest() -> [UInt8] {
    defer { offset = bytes.count }
    return Array(bytes.dropFirst(offset))
  }

  fileprivate mutating func range(_ flags: UInt8) throws(BulkDataStatus) -> (start: UInt64, length: UInt64) {
    var values: [UInt64] = []
    for flag in [RangeFlags.startOffset, RangeFlags.definiteLength] {
      guard flags & flag != 0 else {
        values.append(0)
        continue
      }
      guard let value = flags & RangeFlags.wide != 0 ? u64() : u32().map(UInt64.init) else {
        throw .badMessageContents
      }
      values.append(value)
    }
    return (values[0], values[1])
  }
}
