public import MatterModel
internal import MatterTLV

/// A report reassembled from its messages, with chunked lists merged. Matter Core § 8.5.3, § 10.6.4.
public struct ReassembledReport: Sendable {
  /// The subscription; nil for the report of a read.
  package private(set) var subscriptionID: UInt32?
  /// The attributes with their complete values, in the order of their first occurrence.
  public private(set) var attributes: [AttributeData] = []
  /// The paths that were answered with a status, in order of arrival.
  public private(set) var statuses: [AttributeStatus] = []
  /// The events in order of arrival, with delta timestamps resolved.
  public private(set) var events: [EventReport] = []
  /// Whether the last message was appended.
  public private(set) var isComplete = false

  private var indices: [ConcreteAttributePath: Int] = [:]
  /// Entries whose index is beyond the end of their list so far, by attribute position and entry index.
  private var pendingEntries: [Int: [Int: [UInt8]]] = [:]
  /// The positions of attributes that received a list entry although their value is not a list.
  private var invalid: Set<Int> = []
  private var size = 0
  private var hasStarted = false
  private var lastTime: EventTimestamp?
  private let maximumSize: Int

  /// Creates an empty report.
  /// - Parameter maximumSize: The maximum size of all values in bytes.
  public init(maximumSize: Int = 4 << 20) { self.maximumSize = maximumSize }

  /// Creates a complete report from reassembled attributes.
  package init(_ attributes: [AttributeData], _ statuses: [AttributeStatus]) {
    self.init()
    (self.attributes, self.statuses, isComplete) = (attributes, statuses, true)
    for (index, attribute) in attributes.enumerated() { indices[attribute.path] = index }
  }

  /// The data version and value of an attribute; nil if the report has none.
  public subscript(_ path: ConcreteAttributePath) -> (dataVersion: UInt32, value: [UInt8])? {
    indices[path].map { (attributes[$0].dataVersion, attributes[$0].value) }
  }

  /// Appends the next message.
  ///
  /// An attribute that receives a list entry although its value is not a list (null is not one either) is replaced with
  /// a status when the report is complete: its value is undefined, but the other attributes remain valid.
  /// - Throws: `malformed` if a list is not TLV, `tooLarge` beyond the limit, `unexpected` after the last message, or
  ///   if the message belongs to another subscription.
  public mutating func append(_ report: ReportData) throws(InteractionError) {
    guard !isComplete, !hasStarted || report.subscriptionID == subscriptionID else { throw .unexpected(.reportData) }
    hasStarted = true
    subscriptionID = report.subscriptionID
    for attribute in report.attributeReports {
      switch attribute {
      case .data(let data): try apply(data)
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
    if isComplete { finish() }
  }

  /// Appends the pending entries to their lists in the order of their indices, and removes invalid attributes.
  private mutating func finish() {
    for (index, entries) in pendingEntries.sorted(by: { $0.key < $1.key }) {
      for entry in entries.sorted(by: { $0.key < $1.key }) { add(entry.value, to: index) }
    }
    pendingEntries = [:]
    guard !invalid.isEmpty else { return }
    for index in invalid.sorted() {
      statuses.append(AttributeStatus(AttributePath(attributes[index].path), status: Status(.invalidDataType)))
    }
    attributes = attributes.indices.filter { !invalid.contains($0) }.map { attributes[$0] }
    indices = [:]
    for (index, attribute) in attributes.enumerated() { indices[attribute.path] = index }
    invalid = []
  }

  private mutating func count(_ bytes: Int) throws(InteractionError) {
    size += bytes
    guard size <= maximumSize else { throw .tooLarge }
  }

  private mutating func apply(_ data: AttributeData) throws(InteractionError) {
    try count(32 + data.value.count)
    guard let index = indices[data.path] else {
      indices[data.path] = attributes.count
      attributes.append(AttributeData(data.path, dataVersion: data.dataVersion, value: [0x16, 0x18]))
      return try update(attributes.count - 1, data)
    }
    try update(index, data)
  }

  private mutating func update(_ index: Int, _ data: AttributeData) throws(InteractionError) {
    attributes[index].dataVersion = data.dataVersion
    if data.operation == .replaceAll {
      attributes[index].value = data.value
      pendingEntries[index] = nil
      invalid.remove(index)
      return
    }
    guard attributes[index].value.first == 0x16 else {
      invalid.insert(index)
      return
    }
    guard case .item(let position) = data.operation else { return add(data.value, to: index) }
    let count = try replace(Int(position), of: index, with: data.value)
    guard var next = count else { return }
    guard next == Int(position) else {
      pendingEntries[index, default: [:]][Int(position)] = data.value
      return
    }
    var entry: [UInt8]? = data.value
    while let value = entry {
      add(value, to: index)
      next += 1
      entry = pendingEntries[index]?.removeValue(forKey: next)
    }
  }

  private mutating func add(_ entry: [UInt8], to index: Int) {
    attributes[index].value.removeLast()
    attributes[index].value.append(contentsOf: entry)
    attributes[index].value.append(0x18)
  }

  /// Replaces an entry.
  /// - Returns: nil if the entry was replaced; the number of entries if there is none at `position`.
  private mutating func replace(
    _ position: Int, of index: Int, with entry: [UInt8]
  ) throws(InteractionError) -> Int? {
    // Each replacement scans the whole list, so the scan counts against the limit: otherwise a peer could cause
    // quadratic work with a long list.
    try count(attributes[index].value.count)
    do throws(TLVError) {
      var entries = try ListChunks(attributes[index].value)
      var passed = 0
      while passed < position, entries.next != nil {
        entries.advance()
        passed += 1
      }
      guard let range = entries.next else { return passed }
      attributes[index].value.replaceSubrange(range, with: entry)
      return nil
    } catch {
      throw .malformed(error)
    }
  }
}
