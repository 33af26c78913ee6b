public import Foundation
public import MatterProtocol

/// An error of a home: a code of a closed list, a message with the remedy, and the cause.
public struct HomeError: LocalizedError, Sendable, CustomStringConvertible {
  /// The code for programs; each has its exit code on the command line.
  public enum Code: String, Hashable, Sendable, CaseIterable, Codable {
    /// An internal failure, or one of the machine: a full disk, no free port.
    case internalError
    case badArguments
    /// No such device, room, attribute or command, or no device with a setup code.
    case notFound
    /// A name that matches several targets.
    case ambiguousTarget
    /// The device can't be reached: no address, or it does not answer.
    case unreachable
    case timedOut
    case accessDenied
    /// The device answered with a status that is not success.
    case refused
    case commissioningFailed
    /// The request succeeded for some targets only.
    case partlyFailed
    case expectationFailed
    case badDefinition
    case notRunning
    case interrupted
  }

  public var code: Code
  /// The problem and its remedy, without a full stop.
  public var message: String
  /// A further remedy for users of the command line, such as an option of `hearth`, which adds it to the message.
  public var hint: String?
  /// The name of the affected device.
  public var device: String?
  /// Alternatives that may have been meant.
  public var candidates: [String]
  /// The underlying error, for the log.
  public var cause: (any Error)?
  /// The response command of a device that rejected a request, which may have details such as a free slot or an
  /// existing group. Nil if it answered with a status only, or not at all.
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

  /// Returns an error with the code `notFound`.
  public static func notFound(_ message: String) -> HomeError { HomeError(.notFound, message) }

  /// Returns an error with the code `internalError`.
  public static func `internal`(_ message: String) -> HomeError { HomeError(.internalError, message) }

  /// Returns an error with the code `notFound`, and the known names that are similar to the name.
  package static func unknown(_ message: String, _ name: String, in names: [String], device: String? = nil) -> Self {
    Self(.notFound, message, device: device, candidates: NearestName.suggestions(for: name, in: names))
  }

  public var description: String { device.map { "\($0): \(message)" } ?? message }

  /// The message with the hint.
  package var messageAndHint: String { hint.map { "\(message); \($0)" } ?? message }

  /// The ``description``, which is also the `localizedDescription`.
  public var errorDescription: String? { description }

  /// Returns the same error with the response of the device.
  package func answered(_ answer: CommandData) -> HomeError { modified(self) { $0.answer = answer } }

  /// Returns the fields of the response with which a device rejected a command: `error.response(to:
  /// Groups.addGroup)?.groupID`.
  /// - Returns: nil if this was no response to this command, or it can't be decoded.
  public func response<C: Cluster, Request: ModelStruct, Response: ModelStruct>(
    to command: Command<C, Request, Response>
  ) -> Response? {
    guard let answer, answer.path.cluster == C.id, answer.path.command == command.details.response?.id,
      let fields = answer.fields
    else { return nil }
    return try? Response(tlv: fields)
  }

  /// The status that the device answered with, if that is the cause.
  package var status: Status? { (cause as? StatusError)?.status }

  /// Converts any error.
  public init(_ error: any Error) {
    if let known = error as? HomeError {
      self = known
    } else {
      self.init(.internalError, "\(error)", cause: error)
    }
  }
}

/// Encodes the status of the device, if it is the cause, and no other cause.
extension HomeError: Codable {
  private enum CodingKeys: String, CodingKey { case code, message, hint, device, candidates, status, answer }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      try container.decode(Code.self, forKey: .code), try container.decode(String.self, forKey: .message),
      device: try container.decodeIfPresent(String.self, forKey: .device),
      candidates: try container.decodeIfPresent([String].self, forKey: .candidates) ?? [],
      cause: try container.decodeIfPresent(Status.self, forKey: .status).map { StatusError($0) })
    hint = try container.decodeIfPresent(String.self, forKey: .hint)
    answer = try container.decodeIfPresent(CommandData.self, forKey: .answer)
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(code, forKey: .code)
    try container.encode(message, forKey: .message)
    try container.encodeIfPresent(hint, forKey: .hint)
    try container.encodeIfPresent(device, forKey: .device)
    if !candidates.isEmpty { try container.encode(candidates, forKey: .candidates) }
    try container.encodeIfPresent(status, forKey: .status)
    try container.encodeIfPresent(answer, forKey: .answer)
  }
}
