/// Carries requests to makers' clouds. A simulation and tests have their own.
public protocol CloudTransport: Sendable {
  /// Posts JSON. May be cancelled when nobody waits any more.
  /// - Parameters:
  ///   - body: the JSON.
  ///   - address: where to: the account's own, and never another's.
  ///   - token: what the account is opened by, to be sent as `Bearer`.
  ///   - limit: the most bytes that the answer may have.
  /// - Throws: ``CloudTransportError``, or whatever says why nobody answered.
  func post(_ body: [UInt8], to address: String, token: String, limit: Int) async throws -> CloudReply
}

/// What a cloud answered, whatever it is.
public struct CloudReply: Hashable, Sendable {
  /// Of HTTP: 200 where it worked.
  public var status: Int
  /// The bytes of the answer.
  public var body: [UInt8]
  /// The field Retry-After, where there is one.
  public var retryAfter: String?

  public init(status: Int, body: [UInt8], retryAfter: String? = nil) {
    (self.status, self.body, self.retryAfter) = (status, body, retryAfter)
  }
}

/// What a transport itself has against an answer.
public enum CloudTransportError: Error, Hashable, Sendable {
  /// It has more bytes than it may have.
  case tooLarge
  /// Nobody answers there; why, in words.
  case unreachable(String)
}

/// How a home asks the clouds that it has accounts at.
public struct CloudOptions: Sendable {
  /// What carries the requests.
  public var transport: any CloudTransport = WebTransport()
  /// How often it is asked what devices an account has.
  public var syncInterval: Duration = .seconds(900)
  /// How often it is asked how the devices are.
  public var queryInterval: Duration = .seconds(30)
  /// The time after which a device that the account no longer lists is removed.
  public var removalDelay: Duration = .seconds(86_400)
  /// How soon after a command that is asked, since the device may not be done when the command is.
  public var settlingTime: Duration = .seconds(2)
  /// The longest time between two attempts at a cloud that does not answer. The first comes after ``queryInterval``.
  public var longestRetry: Duration = .seconds(600)
  /// How long an answer may take.
  public var timeout: Duration = .seconds(10)
  /// The most bytes that an answer may have.
  public var largestAnswer = 1 << 20

  public init() {}
}
