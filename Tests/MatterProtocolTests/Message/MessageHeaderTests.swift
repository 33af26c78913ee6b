import MatterModel
import Testing

@testable import MatterProtocol

@Suite struct MessageHeaderTests {
  /// From the table of the Matter SDK (src/transport/raw/tests/TestMessageHeader.cpp).
  @Test func encodesPublishedHeaders() throws {
    var bytes: [UInt8] = []
    MessageHeader(sessionID: 0x7788, counter: 0x1122_3344).encode(to: &bytes)
    #expect(bytes == hexadecimal("00 8877 00 44332211"))
    bytes = []
    MessageHeader(
      sessionID: 0xDDEE, sessionKind: .group, counter: 0x1020_3040, destination: .group(0x3456), hasPrivacy: true,
      isControl: true
    ).encode(to: &bytes)
    #expect(bytes == hexadecimal("02 EEDD C1 40302010 5634"))
    bytes = []
    MessageHeader(sessionID: 0, counter: 0x1020_3040).encode(to: &bytes)
    #expect(bytes == hexadecimal("00 0000 00 40302010"))
  }

  /// Messages with extensions from the same file, with the offsets of the payload and of the application payload.
  @Test(arguments: [
    ("00000000CCCCCCCC 01CCEEEE6666BBBB", 8, 14),
    ("00000020CCCCCCCC0400E4E3E2E1 01CCEEEE6666BBBB", 14, 20),
    ("04000020CCCCCCCC11111111111111110400E4E3E2E1 01CCEEEE6666BBBB", 22, 28),
    ("01000020CCCCCCCCDDDDDDDDDDDDDDDD0400E4E3E2E1 01CCEEEE6666BBBB", 22, 28),
    ("05000020CCCCCCCC1111111111111111DDDDDDDDDDDDDDDD0400E4E3E2E1 01CCEEEE6666BBBB", 30, 36),
    ("06000021CCCCCCCC1111111111111111DDDD0400E4E3E2E1 01CCEEEE6666BBBB", 24, 30),
    ("00000000CCCCCCCC 08CCEEEE66660400E4E3E2E1BBBB", 8, 20),
    ("00000020CCCCCCCC0400E4E3E2E1 08CCEEEE66660400E4E3E2E1BBBB", 14, 26),
    ("05000020CCCCCCCC1111111111111111DDDDDDDDDDDDDDDD0400E4E3E2E1 09CCEEEE66660400E4E3E2E1BBBB", 30, 42),
  ])
  func skipsExtensions(text: String, payload: Int, application: Int) throws {
    let bytes = hexadecimal(text)
    let (_, end) = try MessageHeader.decode(bytes)
    #expect(end == payload)
    let (header, offset) = try PayloadHeader.decode(bytes, at: end)
    #expect(offset == application)
    #expect(header.opcode == 0xCC && header.exchange == 0xEEEE && header.protocolID == ProtocolID(0x6666))
    #expect(Array(bytes[offset...]) == [0xBB, 0xBB])
    for count in 0..<end {
      #expect(throws: MessageError.truncated) { try MessageHeader.decode(Array(bytes[..<count])) }
    }
    for count in end..<offset {
      #expect(throws: MessageError.truncated) { try PayloadHeader.decode(Array(bytes[..<count]), at: end) }
    }
  }

  @Test func roundTripsEveryHeader() throws {
    let sources: [NodeID?] = [nil, 1, 0xFFFF_FFEF_FFFF_FFFF]
    let destinations: [MessageHeader.Destination] = [.none, .node(0x0123_4567_89AB_CDEF), .group(0xFFFE)]
    for source in sources {
      for destination in destinations {
        for kind in [MessageHeader.SessionKind.unicast, .group]
        where kind == .unicast || (source != nil && destination != .none) {
          for flags in 0..<4 {
            let header = MessageHeader(
              sessionID: 0xBEEF, sessionKind: kind, counter: .max, source: source, destination: destination,
              hasPrivacy: flags & 1 != 0, isControl: flags & 2 != 0)
            var bytes: [UInt8] = [0xAA]
            bytes.removeAll()
            header.encode(to: &bytes)
            let (decoded, end) = try MessageHeader.decode(bytes + [1, 2, 3])
            #expect(decoded == header)
            #expect(end == bytes.count)
            for count in bytes.indices {
              #expect(throws: MessageError.truncated) { try MessageHeader.decode(Array(bytes[..<count])) }
            }
          }
        }
      }
    }
  }

