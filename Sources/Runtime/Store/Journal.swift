internal import MatterProtocol

/// The journal's format: 8 bytes that name it, then transactions, each of them a length and a CRC-32C (both four bytes, little
/// endian, the CRC over the rest) and its entries. An entry is one byte (1 set, 0 remove), the key's length (four bytes) and
/// bytes, and for a set the value's length and bytes.
enum Journal {
  static let magic: [UInt8] = Array("HearthJ1".utf8)
  static let headerSize = 8

  /// One transaction, ready to be appended. Nil: it doesn't fit the format.
  static func transaction(_ changes: [StoreChange]) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: headerSize)
    bytes.reserveCapacity(headerSize + changes.reduce(0) { $0 + entrySize($1.key, $1.value) })
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

  /// What an entry takes up in a journal.
  static func entrySize(_ key: String, _ value: [UInt8]?) -> Int { 9 + key.utf8.count + (value?.count ?? 0) }

  private static func append(_ number: UInt32, to bytes: inout [UInt8]) {
    for index in 0..<4 { bytes.append(UInt8(truncatingIfNeeded: number >> UInt32(8 * index))) }
  }

  /// Reads a journal up to its end or to the first transaction that is not whole.
  /// - Returns: the state, and how long the sound part is; nil when it is not a journal at all.
  static func replay(_ bytes: [UInt8]) -> (state: StoredState, length: Int)? {
    guard bytes.starts(with: magic) else {
      // A kill may have cut even the name off.
      return magic.starts(with: bytes) ? ([:], 0) : nil
    }
    var state: StoredState = [:]
    var sound = magic.count
    while let length = number(bytes, at: sound), let checksum = number(bytes, at: sound + 4) {
      let start = sound + headerSize
      // None is empty: a tail of zeros is no row of transactions.
      guard length > 0, Int(length) <= bytes.count - start else { break }
      let end = start + Int(length)
      guard CRC32C.checksum(bytes[start..<end]) == checksum, let changes = entries(bytes, start..<end) else { break }
      for change in changes { state[change.key] = change.value }
      sound = end
    }
    return (state, sound)
  }

  private static func entries(_ bytes: [UInt8], _ range: Range<Int>) -> [StoreChange]? {
    var changes: [StoreChange] = []
    var position = range.lowerBound
    func take(_ count: Int) -> ArraySlice<UInt8>? {
      guard count >= 0, range.upperBound - position >= count else { return nil }
      defer { position += count }
      return bytes[position..<position + count]
    }
    func number() -> Int? { take(4).map { $0.reversed().reduce(0) { $0 << 8 | Int($1) } } }
    while position < range.upperBound {
      guard let operation = take(1)?.first, operation <= 1, let key = number().flatMap(take) else { return nil }
      var value: [UInt8]?
      if operation == 1 {
        guard let content = number().flatMap(take) else { return nil }
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
enum CRC32C {
  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0x82F6_3B78 : value >> 1 }
  }

  static func checksum(_ bytes: some Sequence<UInt8>) -> UInt32 {
    let table = table
    var value: UInt32 = ~0
    for byte in bytes { value = table[Int(UInt8(truncatingIfNeeded: value) ^ byte)] ^ value >> 8 }
    return ~value
  }
}
