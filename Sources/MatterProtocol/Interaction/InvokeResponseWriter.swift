public import MatterModel
public import MatterTLV

/// Builds an InvokeResponse message within a size limit. Matter Core § 10.7.10.
///
/// If a response does not fit, `append` writes nothing and returns false: finish this message with `more: true` and
/// append the same response to the next one. A response that an empty writer rejects fits into no message.
public struct InvokeResponseWriter: Sendable {
  private var out: BoundedWriter
  /// Whether the message has no responses yet.
  public private(set) var isEmpty = true

  /// The end of the array, the flag, and the revision with the end of the message.
  private static let tail = 1 + 2 + 4

  /// Starts a message.
  /// - Parameters:
  ///   - maximumPayload: The maximum size of the message in bytes, without `header`.
  ///   - header: The bytes that precede the message in the same buffer.
  public init(
    suppressResponse: Bool = false, maximumPayload: Int = InteractionLimits.maximumPayload,
    header: consuming [UInt8] = []
  ) {
    // Most responses are a single status.
    out = BoundedWriter(header: header, maximumPayload: maximumPayload, tail: Self.tail, capacity: 64)
    out.writer.startStructure()
    out.writer.write(suppressResponse, .context(0))
    out.writer.startArray(.context(1))
  }

  /// Adds a response command. `encode` writes the fields as one structure with the given tag.
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
    return commit(mark)
  }

  /// Adds a response command.
  /// - Parameter fields: A structure with an anonymous tag.
  public mutating func append(_ path: CommandPath, ref: UInt16? = nil, fields: [UInt8]) -> Bool {
    append(path, ref: ref) { $0.write(encoded: fields, $1) }
  }

  /// Adds a status.
  public mutating func append(_ path: CommandPath, ref: UInt16? = nil, status: Status) -> Bool {
    append(.status(CommandStatus(path, status: status, ref: ref)))
  }

  /// Adds a response.
  /// - Returns: false if it does not fit; in that case nothing is written.
  public mutating func append(_ result: CommandResult) -> Bool {
    let mark = out.writer.count
    out.writer.write(result)
    return commit(mark)
  }

  /// Closes the message.
  /// - Parameter more: Whether another message continues the response.
  /// - Returns: `header` and the message.
  public consuming func finish(more: Bool = false) -> [UInt8] {
    out.writer.end()
    if more { out.writer.write(true, .context(2)) }
    out.writer.endMessage()
    return out.writer.bytes
  }

  private mutating func commit(_ mark: Int) -> Bool {
    guard out.commit(mark) else { return false }
    isEmpty = false
    return true
  }
}
