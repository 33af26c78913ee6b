/// Encodes TLV in canonical form, with the shortest width for every number and length. Matter Core, Appendix A.
public struct TLVWriter: Sendable {
  /// The encoding so far.
  public private(set) var bytes: [UInt8]

  /// - Parameter capacity: number of bytes to reserve.
  public init(reservingCapacity capacity: Int = 0) {
    bytes = []
    bytes.reserveCapacity(capacity)
  }

  /// Creates a writer that appends to `bytes`, for example to a message header.
  public init(appendingTo bytes: consuming [UInt8]) { self.bytes = bytes }

  /// Number of bytes written so far.
  public var count: Int { bytes.count }

  /// Returns the bytes and consumes the writer, so that the next mutation does not copy them.
  public consuming func finish() -> [UInt8] { bytes }

  /// Removes everything after `count`, an earlier value of ``count``.
  package mutating func truncate(to count: Int) { bytes.removeSubrange(Swift.min(count, bytes.count)...) }

  /// Removes everything, and keeps the memory for further values if it is small.
  package mutating func removeAll() { bytes.removeAll(keepingCapacity: bytes.capacity <= 64) }

  // MARK: Scalars

  /// Writes an unsigned integer in 1, 2, 4 or 8 bytes.
  public mutating func write(_ value: UInt64, _ tag: TLVTag = .anonymous) {
    let width: UInt8 = value <= 0xFF ? 0 : value <= 0xFFFF ? 1 : value <= 0xFFFF_FFFF ? 2 : 3
    control(0x04 | width, tag)
    append(value, width)
  }

  /// Writes a signed integer in 1, 2, 4 or 8 bytes.
  public mutating func write(_ value: Int64, _ tag: TLVTag = .anonymous) {
    let width: UInt8 =
      Int8(exactly: value) != nil ? 0 : Int16(exactly: value) != nil ? 1 : Int32(exactly: value) != nil ? 2 : 3
    control(width, tag)
    append(UInt64(bitPattern: value), width)
  }

  /// Writes a boolean, which is encoded in its control octet.
  public mutating func write(_ value: Bool, _ tag: TLVTag = .anonymous) { control(value ? 0x09 : 0x08, tag) }

  /// Writes a single-precision number in 4 bytes.
  public mutating func write(_ value: Float, _ tag: TLVTag = .anonymous) {
    control(0x0A, tag)
    append(UInt64(value.bitPattern), 2)
  }

  /// Writes a double-precision number in 8 bytes.
  public mutating func write(_ value: Double, _ tag: TLVTag = .anonymous) {
    control(0x0B, tag)
    append(value.bitPattern, 3)
  }

  /// Writes a UTF-8 string.
  public mutating func write(_ value: String, _ tag: TLVTag = .anonymous) {
    var value = value
    value.withUTF8 { string(0x0C, UnsafeRawBufferPointer($0), tag) }
  }

  /// Writes an octet string, as distinct from an array of numbers.
  public mutating func write(octets: [UInt8], _ tag: TLVTag = .anonymous) {
    octets.withUnsafeBytes { string(0x10, $0, tag) }
  }

  /// Writes null.
  public mutating func writeNull(_ tag: TLVTag = .anonymous) { control(0x14, tag) }

  // MARK: Containers

  /// Opens a structure, whose members are all tagged. Close it with ``end()``.
  public mutating func startStructure(_ tag: TLVTag = .anonymous) { control(0x15, tag) }
  /// Opens an array, whose members have no tags. Close it with ``end()``.
  public mutating func startArray(_ tag: TLVTag = .anonymous) { control(0x16, tag) }
  /// Opens a list, whose members may have tags, also repeated ones. Close it with ``end()``.
  public mutating func startList(_ tag: TLVTag = .anonymous) { control(0x17, tag) }
  /// Closes the innermost container.
  public mutating func end() { bytes.append(0x18) }

  /// Writes a structure with the members that `body` writes.
  public mutating func structure(_ tag: TLVTag = .anonymous, _ body: (inout TLVWriter) -> Void) {
    startStructure(tag)
    body(&self)
    end()
  }

  /// Writes an array with the entries that `body` writes.
  public mutating func array(_ tag: TLVTag = .anonymous, _ body: (inout TLVWriter) -> Void) {
    startArray(tag)
    body(&self)
    end()
  }

  /// Writes a list with the members that `body` writes.
  public mutating func list(_ tag: TLVTag = .anonymous, _ body: (inout TLVWriter) -> Void) {
    startList(tag)
    body(&self)
    end()
  }

  /// Writes an element that was encoded with an anonymous tag, with the given tag instead.
  public mutating func write(encoded element: [UInt8], _ tag: TLVTag = .anonymous) {
    guard let first = element.first else { return }
    control(first & 0x1F, tag)
    bytes.append(contentsOf: element.dropFirst())
  }

  /// Appends encoded elements or other bytes unchanged.
  public mutating func append(raw bytes: [UInt8]) { self.bytes.append(contentsOf: bytes) }

  // MARK: Parts

  /// Writes the lowest 2^`log2` bytes, little-endian.
  private mutating func append(_ value: UInt64, _ log2: UInt8) {
    var rest = value
    for _ in 0..<(1 << Int(log2)) {
      bytes.append(UInt8(truncatingIfNeeded: rest))
      rest >>= 8
    }
  }

  private mutating func string(_ code: UInt8, _ content: UnsafeRawBufferPointer, _ tag: TLVTag) {
    let count = UInt64(content.count)
    let width: UInt8 = count <= 0xFF ? 0 : count <= 0xFFFF ? 1 : count <= 0xFFFF_FFFF ? 2 : 3
    control(code | width, tag)
    append(count, width)
    bytes.append(contentsOf: content)
  }

  private mutating func control(_ code: UInt8, _ tag: TLVTag) {
    switch tag {
    case .anonymous:
      bytes.append(code)
    case .context(let number):
      bytes.append(0x20 | code)
      bytes.append(number)
    case .common(let number):
      bytes.append((number <= 0xFFFF ? 0x40 : 0x60) | code)
      append(UInt64(number), number <= 0xFFFF ? 1 : 2)
    case .implicit(let number):
      bytes.append((number <= 0xFFFF ? 0x80 : 0xA0) | code)
      append(UInt64(number), number <= 0xFFFF ? 1 : 2)
    case .qualified(let vendor, let profile, let number):
      bytes.append((number <= 0xFFFF ? 0xC0 : 0xE0) | code)
      append(UInt64(vendor), 1)
      append(UInt64(profile), 1)
      append(UInt64(number), number <= 0xFFFF ? 1 : 2)
    }
  }
}
