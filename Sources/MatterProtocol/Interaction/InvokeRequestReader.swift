public import MatterModel
internal import MatterTLV

/// A command of a request whose fields are not decoded yet.
public struct CommandDataView: Sendable {
  public var path: CommandPath
  /// The reference of the command; nil for a single command.
  public var ref: UInt16?
  /// The range of the fields in the message, an element with its own tag; nil if omitted.
  public var fieldsRange: Range<Int>?
  /// A reader positioned at the fields.
  var position: TLVReader?

  /// Decodes the fields in place. Omitted fields are equivalent to an empty structure.
  /// - Parameter bytes: The message that contains the command.
  func decodeFields<Fields: ModelStruct>(
    as _: Fields.Type = Fields.self, _ bytes: RawSpan
  ) throws(TLVError) -> Fields {
    if var reader = position { return try Fields(from: &reader, bytes) }
    return try Fields(tlv: [0x15, 0x18])
  }

  /// Returns a copy of the fields as a structure with an anonymous tag; nil if omitted.
  func copyFields(_ bytes: RawSpan) throws(TLVError) -> [UInt8]? {
    guard var reader = position else { return nil }
    return try reader.anonymousElement(bytes)
  }
}

/// Iterates over the commands of an invoke request without copying. Matter Core § 10.7.9.
///
///     var request = try InvokeRequestReader(bytes)
///     while let command = try request.nextCommand(bytes) {
///       let fields = try command.decodeFields(as: LevelControl.MoveToLevelRequest.self, bytes)
///     }
public struct InvokeRequestReader: Sendable {
  /// Whether to suppress the response, as for group messages.
  public private(set) var suppressResponse = false
  /// Whether a timed request preceded this one.
  public private(set) var isTimed = false
  /// The number of commands in the message.
  public private(set) var commandCount = 0
  /// The position in the array of commands.
  private var commands = TLVReader()

  /// Validates the whole message, so that no command of a truncated message is executed.
  public init(_ bytes: RawSpan) throws(InteractionError) {
    do throws(TLVError) {
      var reader = TLVReader()
      try reader.openMessage(bytes)
      try self.init(contents: &reader, bytes)
      try reader.closeMessage(bytes)
    } catch {
      throw .malformed(error)
    }
  }

  init(contents reader: inout TLVReader, _ bytes: RawSpan) throws(TLVError) {
    var members = MemberCursor()
    while let number = try members.next(&reader, bytes) {
      switch number {
      case 0: suppressResponse = try reader.boolean()
      case 1: isTimed = try reader.boolean()
      case 2:
        try reader.open(.array, bytes)
        commands = reader
        while try reader.next(bytes) { commandCount += 1 }
        try reader.leave(bytes)
      default: break
      }
    }
    for number: UInt8 in 0...2 { try members.require(number) }
  }

  /// Returns the next command, or nil after the last one.
  /// - Parameter bytes: The message that the reader was created with.
  public mutating func nextCommand(_ bytes: RawSpan) throws(InteractionError) -> CommandDataView? {
    do throws(TLVError) { return try advance(bytes) } catch { throw .malformed(error) }
  }

  mutating func advance(_ bytes: RawSpan) throws(TLVError) -> CommandDataView? {
    guard try commands.next(bytes) else { return nil }
    return try commands.commandData(bytes)
  }
}

extension TLVReader {
  /// Reads a CommandDataIB.
  mutating func commandData(_ bytes: RawSpan) throws(TLVError) -> CommandDataView {
    var view = CommandDataView(path: CommandPath(endpoint: nil, cluster: 0, command: 0))
    var members = MemberCursor()
    try open(.structure, bytes)
    while let number = try members.next(&self, bytes) {
      switch number {
      case 0: view.path = try commandPath(bytes)
      case 1:
        view.position = self
        view.fieldsRange = try elementRange(bytes)
      case 2: view.ref = try unsigned(as: UInt16.self)
      default: break
      }
    }
    try members.require(0)
    try leave(bytes)
    return view
  }
}
