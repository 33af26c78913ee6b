import MatterModel
import MatterProtocol
import Testing

/// The messages of the SDK's BDX tests, and their limits.
@Suite("Messages of the Bulk Data Exchange protocol") struct BulkDataMessageTests {
  private static let metadata: [UInt8] = [7, 6, 5, 4, 3]

  private static var proposal: BulkTransferProposal {
    var proposal = BulkTransferProposal(
      modes: .receiverDrive, maximumBlockSize: 256, file: Array("test.txt".utf8) + [0])
    (proposal.version, proposal.startOffset, proposal.length) = (1, 42, 1 << 32)
    proposal.metadata = metadata
    return proposal
  }

  private static var acceptance: BulkTransferAcceptance {
    var acceptance = BulkTransferAcceptance(mode: .receiverDrive, maximumBlockSize: 256)
    (acceptance.version, acceptance.metadata) = (1, metadata)
    return acceptance
  }

  private static var ranged: BulkTransferAcceptance {
    var acceptance = acceptance
    (acceptance.startOffset, acceptance.length) = (42, 1 << 32)
    return acceptance
  }

  /// A length above 32 bits makes both numbers 64 bits wide.
  static let samples: [(BulkDataMessage, UInt8, [UInt8])] = [
    (
      .receiveInit(proposal), 0x04,
      [0x21, 0x13, 0, 1, 42, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 9, 0] + Array("test.txt".utf8) + [0]
        + metadata
    ),
    (.sendAccept(acceptance), 0x02, [0x21, 0, 1] + metadata),
    (
      .receiveAccept(ranged), 0x05,
      [0x21, 0x13, 0, 1, 42, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0] + metadata
    ),
    (.blockQuery(4), 0x10, [4, 0, 0, 0]),
    (.block(4, metadata), 0x11, [4, 0, 0, 0] + metadata),
    (.blockEOF(0x0102_0304, []), 0x12, [4, 3, 2, 1]),
    (.blockAck(4), 0x13, [4, 0, 0, 0]),
    (.blockAckEOF(4), 0x14, [4, 0, 0, 0]),
    (.blockQueryWithSkip(5, bytes: 16), 0x15, [5, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0]),
  ]

  @Test(arguments: samples) func roundTrips(_ message: BulkDataMessage, _ opcode: UInt8, _ bytes: [UInt8]) throws {
    #expect(message.opcode == opcode)
    #expect(message.encoded == bytes)
    #expect(try BulkDataMessage(opcode, decoding: bytes) == message)
  }

  @Test func encodesNarrowRange() throws {
    var proposal = BulkTransferProposal(modes: [.senderDrive, .receiverDrive], maximumBlockSize: 1024, file: [65])
    proposal.length = 300
    let bytes: [UInt8] = [0x30, 0x01, 0, 4, 44, 1, 0, 0, 1, 0, 65]
    #expect(BulkDataMessage.sendInit(proposal).encoded == bytes)
    #expect(try BulkDataMessage(BulkDataOpcode.sendInit, decoding: bytes) == .sendInit(proposal))
  }

  /// Every prefix of a message is refused, unless it is a message with a shorter last field.
  @Test(arguments: samples) func rejectsTruncated(_ message: BulkDataMessage, _ opcode: UInt8, _ bytes: [UInt8]) {
    let fixed = bytes.count - (bytes.suffix(5) == Self.metadata[...] ? 5 : 0)
    for count in 0..<fixed {
      #expect(throws: BulkDataStatus.badMessageContents) {
        try BulkDataMessage(opcode, decoding: bytes.prefix(count))
      }
    }
  }

  @Test func rejectsUnknownOpcode() {
    for opcode: UInt8 in [0, 3, 6, 0x16, 0xFF] {
      #expect(throws: BulkDataStatus.unexpectedMessage) { try BulkDataMessage(opcode, decoding: [0, 0, 0, 0]) }
    }
  }

  @Test func encodesStatus() throws {
    let report = StatusReport(BulkDataStatus.fileUnknown)
    #expect(report.encoded == [1, 0, 2, 0, 0, 0, 0x51, 0])
    #expect(StatusReport(decoding: report.encoded)?.bulkDataStatus == .fileUnknown)
    #expect(StatusReport(.failure, .invalidParameter).bulkDataStatus == nil)
  }

  @Test(arguments: [
    ("bdx://1234567890ABCDEF/file_name", "file_name"), ("bdx://1234567890abcdef/file/na/me", "file/na/me"),
  ]) func parsesAddress(_ text: String, _ file: String) throws {
    let uri = try #require(BulkDataURI(text))
    #expect(uri == BulkDataURI(node: 0x1234_5678_90AB_CDEF, file: file))
    #expect("\(uri)" == "bdx://1234567890ABCDEF/\(file)")
  }

  @Test(arguments: [
    "", "bdx:", "bdy://1234567890ABCDEF/file_name", "bdx://1234567890ABCDEG/file_name",
    "bdx://1234567890ABCDE/file_name", "bdx://1234567890ABCDEFEF/file_name", "bdx://FFFFFFFFFFFFFFFF/file_name",
    "bdx://0000000000000000/file_name", "bdx://1234567890ABCDEF/", "bdx://1234567890ABCDEF", "https://host/file",
  ]) func rejectsAddress(_ text: String) {
    #expect(BulkDataURI(text) == nil)
  }

  @Test func padsNodeOfAddress() { #expect("\(BulkDataURI(node: 0x12, file: "a"))" == "bdx://0000000000000012/a") }
}
