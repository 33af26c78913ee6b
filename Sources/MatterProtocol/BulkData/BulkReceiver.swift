/// The receiving end of a bulk data transfer, as its initiator or its responder. A value without I/O: each received
/// message returns the messages to send. Matter Core § 11.22.6.
///
/// An error is sent to the peer as a StatusReport, and ends the transfer.
public struct BulkReceiver: Sendable {
  private enum State: Sendable {
    /// Waits for the acceptance of its proposal.
    case proposed(BulkTransferProposal)
    case receiving
    case ended
  }

  /// The received part of the file.
  public private(set) var data: [UInt8] = []
  /// The number of bytes of the transfer; nil if the sender does not know it.
  public private(set) var length: Int?
  private let maximumLength: Int
  private var state: State
  private var mode = BulkTransferMode.receiverDrive
  private var blockSize = 0
  /// The counter of the next block.
  private var counter: UInt32 = 0

  /// Whether the last block was received.
  public var isComplete: Bool { if case .ended = state { true } else { false } }

  /// Requests a file.
  /// - Parameters:
  ///   - startOffset: The first byte to transfer, to continue a transfer that was interrupted.
  ///   - maximumLength: The number of bytes after which the transfer is refused.
  /// - Returns: The transfer and its first message, a ReceiveInit.
  public static func request(
    file: [UInt8], startOffset: UInt64 = 0, maximumLength: Int,
    modes: BulkTransferMode = [.receiverDrive], maximumBlockSize: UInt16 = 1024
  ) -> (BulkReceiver, BulkDataMessage) {
    var proposal = BulkTransferProposal(modes: modes, maximumBlockSize: maximumBlockSize, file: file)
    proposal.startOffset = startOffset
    return (BulkReceiver(.proposed(proposal), maximumLength), .receiveInit(proposal))
  }

  /// Accepts the file of a sender.
  /// - Returns: The transfer and its first messages: a SendAccept, and the first query if the receiver drives.
  /// - Throws: The status to answer with.
  package static func accept(
    _ proposal: BulkTransferProposal, maximumLength: Int,
    modes: BulkTransferMode = [.senderDrive, .receiverDrive]
  ) throws(BulkDataStatus) -> (BulkReceiver, [BulkDataMessage]) {
    let acceptance = try BulkTransferRules.accept(proposal, modes: modes, preferring: .senderDrive)
    var receiver = BulkReceiver(.receiving, maximumLength)
    try receiver.start(acceptance, proposal.length)
    return (receiver, [.sendAccept(acceptance)] + (acceptance.mode == .receiverDrive ? [.blockQuery(0)] : []))
  }

  private init(_ state: State, _ maximumLength: Int) { (self.state, self.maximumLength) = (state, maximumLength) }

  private mutating func start(_ acceptance: BulkTransferAcceptance, _ length: UInt64) throws(BulkDataStatus) {
    guard length <= UInt64(maximumLength) else { throw .lengthTooLarge }
    self.length = length > 0 ? Int(length) : nil
    (mode, blockSize, state) = (acceptance.mode, Int(acceptance.maximumBlockSize), .receiving)
  }

  /// Processes a message of the sender.
  /// - Returns: The messages to send.
  /// - Throws: The status to answer with.
  public mutating func receive(_ message: BulkDataMessage) throws(BulkDataStatus) -> [BulkDataMessage] {
    switch (message, state) {
    case (.receiveAccept(let acceptance), .proposed(let proposal)):
      try BulkTransferRules.check(acceptance, of: proposal)
      guard acceptance.startOffset == proposal.startOffset else { throw .startOffsetNotSupported }
      try start(acceptance, acceptance.length)
      return mode == .receiverDrive ? [.blockQuery(0)] : []
    case (.block(let number, let block), .receiving):
      guard !block.isEmpty else { throw .badMessageContents }
      try append(block, number)
      return [mode == .receiverDrive ? .blockQuery(counter) : .blockAck(number)]
    case (.blockEOF(let number, let block), .receiving):
      try append(block, number)
      if let length, data.count != length { throw .lengthMismatch }
      state = .ended
      return [.blockAckEOF(number)]
    default: throw .unexpectedMessage
    }
  }

  private mutating func append(_ block: [UInt8], _ number: UInt32) throws(BulkDataStatus) {
    guard number == counter else { throw .badBlockCounter }
    guard block.count <= blockSize else { throw .badMessageContents }
    guard data.count + block.count <= length ?? maximumLength else {
      throw length == nil ? .lengthTooLarge : .lengthMismatch
    }
    data += block
    counter &+= 1
  }
}
