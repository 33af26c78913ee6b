public import MatterModel
public import MatterTLV

/// One command of a request, still encoded in the message.
public struct CommandDataView: Sendable {
  public var path: CommandPath
  /// Which of several commands it is; nil where there is one.
  public var ref: UInt16?
  /// Where the fields lie in the message, as an element with its own tag; nil if they were left out.
  public var fieldsRange: Range<Int>?
  /// A reader that is at the fields.
  var position: TLVReader?

  /// Decodes the fields in place. Fields that were left out are as good as empty ones.
  /// - Parameter bytes: the message that the view comes from.
  public func decodeFields<Fields: ModelStruct>(
    as _: Fields.Type = Fields.self, _ bytes: RawSpan
  ) throws(TLVError) -> Fields {
    if var reader = position { return try Fields(from: &reader, bytes) }
    return try Fields(tlv: [0x15, 0x18])
  }

  /// A copy of the fields as a structure with an anonymous tag; nil if they were left out.
  public func copyFields(_ bytes: RawSpan) throws(TLVError) -> [UInt8]? {
    guard var reader = position else { return nil }
    return try reader.anonymousElement(bytes)
  }
}

/// Walks over an invoke request without copying anything out of it. Matter Core § 10.7.9.
///
///     var request = try InvokeRequestReader(bytes)
///     while let command = try request.nextCommand(bytes) {
///       let fields = try command.decodeFields(as: LevelControl.MoveToLevelRequest.self, bytes)
///     }
public struct InvokeRequestReader: Sendable {
  /// Whether nobody wants an answer: to a group.
  public private(set) var suppressResponse = false
  /// Whether a timed request went before.
  public private(set) var isTimed = false
  /// How many commands there are, those that were read included.
  public private(set) var commandCount = 0
  /// Inside the array of commands.
  private var commands = TLVReader()

  /// Looks the whole message over, so that no command is carried out of one that is cut short.
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

  /// The next command.
  /// - Parameter bytes: the same that the reader was made with.
  /// - Returns: nil after the last.
  public mutating func nextCommand(_ bytes: RawSpan) throws(InteractionError) -> CommandDataView? {
    do throws(TLVError) { return try advance(bytes) } catch { throw .malformed(error) }
  }

  mutating func advance(_ bytes: RawSpan) throws(TLVError) -> CommandDataView? {
    guard try commands.next(bytes) else { return nil }
    return try commands.commandData(bytes)
  }
}

extension TLVReader {
  /// A CommandDataIB.
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
