import MatterProtocol
import Testing

/// Transfers between a ``BulkSender`` and a ``BulkReceiver``.
@Suite("Bulk data transfers") struct BulkTransferTests {
  private static let file = Array("lamp.ota".utf8)
  private static func data(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) } }

  /// Passes messages between both ends until none are left.
  /// - Returns: The opcodes of the messages.
  private func run(
    _ sender: inout BulkSender, _ receiver: inout BulkReceiver, toSender: [BulkDataMessage] = [],
    toReceiver: [BulkDataMessage] = []
  ) throws -> [UInt8] {
    var (toSender, toReceiver, opcodes) = (toSender, toReceiver, [UInt8]())
    while !toSender.isEmpty || !toReceiver.isEmpty {
      if !toReceiver.isEmpty {
        let message = toReceiver.removeFirst()
        opcodes.append(message.opcode)
        toSender += try receiver.receive(try BulkDataMessage(message.opcode, decoding: message.encoded))
      } else {
        let message = toSender.removeFirst()
        opcodes.append(message.opcode)
        toReceiver += try sender.receive(try BulkDataMessage(message.opcode, decoding: message.encoded))
      }
    }
    return opcodes
  }

  /// Returns both ends of a transfer that the receiver requested, with the messages for the receiver.
  private func requested(
    _ data: [UInt8], modes: BulkTransferMode = .receiverDrive, start: UInt64 = 0, limit: Int = 100_000
  ) throws -> (sender: BulkSender, receiver: BulkReceiver, messages: [BulkDataMessage]) {
    let (receiver, first) = BulkReceiver.request(
      file: Self.file, startOffset: start, maximumLength: limit, modes: modes, maximumBlockSize: 100)
    guard case .receiveInit(let proposal) = first else { throw BulkDataStatus.unexpectedMessage }
    let (sender, messages) = try BulkSender.accept(proposal, data)
    return (sender, receiver, messages)
  }

  @Test(arguments: [0, 1, 99, 100, 101, 200, 1234], [BulkTransferMode.receiverDrive, .senderDrive])
  func receivesRequestedFile(_ count: Int, _ mode: BulkTransferMode) throws {
    let data = Self.data(count)
    var (sender, receiver, messages) = try requested(data, modes: mode)
    let opcodes = try run(&sender, &receiver, toReceiver: messages)
    #expect(receiver.data == data)
    #expect(sender.isComplete && receiver.isComplete)
    #expect(opcodes.last == BulkDataOpcode.blockAckEOF)
    #expect(opcodes.contains(BulkDataOpcode.blockQuery) == (mode == .receiverDrive))
    #expect(opcodes.contains(BulkDataOpcode.blockAck) == (mode == .senderDrive && count > 100))
    let blocks = opcodes.count { $0 == BulkDataOpcode.block || $0 == BulkDataOpcode.blockEOF }
    #expect(blocks == max(1, (count + 99) / 100))
  }

  @Test(arguments: [BulkTransferMode.receiverDrive, .senderDrive, [.senderDrive, .receiverDrive]])
  func receivesOfferedFile(_ modes: BulkTransferMode) throws {
    let data = Self.data(250)
    var (sender, first) = BulkSender.propose(data, file: Self.file, modes: modes, maximumBlockSize: 100)
    guard case .sendInit(let proposal) = first else { throw BulkDataStatus.unexpectedMessage }
    #expect(proposal.length == 250)
    var (receiver, messages) = try BulkReceiver.accept(proposal, maximumLength: 1000)
    let opcodes = try run(&sender, &receiver, toSender: messages)
    #expect(receiver.data == data)
    #expect(sender.isComplete && receiver.isComplete)
    #expect(opcodes.contains(BulkDataOpcode.blockQuery) == !modes.contains(.senderDrive))
  }

  @Test func continuesAtOffset() throws {
    let data = Self.data(250)
    var (sender, receiver, messages) = try requested(data, start: 130)
    _ = try run(&sender, &receiver, toReceiver: messages)
    #expect(receiver.data == Array(data[130...]))
  }

  @Test func skipsBytes() throws {
    var (sender, _, _) = try requested(Self.data(250))
    let reply = try sender.receive(.blockQueryWithSkip(0, bytes: 120))
    #expect(reply == [.block(0, Array(Self.data(250)[120..<220]))])
    #expect(try sender.receive(.blockQueryWithSkip(1, bytes: .max)) == [.blockEOF(1, [])])
  }

  @Test func acceptsOptionalAcknowledgment() throws {
    var (sender, _, _) = try requested(Self.data(250))
    _ = try sender.receive(.blockQuery(0))
    #expect(try sender.receive(.blockAck(0)) == [])
    #expect(try sender.receive(.blockQuery(1)).count == 1)
  }

  // MARK: Errors

  @Test func refusesProposal() {
    var proposal = BulkTransferProposal(modes: .asynchronous, maximumBlockSize: 100, file: Self.file)
    #expect(throws: BulkDataStatus.methodNotSupported) { try BulkSender.accept(proposal, []) }
    proposal.modes = [.receiverDrive]
    #expect(throws: BulkDataStatus.methodNotSupported) { try BulkSender.accept(proposal, [], modes: .senderDrive) }
    proposal.startOffset = 11
    #expect(throws: BulkDataStatus.startOffsetNotSupported) { try BulkSender.accept(proposal, Self.data(10)) }
    (proposal.startOffset, proposal.length) = (1, 10)
    #expect(throws: BulkDataStatus.lengthTooLarge) { try BulkSender.accept(proposal, Self.data(10)) }
    #expect(throws: BulkDataStatus.lengthTooLarge) { try BulkReceiver.accept(proposal, maximumLength: 9) }
    (proposal.length, proposal.maximumBlockSize) = (0, 0)
    #expect(throws: BulkDataStatus.badMessageContents) { try BulkSender.accept(proposal, Self.data(10)) }
  }

  @Test func refusesAcceptance() throws {
    let (receiver, _) = BulkReceiver.request(file: Self.file, maximumLength: 1000, maximumBlockSize: 100)
    func status(_ change: (inout BulkTransferAcceptance) -> Void) -> BulkDataStatus? {
      var (receiver, acceptance) = (receiver, BulkTransferAcceptance(mode: .receiverDrive, maximumBlockSize: 100))
      change(&acceptance)
      do throws(BulkDataStatus) { _ = try receiver.receive(.receiveAccept(acceptance)) } catch { return error }
      return nil
    }
    #expect(status { _ in } == nil)
    #expect(status { $0.mode = .senderDrive } == .methodNotSupported)
    #expect(status { $0.mode = [.receiverDrive, .senderDrive] } == .methodNotSupported)
    #expect(status { $0.version = 1 } == .versionNotSupported)
    #expect(status { $0.maximumBlockSize = 101 } == .badMessageContents)
    #expect(status { $0.maximumBlockSize = 0 } == .badMessageContents)
    #expect(status { $0.length = 1001 } == .lengthTooLarge)
    #expect(status { $0.startOffset = 1 } == .startOffsetNotSupported)
  }

  @Test func refusesBlocks() throws {
    let (_, fresh, messages) = try requested(Self.data(250))
    var started = fresh
    _ = try started.receive(messages[0])
    func status(_ received: BulkDataMessage...) -> BulkDataStatus? {
      var receiver = started
      do throws(BulkDataStatus) { for message in received { _ = try receiver.receive(message) } } catch { return error }
      return nil
    }
    #expect(status(.block(0, [1])) == nil)
    #expect(status(.block(1, [1])) == .badBlockCounter)
    #expect(status(.block(0, [1]), .block(0, [1])) == .badBlockCounter)
    #expect(status(.block(0, [])) == .badMessageContents)
    #expect(status(.block(0, Self.data(101))) == .badMessageContents)
    #expect(status(.blockEOF(0, [1])) == .lengthMismatch)
    let blocks = (0..<3).map { BulkDataMessage.block($0, Self.data(100)) }
    #expect(status(blocks[0], blocks[1], blocks[2]) == .lengthMismatch)
    #expect(status(.blockQuery(0)) == .unexpectedMessage)
    #expect(status(messages[0]) == .unexpectedMessage)
    // Without a length of the sender, the own limit applies.
    var (receiver, _) = BulkReceiver.request(file: Self.file, maximumLength: 150, maximumBlockSize: 100)
    _ = try receiver.receive(.receiveAccept(BulkTransferAcceptance(mode: .receiverDrive, maximumBlockSize: 100)))
    _ = try receiver.receive(blocks[0])
    #expect(throws: BulkDataStatus.lengthTooLarge) { try receiver.receive(blocks[1]) }
  }

  @Test func refusesQueries() throws {
    let (started, _, _) = try requested(Self.data(150))
    func status(_ received: BulkDataMessage...) -> BulkDataStatus? {
      var sender = started
      do throws(BulkDataStatus) { for message in received { _ = try sender.receive(message) } } catch { return error }
      return nil
    }
    #expect(status(.blockQuery(1)) == .badBlockCounter)
    #expect(status(.blockQuery(0), .blockQuery(0)) == .badBlockCounter)
    #expect(status(.blockAck(0)) == .badBlockCounter)
    #expect(status(.blockAckEOF(0)) == .unexpectedMessage)
    #expect(status(.blockQuery(0), .blockQuery(1), .blockQuery(2)) == .unexpectedMessage)
    #expect(status(.blockQuery(0), .blockQuery(1), .blockAckEOF(0)) == .badBlockCounter)
    #expect(status(.blockQuery(0), .blockQuery(1), .blockAckEOF(1)) == nil)
    #expect(status(.block(0, [1])) == .unexpectedMessage)
  }
}
