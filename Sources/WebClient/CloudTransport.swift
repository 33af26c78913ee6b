/// Sends requests to manufacturers' clouds. Simulations and tests have their own implementations.
package protocol CloudTransport: Sendable {
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
package struct CloudReply: Hashable, Sendable {
  /// The HTTP status: 200 for success.
  package var status: Int
  /// The body of the answer.
  package var body: [UInt8]
  /// The value of the Retry-After field, if present.
  package var retryAfter: String?

  package init(status: Int, body: [UInt8], retryAfter: String? = nil) {
    (self.status, self.body, self.retryAfter) = (status, body, retryAfter)
  }
}

/// An error of the transport itself.
package enum CloudTransportError: Error, Hashable, Sendable {
  /// The answer exceeds the size limit.
  case tooLarge
  /// The server can't be reached, with a description of the reason.
  case unreachable(String)
}
