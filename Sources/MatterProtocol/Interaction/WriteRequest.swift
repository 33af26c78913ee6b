public import MatterModel
public import MatterTLV

/// A write to an attribute, or to a part of a list. Matter Core § 10.6.4.
public struct AttributeWrite: Hashable, Sendable, Codable {
  /// The path. Cluster and attribute are required; a nil endpoint means all endpoints with the attribute (group
  /// writes).
  public var path: AttributePath
  public var operation: ListOperation
  /// The data version that the cluster must still have; nil writes unconditionally.
  public var dataVersion: UInt32?
  /// The encoded value, one element with an anonymous tag.
  public var value: [UInt8]

  public init(
    _ path: AttributePath, _ operation: ListOperation = .replaceAll, dataVersion: UInt32? = nil, value: [UInt8]
  ) {
    (self.path, self.operation, self.dataVersion, self.value) = (path, operation, dataVersion, value)
  }

  /// Creates a write to a single attribute, or to a part of it.
  public init(
    _ path: ConcreteAttributePath, _ operation: ListOperation = .replaceAll, dataVersion: UInt32? = nil,
    value: [UInt8]
  ) {
    self.init(AttributePath(path), operation, dataVersion: dataVersion, value: value)
  }
}

/// A request to write attributes. Matter Core § 10.7.6.
public struct WriteRequest: InteractionMessage {
  public static let opcode = InteractionOpcode.writeRequest
  /// Whether to suppress the response, as for group messages.
  public var suppressResponse: Bool
  /// Whether a timed request preceded this one.
  public var isTimed: Bool
  public var writes: [AttributeWrite]
  /// Whether another message continues this request after the receiver answers this one.
  public var moreChunkedMessages: Bool

  public init(
    _ writes: [AttributeWrite] = [], suppressResponse: Bool = false, isTimed: Bool = false,
    moreChunkedMessages: Bool = false
  ) {
    self.writes = writes
    self.suppressResponse = suppressResponse
    self.isTimed = isTimed
    self.moreChunkedMessages = moreChunkedMessages
  }

  public init(contents reader: inout TLVReader, _ bytes: RawSpan) throws(TLVError) {
    self.init()
    var members = MemberCursor()
    while let number = try members.next(&reader, bytes) {
      switch number {
      case 0: suppressResponse = try reader.boolean()
      case 1: isTimed = try reader.boolean()
      case 2:
        try reader.open(.array, bytes)
        while try reader.next(bytes) {
          let (path, operation, dataVersion, value) = try reader.attributeData(bytes)
          writes.append(AttributeWrite(path, operation, dataVersion: dataVersion, value: value))
        }
        try reader.leave(bytes)
      case 3: moreChunkedMessages = try reader.boolean()
      default: break
      }
    }
    try members.require(1)
    try members.require(2)
  }

  public func encodeContents(to writer: inout TLVWriter) {
    writer.write(suppressResponse, .context(0))
    writer.write(isTimed, .context(1))
    writer.startArray(.context(2))
    for write in writes {
      writer.startAttributeData(write.path, write.operation, write.dataVersion, .anonymous)
      writer.write(encoded: write.value, .context(2))
      writer.end()
    }
    writer.end()
    writer.write(moreChunkedMessages, .context(3))
  }
}

/// The statuses of the writes of a request. Matter Core § 10.7.7.
public struct WriteResponse: InteractionMessage {
  public static let opcode = InteractionOpcode.writeResponse
  public var statuses: [AttributeStatus]

  public init(_ statuses: [AttributeStatus] = []) { self.statuses = statuses }

  public init(contents reader: inout TLVReader, _ bytes: RawSpan) throws(TLVError) {
    statuses = []
    var members = MemberCursor()
    while let number = try members.next(&reader, bytes) {
      guard number == 0 else { continue }
      try reader.open(.array, bytes)
      while try reader.next(bytes) { statuses.append(try reader.attributeStatus(bytes)) }
      try reader.leave(bytes)
    }
    try members.require(0)
  }

  public func encodeContents(to writer: inout TLVWriter) {
    writer.startArray(.context(0))
    for status in statuses { writer.write(status, .anonymous) }
    writer.end()
  }
}
