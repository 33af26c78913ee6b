internal import NIOCore
internal import WebClient

/// A request in progress. Ends with the answer, the timeout, or the end of the account. Confined to the event loop.
final class CloudExchange {
  typealias Outcome = Result<any Sendable, CloudFailure>

  private var continuation: CheckedContinuation<Outcome, Never>?
  private var task: Task<Void, Never>?
  private var timer: Scheduled<Void>?

  init(_ continuation: CheckedContinuation<Outcome, Never>) { self.continuation = continuation }

  func begin(_ task: Task<Void, Never>, timer: Scheduled<Void>) { (self.task, self.timer) = (task, timer) }

  func end(_ outcome: Outcome) {
    guard let continuation = continuation.take() else { return }
    timer?.cancel()
    task?.cancel()
    continuation.resume(returning: outcome)
  }

  /// Sends the request and decodes the answer, off the event loop.
  /// - Parameter time: returns the time, in microseconds since 1970.
  static func run<Answer: Sendable>(
    _ request: CloudJSON, _ account: StoredCloudAccount, _ settings: CloudOptions, time: @Sendable () -> Int64,
    _ read: @Sendable (CloudJSON) throws(CloudFailure) -> Answer
  ) async -> Result<Answer, CloudFailure> {
    let reply: CloudReply
    do {
      reply = try await settings.transport.post(
        request.bytes, to: account.account.address, token: account.token, limit: settings.largestAnswer)
    } catch CloudTransportError.tooLarge {
      return .failure(.tooLarge)
    } catch CloudTransportError.unreachable(let reason) {
      return .failure(.unreachable(reason))
    } catch {
      return .failure(.unreachable("\(error)"))
    }
    switch reply.status {
    case 200..<300: break
    case 401, 403: return .failure(.refused(reply.status))
    case 429, 503:
      return .failure(
        .status(reply.status, after: reply.retryAfter.flatMap { CloudRetry.duration($0, at: time()) }))
    default: return .failure(.status(reply.status))
    }
    guard reply.body.count <= settings.largestAnswer else { return .failure(.tooLarge) }
    guard let json = try? CloudJSON(reply.body) else { return .failure(.unreadable("it is not JSON")) }
    return Result { () throws(CloudFailure) in try read(json) }
  }
}
