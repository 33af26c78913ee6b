public import MatterTLV

/// A message of the Interaction Model protocol. Matter Core § 10.7.
///
/// Decoding ignores unknown members, and throws for a duplicate member or a missing mandatory one.
public protocol InteractionMessage: Hashable, Sendable {
  static var opcode: InteractionOpcode { get }
  /// Decodes the members; the reader is inside the structure of the message.
  init(contents reader: inout TLVReader, _ bytes: RawSpan) throws(TLVError)
  /// Writes the members, without the revision.
  func encodeContents(to writer: inout TLVWriter)
}

extension InteractionMessage {
  /// Decodes a message that spans all of the bytes.
  package init(decoding bytes: RawSpan) throws(InteractionError) {
    do throws(TLVError) {
      var reader = TLVReader()
      try reader.openMessage(bytes)
      let message = try Self(contents: &reader, bytes)
      try reader.closeMessage(bytes)
      self = message
    } catch {
      throw .malformed(error)
    }
  }

  /// Decodes a message that spans all of the bytes.
  public init(decoding bytes: [UInt8]) throws(InteractionError) { try self.init(decoding: bytes.span.bytes) }

  /// Decodes a message that spans all of the bytes.
  public init(decoding bytes: ArraySlice<UInt8>) throws(InteractionError) { try self.init(decoding: bytes.span.bytes) }

  /// Writes the message as one anonymous structure, the revision last.
  public func encode(to writer: inout TLVWriter) {
    writer.startStructure()
    encodeContents(to: &writer)
    writer.endMessage()
  }

  /// The encoded message.
  public var encoded: [UInt8] {
    var writer = TLVWriter(reservingCapacity: 128)
    encode(to: &writer)
    return writer.bytes
  }
}

/// Iterates over the context-tagged members of a structure or list, and rejects duplicates.
struct MemberCursor {
  private var seen: UInt32 = 0

  /// Moves to the next member with a context tag.
  /// - Returns: The tag number; nil at the end.
  mutating func next(_ reader: inout TLVReader, _ bytes: RawSpan) throws(TLVError) -> UInt8? {
    while try reader.next(bytes) {
      guard case .context(let number) = reader.tag else { continue }
      if number < 32 {
        guard seen & 1 << UInt32(number) == 0 else { throw .duplicateMember(number) }
        seen |= 1 << UInt32(number)
      }
      return number
    }
    return nil
  }

  /// Throws if the member was missing.
  func require(_ number: UInt8) throws(TLVError) {
    guard number < 32, seen & 1 << UInt32(number) != 0 else { throw .missingMember(number) }
  }
}

extension TLVReader {
  /// Enters the structure of a message.
  mutating func openMessage(_ bytes: RawSpan) throws(TLVError) {
    guard try next(bytes) else { throw .truncated }
    try open(.structure, bytes)
  }

  /// Leaves the structure of a message, and throws if bytes follow.
  mutating func closeMessage(_ bytes: RawSpan) throws(TLVError) {
    try leave(bytes)
    guard offset == bytes.byteCount else { throw .trailingBytes }
  }

  /// Enters the current element, which must be a container of the expected type.
  mutating func open(_ expected: TLVType, _ bytes: RawSpan) throws(TLVError) {
    guard type == expected else { throw .unexpectedType(found: type, expected: "\(expected)") }
    try enter(bytes)
  }
}

extension TLVWriter {
  /// Writes the revision and closes the message, four bytes in total.
  mutating func endMessage() {
    write(UInt64(interactionModelRevision), .context(0xFF))
    end()
  }
}

/// Builds a message within a size limit, rolling back an item that exceeds it.
struct BoundedWriter: Sendable {
  var writer: TLVWriter
  /// The maximum size of the buffer before the tail is written.
  private let limit: Int

  /// - Parameters:
  ///   - maximumPayload: The maximum size of the message in bytes, without the header.
  ///   - tail: The bytes reserved for closing the message.
  ///   - capacity: The expected size of the message in bytes; nil for the maximum.
  init(header: consuming [UInt8], maximumPayload: Int, tail: Int, capacity: Int? = nil) {
    limit = header.count + maximumPayload - tail
    header.reserveCapacity(header.count + (capacity ?? maximumPayload))
    writer = TLVWriter(appendingTo: header)
  }

  /// The number of bytes that still fit; negative if the limit is exceeded.
  var remaining: Int { limit - writer.count }

  /// Keeps the bytes written after `mark` if they fit; otherwise removes them and returns false.
  mutating func commit(_ mark: Int) -> Bool {
    if remaining >= 0 { return true }
    writer.truncate(to: mark)
    return false
  }
}
