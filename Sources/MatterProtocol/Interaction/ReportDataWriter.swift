public import MatterModel
public import MatterTLV

/// Builds one ReportData message, item by item, up to a limit. Matter Core § 10.7.3.
///
/// What does not fit is not written at all, and `append` returns false: then finish this message with `more: true`, and
/// append the same item to the next. If it was refused by a writer that ``isEmpty``, it fits into no message.
/// Attributes come first: once an event was written, attributes are refused as if they did not fit.
public struct ReportDataWriter: Sendable {
  private enum Section { case none, attributes, events }

  private var out: BoundedWriter
  private var section = Section.none

  /// The array's end, one of the two flags (a message that is continued is answered), and revision and end.
  private static let tail = 1 + 2 + 4

  /// - Parameters:
  ///   - subscriptionID: of the subscription that the report belongs to, nil to answer a read.
  ///   - maximumPayload: how many bytes the message may have, without `header`.
  ///   - header: what goes before the message in the same buffer.
  public init(
    subscriptionID: UInt32? = nil, maximumPayload: Int = InteractionLimits.maximumPayload,
    header: consuming [UInt8] = []
  ) {
    out = BoundedWriter(header: header, maximumPayload: maximumPayload, tail: Self.tail)
    out.writer.startStructure()
    if let subscriptionID { out.writer.write(UInt64(subscriptionID), .context(0)) }
  }

  /// Whether there is no report in the message yet.
  public var isEmpty: Bool { section == .none }

  /// Adds an attribute's value, or a part of a list, that `encode` writes as one element under the tag it is given.
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
    return settle(mark, .attributes)
  }

  /// Adds an attribute's value, or a part of a list.
  /// - Parameter value: one element with an anonymous tag.
  public mutating func append(
    _ path: ConcreteAttributePath, _ operation: ListOperation = .replaceAll, dataVersion: UInt32, value: [UInt8]
  ) -> Bool {
    append(path, operation, dataVersion: dataVersion) { $0.write(encoded: value, $1) }
  }

  /// Adds as much of a list as fits: first a report that replaces the list with its first entries, then one for each
  /// entry to append. Matter Core § 10.6.4.3.1.
  /// - Returns: whether the list is complete; if not, go on with the same `list` in the next message.
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
      // An entry is taken only if all fits with it, so that nothing is lost if this is taken back.
      guard settle(mark, .attributes) else { return false }
      list.isStarted = true
    }
    while let entry = list.next {
      guard append(path, .append, dataVersion: dataVersion, value: Array(list.value[entry])) else { return false }
      list.advance()
    }
    return true
  }

  /// Adds what kept attributes from being reported.
  public mutating func append(_ status: Status, for path: AttributePath) -> Bool {
    append(AttributeReport.status(AttributeStatus(path, status: status)))
  }

  /// Adds an attribute's value, or what kept it from being reported.
  /// - Returns: false if it does not fit; then nothing of it is written.
  public mutating func append(_ report: AttributeReport) -> Bool {
    let mark = out.writer.count
    guard open(.attributes) else { return false }
    out.writer.write(report)
    return settle(mark, .attributes)
  }

  /// Adds an event.
  /// - Returns: false if it does not fit; then nothing of it is written.
  public mutating func append(_ event: EventData) -> Bool { append(EventReport.data(event)) }

  /// Adds what kept events from being reported.
  public mutating func append(_ status: Status, for path: EventPath) -> Bool {
    append(EventReport.status(path, status))
  }

  /// Adds an event, or what kept events from being reported.
  /// - Returns: false if it does not fit; then nothing of it is written.
  public mutating func append(_ report: EventReport) -> Bool {
    let mark = out.writer.count
    guard open(.events) else { return false }
    out.writer.write(report)
    return settle(mark, .events)
  }

  /// Closes the message.
  /// - Parameters:
  ///   - more: whether another message continues the report; it has to be answered, whatever `suppressResponse` says.
  ///   - suppressResponse: whether no status response is wanted.
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

  /// Opens the array that reports of this kind go into, unless it is open.
  private mutating func open(_ wanted: Section) -> Bool {
    guard section != wanted else { return true }
    guard section != .events else { return false }
    if section == .attributes { out.writer.end() }
    out.writer.startArray(.context(wanted == .attributes ? 1 : 2))
    return true
  }

  private mutating func settle(_ mark: Int, _ written: Section) -> Bool {
    guard out.settle(mark) else { return false }
    section = written
    return true
  }
}
