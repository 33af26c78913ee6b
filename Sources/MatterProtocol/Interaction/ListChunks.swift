public import MatterTLV

/// Iterates over the entries of an encoded array, for sending a list in chunks.
public struct ListChunks: Sendable {
  /// The whole list, an array with an anonymous tag.
  public let value: [UInt8]
  /// The range of the next entry in ``value``; nil after the last one.
  public private(set) var next: Range<Int>?
  /// Whether the chunk that replaces the list was written, so that the remaining entries are appended.
  var isStarted = false
  private var reader = TLVReader()

  /// Validates the whole list, so that iterating can't fail.
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

  /// Moves to the entry after ``next``.
  package mutating func advance() {
    (reader, next) = Self.step(reader, value.span.bytes)
  }

  private static func step(_ reader: TLVReader, _ bytes: RawSpan) -> (TLVReader, Range<Int>?) {
    var reader = reader
    // The initializer validated the list, so nothing is thrown.
    guard (try? reader.next(bytes)) == true else { return (reader, nil) }
    return (reader, try? reader.elementRange(bytes))
  }

  /// Returns the next entry, an element with an anonymous tag, and moves on; nil after the last one.
  public mutating func nextEntry() -> [UInt8]? {
    guard let next else { return nil }
    advance()
    return Array(value[next])
  }
}

extension BoundedWriter {
  /// Writes as many of the next entries as fit, leaving `closing` bytes for the ends of the containers.
  mutating func append(entriesOf list: inout ListChunks, closing: Int) {
    while let entry = list.next, entry.count + closing <= remaining {
      writer.write(encoded: Array(list.value[entry]))
      list.advance()
    }
  }
}
