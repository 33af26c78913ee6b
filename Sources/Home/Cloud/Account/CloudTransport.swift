/// Sends requests to manufacturers' clouds. Simulations and tests have their own implementations.
public protocol CloudTransport: Sendable {
  /// Posts JSON. The task is canceled if the answer is no longer needed.
  /// - Parameters:
  ///   - body: the JSON.
  ///   - address: the URL of the account; the request must not be sent to any other.
  ///   - token: the access token of the account, to be sent as `Bearer`.
  ///   - limit: the maximum size of the answer in bytes.
  /// - Throws: ``CloudTransportError``, or another error that describes why there is no answer.
  func post(_ body: [UInt8], to address: String, token: String, limit: Int) async throws -> CloudReply
}

/// The answer of a cloud, with any status.
public struct CloudReply: Hashable, Sendable {
  /// The HTTP status: 200 for success.
  public var status: Int
  /// The body of the answer.
  public var body: [UInt8]
  /// The value of the Retry-After field, if present.
  public var retryAfter: String?

  public init(status: Int, body: [UInt8], retryAfter: String? = nil) {
    (self.status, self.body, self.retryAfter) = (status, body, retryAfter)
  }
}

/// An error of the transport itself.
public enum CloudTransportError: Error, Hashable, Sendable {
  /// The answer exceeds the size limit.
  case tooLarge
  /// The server can't be reached, with a description of the reason.
  case unreachable(String)
}

/// Options for requests to clouds.
public struct CloudOptions: Sendable {
  /// The transport of the requests.
  public var transport: any CloudTransport = WebTransport()
  /// The interval between requests for the list of an account's devices.
  public var syncInterval: Duration = .seconds(900)
  /// The interval between requests for the states of the devices.
  public var queryInterval: Duration = .seconds(30)
  /// The time after which a device that the account no longer lists is removed.
  public var removalDelay: Duration = .seconds(86_400)
  /// The delay of the state request after a command, because the device may complete the command later than the cloud.
  public var settlingTime: Duration = .seconds(2)
  /// The maximum interval between retries of a cloud that does not answer. The first retry follows after
  /// ``queryInterval``.
  public var longestRetry: Duration = .seconds(600)
  /// The timeout of a request.
  public var timeout: Duration = .seconds(10)
  /// The maximum size of an answer in bytes.
  public var largestAnswer = 1 << 20

  public init() {}
}
