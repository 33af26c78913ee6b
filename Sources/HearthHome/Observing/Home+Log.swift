internal import Runtime

// The log of the home, for observers that must not miss a change: samples are read after an anchor, and observer queries
// notify of new ones. See the article “The home model”, “Observer queries”.
extension Home {
  /// Returns the position at the end of the log.
  public func anchor() async throws(HomeError) -> Anchor {
    try await backend.anchor()
  }

  /// Returns the samples after the anchor of a query, including changes that are not written yet, and the next anchor.
  /// - Returns: the samples, or a reset if the log does not reach back to the anchor.
  /// - Throws: ``HomeError`` `badArguments` for an anchor of another home.
  public func results(of query: AnchoredQuery) async throws(HomeError) -> AnchoredResult {
    try await backend.samples(after: query.anchor, query.filter, limit: query.limit)
  }

  /// Returns the devices of a loaded home, such as that of a reset, in the order of their nodes. Their connectivity is
  /// unknown if no process follows them.
  public func devices(of stored: StoredHome) async -> [HomeDevice] { await backend.devices(of: stored) }

  /// Executes a query until it is stopped or the home is closed. Its handler is first called once; with the error
  /// `badArguments` if the query was already executed, or the home is closed or not followed: see ``follow()``.
  public func execute(_ query: ObserverQuery) async { await backend.execute(query) }

  /// Stops a query, whose handler is not called again.
  public func stop(_ query: ObserverQuery) async { await backend.stop(query) }
}

extension ObserverQuery {
  /// Creates a query for samples of a type.
  /// - Parameter predicate: conditions on the samples, whose own type is ignored; nil: none.
  public convenience init(sampleType: SampleType, predicate: SampleFilter?, updateHandler: @escaping Handler) {
    self.init(sampleType, predicate ?? .all, handler: updateHandler)
  }
}

extension AnchoredQuery {
  /// Creates a query for samples of a type after an anchor.
  /// - Parameters:
  ///   - predicate: conditions on the samples, whose own type is ignored; nil: none.
  ///   - anchor: the position to read from; nil: the beginning of the log.
  ///   - limit: the maximum number of samples; ``ObjectQueryNoLimit``, which is 0: all.
  public init(type: SampleType, predicate: SampleFilter?, anchor: Anchor?, limit: Int) {
    self.init(type, predicate ?? .all, after: anchor, limit: limit)
  }
}

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The limit of an ``AnchoredQuery`` for all samples.
public let ObjectQueryNoLimit = 0

extension HomeBackend {
  fileprivate func devices(of stored: StoredHome) -> [HomeDevice] {
    // Connectivity on trial is not settled yet; the process that follows the devices settles it.
    var reducer = HomeReducer(
      stored.state, contacts: stored.contacts, grace: HomeDatabase.longestGrace, trials: stored.trials,
      at: machine.unixMicroseconds())
    reducer.copyVisibility(of: view.reducer)
    return stored.state.orderedDevices.map { value(of: $0, reducer) }
  }
}
