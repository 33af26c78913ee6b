public import MatterModel
internal import MatterTLV

/// Splits writes into as many WriteRequest messages as needed. Matter Core § 8.7.2, § 10.6.4.3.1.
///
/// Each message must be sent after the response to the previous one. A list that is too long for one message is
/// replaced with its first entries, and the other entries are appended.
public struct WriteRequestChunks: Sendable {
  /// The encoded messages, at least one.
  public private(set) var messages: [[UInt8]] = []
  /// For each message, the list that it continues, if any. The message must not be sent if an earlier part of the list
  /// was rejected.
  public private(set) var continued: [AttributePath?] = [nil]

  private var out: BoundedWriter
  private var isEmpty = true
  private let suppressResponse: Bool
  private let isTimed: Bool
  private let maximumPayload: Int

  /// The end of the array, the flag, and the revision with the end of the message.
  private static let tail = 1 + 2 + 4

  /// Encodes the messages.
  /// - Throws: `tooLarge` if a write or a list entry fits into no message, or if a timed request needs more than one
  ///   message; `malformed` if the encoding of an array is invalid.
  public init(
    _ writes: [AttributeWrite], suppressResponse: Bool = false, isTimed: Bool = false,
    maximumPayload: Int = InteractionLimits.maximumPayload
  ) throws(InteractionError) {
    self.suppressResponse = suppressResponse
    self.isTimed = isTimed
    self.maximumPayload = maximumPayload
    out = Self.begin(suppressResponse, isTimed, maximumPayload)
    for write in writes { try add(write) }
    close(more: false)
    guard messages.count == 1 || !isTimed else { throw .tooLarge }
  }

  private static func begin(_ suppressResponse: Bool, _ isTimed: Bool, _ maximumPayload: Int) -> BoundedWriter {
    var out = BoundedWriter(header: [], maximumPayload: maximumPayload, tail: tail)
    out.writer.startStructure()
    out.writer.write(suppressResponse, .context(0))
    out.writer.write(isTimed, .context(1))
    out.writer.startArray(.context(2))
    return out
  }

  private mutating func close(more: Bool) {
    out.writer.end()
    out.writer.write(more, .context(3))
    out.writer.endMessage()
    messages.append(out.writer.bytes)
  }

  private mutating func startNext(continuing path: AttributePath? = nil) {
    close(more: true)
    continued.append(path)
    out = Self.begin(suppressResponse, isTimed, maximumPayload)
    isEmpty = true
  }

  private mutating func add(_ write: AttributeWrite) throws(InteractionError) {
    if append(write) { return }
    if !isEmpty {
      startNext()
      if append(write) { return }
    }
    // Too large for a message of its own: only a list can be split.
    guard write.operation == .replaceAll, write.value.first == 0x16 else { throw .tooLarge }
    var list: ListChunks
    do { list = try ListChunks(write.value) } catch { throw .malformed(error) }
    guard begin(write, &list) else { throw .tooLarge }
    while let entry = list.nextEntry() {
      // Without a data version, because the previous part has already changed it.
      let piece = AttributeWrite(write.path, .append, value: entry)
      if append(piece) { continue }
      guard !isEmpty else { throw .tooLarge }
      startNext(continuing: write.path)
      guard append(piece) else { throw .tooLarge }
    }
  }

  private mutating func append(_ write: AttributeWrite) -> Bool {
    let mark = out.writer.count
    out.writer.startAttributeData(write.path, write.operation, write.dataVersion, .anonymous)
    out.writer.write(encoded: write.value, .context(2))
    out.writer.end()
    guard out.commit(mark) else { return false }
    isEmpty = false
    return true
  }

  /// Writes the part that replaces the list, with as many entries as fit.
  private mutating func begin(_ write: AttributeWrite, _ list: inout ListChunks) -> Bool {
    let mark = out.writer.count
    out.writer.startAttributeData(write.path, .replaceAll, write.dataVersion, .anonymous)
    out.writer.startArray(.context(2))
    out.append(entriesOf: &list, closing: 2)
    out.writer.end()
    out.writer.end()
    guard out.commit(mark) else { return false }
    isEmpty = false
    return true
  }
}
