public import MatterModel
public import MatterTLV

/// A request command or a response command. Matter Core § 10.6.12.
public struct CommandData: Hashable, Sendable, Codable {
  public var path: CommandPath
  /// The encoded fields, a structure with an anonymous tag; nil if omitted.
  public var fields: [UInt8]?
  /// The reference of the command within its request; required for two or more commands.
  public var ref: UInt16?

  public init(_ path: CommandPath, fields: [UInt8]? = [0x15, 0x18], ref: UInt16? = nil) {
    (self.path, self.fields, self.ref) = (path, fields, ref)
  }
}

/// The status of a command that failed, or that has no response command. Matter Core § 10.6.14.
public struct CommandStatus: Hashable, Sendable {
  public var path: CommandPath
  public var status: Status
  /// The reference of the command; nil for a single command.
  public var ref: UInt16?

  public init(_ path: CommandPath, status: Status, ref: UInt16? = nil) {
    (self.path, self.status, self.ref) = (path, status, ref)
  }
}

/// A request to invoke commands. Matter Core § 10.7.9.
public struct InvokeRequest: InteractionMessage {
  public static let opcode = InteractionOpcode.invokeRequest
  /// Whether to suppress the response, as for group messages.
  public var suppressResponse: Bool
  /// Whether a timed request preceded this one.
  public var isTimed: Bool
  /// The commands in the order of execution.
  public var commands: [CommandData]

  public init(_ commands: [CommandData], suppressResponse: Bool = false, isTimed: Bool = false) {
    self.commands = commands
    self.suppressResponse = suppressResponse
    self.isTimed = isTimed
  }

  public init(contents reader: inout TLVReader, _ bytes: RawSpan) throws(TLVError) {
    var request = try InvokeRequestReader(contents: &reader, bytes)
    self.init([], suppressResponse: request.suppressResponse, isTimed: request.isTimed)
    commands.reserveCapacity(request.commandCount)
    while let command = try request.advance(bytes) {
      var fields: [UInt8]?
      if var position = command.position { fields = try position.anonymousElement(bytes) }
      commands.append(CommandData(command.path, fields: fields, ref: command.ref))
    }
  }

  public func encodeContents(to writer: inout TLVWriter) {
    writer.write(suppressResponse, .context(0))
    writer.write(isTimed, .context(1))
    writer.startArray(.context(2))
    for command in commands { writer.write(command, .anonymous) }
    writer.end()
  }
}

/// The response to a command. Matter Core § 10.6.13.
public enum CommandResult: Hashable, Sendable {
  /// A response command with its fields.
  case command(CommandData)
  /// A status without a response command.
  case status(CommandStatus)

  /// The reference of the command; nil for a single command.
  public var ref: UInt16? {
    switch self {
    case .command(let data): data.ref
    case .status(let status): status.ref
    }
  }
}

/// The response to an invoke request. Matter Core § 10.7.10.
public struct InvokeResponse: InteractionMessage {
  public static let opcode = InteractionOpcode.invokeResponse
  /// Whether the receiver must not answer this message.
  public var suppressResponse: Bool
  /// The responses in any order; see ``CommandResult/ref``.
  public var responses: [CommandResult]
  /// Whether another message continues this response after the receiver answers this one.
  public var moreChunkedMessages: Bool

  public init(_ responses: [CommandResult], suppressResponse: Bool = false, moreChunkedMessages: Bool = false) {
    self.responses = responses
    self.suppressResponse = suppressResponse
    self.moreChunkedMessages = moreChunkedMessages
  }

  public init(contents reader: inout TLVReader, _ bytes: RawSpan) throws(TLVError) {
    self.init([])
    var members = MemberCursor()
    while let number = try members.next(&reader, bytes) {
      switch number {
      case 0: suppressResponse = try reader.boolean()
      case 1:
        try reader.open(.array, bytes)
        while try reader.next(bytes) { responses.append(try reader.commandResult(bytes)) }
        try reader.leave(bytes)
      case 2: moreChunkedMessages = try reader.boolean()
      default: break
      }
    }
    try members.require(1)
  }

  public func encodeContents(to writer: inout TLVWriter) {
    writer.write(suppressResponse, .context(0))
    writer.startArray(.context(1))
    for response in responses { writer.write(response) }
    writer.end()
    if moreChunkedMessages { writer.write(true, .context(2)) }
  }
}

extension TLVReader {
  fileprivate mutating func commandResult(_ bytes: RawSpan) throws(TLVError) -> CommandResult {
    var result: CommandResult?
    var members = MemberCursor()
    try open(.structure, bytes)
    while let number = try members.next(&self, bytes) {
      switch number {
      case 0:
        let view = try commandData(bytes)
        var fields: [UInt8]?
        if var position = view.position { fields = try position.anonymousElement(bytes) }
        result = .command(CommandData(view.path, fields: fields, ref: view.ref))
      case 1: result = .status(try commandStatus(bytes))
      default: break
      }
    }
    try leave(bytes)
    guard let result else { throw .missingMember(0) }
    return result
  }

  private mutating func commandStatus(_ bytes: RawSpan) throws(TLVError) -> CommandStatus {
    var result = CommandStatus(CommandPath(endpoint: nil, cluster: 0, command: 0), status: .success)
    var members = MemberCursor()
    try open(.structure, bytes)
    while let number = try members.next(&self, bytes) {
      switch number {
      case 0: result.path = try commandPath(bytes)
      case 1: result.status = try status(bytes)
      case 2: result.ref = try unsigned(as: UInt16.self)
      default: break
      }
    }
    try members.require(0)
    try members.require(1)
    try leave(bytes)
    return result
  }
}

extension TLVWriter {
  mutating func write(_ command: CommandData, _ tag: TLVTag) {
    startStructure(tag)
    write(command.path, .context(0))
    if let fields = command.fields { write(encoded: fields, .context(1)) }
    if let ref = command.ref { write(UInt64(ref), .context(2)) }
    end()
  }

  mutating func write(_ result: CommandResult) {
    startStructure()
    switch result {
    case .command(let data): write(data, .context(0))
    case .status(let status):
      startStructure(.context(1))
      write(status.path, .context(0))
      write(status.status, .context(1))
      if let ref = status.ref { write(UInt64(ref), .context(2)) }
      end()
    }
    end()
  }
}
