public import MatterModel
internal import MatterTLV

/// What the messages of one report say together: lists that came in pieces are whole again. Matter Core § 8.5.3,
/// § 10.6.4.
public struct ReassembledReport: Sendable {
  public private(set) var subscriptionID: UInt32?
  /// The attributes in the order in which they were first mentioned, each with its whole value.
  public private(set) var attributes: [AttributeData] = []
  /// The paths that were answered with a status, in order of arrival.
  public private(set) var statuses: [AttributeStatus] = []
  /// The events in order of arrival, with their full times.
  public private(set) var events: [EventReport] = []
  /// Whether the last message has come.
  public private(set) var isComplete = false

  private var indices: [ConcreteAttributePath: Int] = [:]
  private var size = 0
  private var hasBegun = false
  private var lastTime: EventTimestamp?
  private let maximumSize: Int

  /// - Parameter maximumSize: how many bytes of values are kept before the report is refused.
  public init(maximumSize: Int = 4 << 20) { self.maximumSize = maximumSize }

  /// A whole report, from what somebody else reassembled.
  package init(_ attributes: [AttributeData], _ statuses: [AttributeStatus]) {
    self.init()
    (self.attributes, self.statuses, isComplete) = (attributes, statuses, true)
    for (index, attribute) in attributes.enumerated() { indices[attribute.path] = index }
  }

  /// The value of one attribute.
  public subscript(_ path: ConcreteAttributePath) -> (dataVersion: UInt32, value: [UInt8])? {
    indices[path].map { (attributes[$0].dataVersion, attributes[$0].value) }
  }

  /// Takes in the next message.
  /// - Throws: `malformed` if an entry is for an attribute that is no list, `tooLarge` beyond the limit,
  ///   `unexpected` after the last message, or if the message belongs to another subscription.
  public mutating func append(_ report: ReportData) throws(InteractionError) {
    guard !isComplete, !hasBegun || report.subscriptionID == subscriptionID else { throw .unexpected(.reportData) }
    hasBegun = true
    subscriptionID = report.subscriptionID
    for attribute in report.attributeReports {
      switch attribute {
      case .data(let data): try take(data)
      case .status(let status):
        try count(32)
        statuses.append(status)
      }
    }
    for event in report.eventReports {
      try count(64)
      guard case .data(var data) = event else {
        events.append(event)
        continue
      }
      try count(data.payload?.count ?? 0)
      data.timestamp = data.timestamp.resolved(after: lastTime)
      lastTime = data.timestamp
      events.append(.data(data))
    }
    isComplete = !report.moreChunkedMessages
  }

  private mutating func count(_ bytes: Int) throws(InteractionError) {
    size += bytes
    guard size <= maximumSize else { throw .tooLarge }
  }

  private mutating func take(_ data: AttributeData) throws(InteractionError) {
    try count(32 + data.value.count)
    guard let index = indices[data.path] else {
      indices[data.path] = attributes.count
      attributes.append(AttributeData(data.path, dataVersion: data.dataVersion, value: [0x16, 0x18]))
      return try change(attributes.count - 1, data)
    }
    try change(index, data)
  }

  private mutating func change(_ index: Int, _ data: AttributeData) throws(InteractionError) {
    attributes[index].dataVersion = data.dataVersion
    if data.operation == .replaceAll {
      attributes[index].value = data.value
      return
    }
    guard attributes[index].value.first == 0x16 else {
      throw .malformed(.unexpectedType(found: .null, expected: "array"))
    }
    if case .item(let position) = data.operation, try replace(Int(position), of: index, with: data.value) { return }
    attributes[index].value.removeLast()
    attributes[index].value.append(contentsOf: data.value)
    attributes[index].value.append(0x18)
  }

  /// Replaces an entry.
  /// - Returns: false if there is none at `position`, so that it is to be appended.
  private mutating func replace(
    _ position: Int, of index: Int, with entry: [UInt8]
  ) throws(InteractionError) -> Bool {
    // The whole list is looked over for each entry that is replaced, so that counts against the limit too: a peer must not
    // get us to walk over a long list time and again.
    try count(attributes[index].value.count)
    do throws(TLVError) {
      var entries = try ListChunks(attributes[index].value)
      for _ in 0..<position where entries.next != nil { entries.advance() }
      guard let range = entries.next else { return false }
      attributes[index].value.replaceSubrange(range, with: entry)
      return true
    } catch {
      throw .malformed(error)
    }
  }
}
