package import WebClient

/// Options for requests to clouds.
public struct CloudOptions: Sendable {
  package var transport: any CloudTransport = WebTransport()
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