  @Test(arguments: [
    ("10 0000 00 00000000", MessageError.unknownVersion(1)), ("F0 0000 00 00000000", .unknownVersion(15)),
    ("03 0000 00 00000000", .malformed), ("08 0000 00 00000000", .malformed), ("00 0000 02 00000000", .malformed),
    ("00 0000 03 00000000", .malformed), ("00 0000 04 00000000", .malformed), ("00 0000 01 00000000", .malformed),
    ("00 0000 20 00000000 FFFF 00", .truncated),
  ])
  func rejectsMalformedHeaders(text: String, error: MessageError) {
    #expect(throws: error) { try MessageHeader.decode(hexadecimal(text)) }
  }

  @Test func treatsOnlySessionZeroAsUnsecured() {
    #expect(MessageHeader(sessionID: 0, counter: 0).isUnsecured)
    #expect(!MessageHeader(sessionID: 1, counter: 0).isUnsecured)
    #expect(!MessageHeader(sessionID: 0, sessionKind: .group, counter: 0).isUnsecured)
  }
}

@Suite struct PayloadHeaderTests {
  @Test(arguments: [
    (
      PayloadHeader(isFromInitiator: true, needsAck: true, opcode: 0x20, exchange: 0x1234, protocolID: .secureChannel),
      "05 20 3412 0000"
    ),
    (
      PayloadHeader(
        isFromInitiator: false, needsAck: false, opcode: 0x10, exchange: 0x1234, protocolID: .secureChannel,
        acknowledged: 0x0102_0304), "02 10 3412 0000 04030201"
    ),
    (
      PayloadHeader(
        isFromInitiator: true, needsAck: false, opcode: 2, exchange: 1, protocolID: ProtocolID(vendor: 0xFFF1, 7),
        acknowledged: 1), "13 02 0100 0700 F1FF 01000000"
    ),
  ])
  func encoding(header: PayloadHeader, text: String) throws {
    var bytes: [UInt8] = []
    header.encode(to: &bytes)
    #expect(bytes == hexadecimal(text))
    let (decoded, end) = try PayloadHeader.decode([9, 9] + bytes, at: 2)
    #expect(decoded == header && end == bytes.count + 2)
    for count in bytes.indices {
      #expect(throws: MessageError.truncated) { try PayloadHeader.decode(Array(bytes[..<count]), at: 0) }
    }
  }
}

@Suite struct StatusReportTests {
  @Test func encoding() throws {
    #expect(StatusReport(.success, .sessionEstablished).encoded == hexadecimal("0000 0000 0000 0000"))
    #expect(StatusReport(.success, .closeSession).encoded == hexadecimal("0000 0000 0000 0300"))
    #expect(StatusReport(.failure, .noSharedTrustRoots).encoded == hexadecimal("0100 0000 0000 0100"))
    let busy = StatusReport(.busy, .busy, data: [0xF4, 0x01])
    #expect(busy.encoded == hexadecimal("0800 0000 0000 0400 F401"))
    #expect(busy.busyWait == .milliseconds(500))
    #expect(StatusReport(.busy, .busy).busyWait == nil)
    #expect(StatusReport(.failure, .invalidParameter, data: [1, 2]).busyWait == nil)
  }

  @Test func preservesUnknownCodes() throws {
    let bytes = hexadecimal("3412 0700 F1FF EFBE 0102")
    let report = try #require(StatusReport(decoding: bytes))
    #expect(report.general.rawValue == 0x1234 && report.code.rawValue == 0xBEEF)
    #expect(report.protocolID == ProtocolID(vendor: 0xFFF1, 7) && report.data == [1, 2])
    #expect(report.encoded == bytes)
    for count in 0..<8 { #expect(StatusReport(decoding: Array(bytes[..<count])) == nil) }
  }
}
