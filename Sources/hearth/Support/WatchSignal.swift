import HearthHome

/// Signals new entries in a home's log. Signals that are raised while the reader is busy are coalesced.
struct WatchSignal {
  let query: ObserverQuery
  /// The signals. Throws the error of the query if it fails.
  let signals: AsyncThrowingStream<Void, any Error>
  private let continuation: AsyncThrowingStream<Void, any Error>.Continuation

  init() {
    let (signals, continuation) = AsyncThrowingStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    (self.signals, self.continuation) = (signals, continuation)
    query = ObserverQuery(.all) { _, completion, error in
      if let error { continuation.finish(throwing: error) } else { continuation.yield() }
      completion()
    }
  }

  /// Raises a signal for a change that is not in the log.
  func raise() { continuation.yield() }
}
