public import MatterModel
public import MatterTLV

/// An error of the Interaction Model.
public enum InteractionError: Error, Hashable, Sendable {
  /// The payload can't be decoded as a message of its opcode.
  case malformed(TLVError)
  /// The message is not allowed at this point of the exchange.
  case unexpected(InteractionOpcode)
  /// The peer answered with an error status.
  case status(Status)
  /// A single item, or a message that must not be split, exceeds the maximum message size.
  case tooLarge
}

extension InteractionError {
  /// The status code that answers a request with this error. Matter Core § 8.10.1.
  public var answer: StatusCode {
    switch self {
    case .malformed, .unexpected: .invalidAction
    case .status(let status): status.code
    case .tooLarge: .resourceExhausted
    }
  }
}

extension StatusError {
  /// Creates the status for an attribute value that can't be decoded: of another type, or out of range.
  public init(attributeValue error: TLVError) {
    switch error {
    case .outOfRange, .tooLong: self.init(.constraintError)
    default: self.init(.invalidDataType)
    }
  }

  /// Creates the status for command fields that can't be decoded: a value out of range, or invalid fields.
  public init(commandFields error: TLVError) {
    switch error {
    case .outOfRange, .tooLong: self.init(.constraintError)
    default: self.init(.invalidCommand)
    }
  }
}

extension StatusResponse {
  /// Creates the response to a failed request.
  init(_ error: InteractionError) { self.init(error.answer) }

  /// Throws the reported status, unless it is success.
  public func check() throws(InteractionError) {
    guard status == .success else { throw .status(Status(status)) }
  }
}
