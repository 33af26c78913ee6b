internal import NIOCore
internal import Runtime

// The home's log, for who must not lose anything: what happened is read from it, and queries ring when there is more.
// See the article “The home model”, “Observer queries”.
extension Home {
  /// The place in the log behind all that happened so far.
  public func anchor() async throws(HomeError) -> Anchor {
    try await backend.anchor()
  }

  /// What happened after an anchor, what is not in the file yet included.
  /// - Parameters:
  ///   - anchor: nil: from the beginning of the log.
  ///   - limit: of samples, at most.
  /// - Returns: a reset where the log does not go back so far.
  /// - Throws: ``HomeError`` `badArguments` for an anchor of another home.
  public func samples(
    after anchor: Anchor?, _ filter: SampleFilter = .all, limit: Int = 10_000
  ) async throws(HomeError) -> AnchoredResult {
    try await backend.samples(after: anchor, filter, limit: limit)
  }

  /// What was added and deleted after the anchor of a query, and the next anchor; as an ``ObserverQuery``'s handler reads it.
  /// - Throws: ``HomeError`` `badArguments` for an anchor of another home.
  public func results(of query: AnchoredQuery) async throws(HomeError) -> AnchoredResult {
    try await backend.samples(after: query.anchor, query.filter, limit: query.limit)
  }

  /// The devices of a home that was loaded, as a reset has it: node by node. Where nobody follows them, nobody knows how they are.
  public func devices(of stored: StoredHome) async -> [HomeDevice] { await backend.devices(of: stored) }

  /// Begins to ring for a query, until it is stopped or the home is closed. Its handler is called once at first.
  /// - Throws: ``HomeError`` `badArguments` where the query was executed already, or nobody follows the home: see
  ///   ``follow()``.
  public func execute(_ query: ObserverQuery) async throws(HomeError) { try await backend.execute(query) }

  /// The query's handler is called no more.
  public func stop(_ query: ObserverQuery) async { await backend.stop(query) }
}

extension HomeBackend {
  fileprivate func devices(of stored: StoredHome) -> [HomeDevice] {
    // What is on trial there had not settled: whoever follows the devices ends that.
    var reducer = HomeReducer(
      stored.state, contacts: stored.contacts, grace: HomeDatabase.longestGrace, trials: stored.trials,
      at: machine.unixMicroseconds())
    reducer.takeVisibility(of: view.reducer)
    return stored.state.orderedDevices.map { value(of: $0, reducer) }
  }
}

extension HomeController {
  package func anchor() async throws(HomeError) -> Anchor { try await withDatabase { try $0.anchor() } }

  package func samples(
    after anchor: Anchor?, _ filter: SampleFilter, limit: Int
  ) async throws(HomeError) -> AnchoredResult {
    try await withDatabase { try $0.samples(after: anchor, filter, limit: limit) }
  }

  package func withDatabase<R: Sendable>(
    _ body: @escaping @Sendable (HomeDatabase) throws -> R
  ) async throws(HomeError) -> R {
    do { return try await edge.value.keeper.perform(body).get() } catch { throw HomeError(error) }
  }

  package func execute(_ query: ObserverQuery) async throws(HomeError) {
    guard let center else {
      throw HomeError(.badArguments, "an observer query needs a home that is followed")
    }
    try await center.execute(query)
  }

  package func stop(_ query: ObserverQuery) async { await center?.stop(query) }
}
