public import MatterTLV

/// A report of attributes and events, or of their error statuses. Matter Core § 10.7.3.
public struct ReportData: InteractionMessage {
  public static let opcode = InteractionOpcode.reportData
  /// The subscription that the report belongs to; nil for the report of a read.
  public var subscriptionID: UInt32?
  public var attributeReports: [AttributeReport]
  public var eventReports: [EventReport]
  /// Whether another message continues this report after the receiver answers this one.
  public var moreChunkedMessages: Bool
  /// Whether to suppress the status response.
  public var suppressResponse: Bool

  package init(
    subscriptionID: UInt32? = nil, attributeReports: [AttributeReport] = [], eventReports: [EventReport] = [],
    moreChunkedMessages: Bool = false, suppressResponse: Bool = false
  ) {
    self.subscriptionID = subscriptionID
    self.attributeReports = attributeReports
    self.eventReports = eventReports
    self.moreChunkedMessages = moreChunkedMessages
    self.suppressResponse = suppressResponse
  }

  public init(contents reader: inout TLVReader, _ bytes: RawSpan) throws(TLVError) {
    self.init()
    var members = MemberCursor()
    while let number = try members.next(&reader, bytes) {
      switch number {
      case 0: subscriptionID = try reader.unsigned(as: UInt32.self)
      case 1:
        try reader.open(.array, bytes)
        while try reader.next(bytes) { attributeReports.append(try reader.attributeReport(bytes)) }
        try reader.leave(bytes)
      case 2:
        try reader.open(.array, bytes)
        while try reader.next(bytes) { eventReports.append(try reader.eventReport(bytes)) }
        try reader.leave(bytes)
      case 3: moreChunkedMessages = try reader.boolean()
      case 4: suppressResponse = try reader.boolean()
      default: break
      }
    }
  }

  public func encodeContents(to writer: inout TLVWriter) {
    if let subscriptionID { writer.write(UInt64(subscriptionID), .context(0)) }
    if !attributeReports.isEmpty {
      writer.startArray(.context(1))
      for report in attributeReports { writer.write(report) }
      writer.end()
    }
    if !eventReports.isEmpty {
      writer.startArray(.context(2))
      for report in eventReports { writer.write(report) }
      writer.end()
    }
    if moreChunkedMessages { writer.write(true, .context(3)) }
    if suppressResponse { writer.write(true, .context(4)) }
  }
}
