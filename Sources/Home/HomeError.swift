public import MatterModel
public import MatterProtocol

/// What went wrong, for whoever uses a home: a code from a small closed list, a message that says what to do, and the cause.
public struct HomeError: Error, Sendable, CustomStringConvertible {
  /// What a program goes by; each has its exit code on the command line.
  public enum Code: String, Hashable, Sendable, CaseIterable {
    /// A fault of ours, or of the machine: a full disk, no free port.
    case internalError
    case badArguments
    /// No such device, room, attribute or command, or nothing that answers to a setup code.
    case notFound
    /// A name that several things answer to.
    case ambiguousTarget
    /// The device can't be reached: no address, or it does not answer.
    case unreachable
    case timedOut
    case accessDenied
    /// The device answered with a status that is not success.
    case refused
    case commissioningFailed
    /// Done for some targets only.
    case partlyFailed
    case expectationFailed
    case badDefinition
    case notRunning
    case interrupted
  }

  public var code: Code
  /// What happened and what to do, a sentence without a full stop.
  public var message: String
  /// The name of the device it is about.
  public var device: String?
  /// What may have been meant instead.
  public var candidates: [String]
  /// What lies beneath, for the log.
  public var cause: (any Error)?
  /// The response command that a device refused with: it may say more than that, which slot is free, which group is there.
  /// Nil where it answered with a status and nothing else, or not at all.
  public var answer: CommandData?

  public init(
    _ code: Code, _ message: String, device: String? = nil, candidates: [String] = [], cause: (any Error)? = nil
  ) {
    self.code = code
    self.message = message
    self.device = device
    self.candidates = candidates
    self.cause = cause
  }

  public var description: String { device.map { "\($0): \(message)" } ?? message }

  /// The same error, about this device.
  public func about(_ device: String) -> HomeError {
    var copy = self
    copy.device = copy.device ?? device
    return copy
  }

  /// The same error, about this device as messages call it.
  public func about(_ device: DeviceRecord) -> HomeError {
    var copy = self
    if copy.device == nil || copy.device == device.name { copy.device = device.label }
    return copy
  }

  /// The same error, with what the device answered.
  func answered(_ answer: CommandData) -> HomeError {
    var copy = self
    copy.answer = answer
    return copy
  }

  /// The fields of the response that a device refused a command with: `error.response(to: Groups.addGroup)?.groupID`.
  /// - Returns: nil where it was no answer to this command, or can't be read.
  public func response<C: Cluster, Request: ModelStruct, Response: ModelStruct>(
    to command: Command<C, Request, Response>
  ) -> Response? {
    guard let answer, answer.path.cluster == C.id, answer.path.command == command.details.response?.id,
      let fields = answer.fields
    else { return nil }
    return try? Response(tlv: fields)
  }

  /// Any error as one of ours.
  public init(_ error: any Error) {
    if let known = error as? HomeError {
      self = known
    } else {
      self.init(.internalError, "\(error)", cause: error)
    }
  }
}
