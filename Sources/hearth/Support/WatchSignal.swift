import Home

/// Rings when there is more in a home's log. However often that happens while somebody reads, it rings once afterwards.
struct WatchSignal {
  let query: ObserverQuery
  /// Ends with the error where the query was given up: nobody rings any more.
  let rings: AsyncThrowingStream<Void, any Error>
  private let rope: AsyncThrowingStream<Void, any Error>.Continuation

  init() {
    let (rings, rope) = AsyncThrowingStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    (self.rings, self.rope) = (rings, rope)
    query = ObserverQuery(.all) { _, completion, error in
      if let error { rope.finish(throwing: error) } else { rope.yield() }
      completion()
    }
  }

  /// Rings for something else.
  func ring() { rope.yield() }
}
