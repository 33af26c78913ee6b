public import MatterTLV

/// The entries of an encoded array, one after the other: for a list that goes out in pieces.
public struct ListChunks: Sendable {
  /// The whole list, an array with an anonymous tag.
  public let value: [UInt8]
  /// Where the next entry lies in ``value``; nil after the last.
  public private(set) var next: Range<Int>?
  /// Whether the piece that replaces the list went out, so that only entries to append are left.
  public internal(set) var isStarted = false
  private var reader = TLVReader()

  /// Looks the whole list over, so that nothing can be wrong with it later.
  public init(_ value: [UInt8]) throws(TLVError) {
    self.value = value
    let span = value.span.bytes
    guard try reader.next(span) else { throw .truncated }
    try reader.open(.array, span)
    var check = reader
    try check.leave(span)
    guard check.offset == span.byteCount else { throw .trailingBytes }
    advance()
  }

  /// Passes to the entry after ``next``.
  public mutating func advance() {
    (reader, next) = Self.step(reader, value.span.bytes)
  }

  private static func step(_ reader: TLVReader, _ bytes: RawSpan) -> (TLVReader, Range<Int>?) {
    var reader = reader
    // Everything was read once already, so nothing is thrown.
    guard (try? reader.next(bytes)) == true else { return (reader, nil) }
    return (reader, try? reader.elementRange(bytes))
  }

  /// Takes the next entry, an element with an anonymous tag; nil after the last.
  public mutating func nextEntry() -> [UInt8]? {
    guard let next else { return nil }
    advance()
    return Array(value[next])
  }
}

extension BoundedWriter {
  /// Writes as many of the next entries as fit, with `closing` bytes left for what must follow.
  mutating func append(entriesOf list: inout ListChunks, closing: Int) {
    while let entry = list.next, entry.count + closing <= room {
      writer.write(encoded: Array(list.value[entry]))
      list.advance()
    }
  }
}
