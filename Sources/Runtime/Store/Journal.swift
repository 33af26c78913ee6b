internal import MatterProtocol

/// The format of the journal: 8 magic bytes, then transactions. A transaction is a length and a CRC-32C (both four
/// bytes, little endian; the CRC covers the rest) and its entries. An entry is one byte (1 set, 0 remove), the key's
/// length (four bytes) and bytes, and for a set the value's length and bytes.
enum Journal {
  static let magic: [UInt8] = Array("HearthJ1".utf8)
  static let headerSize = 8

  /// Encodes one transaction; nil if it exceeds the limits of the format.
  static func transaction(_ changes: [StoreChange]) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(headerSize + changes.reduce(0) { $0 + entrySize($1.key, $1.value) })
    bytes.append(contentsOf: repeatElement(0, count: headerSize))
    for change in changes {
      guard let key = UInt32(exactly: change.key.utf8.count),
        let value = UInt32(exactly: change.value?.count ?? 0)
      else { return nil }
      bytes.append(change.value == nil ? 0 : 1)
      append(key, to: &bytes)
      bytes.append(contentsOf: change.key.utf8)
      if let content = change.value {
        append(value, to: &bytes)
        bytes.append(contentsOf: content)
      }
    }
    guard let length = UInt32(exactly: bytes.count - headerSize) else { return nil }
    let checksum = CRC32C.checksum(bytes[headerSize...])
    for index in 0..<4 {
      bytes[index] = UInt8(truncatingIfNeeded: length >> UInt32(8 * index))
      bytes[4 + index] = UInt8(truncatingIfNeeded: checksum >> UInt32(8 * index))
    }
    return bytes
  }

  /// Returns the size of an entry in the journal.
  static func entrySize(_ key: String, _ value: [UInt8]?) -> Int { 9 + key.utf8.count + (value?.count ?? 0) }

  private static func append(_ number: UInt32, to bytes: inout [UInt8]) {
    for index in 0..<4 { bytes.append(UInt8(truncatingIfNeeded: number >> UInt32(8 * index))) }
  }

  /// The contents of a journal.
  struct Replay {
    var state: StoredState = [:]
    /// The length of the valid prefix.
    var length = 0
    /// The position of a transaction that was damaged after it had been written completely, or nil if at most the end
    /// is torn. With damage, the state includes the valid transactions after it.
    var damage: Int?
  }

  /// Reads a journal.
  /// - Returns: nil if the bytes are not a journal.
  static func replay(_ bytes: [UInt8]) -> Replay? {
    var replay = Replay()
    var position = magic.count
    if bytes.starts(with: magic) {
      replay.length = position
    } else if transaction(bytes, at: position) != nil {
      // Only the magic bytes are damaged.
      replay.damage = 0
    } else {
      // A kill may have truncated even the magic bytes.
      return magic.starts(with: bytes) ? replay : nil
    }
    while position < bytes.count {
      if let (changes, end) = transaction(bytes, at: position) {
        for change in changes { replay.state[change.key] = change.value }
        position = end
        if replay.damage == nil { replay.length = end }
        continue
      }
      let next = (position + 1..<bytes.count).first { transaction(bytes, at: $0) != nil }
      if next == nil, replay.damage != nil || isTorn(bytes, at: position) { break }
      replay.damage = replay.damage ?? position
      position = next ?? bytes.count
    }
    return replay
  }

  /// Decodes the transaction at a position, or returns nil if none is valid there.
  private static func transaction(_ bytes: [UInt8], at position: Int) -> (changes: [StoreChange], end: Int)? {
    let start = position + headerSize
    // A transaction is never empty, so a tail of zeros is not taken for transactions.
    guard let length = number(bytes, at: position), let checksum = number(bytes, at: position + 4), length > 0,
      Int(length) <= bytes.count - start, isEntry(bytes[start])
    else { return nil }
    let end = start + Int(length)
    guard let changes = entries(bytes, start..<end), CRC32C.checksum(bytes[start..<end]) == checksum else { return nil }
    return (changes, end)
  }

  /// Returns whether the rest of the file is a transaction that was not written to the disk completely.
  private static func isTorn(_ bytes: [UInt8], at position: Int) -> Bool {
    guard let length = number(bytes, at: position), let checksum = number(bytes, at: position + 4) else { return true }
    let start = position + headerSize
    // An unwritten block reads as zeros.
    let lastBlock = max(position, max(0, bytes.count - leastZeros) / blockSize * blockSize)
    if bytes[lastBlock...].allSatisfy({ $0 == 0 }) { return true }
    // If the checksum matches up to the end, the transaction is complete and its length is damaged.
    return Int(length) > bytes.count - start && CRC32C.checksum(bytes[start...]) != checksum
  }

  /// The smallest block size of a disk, and the minimum number of trailing zeros that indicate an unwritten block.
  private static let blockSize = 512, leastZeros = 16

  /// Returns whether an entry begins with this byte.
  private static func isEntry(_ operation: UInt8) -> Bool { operation <= 1 }

  private static func entries(_ bytes: [UInt8], _ range: Range<Int>) -> [StoreChange]? {
    var changes: [StoreChange] = []
    var position = range.lowerBound
    func read(_ count: Int) -> ArraySlice<UInt8>? {
      guard count >= 0, range.upperBound - position >= count else { return nil }
      defer { position += count }
      return bytes[position..<position + count]
    }
    func number() -> Int? { read(4).map { $0.reversed().reduce(0) { $0 << 8 | Int($1) } } }
    while position < range.upperBound {
      guard let operation = read(1)?.first, isEntry(operation), let key = number().flatMap(read) else { return nil }
      var value: [UInt8]?
      if operation == 1 {
        guard let content = number().flatMap(read) else { return nil }
        value = Array(content)
      }
      changes.append(StoreChange(String(decoding: key, as: UTF8.self), value))
    }
    return changes
  }

  private static func number(_ bytes: [UInt8], at position: Int) -> UInt32? {
    guard position + 4 <= bytes.count else { return nil }
    return (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[position + $1]) << UInt32(8 * $1) }
  }
}

/// CRC-32C (Castagnoli), RFC 3720 § 12.1 and appendix B.4.
package enum CRC32C {
  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0x82F6_3B78 : value >> 1 }
  }

  package static func checksum(_ bytes: [UInt8]) -> UInt32 { checksum(bytes[...]) }

  static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    let table = table
    var value: UInt32 = ~0
    for byte in bytes { value = table[Int(UInt8(truncatingIfNeeded: value) ^ byte)] ^ value >> 8 }
    return ~value
  }
}
