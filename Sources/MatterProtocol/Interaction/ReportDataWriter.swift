public import MatterModel
public import MatterTLV

/// Builds a ReportData message within a size limit. Matter Core § 10.7.3.
///
/// If an item does not fit, `append` writes nothing and returns false: finish this message with `more: true` and append
/// the same item to the next one. An item that an empty writer rejects fits into no message. Attributes precede events:
/// after an event, the writer rejects attributes as if they did not fit.
public struct ReportDataWriter: Sendable {
  private enum Section { case none, attributes, events }

  private var out: BoundedWriter
  private var section = Section.none

  /// The end of the array, one of the two flags (they exclude each other), and the revision with the end of the
  /// message.
  private static let tail = 1 + 2 + 4

  /// Starts a message.
  /// - Parameters:
  ///   - subscriptionID: The subscription that the report belongs to; nil for a read.
  ///   - maximumPayload: The maximum size of the message in bytes, without `header`.
  ///   - header: The bytes that precede the message in the same buffer.
  public init(
    subscriptionID: UInt32? = nil, maximumPayload: Int = InteractionLimits.maximumPayload,
    header: consuming [UInt8] = []
  ) {
    out = BoundedWriter(header: header, maximumPayload: maximumPayload, tail: Self.tail)
    out.writer.startStructure()
    if let subscriptionID { out.writer.write(UInt64(subscriptionID), .context(0)) }
  }

  /// Whether the message has no reports yet.
  public var isEmpty: Bool { section == .none }

  /// Adds an attribute value or a part of a list. `encode` writes it as one element with the given tag.
  public mutating func append(
    _ path: ConcreteAttributePath, _ operation: ListOperation = .replaceAll, dataVersion: UInt32,
    encode: (inout TLVWriter, TLVTag) -> Void
  ) -> Bool {
    let mark = out.writer.count
    guard open(.attributes) else { return false }
    out.writer.startStructure()
    out.writer.startAttributeData(AttributePath(path), operation, dataVersion, .context(1))
    encode(&out.writer, .context(2))
    out.writer.end()
    out.writer.end()
    return commit(mark, .attributes)
  }

  /// Adds an attribute value or a part of a list.
  /// - Parameter value: One element with an anonymous tag.
  public mutating func append(
    _ path: ConcreteAttributePath, _ operation: ListOperation = .replaceAll, dataVersion: UInt32, value: [UInt8]
  ) -> Bool {
    append(path, operation, dataVersion: dataVersion) { $0.write(encoded: value, $1) }
  }

  /// Adds as much of a list as fits: a report that replaces the list with its first entries, then one report for each
  /// entry to append. Matter Core § 10.6.4.3.1.
  /// - Returns: Whether the list is complete; if not, append the same `list` to the next message.
  public mutating func append(
    _ path: ConcreteAttributePath, dataVersion: UInt32, list: inout ListChunks
  ) -> Bool {
    if !list.isStarted {
      let mark = out.writer.count
      guard open(.attributes) else { return false }
      out.writer.startStructure()
      out.writer.startAttributeData(AttributePath(path), .replaceAll, dataVersion, .context(1))
      out.writer.startArray(.context(2))
      out.append(entriesOf: &list, closing: 3)
      for _ in 0..<3 { out.writer.end() }
      // Entries are consumed only if they fit, so a rollback here loses none.
      guard commit(mark, .attributes) else { return false }
      list.isStarted = true
    }
    while let entry = list.next {
      guard append(path, .append, dataVersion: dataVersion, value: Array(list.value[entry])) else { return false }
      list.advance()
    }
    return true
  }

  /// Adds an error status for attributes.
  public mutating func append(_ status: Status, for path: AttributePath) -> Bool {
    append(AttributeReport.status(AttributeStatus(path, status: status)))
  }

  /// Adds an attribute value or an error status.
  /// - Returns: false if it does not fit; in that case nothing is written.
  public mutating func append(_ report: AttributeReport) -> Bool {
    let mark = out.writer.count
    guard open(.attributes) else { return false }
    out.writer.write(report)
    return commit(mark, .attributes)
  }

  /// Adds an event.
  /// - Returns: false if it does not fit; in that case nothing is written.
  public mutating func append(_ event: EventData) -> Bool { append(EventReport.data(event)) }

  /// Adds an error status for events.
  public mutating func append(_ status: Status, for path: EventPath) -> Bool {
    append(EventReport.status(path, status))
  }

  /// Adds an event or an error status.
  /// - Returns: false if it does not fit; in that case nothing is written.
  public mutating func append(_ report: EventReport) -> Bool {
    let mark = out.writer.count
    guard open(.events) else { return false }
    out.writer.write(report)
    return commit(mark, .events)
  }

  /// Closes the message.
  /// - Parameters:
  ///   - more: Whether another message continues the report. If so, the receiver must answer and `suppressResponse` is
  ///     ignored.
  ///   - suppressResponse: Whether to suppress the status response.
  /// - Returns: `header` and the message.
  public consuming func finish(more: Bool = false, suppressResponse: Bool = false) -> [UInt8] {
    if section != .none { out.writer.end() }
    if more {
      out.writer.write(true, .context(3))
    } else if suppressResponse {
      out.writer.write(true, .context(4))
    }
    out.writer.endMessage()
    return out.writer.bytes
  }

  /// Opens the array for reports of a kind, unless it is already open.
  private mutating func open(_ wanted: Section) -> Bool {
    guard section != wanted else { return true }
    guard section != .events else { return false }
    if section == .attributes { out.writer.end() }
    out.writer.startArray(.context(wanted == .attributes ? 1 : 2))
    return true
  }

  private mutating func commit(_ mark: Int, _ written: Section) -> Bool {
    guard out.commit(mark) else { return false }
    section = written
    return true
  }
}
