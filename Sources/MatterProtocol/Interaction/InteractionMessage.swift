public import MatterTLV

/// A message of the Interaction Model protocol as a value. Matter Core § 10.7.
///
/// Members that are not known are passed over; a member that comes twice, or is missing though it must be there,
/// makes the message malformed.
public protocol InteractionMessage: Hashable, Sendable {
  static var opcode: InteractionOpcode { get }
  /// Decodes the members; the reader is inside the message's structure.
  init(contents reader: inout TLVReader, _ bytes: RawSpan) throws(TLVError)
  /// Writes the members, without the revision.
  func encodeContents(to writer: inout TLVWriter)
}

extension InteractionMessage {
  /// Decodes one message that fills the bytes.
  public init(decoding bytes: RawSpan) throws(InteractionError) {
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

  /// Decodes one message that fills the bytes.
  public init(decoding bytes: [UInt8]) throws(InteractionError) { try self.init(decoding: bytes.span.bytes) }

  /// Decodes one message that fills the bytes.
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

/// Walks over the members of a structure or list that have context tags, and refuses one that comes twice.
struct MemberCursor {
  private var seen: UInt32 = 0

  /// Moves to the next member with a context tag.
  /// - Returns: its number; nil at the end.
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

  /// Throws unless the member was there.
  func require(_ number: UInt8) throws(TLVError) {
    guard number < 32, seen & 1 << UInt32(number) != 0 else { throw .missingMember(number) }
  }
}

extension TLVReader {
  /// Steps into the one structure that a message is.
  mutating func openMessage(_ bytes: RawSpan) throws(TLVError) {
    guard try next(bytes) else { throw .truncated }
    try open(.structure, bytes)
  }

  /// Steps out of the message and makes sure that nothing follows.
  mutating func closeMessage(_ bytes: RawSpan) throws(TLVError) {
    try leave(bytes)
    guard offset == bytes.byteCount else { throw .trailingBytes }
  }

  /// Steps into the current element, which must be a container of this type.
  mutating func open(_ expected: TLVType, _ bytes: RawSpan) throws(TLVError) {
    guard type == expected else { throw .unexpectedType(found: type, expected: "\(expected)") }
    try enter(bytes)
  }
}

extension TLVWriter {
  /// Writes the revision and closes the message: four bytes.
  mutating func endMessage() {
    write(UInt64(interactionModelRevision), .context(0xFF))
    end()
  }
}

/// Builds one message within a limit: what does not fit is taken back.
struct BoundedWriter: Sendable {
  var writer: TLVWriter
  /// The count of bytes at which the message must have ended.
  private let limit: Int

  /// - Parameters:
  ///   - maximumPayload: how long the message may become.
  ///   - tail: what it takes to close the message, kept free until then.
  init(header: consuming [UInt8], maximumPayload: Int, tail: Int) {
    limit = header.count + maximumPayload - tail
    header.reserveCapacity(limit + tail)
    writer = TLVWriter(appendingTo: header)
  }

  /// What may still be written.
  var room: Int { limit - writer.count }

  /// Takes back what was written behind `mark` if it is too much.
  mutating func settle(_ mark: Int) -> Bool {
    if room >= 0 { return true }
    writer.truncate(to: mark)
    return false
  }
}
