/// A cursor over TLV bytes. Matter Core, Appendix A.
///
/// The cursor does not hold the bytes: every call takes the same `RawSpan`. The cursor is therefore a plain value that
/// can be copied, stored and rewound, without reference counting on the packet path.
///
/// `next` moves to the next element of the current container and skips a container that was not entered:
///
///     try reader.next(bytes)                    // at the structure
///     try reader.enter(bytes)
///     while try reader.next(bytes) {
///       if reader.tag == .context(0) { level = try reader.unsigned() }
///     }
///     try reader.leave(bytes)
public struct TLVReader: Sendable {
  /// The maximum nesting depth; deeper input is rejected early.
  public static let maximumDepth = 16

  /// Offset of the next element.
  public private(set) var offset: Int
  /// The tag of the current element.
  public private(set) var tag: TLVTag = .anonymous
  /// The type of the current element; `null` before the first.
  public private(set) var type: TLVType = .null
  /// Offset of the current element's control octet.
  private(set) var elementStart: Int
  /// The bits of a scalar, or the length of a string.
  private var value: UInt64 = 0
  /// Offset of a string's content.
  private var content: Int = 0
  /// Number of open containers; `kinds` has two bits for each.
  private var depth = 0
  private var kinds: UInt64 = 0
  /// Whether the current element is a container that has not been entered or skipped.
  private var pending = false

  public init(at offset: Int = 0) {
    self.offset = offset
    self.elementStart = offset
  }

  // MARK: Navigation

  /// Moves to the next element of the current container.
  /// - Returns: false at the end of the container, or at the end of the input outside of any container.
  public mutating func next(_ bytes: RawSpan) throws(TLVError) -> Bool {
    if pending { try skipContents(bytes) }
    if depth == 0 && offset >= bytes.byteCount { return false }
    let start = offset
    let control = try read8(bytes)
    if control & 0x1F == 0x18 {
      guard control == 0x18, depth > 0 else { throw .unexpectedEnd }
      offset = start  // `leave` consumes it
      return false
    }
    elementStart = start
    try readTag(control >> 5, bytes)
    try readValue(control & 0x1F, bytes)
    if depth > 0 {
      switch kinds & 3 {
      case 0: if tag == .anonymous { throw .invalidTag }
      case 1: if tag != .anonymous { throw .invalidTag }
      default: break
      }
    }
    return true
  }

  /// Enters the current container.
  public mutating func enter(_ bytes: RawSpan) throws(TLVError) {
    guard pending else { throw .unexpectedType(found: type, expected: "container") }
    guard depth < Self.maximumDepth else { throw .tooDeep }
    pending = false
    depth += 1
    kinds = kinds << 2 | (type == .structure ? 0 : type == .array ? 1 : 2)
  }

  /// Leaves the container and skips the rest of its elements.
  public mutating func leave(_ bytes: RawSpan) throws(TLVError) {
    guard depth > 0 else { throw .unexpectedEnd }
    while try next(bytes) {}
    offset += 1
    depth -= 1
    kinds >>= 2
    type = .null
  }

  /// Reads the members of the current structure (or list); calls `body` for each.
  public mutating func structure(
    _ bytes: RawSpan, _ body: (inout TLVReader, TLVTag) throws(TLVError) -> Void
  ) throws(TLVError) {
    guard type == .structure || type == .list else { throw .unexpectedType(found: type, expected: "structure") }
    try enter(bytes)
    while try next(bytes) { try body(&self, tag) }
    try leave(bytes)
  }

  /// Reads the entries of the current array (or list); calls `body` for each.
  public mutating func array(
    _ bytes: RawSpan, _ body: (inout TLVReader) throws(TLVError) -> Void
  ) throws(TLVError) {
    guard type == .array || type == .list else { throw .unexpectedType(found: type, expected: "array") }
    try enter(bytes)
    while try next(bytes) { try body(&self) }
    try leave(bytes)
  }

