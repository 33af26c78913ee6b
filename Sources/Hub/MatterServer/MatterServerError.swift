internal import HomeModel

/// An error result: the code and a text for users.
struct MatterServerError: Error, Hashable {
  enum Code: Int {
    case unknown = 0
    case nodeCommissionFailed = 1
    case nodeInterviewFailed = 2
    case nodeNotReady = 3
    case nodeNotResolving = 4
    case nodeNotExists = 5
    case versionMismatch = 6
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

  /// The error of a request to a device.
  init(_ error: HomeError) {
    // An unavailable device and a status of the device have no code of their own in the published server.
    self.init(error.code == .badArguments ? .invalidArguments : .unknown, error.description)
  }
}
