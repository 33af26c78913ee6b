internal import HomeModel
internal import MatterController

/// An error result: the code and a text for users. `docs/home-assistant.md` lists the codes that do not occur.
struct MatterServerError: Error, Hashable {
  enum Code: Int {
    case unknown = 0
    case nodeCommissionFailed = 1
    case nodeInterviewFailed = 2
    case nodeNotReady = 3
    case nodeNotResolving = 4
    case nodeNotExists = 5
    case sdkStackError = 7
    case invalidArguments = 8
    case invalidCommand = 9
    case updateCheckError = 10
    case updateError = 11
    case otaUploadError = 101
  }

  var code: Code
  var details: String

  init(_ code: Code, _ details: String) { (self.code, self.details) = (code, details) }

  /// The error of a request to a device. A status of the device has no code of its own in the published servers.
  init(_ error: HomeError) {
    if let known = error.cause as? MatterServerError {
      self = known
      return
    }
    let code: Code =
      switch error.cause as? ControllerError {
      case .unknownNode: .nodeNotExists
      case .notFound, .unreachable, .handshake: .nodeNotResolving
      case .connectionLost, .unacknowledged, .timedOut, .noResponse: .nodeNotReady
      case .interaction: .sdkStackError
      default: error.code == .badArguments ? .invalidArguments : .unknown
      }
    self.init(code, error.description)
  }
}