  /// Returns the range of the current element, control octet included, and moves the cursor behind the element.
  package mutating func elementRange(_ bytes: RawSpan) throws(TLVError) -> Range<Int> {
    let start = elementStart
    if pending { try skipContents(bytes) }
    return start..<offset
  }

  /// Returns the encoding of the current element without its tag.
  public mutating func anonymousElement(_ bytes: RawSpan) throws(TLVError) -> [UInt8] {
    let start = elementStart
    let range = try elementRange(bytes)
    let control = bytes.unsafeLoad(fromByteOffset: start, as: UInt8.self)
    let skip = 1 + Self.tagLength(control >> 5)
    return [UInt8](unsafeUninitializedCapacity: range.count - skip + 1) { buffer, count in
      buffer[0] = control & 0x1F
      for index in 0..<(range.count - skip) {
        buffer[index + 1] = bytes.unsafeLoad(fromByteOffset: range.lowerBound + skip + index, as: UInt8.self)
      }
      count = range.count - skip + 1
    }
  }

  // MARK: Values of the current element

  /// The current unsigned integer.
  /// - Throws: ``TLVError/unexpectedType(found:expected:)`` for any other type, also for a signed integer.
  public func unsigned() throws(TLVError) -> UInt64 {
    guard type == .unsignedInteger else { throw .unexpectedType(found: type, expected: "unsigned integer") }
    return value
  }

  /// The current unsigned integer as the given type, regardless of its width on the wire.
  /// - Throws: ``TLVError/unexpectedType(found:expected:)``, or ``TLVError/outOfRange`` if it does not fit the type.
  @inlinable
  public func unsigned<T: UnsignedInteger & FixedWidthInteger>(as _: T.Type) throws(TLVError) -> T {
    guard let result = T(exactly: try unsigned()) else { throw .outOfRange }
    return result
  }

  /// The current signed integer.
  /// - Throws: ``TLVError/unexpectedType(found:expected:)`` for any other type, also for an unsigned integer.
  public func signed() throws(TLVError) -> Int64 {
    guard type == .signedInteger else { throw .unexpectedType(found: type, expected: "signed integer") }
    return Int64(bitPattern: value)
  }

  /// The current signed integer as the given type, regardless of its width on the wire.
  /// - Throws: ``TLVError/unexpectedType(found:expected:)``, or ``TLVError/outOfRange`` if it does not fit the type.
  @inlinable
  public func signed<T: SignedInteger & FixedWidthInteger>(as _: T.Type) throws(TLVError) -> T {
    guard let result = T(exactly: try signed()) else { throw .outOfRange }
    return result
  }

  /// The current boolean.
  /// - Throws: ``TLVError/unexpectedType(found:expected:)``.
  public func boolean() throws(TLVError) -> Bool {
    guard type == .boolean else { throw .unexpectedType(found: type, expected: "boolean") }
    return value != 0
  }

  /// The current single-precision number.
  /// - Throws: ``TLVError/unexpectedType(found:expected:)``, also for a double.
  public func float() throws(TLVError) -> Float {
    guard type == .float else { throw .unexpectedType(found: type, expected: "single") }
    return Float(bitPattern: UInt32(truncatingIfNeeded: value))
  }

  /// The current double-precision number.
  /// - Throws: ``TLVError/unexpectedType(found:expected:)``, also for a float.
  public func double() throws(TLVError) -> Double {
    guard type == .double else { throw .unexpectedType(found: type, expected: "double") }
    return Double(bitPattern: value)
  }

  /// Whether the current element is null; true before the first element.
  public var isNull: Bool { type == .null }

  /// Copies the content of the current octet string.
  /// - Parameter bytes: the input.
  /// - Throws: ``TLVError/unexpectedType(found:expected:)``.
  public func octets(_ bytes: RawSpan) throws(TLVError) -> [UInt8] {
    guard type == .octetString else { throw .unexpectedType(found: type, expected: "octet string") }
    return copy(content, Int(value), bytes)
  }

