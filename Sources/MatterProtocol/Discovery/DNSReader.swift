/// A cursor over a DNS message. Every read is bounds-checked, so that malformed input throws and never traps.
struct DNSReader {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var isAtEnd: Bool { position == bytes.count }

  mutating func uint8() throws(DNSError) -> UInt8 {
    guard position < bytes.count else { throw .truncated }
    defer { position += 1 }
    return bytes[position]
  }

  mutating func uint16() throws(DNSError) -> UInt16 {
    guard position + 2 <= bytes.count else { throw .truncated }
    defer { position += 2 }
    return UInt16(bytes[position]) << 8 | UInt16(bytes[position + 1])
  }

  mutating func uint32() throws(DNSError) -> UInt32 {
    UInt32(try uint16()) << 16 | UInt32(try uint16())
  }

  mutating func uint64() throws(DNSError) -> UInt64 {
    UInt64(try uint32()) << 32 | UInt64(try uint32())
  }

  private mutating func read(_ count: Int) throws(DNSError) -> [UInt8] {
    guard count >= 0, position + count <= bytes.count else { throw .truncated }
    defer { position += count }
    return Array(bytes[position..<(position + count)])
  }

  /// Reads a name, compressed or not. Each pointer must point before the start of the labels that it follows, so that
  /// the loop terminates. RFC 1035 § 4.1.4.
  mutating func name() throws(DNSError) -> DNSName {
    var wire: [UInt8] = []
    var cursor = position
    var runStart = position
    var after: Int?
    while true {
      guard cursor < bytes.count else { throw .truncated }
      let length = Int(bytes[cursor])
      if length == 0 {
        position = after ?? cursor + 1
        return DNSName(wire: wire)
      } else if length < 0x40 {
        guard cursor + 1 + length <= bytes.count else { throw .truncated }
        guard wire.count + length + 2 <= DNSName.maximumLength else { throw .nameTooLong }
        wire += bytes[cursor..<(cursor + 1 + length)]
        cursor += 1 + length
      } else if length >= 0xC0 {
        guard cursor + 2 <= bytes.count else { throw .truncated }
        let target = (length & 0x3F) << 8 | Int(bytes[cursor + 1])
        guard target < runStart else { throw .badPointer }
        after = after ?? cursor + 2
        cursor = target
        runStart = target
      } else {
        throw .badLabel
      }
    }
  }

  mutating func question() throws(DNSError) -> DNSQuestion {
    let name = try name()
    let type = DNSType(rawValue: try uint16())
    let questionClass = try uint16()
    return DNSQuestion(
      name, type, wantsUnicast: questionClass & 0x8000 != 0, questionClass: questionClass & 0x7FFF)
  }

  mutating func records(_ count: UInt16) throws(DNSError) -> [DNSRecord] {
    var records: [DNSRecord] = []
    for _ in 0..<count { records.append(try record()) }
    return records
  }

  mutating func record() throws(DNSError) -> DNSRecord {
    let name = try name()
    let type = DNSType(rawValue: try uint16())
    let recordClass = try uint16()
    let ttl = try uint32()
    let length = Int(try uint16())
    let end = position + length
    guard end <= bytes.count else { throw .truncated }
    let data = try data(of: type, end: end)
    guard position == end else { throw .badRecord }
    // A TTL with the most significant bit set counts as 0. RFC 2181 § 8.
    return DNSRecord(
      name, data, ttl: ttl > 0x7FFF_FFFF ? 0 : ttl, cacheFlush: type.rawValue != 41 && recordClass & 0x8000 != 0,
      recordClass: type.rawValue == 41 ? recordClass : recordClass & 0x7FFF)
  }

  mutating func data(of type: DNSType, end: Int) throws(DNSError) -> DNSRecordData {
    switch type {
    case .a:
      return .a(try uint32())
    case .aaaa:
      return .aaaa(high: try uint64(), low: try uint64())
    case .ptr:
      return .ptr(try name())
    case .srv:
      return .srv(priority: try uint16(), weight: try uint16(), port: try uint16(), target: try name())
    case .txt:
      var strings: [[UInt8]] = []
      while position < end {
        let length = Int(try uint8())
        guard position + length <= end else { throw .badRecord }
        strings.append(try read(length))
      }
      return .txt(strings)
    case .nsec:
      let next = try name()
      return .nsec(next: next, types: try typeBitmaps(end: end))
    default:
      return .unknown(type, try read(end - position))
    }
  }

  /// Reads the type bitmaps of an NSEC record. RFC 4034 § 4.1.2.
  private mutating func typeBitmaps(end: Int) throws(DNSError) -> [DNSType] {
    var types: [DNSType] = []
    var lastWindow = -1
    while position < end {
      let window = Int(try uint8())
      let length = Int(try uint8())
      guard window > lastWindow, (1...32).contains(length), position + length <= end else { throw .badRecord }
      lastWindow = window
      for (index, byte) in try read(length).enumerated() {
        for bit in 0..<8 where byte & (0x80 >> UInt8(bit)) != 0 {
          types.append(DNSType(rawValue: UInt16(window << 8 | index << 3 | bit)))
        }
      }
    }
    return types
  }
}
