import MatterTLV
import Testing

struct TLVReaderTests {
  @Test func skipsContainersThatAreNotEntered() throws {
    let bytes = TLVElement(
      .structure([
        .init(.unsigned(1), tag: .context(0)),
        .init(
          .array([.init(.structure([.init(.list([.init(.null)]), tag: .context(0))])), .init(.string("x"))]),
          tag: .context(1)),
        .init(.unsigned(2), tag: .context(2)),
      ])
    ).encoded
    let span = bytes.span.bytes
    var reader = TLVReader()
    var tags: [TLVTag] = []
    #expect(try reader.next(span))
    try reader.enter(span)
    while try reader.next(span) { tags.append(reader.tag) }
    try reader.leave(span)
    #expect(tags == [.context(0), .context(1), .context(2)])
    #expect(reader.offset == bytes.count)
    #expect(try !reader.next(span))
  }

  @Test func skipsUnreadElementsOnLeave() throws {
    let bytes = TLVElement(.array([.init(.array([.init(.unsigned(1))])), .init(.unsigned(2))])).encoded + [0x09]
    let span = bytes.span.bytes
    var reader = TLVReader()
    #expect(try reader.next(span))
    try reader.enter(span)
    #expect(try reader.next(span))
    try reader.enter(span)
    try reader.leave(span)
    try reader.leave(span)
    #expect(try reader.next(span))
    #expect(try reader.boolean())
  }

  @Test func rewindsToCopiedCursor() throws {
    let bytes: [UInt8] = [0x16, 0x04, 1, 0x04, 2, 0x18]
    let span = bytes.span.bytes
    var reader = TLVReader()
    #expect(try reader.next(span))
    try reader.enter(span)
    let mark = reader
    #expect(try reader.next(span))
    #expect(try reader.next(span))
    #expect(try reader.unsigned() == 2)
    reader = mark
    #expect(try reader.next(span))
    #expect(try reader.unsigned() == 1)
  }

  @Test func returnsRangeOfWholeElement() throws {
    let bytes: [UInt8] = [0x15, 0x35, 0x05, 0x24, 0x00, 0x07, 0x18, 0x24, 0x06, 0x08, 0x18]
    let span = bytes.span.bytes
    var reader = TLVReader()
    #expect(try reader.next(span))
    try reader.enter(span)
    #expect(try reader.next(span))
    #expect(try reader.elementRange(span) == 1..<7)
    #expect(try reader.next(span))
    #expect(try reader.anonymousElement(span) == [0x04, 0x08])
  }

  // MARK: Errors

  @Test func limitsDepth() throws {
    func nested(_ depth: Int) -> [UInt8] {
      [UInt8](repeating: 0x16, count: depth) + [UInt8](repeating: 0x18, count: depth)
    }
    #expect(TLVReader.maximumDepth == 16)
    _ = try TLVElement(decoding: nested(16))
    _ = try AnyTLV(tlv: nested(16))
    #expect(throws: TLVError.tooDeep) { try TLVElement(decoding: nested(17)) }
    #expect(throws: TLVError.tooDeep) { try AnyTLV(tlv: nested(17)) }
    // No recursion, whether the containers are closed or not.
    #expect(throws: TLVError.tooDeep) { try AnyTLV(tlv: nested(100_000)) }
    #expect(throws: TLVError.tooDeep) { try AnyTLV(tlv: [UInt8](repeating: 0x17, count: 100_000)) }
  }

  @Test(arguments: UInt8(0x19)...0x1F)
  func rejectsReservedTypes(_ code: UInt8) {
    #expect(throws: TLVError.reservedType(code)) { try TLVElement(decoding: [code]) }
    #expect(throws: TLVError.reservedType(code)) { try TLVElement(decoding: [0x20 | code, 0x01]) }
  }

  @Test func rejectsUnexpectedEnd() {
    #expect(throws: TLVError.unexpectedEnd) { try TLVElement(decoding: [0x18]) }
    #expect(throws: TLVError.unexpectedEnd) { try TLVElement(decoding: [0x15, 0x18, 0x18]) }
    // An end-of-container must not have a tag.
    #expect(throws: TLVError.unexpectedEnd) { try TLVElement(decoding: [0x15, 0x38, 0x00]) }
  }

  @Test func rejectsInvalidTags() {
    #expect(throws: TLVError.invalidTag) { try TLVElement(decoding: [0x15, 0x04, 0x01, 0x18]) }
    #expect(throws: TLVError.invalidTag) { try TLVElement(decoding: [0x16, 0x24, 0x00, 0x01, 0x18]) }
    // Also in skipped elements.
    #expect(throws: TLVError.invalidTag) { try AnyTLV(tlv: [0x15, 0x04, 0x01, 0x18]) }
  }

  @Test func rejectsTrailingBytes() {
    #expect(throws: TLVError.trailingBytes) { try TLVElement(decoding: [0x08, 0x09]) }
    #expect(throws: TLVError.trailingBytes) { try Bool(tlv: [0x08, 0x09]) }
    #expect(throws: TLVError.truncated) { try Bool(tlv: []) }
  }

  @Test func rejectsInvalidUTF8() {
    #expect(throws: TLVError.invalidUTF8) { try String(tlv: [0x0C, 0x02, 0xC3, 0x28]) }
    #expect(throws: TLVError.invalidUTF8) { try String(tlv: [0x0C, 0x03, 0xED, 0xA0, 0x80]) }
  }

  @Test func rejectsOtherTypes() {
    #expect(throws: TLVError.unexpectedType(found: .signedInteger, expected: "unsigned integer")) {
      try UInt8(tlv: [0x00, 0x01])
    }
    #expect(throws: TLVError.unexpectedType(found: .octetString, expected: "UTF-8 string")) {
      try String(tlv: [0x10, 0x00])
    }
    #expect(throws: TLVError.unexpectedType(found: .list, expected: "array")) { try [UInt8](tlv: [0x17, 0x18]) }
    #expect(throws: TLVError.unexpectedType(found: .null, expected: "boolean")) { try Bool(tlv: [0x14]) }
    #expect(throws: TLVError.outOfRange) { try UInt8(tlv: [0x05, 0x00, 0x01]) }
    #expect(throws: TLVError.outOfRange) { try Int8(tlv: [0x01, 0x80, 0x00]) }
  }

  @Test func rejectsLengthsBeyondInput() {
    #expect(throws: TLVError.truncated) { try OctetString(tlv: [0x10, 0x02, 0x00]) }
    #expect(throws: TLVError.truncated) { try OctetString(tlv: [0x12, 0xFF, 0xFF, 0xFF, 0xFF]) }
    #expect(throws: TLVError.truncated) { try OctetString(tlv: [0x13] + [UInt8](repeating: 0xFF, count: 8)) }
    #expect(throws: TLVError.truncated) { try String(tlv: [0x0F] + [UInt8](repeating: 0xFF, count: 7) + [0x7F]) }
  }

  @Test func distinguishesNullFromValue() throws {
    #expect(try Nullable<UInt8>(tlv: [0x14]) == .null)
    #expect(try Nullable<UInt8>(tlv: [0x04, 0x05]) == .value(5))
    #expect(Nullable<UInt8>.null.tlv == [0x14])
    #expect(throws: TLVError.unexpectedType(found: .boolean, expected: "unsigned integer")) {
      try Nullable<UInt8>(tlv: [0x08])
    }
  }
}
