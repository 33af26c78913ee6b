public import MatterModel
public import MatterTLV

/// Builds one InvokeResponse message, answer by answer, up to a limit. Matter Core § 10.7.10.
///
/// What does not fit is not written at all, and `append` returns false: then finish this message with `more: true`, and
/// append the same answer to the next. If it was refused by a writer that ``isEmpty``, it fits into no message.
public struct InvokeResponseWriter: Sendable {
  private var out: BoundedWriter
  /// Whether there is no answer in the message yet.
  public private(set) var isEmpty = true

  /// The array's end, the flag, and revision and end.
  private static let tail = 1 + 2 + 4

  /// - Parameters:
  ///   - maximumPayload: how many bytes the message may have, without `header`.
  ///   - header: what goes before the message in the same buffer.
  public init(
    suppressResponse: Bool = false, maximumPayload: Int = InteractionLimits.maximumPayload,
    header: consuming [UInt8] = []
  ) {
    out = BoundedWriter(header: header, maximumPayload: maximumPayload, tail: Self.tail)
    out.writer.startStructure()
    out.writer.write(suppressResponse, .context(0))
    out.writer.startArray(.context(1))
  }

  /// Adds a response command, whose fields `encode` writes as one structure under the tag that it is given.
  public mutating func append(
    _ path: CommandPath, ref: UInt16? = nil, encode: (inout TLVWriter, TLVTag) -> Void
  ) -> Bool {
    let mark = out.writer.count
    out.writer.startStructure()
    out.writer.startStructure(.context(0))
    out.writer.write(path, .context(0))
    encode(&out.writer, .context(1))
    if let ref { out.writer.write(UInt64(ref), .context(2)) }
    out.writer.end()
    out.writer.end()
    return settle(mark)
  }

  /// Adds a response command.
  /// - Parameter fields: a structure with an anonymous tag.
  public mutating func append(_ path: CommandPath, ref: UInt16? = nil, fields: [UInt8]) -> Bool {
    append(path, ref: ref) { $0.write(encoded: fields, $1) }
  }

  /// Adds a status.
  public mutating func append(_ path: CommandPath, ref: UInt16? = nil, status: Status) -> Bool {
    append(.status(CommandStatus(path, status: status, ref: ref)))
  }

  /// - Returns: false if it does not fit; then nothing of it is written.
  public mutating func append(_ result: CommandResult) -> Bool {
    let mark = out.writer.count
    out.writer.write(result)
    return settle(mark)
  }

  /// Closes the message.
  /// - Parameter more: whether another message continues the response.
  /// - Returns: `header` and the message.
  public consuming func finish(more: Bool = false) -> [UInt8] {
    out.writer.end()
    if more { out.writer.write(true, .context(2)) }
    out.writer.endMessage()
    return out.writer.bytes
  }

  private mutating func settle(_ mark: Int) -> Bool {
    guard out.settle(mark) else { return false }
    isEmpty = false
    return true
  }
}