  /// Copies the content of the current UTF-8 string.
  /// - Parameter bytes: the input.
  /// - Throws: ``TLVError/unexpectedType(found:expected:)``, or ``TLVError/invalidUTF8``.
  public func string(_ bytes: RawSpan) throws(TLVError) -> String {
    guard type == .utf8String else { throw .unexpectedType(found: type, expected: "UTF-8 string") }
    guard let text = String(validating: copy(content, Int(value), bytes), as: UTF8.self) else { throw .invalidUTF8 }
    return text
  }

  // MARK: Parsing

  private func copy(_ start: Int, _ count: Int, _ bytes: RawSpan) -> [UInt8] {
    bytes.extracting(start..<(start + count)).withUnsafeBytes { [UInt8]($0) }
  }

  @inline(__always) private mutating func read8(_ bytes: RawSpan) throws(TLVError) -> UInt8 {
    guard offset < bytes.byteCount else { throw .truncated }
    defer { offset += 1 }
    return bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
  }

  /// Reads 2^`log2` bytes, little-endian.
  @inline(__always) private mutating func read(_ log2: UInt8, _ bytes: RawSpan) throws(TLVError) -> UInt64 {
    let count = 1 << Int(log2)
    guard bytes.byteCount - offset >= count else { throw .truncated }
    defer { offset += count }
    switch log2 {
    case 0: return UInt64(bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self))
    case 1: return UInt64(UInt16(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt16.self)))
    case 2: return UInt64(UInt32(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self)))
    default: return UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
  }

  private static func tagLength(_ form: UInt8) -> Int {
    switch form {
    case 0: 0
    case 1: 1
    case 2, 4: 2
    case 3, 5: 4
    case 6: 6
    default: 8
    }
  }

  @inline(__always) private mutating func readTag(_ form: UInt8, _ bytes: RawSpan) throws(TLVError) {
    switch form {
    case 0: tag = .anonymous
    case 1: tag = .context(try read8(bytes))
    case 2: tag = .common(UInt32(try read(1, bytes)))
    case 3: tag = .common(UInt32(try read(2, bytes)))
    case 4: tag = .implicit(UInt32(try read(1, bytes)))
    case 5: tag = .implicit(UInt32(try read(2, bytes)))
    default:
      let vendor = UInt16(try read(1, bytes))
      let profile = UInt16(try read(1, bytes))
      tag = .qualified(vendor: vendor, profile: profile, number: UInt32(try read(form == 6 ? 1 : 2, bytes)))
    }
  }

  @inline(__always) private mutating func readValue(_ code: UInt8, _ bytes: RawSpan) throws(TLVError) {
    switch code {
    case 0x00...0x03:
      type = .signedInteger
      let raw = try read(code, bytes)
      let shift = UInt64(64 - (8 << Int(code)))
      value = UInt64(bitPattern: Int64(bitPattern: raw << shift) >> Int64(shift))
    case 0x04...0x07:
      type = .unsignedInteger
      value = try read(code & 3, bytes)
    case 0x08, 0x09:
      type = .boolean
      value = UInt64(code & 1)
    case 0x0A:
      type = .float
      value = try read(2, bytes)
    case 0x0B:
      type = .double
      value = try read(3, bytes)
    case 0x0C...0x13:
      type = code < 0x10 ? .utf8String : .octetString
      value = try read(code & 3, bytes)
      content = offset
      guard value <= UInt64(bytes.byteCount - offset) else { throw .truncated }
      offset += Int(value)
    case 0x14:
      type = .null
      value = 0
    case 0x15, 0x16, 0x17:
      type = code == 0x15 ? .structure : code == 0x16 ? .array : .list
      pending = true
    default:
      throw .reservedType(code)
    }
  }

  /// Skips the contents of the current container without recursion; checks tags like `next`.
  private mutating func skipContents(_ bytes: RawSpan) throws(TLVError) {
    let target = depth
    let (tag, type, start) = (tag, type, elementStart)
    try enter(bytes)
    while depth > target {
      if try next(bytes) {
        if pending { try enter(bytes) }
      } else {
        offset += 1
        depth -= 1
        kinds >>= 2
      }
    }
    (self.tag, self.type, self.elementStart) = (tag, type, start)
  }
}
