internal import Foundation
internal import Synchronization

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// Posts to clouds over HTTP. Redirections are not followed, because the token must be sent to the account's own
/// address only.
package struct WebTransport: CloudTransport {
  package init() {}

  package func post(_ body: [UInt8], to address: String, token: String, limit: Int) async throws -> CloudReply {
    if let url = URL(string: address), url.scheme?.lowercased() == "http",
      Self.isSentElsewhere(url.host ?? "", ProcessInfo.processInfo.environment)
    {
      throw CloudTransportError.unreachable("a proxy is set in the environment, which would get the token")
    }
    return try await Self.post(body, to: address, token: token, limit: limit)
  }

  /// Posts JSON without following redirections.
  /// - Parameter limit: the maximum size of the answer in bytes.
  /// - Throws: `CloudTransportError`.
  package static func post(
    _ body: [UInt8], to address: String, token: String? = nil, limit: Int
  ) async throws -> CloudReply {
    guard let url = URL(string: address) else {
      throw CloudTransportError.unreachable("“\(address)” is not an address")
    }
    var request = URLRequest(url: url)
    request.httpMethod = "POST"
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
    request.httpBody = Data(body)
    let exchange = WebExchange(limit: limit)
    let session = URLSession(configuration: .ephemeral, delegate: exchange, delegateQueue: nil)
    defer { session.invalidateAndCancel() }
    let task = session.dataTask(with: request)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        exchange.begin(continuation)
        task.resume()
      }
    } onCancel: {
      task.cancel()
    }
  }
}

extension WebTransport {
  /// Whether an unencrypted request would go to a proxy: the environment may name one for all hosts including the local
  /// one, and a session can't override it.
  static func isSentElsewhere(_ host: String, _ environment: [String: String]) -> Bool {
    guard ["http_proxy", "all_proxy", "ALL_PROXY"].contains(where: { environment[$0]?.isEmpty == false }) else {
      return false
    }
    let exempt = (environment["no_proxy"] ?? environment["NO_PROXY"] ?? "").split { $0 == "," || $0 == " " }
    return !exempt.contains { $0 == "*" || $0 == host }
  }
}

/// A request and its incomplete answer.
private final class WebExchange: NSObject, URLSessionDataDelegate, Sendable {
  private struct State {
    var continuation: CheckedContinuation<CloudReply, any Error>?
    var body: [UInt8] = []
    var isTooLarge = false
  }

  private let limit: Int
  private let state = Mutex(State())

  init(limit: Int) { self.limit = limit }

  func begin(_ continuation: CheckedContinuation<CloudReply, any Error>) {
    state.withLock { $0.continuation = continuation }
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    let isTooLarge = state.withLock { state in
      state.isTooLarge = state.isTooLarge || state.body.count + data.count > limit
      if state.isTooLarge { state.body = [] } else { state.body += data }
      return state.isTooLarge
    }
    if isTooLarge { dataTask.cancel() }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    completionHandler(nil)
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    let (continuation, body, isTooLarge) = state.withLock { state in
      (state.continuation.take(), state.body, state.isTooLarge)
    }
    if isTooLarge {
      continuation?.resume(throwing: CloudTransportError.tooLarge)
    } else if let response = task.response as? HTTPURLResponse, error == nil {
      continuation?.resume(
        returning: CloudReply(
          status: response.statusCode, body: body, retryAfter: response.value(forHTTPHeaderField: "Retry-After")))
    } else {
      let reason = error?.localizedDescription ?? "it gave no status"
      continuation?.resume(throwing: CloudTransportError.unreachable(reason))
    }
  }
}
