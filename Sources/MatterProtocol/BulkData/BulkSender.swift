/// The sending end of a bulk data transfer, as its initiator or its responder. A value without I/O: each received
/// message returns the messages to send. Matter Core § 11.22.6.
///
/// An error is sent to the peer as a StatusReport, and ends the transfer.
public struct BulkSender: Sendable {
  private enum State: Sendable {
    /// Waits for the acceptance of its proposal.
    case proposed(BulkTransferProposal)
    /// Waits for the query of the next block.
    case sending
    /// Sent the last block that it drives, and waits for its acknowledgment.
    case waiting
    /// Sent the last block of the file.
    case ending
    case ended
  }

  /// The whole file.
  public let data: [UInt8]
  /// The number of bytes of the file up to the end of the last sent block.
  public private(set) var offset = 0
  private var end: Int
  private var state: State
  private var mode = BulkTransferMode.receiverDrive
  private var blockSize = 0
  /// The counter of the next block.
  private var counter: UInt32 = 0

  /// Whether the receiver acknowledged the last block.
  public var isComplete: Bool { if case .ended = state { true } else { false } }

  /// Proposes to send a file.
  /// - Returns: The transfer and its first message, a SendInit.
  package static func propose(
    _ data: [UInt8], file: [UInt8], modes: BulkTransferMode = [.senderDrive, .receiverDrive],
    maximumBlockSize: UInt16 = 1024
  ) -> (BulkSender, BulkDataMessage) {
    var proposal = BulkTransferProposal(modes: modes, maximumBlockSize: maximumBlockSize, file: file)
    proposal.length = UInt64(data.count)
    return (BulkSender(data, .proposed(proposal)), .sendInit(proposal))
  }

  /// Accepts the request of a receiver.
  /// - Returns: The transfer and its first messages: a ReceiveAccept, and the first block if the sender drives.
  /// - Throws: The status to answer with.
  public static func accept(
    _ proposal: BulkTransferProposal, _ data: [UInt8],
    modes: BulkTransferMode = [.senderDrive, .receiverDrive]
  ) throws(BulkDataStatus) -> (BulkSender, [BulkDataMessage]) {
    var acceptance = try BulkTransferRules.accept(proposal, modes: modes, preferring: .receiverDrive)
    guard proposal.startOffset <= UInt64(data.count) else { throw .startOffsetNotSupported }
    let left = UInt64(data.count) - proposal.startOffset
    guard proposal.length <= left else { throw .lengthTooLarge }
    acceptance.startOffset = proposal.startOffset
    acceptance.length = proposal.length > 0 ? proposal.length : left
    var sender = BulkSender(data, .sending)
    sender.offset = Int(proposal.startOffset)
    sender.end = sender.offset + Int(acceptance.length)
    sender.mode = acceptance.mode
    sender.blockSize = Int(acceptance.maximumBlockSize)
    let first = acceptance.mode == .senderDrive ? [sender.nextBlock()] : []
    return (sender, [.receiveAccept(acceptance)] + first)
  }

  private init(_ data: [UInt8], _ state: State) { (self.data, self.state, end) = (data, state, data.count) }

  /// Processes a message of the receiver.
  /// - Returns: The messages to send.
  /// - Throws: The status to answer with.
  public mutating func receive(_ message: BulkDataMessage) throws(BulkDataStatus) -> [BulkDataMessage] {
    switch (message, state) {
    case (.sendAccept(let acceptance), .proposed(let proposal)):
      try BulkTransferRules.check(acceptance, of: proposal)
      (mode, blockSize, state) = (acceptance.mode, Int(acceptance.maximumBlockSize), .sending)
      return mode == .senderDrive ? [nextBlock()] : []
    case (.blockQuery(let number), .sending) where mode == .receiverDrive:
      guard number == counter else { throw .badBlockCounter }
      return [nextBlock()]
    case (.blockQueryWithSkip(let number, let count), .sending) where mode == .receiverDrive:
      guard number == counter else { throw .badBlockCounter }
      offset += Int(min(count, UInt64(end - offset)))
      return [nextBlock()]
    case (.blockAck(let number), .sending) where mode == .receiverDrive:
      // A query acknowledges the previous block as well, so that this message is optional.
      guard counter > 0, number == counter - 1 else { throw .badBlockCounter }
      return []
    case (.blockAck(let number), .waiting):
      guard number == counter &- 1 else { throw .badBlockCounter }
      return [nextBlock()]
    case (.blockAckEOF(let number), .ending):
      guard number == counter &- 1 else { throw .badBlockCounter }
      state = .ended
      return []
    default: throw .unexpectedMessage
    }
  }

  private mutating func nextBlock() -> BulkDataMessage {
    let next = min(offset + blockSize, end)
    let block = Array(data[offset..<next])
    let number = counter
    // Counters wrap around. § 11.22.5.5.
    counter &+= 1
    offset = next
    state = next == end ? .ending : mode == .senderDrive ? .waiting : .sending
    return next == end ? .blockEOF(number, block) : .block(number, block)
  }
}
