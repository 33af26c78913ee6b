public import MatterModel
public import MatterTLV

/// Ends an action with a status, or acknowledges a message so that the action continues. Matter Core § 10.7.1.
public struct StatusResponse: InteractionMessage {
  public static let opcode = InteractionOpcode.statusResponse
  /// The status; `success` continues the action.
  public var status: StatusCode

  public init(_ status: StatusCode) { self.status = status }

  public init(contents reader: inout TLVReader, _ bytes: RawSpan) throws(TLVError) {
    status = .success
    var members = MemberCursor()
    while let number = try members.next(&reader, bytes) {
      if number == 0 { status = StatusCode(try reader.unsigned(as: UInt8.self)) }
    }
    try members.require(0)
  }

  public func encodeContents(to writer: inout TLVWriter) { writer.write(UInt64(status.rawValue), .context(0)) }
}

/// Announces a timed write or invoke. Matter Core § 10.7.8.
public struct TimedRequest: InteractionMessage {
  public static let opcode = InteractionOpcode.timedRequest
  /// The timeout for the request that must follow, in milliseconds.
  package var timeoutMilliseconds: UInt16

  package init(timeoutMilliseconds: UInt16) { self.timeoutMilliseconds = timeoutMilliseconds }

  public init(contents reader: inout TLVReader, _ bytes: RawSpan) throws(TLVError) {
    timeoutMilliseconds = 0
    var members = MemberCursor()
    while let number = try members.next(&reader, bytes) {
      if number == 0 { timeoutMilliseconds = try reader.unsigned(as: UInt16.self) }
    }
    try members.require(0)
  }

  public func encodeContents(to writer: inout TLVWriter) { writer.write(UInt64(timeoutMilliseconds), .context(0)) }
}
