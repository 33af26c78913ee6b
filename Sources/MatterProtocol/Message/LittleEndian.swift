/// Reads fixed-width integers in little-endian order, as Matter message headers encode them.
struct LittleEndianReader {
  let bytes: [UInt8]
  var offset: Int

  init(_ bytes: [UInt8], at offset: Int = 0) {
    self.bytes = bytes
    self.offset = offset
  }

  private mutating func read<T: FixedWidthInteger>(_: T.Type) -> T? {
    let size = MemoryLayout<T>.size
    guard bytes.count - offset >= size else { return nil }
    defer { offset += size }
    return bytes.withUnsafeBytes { T(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: T.self)) }
  }

  mutating func u8() -> UInt8? { read(UInt8.self) }
  mutating func u16() -> UInt16? { read(UInt16.self) }
  mutating func u32() -> UInt32? { read(UInt32.self) }
  mutating func u64() -> UInt64? { read(UInt64.self) }

  mutating func skip(_ count: Int) -> Bool {
    guard bytes.count - offset >= count else { return false }
    offset += count
    return true
  }
}

extension [UInt8] {
  mutating func append<T: FixedWidthInteger>(littleEndian value: T) {
    for shift in stride(from: 0, to: T.bitWidth, by: 8) { append(UInt8(truncatingIfNeeded: value >> T(shift))) }
  }

  init<T: FixedWidthInteger>(littleEndian value: T) {
    self = Swift.withUnsafeBytes(of: value.littleEndian) { Array($0) }
  }
}
