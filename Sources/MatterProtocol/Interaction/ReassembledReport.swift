public import MatterModel
internal import MatterTLV

/// What the messages of one report say together: lists that came in pieces are whole again. Matter Core § 8.5.3,
/// § 10.6.4.
public struct ReassembledReport: Sendable {
  /// Nil: it answers a read.
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
  /// Entries with an index that their list is too short for as yet, by where the attribute is.
  private var early: [Int: [Int: [UInt8]]] = [:]
  /// Where attributes are that got an entry though they are no lists.
  private var spoiled: Set<Int> = []
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
  ///
  /// An attribute that gets an entry though it is no list, as null is none, is left out in the end, with a status in its place:
  /// what it should be nobody knows, and the others are as good as before.
  /// - Throws: `malformed` if a list is not TLV, `tooLarge` beyond the limit, `unexpected` after the last message, or if the
  ///   message belongs to another subscription.
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
    if isComplete { finish() }
  }

  /// Lists get the entries that there was no place for, in their order, and what was spoiled goes.
  private mutating func finish() {
    for (index, entries) in early.sorted(by: { $0.key < $1.key }) {
      for entry in entries.sorted(by: { $0.key < $1.key }) { add(entry.value, to: index) }
    }
    early = [:]
    guard !spoiled.isEmpty else { return }
    for index in spoiled.sorted() {
      statuses.append(AttributeStatus(AttributePath(attributes[index].path), status: Status(.invalidDataType)))
    }
    attributes = attributes.indices.filter { !spoiled.contains($0) }.map { attributes[$0] }
    indices = [:]
    for (index, attribute) in attributes.enumerated() { indices[attribute.path] = index }
    spoiled = []
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
      early[index] = nil
      spoiled.remove(index)
      return
    }
    guard attributes[index].value.first == 0x16 else {
      spoiled.insert(index)
      return
    }
    guard case .item(let position) = data.operation else { return add(data.value, to: index) }
    let count = try replace(Int(position), of: index, with: data.value)
    guard var next = count else { return }
    guard next == Int(position) else {
      early[index, default: [:]][Int(position)] = data.value
      return
    }
    var entry: [UInt8]? = data.value
    while let value = entry {
      add(value, to: index)
      next += 1
      entry = early[index]?.removeValue(forKey: next)
    }
  }

  private mutating func add(_ entry: [UInt8], to index: Int) {
    attributes[index].value.removeLast()
    attributes[index].value.append(contentsOf: entry)
    attributes[index].value.append(0x18)
  }

  /// Replaces an entry.
  /// - Returns: nil; how many entries there are, if there is none at `position`.
  private mutating func replace(
    _ position: Int, of index: Int, with entry: [UInt8]
  ) throws(InteractionError) -> Int? {
    // The whole list is looked over for each entry that is replaced, so that counts against the limit too: a peer must not
    // get us to walk over a long list time and again.
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
