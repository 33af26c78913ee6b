internal import Runtime

/// Calls one delegate, in order and one call at a time, without blocking other delegates.
final class DelegateQueue: Sendable {
  typealias Call = @Sendable () async -> Void

  private let calls: AsyncStream<Call>.Continuation

  init() {
    let (stream, continuation) = AsyncStream.makeStream(of: Call.self)
    calls = continuation
    Tasks.start { for await call in stream { await call() } }
  }

  deinit { calls.finish() }

  func add(_ call: @escaping Call) { calls.yield(call) }
}
