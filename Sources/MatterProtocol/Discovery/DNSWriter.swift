/// Writes a DNS message record by record, with name compression, within a size limit.
///
/// Each distinct name suffix is written out exactly once, so the size of a message does not depend on the order of its
/// records: records that fit in one order fit in any other.
struct DNSWriter {
  static let headerSize = 12

  private(set) var bytes: [UInt8]
  private let limit: Int
  private let compressingTargets: Bool
  private let compressing: Bool
  /// The offsets of the name suffixes, and their order of insertion for a rollback.
  private var offsets: [Suffix: Int] = [:]
  private var suffixes: [Suffix] = []

  /// The labels at the end of a name, in lower case.
  private struct Suffix: Hashable {
    let key: ArraySlice<UInt8>

    func hash(into hasher: inout Hasher) {
      // Hashes all bytes at once; the slice's own implementation hashes each byte.
      key.withUnsafeBytes { hasher.combine(bytes: $0) }
    }
  }

  /// - Parameters:
  ///   - compressingTargets: Whether the targets of SRV records may also be compressed.
  ///   - compressing: Whether any names may be compressed.
  init(limit: Int, compressingTargets: Bool = true, compressing: Bool = true) {
    self.compressing = compressing
    bytes = [UInt8](repeating: 0, count: Self.headerSize)
    self.limit = limit
    self.compressingTargets = compressingTargets
  }

  /// Encodes the data of a record without name compression.
  static func uncompressed(_ data: DNSRecordData) -> [UInt8] {
    var writer = DNSWriter(limit: .max, compressing: false)
    writer.data(data)
    return Array(writer.bytes[headerSize...])
  }

  /// A position for ``rewind(to:)``.
  struct Mark {
    fileprivate let count: Int
    fileprivate let suffixes: Int
  }

  var mark: Mark { Mark(count: bytes.count, suffixes: suffixes.count) }

  mutating func rewind(to mark: Mark) {
    bytes.removeSubrange(mark.count...)
    for suffix in suffixes[mark.suffixes...] { offsets[suffix] = nil }
    suffixes.removeSubrange(mark.suffixes...)
  }

  /// Appends a question; does nothing and returns false if it does not fit.
  mutating func append(_ question: DNSQuestion) -> Bool {
    let start = mark
    name(question.name)
    uint16(question.type.rawValue)
    uint16(question.questionClass | (question.wantsUnicast ? 0x8000 : 0))
    return keep(from: start)
  }

  /// Appends a record; does nothing and returns false if it does not fit or can't be encoded.
  mutating func append(_ record: DNSRecord) -> Bool {
    let start = mark
    name(record.name)
    uint16(record.type.rawValue)
    uint16(record.recordClass | (record.cacheFlush ? 0x8000 : 0))
    uint32(record.ttl)
    uint16(0)
    let dataStart = bytes.count
    data(record.data)
    let length = bytes.count - dataStart
    guard length <= 0xFFFF else {
      rewind(to: start)
      return false
    }
    bytes[dataStart - 2] = UInt8(length >> 8)
    bytes[dataStart - 1] = UInt8(length & 0xFF)
    return keep(from: start)
  }

  private mutating func keep(from start: Mark) -> Bool {
    if bytes.count <= limit { return true }
    rewind(to: start)
    return false
  }

  /// Returns the message with its header; `counts` are questions, answers, authorities, additionals.
  func finish(id: UInt16, flags: UInt16, counts: [UInt16]) -> [UInt8] {
    var message = bytes
    for (index, word) in ([id, flags] + counts.prefix(4)).enumerated() {
      message[2 * index] = UInt8(word >> 8)
      message[2 * index + 1] = UInt8(word & 0xFF)
    }
    return message
  }

  private mutating func uint16(_ value: UInt16) {
    bytes.append(UInt8(value >> 8))
    bytes.append(UInt8(value & 0xFF))
  }

  private mutating func uint32(_ value: UInt32) {
    uint16(UInt16(value >> 16))
    uint16(UInt16(value & 0xFFFF))
  }

  private mutating func uint64(_ value: UInt64) {
    uint32(UInt32(value >> 32))
    uint32(UInt32(value & 0xFFFF_FFFF))
  }

  private mutating func name(_ name: DNSName, compressed: Bool = true) {
    let compressed = compressed && compressing
    var position = 0
    while compressed && position < name.wire.count {
      let suffix = Suffix(key: name.key[position...])
      if let offset = offsets[suffix] {
        uint16(0xC000 | UInt16(offset))
        return
      }
      if bytes.count < 0x4000 {
        offsets[suffix] = bytes.count
        suffixes.append(suffix)
      }
      let end = min(position + 1 + Int(name.wire[position]), name.wire.count)
      bytes += name.wire[position..<end]
      position = end
    }
    if !compressed { bytes += name.wire }
    bytes.append(0)
  }

  private mutating func data(_ data: DNSRecordData) {
    switch data {
    case .a(let address):
      uint32(address)
    case .aaaa(let high, let low):
      uint64(high)
      uint64(low)
    case .ptr(let target):
      name(target)
    case .srv(let priority, let weight, let port, let target):
      uint16(priority)
      uint16(weight)
      uint16(port)
      name(target, compressed: compressingTargets)
    case .txt(let strings):
      // A TXT record has at least one string, which may be empty. RFC 6763 § 6.1.
      if strings.isEmpty { bytes.append(0) }
      for string in strings {
        bytes.append(UInt8(min(string.count, 255)))
        bytes += string.prefix(255)
      }
    case .nsec(let next, let types):
      name(next)
      typeBitmaps(types)
    case .unknown(_, let raw):
      bytes += raw
    }
  }

  private mutating func typeBitmaps(_ types: [DNSType]) {
    let sorted = types.map(\.rawValue).sorted()
    var index = 0
    while index < sorted.count {
      let window = sorted[index] >> 8
      var bitmap: [UInt8] = []
      while index < sorted.count, sorted[index] >> 8 == window {
        let byte = Int(sorted[index] & 0xFF) >> 3
        while bitmap.count <= byte { bitmap.append(0) }
        bitmap[byte] |= 0x80 >> UInt8(sorted[index] & 7)
        index += 1
      }
      bytes.append(UInt8(window))
      bytes.append(UInt8(bitmap.count))
      bytes += bitmap
    }
  }
}
