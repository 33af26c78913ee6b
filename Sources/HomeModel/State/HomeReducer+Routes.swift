/// An input of a client that uses the home through routes, to a hub or a controller. See the article “The home
/// model”, “Routes”.
package enum RouteInput: Sendable {
  /// The whole home, through a route with this locality; changes are derived from the difference.
  case home(HomeState, DebouncerState, by: DataSourceLocality)
  case update(HomeUpdate, by: DataSourceLocality)
  /// The state of the connectivity debouncer.
  case debouncer(DebouncerState, by: DataSourceLocality)
  /// The last used route works again; missed updates follow.
  case resumed
  /// No route works.
  case lost
}

/// The state of the connectivity debouncer, for clients that must agree with it.
package struct DebouncerState: Hashable, Sendable, Codable {
  /// The time for which a device must be unreachable before its settled connectivity changes.
  package var grace: Duration
  /// The devices whose settled connectivity differs from the current one.
  package var trials: [String: DebounceTrial]
  /// The time of the state by the clock of its process, in microseconds since 1970.
  package var time: Int64

  package init(grace: Duration = .zero, trials: [String: DebounceTrial] = [:], time: Int64 = 0) {
    (self.grace, self.trials, self.time) = (grace, trials, time)
  }
}

// For a client that uses routes, this is also the only writer of connectivity and locality.
extension HomeReducer {
  /// Whether no route leads to the home and its devices are marked as offline for this reason.
  package var isCutOff: Bool { beforeLoss != nil }

  /// The state of the connectivity debouncer for the connectivity that users see.
  /// - Parameter time: now, in microseconds since 1970.
  package func debouncerState(at time: Int64) -> DebouncerState {
    DebouncerState(
      grace: debouncer.grace,
      trials: debouncer.trials.filter { settledConnectivity(of: $0.key) == $0.value.settled }, time: time)
  }

  /// Replaces the state with a complete home, if the changes since are unknown.
  /// - Parameter time: now, in microseconds since 1970.
  package mutating func reload(
    _ home: HomeState, contacts: [NodeID: Contact], _ debouncer: DebouncerState, by locality: DataSourceLocality,
    at time: Int64
  ) {
    // Keeps contacts that are later than the received ones.
    let known = self.contacts.merging(contacts) { ($0.last ?? .min) < ($1.last ?? .min) ? $1 : $0 }
    self = HomeReducer(
      home.seen(by: locality), contacts: known.filter { !home.sources(of: $0.key).isEmpty }, at: time)
    _ = settle(as: debouncer, by: locality, at: time)
  }

  package mutating func handle(_ input: RouteInput, at time: Int64, _ update: inout HomeUpdate) {
    switch input {
    case .home(let home, let debouncer, let locality):
      beforeLoss = nil
      for change in state.changes(to: home.seen(by: locality)) { make(change, &update) }
      settle(&update, at: time)
      update.settled.formUnion(settle(as: debouncer, by: locality, at: time))
    case .update(let received, let locality):
      update = HomeUpdate([], at: received.time, origin: received.origin)
      for change in received.changes { make(change.seen(by: locality), &update) }
      // Uses the local clock: the clocks of two machines may differ.
      settle(&update, at: time)
    case .debouncer(let debouncer, let locality): update.settled = settle(as: debouncer, by: locality, at: time)
    case .resumed:
      for (source, status) in (beforeLoss ?? [:]).sorted(by: { $0.key < $1.key }) {
        make(.connectivity(source, status), &update)
      }
      beforeLoss = nil
      settle(&update, at: time)
    case .lost:
      lose(&update)
      settle(&update, at: time)
    }
  }

  /// Marks the reachable devices as offline; the others keep their offline reasons.
  private mutating func lose(_ update: inout HomeUpdate) {
    guard beforeLoss == nil else { return }
    var before: [SourceID: SourceStatus] = [:]
    for source in state.orderedDevices.flatMap(\.sources) {
      var status = source.status
      guard [.online, .partiallyOnline].contains(status.connectivity.connectivityState) else { continue }
      before[source.id] = status
      (status.connectivity.connectivityState, status.reason) = (.offline, .hubUnreachable)
      make(.connectivity(source.id, status), &update)
    }
    beforeLoss = before
  }

  /// - Returns: the devices whose settled connectivity changed.
  private mutating func settle(
    as other: DebouncerState, by locality: DataSourceLocality, at time: Int64
  ) -> Set<String> {
    guard !isCutOff else {
      // While no route works, only the grace time applies.
      debouncer.grace = other.grace
      return []
    }
    var seen = other
    seen.trials = other.trials.mapValues { DebounceTrial(settled: $0.settled.seen(by: locality), since: $0.since) }
    let known = state.devices.mapValues { connectivity(of: $0) }
    return debouncer.adopt(seen, known, at: time)
  }
}

// MARK: From the other end of a route

extension SourceConnectivity {
  /// The connectivity as seen through a route with this locality.
  package func seen(by locality: DataSourceLocality) -> SourceConnectivity {
    switch (dataSourceLocality, locality) {
    // Data that is remote for the hub is also remote for its clients.
    case (.unspecified, _), (_, .peer), (.remote, .local), (.mixed, .local): self
    default: SourceConnectivity(connectivityState, locality)
    }
  }
}

extension HomeChange {
  package func seen(by locality: DataSourceLocality) -> HomeChange {
    guard case .connectivity(let source, var status) = self else { return self }
    status.connectivity = status.connectivity.seen(by: locality)
    return .connectivity(source, status)
  }
}

extension HomeState {
  package func seen(by locality: DataSourceLocality) -> HomeState {
    var state = self
    for source in devices.values.flatMap(\.sources) {
      let change = HomeChange.connectivity(source.id, source.status)
      let seen = change.seen(by: locality)
      if seen != change { state.apply(seen) }
    }
    return state
  }
}
