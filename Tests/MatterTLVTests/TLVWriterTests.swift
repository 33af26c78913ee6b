import MatterTLV
import Testing

struct TLVWriterTests {
  @Test(arguments: [
    (UInt64(0), UInt8(0x04), 1), (0xFF, 0x04, 1), (0x100, 0x05, 2), (0xFFFF, 0x05, 2), (0x1_0000, 0x06, 4),
    (0xFFFF_FFFF, 0x06, 4), (0x1_0000_0000, 0x07, 8), (UInt64.max, 0x07, 8),
  ])
  func writesUnsignedNumbersInShortestWidth(_ value: UInt64, _ control: UInt8, _ width: Int) throws {
    var writer = TLVWriter()
    writer.write(value)
    #expect(writer.bytes.first == control)
    #expect(writer.count == 1 + width)
    #expect(try UInt64(tlv: writer.bytes) == value)
  }

  @Test(arguments: [
    (Int64(0), UInt8(0x00), 1), (127, 0x00, 1), (-128, 0x00, 1), (128, 0x01, 2), (-129, 0x01, 2), (32_767, 0x01, 2),
    (-32_768, 0x01, 2), (32_768, 0x02, 4), (-32_769, 0x02, 4), (Int64(Int32.max), 0x02, 4), (Int64(Int32.min), 0x02, 4),
    (Int64(Int32.max) + 1, 0x03, 8), (Int64(Int32.min) - 1, 0x03, 8), (Int64.max, 0x03, 8), (Int64.min, 0x03, 8),
  ])
  func writesSignedNumbersInShortestWidth(_ value: Int64, _ control: UInt8, _ width: Int) throws {
    var writer = TLVWriter()
    writer.write(value)
    #expect(writer.bytes.first == control)
    #expect(writer.count == 1 + width)
    #expect(try Int64(tlv: writer.bytes) == value)
  }

  @Test(arguments: [(0, 0, 1), (255, 0, 1), (256, 1, 2), (65_535, 1, 2), (65_536, 2, 4)])
  func writesStringsWithShortestLength(_ count: Int, _ width: Int, _ lengthOctets: Int) throws {
    let text = String(repeating: "x", count: count)
    #expect(text.tlv.first == 0x0C | UInt8(width))
    #expect(text.tlv.count == 1 + lengthOctets + count)
    #expect(try String(tlv: text.tlv) == text)

    let octets = OctetString([UInt8](repeating: 0xA5, count: count))
    #expect(octets.tlv.first == 0x10 | UInt8(width))
    #expect(octets.tlv.count == 1 + lengthOctets + count)
    #expect(try OctetString(tlv: octets.tlv) == octets)
  }

  /// Readers must accept every width of every number and length.
  @Test func readsWiderForms() throws {
    for width in 0..<4 {
      let zeros = [UInt8](repeating: 0, count: (1 << width) - 1)
      #expect(try UInt64(tlv: [0x04 | UInt8(width), 7] + zeros) == 7)
      #expect(try Int64(tlv: [UInt8(width), 7] + zeros) == 7)
      #expect(try Int64(tlv: [UInt8(width)] + [UInt8](repeating: 0xFF, count: 1 << width)) == -1)
      #expect(try String(tlv: [0x0C | UInt8(width), 1] + zeros + [0x41]) == "A")
      #expect(try OctetString(tlv: [0x10 | UInt8(width), 1] + zeros + [0x41]) == [0x41])
    }
  }

  @Test(arguments: [
    TLVTag.anonymous, .context(0), .context(255), .common(0), .common(0xFFFF), .common(0x1_0000), .implicit(0xFFFF),
    .implicit(0x1_0000), .qualified(vendor: 1, profile: 2, number: 3),
    .qualified(vendor: 1, profile: 2, number: 1 << 31),
  ])
  func roundTripsEveryTag(_ tag: TLVTag) throws {
    for value: TLVElement.Value in [.null, .unsigned(1), .string("a"), .structure([]), .array([]), .list([])] {
      let element = TLVElement(value, tag: tag)
      #expect(try TLVElement(decoding: element.encoded) == element)
    }
  }

  @Test func replacesTagOfEncodedElement() throws {
    let inner = TLVElement(.structure([.init(.string("é"), tag: .context(3))])).encoded
    var writer = TLVWriter()
    writer.structure { $0.write(encoded: inner, .context(9)) }
    let outer = try TLVElement(decoding: writer.bytes)
    #expect(outer[9]?[3]?.value == .string("é"))

    // The reader strips a tag of any form.
    for tag in [TLVTag.context(1), .common(70_000), .qualified(vendor: 1, profile: 2, number: 3)] {
      var writer = TLVWriter()
      writer.write(encoded: inner, tag)
      #expect(try AnyTLV(tlv: writer.bytes).encoded == inner)
    }
  }

  @Test func truncatesWrittenBytes() {
    var writer = TLVWriter(appendingTo: [1, 2, 3])
    let mark = writer.count
    writer.write("something")
    writer.truncate(to: mark)
    #expect(writer.bytes == [1, 2, 3])
    writer.truncate(to: 100)
    #expect(writer.bytes == [1, 2, 3])
  }
}
