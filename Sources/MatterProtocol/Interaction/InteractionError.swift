public import MatterModel
public import MatterTLV

/// What goes wrong between two nodes at the level of the Interaction Model.
public enum InteractionError: Error, Hashable, Sendable {
  /// The message is not what its opcode says.
  case malformed(TLVError)
  /// A message came that has no place at this point of the exchange.
  case unexpected(InteractionOpcode)
  /// The other side answered with a status that is not success.
  case status(Status)
  /// One item is too large for any message, or a message that may not be split is too large.
  case tooLarge
}

extension InteractionError {
  /// The status to answer with, when it was a request that failed so. Matter Core § 8.10.1.
  public var answer: StatusCode {
    switch self {
    case .malformed, .unexpected: .invalidAction
    case .status(let status): status.code
    case .tooLarge: .resourceExhausted
    }
  }
}

extension StatusError {
  /// Why an attribute's value could not be taken: of another type, or out of its range.
  public init(attributeValue error: TLVError) {
    switch error {
    case .outOfRange, .tooLong: self.init(.constraintError)
    default: self.init(.invalidDataType)
    }
  }

  /// Why a command's fields could not be taken: a value out of range, or not the command's fields at all.
  public init(commandFields error: TLVError) {
    switch error {
    case .outOfRange, .tooLong: self.init(.constraintError)
    default: self.init(.invalidCommand)
    }
  }
}

extension StatusResponse {
  /// The answer to a request that failed.
  public init(_ error: InteractionError) { self.init(error.answer) }

  /// Throws what the other side reports, unless it is success.
  public func check() throws(InteractionError) {
    guard status == .success else { throw .status(Status(status)) }
  }
}
