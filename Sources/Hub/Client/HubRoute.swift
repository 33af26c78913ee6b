public import Home
internal import MatterModel

/// A way to a home. HOME.md, “Routes”.
public enum HubRoute: Sendable {
  /// A controller of our own, on the home's state: straight to the devices.
  case peer(HomeController.Options)
  /// A hub on the local network.
  case local(HubAddress)
  /// A hub that is reached through the internet.
  case remote(HubAddress)

  /// Of what comes this way.
  public var locality: DataSourceLocality {
    switch self {
    case .peer: .peer
    case .local: .local
    case .remote: .remote
    }
  }
}

/// What a route tells the client that uses it.
enum RouteNews: Sendable {
  /// The whole home, as it is from now on.
  case loaded(HomeState, [NodeID: Contact])
  /// The same once more: what happened since this route told something last nobody knows any more.
  case reloaded(HomeState, [NodeID: Contact])
  /// It is where it was when it broke: what was missed follows.
  case resumed
  case update(HomeUpdate, [NodeID: Contact])
  case contacts([NodeID: Contact])
  case down(HomeError)
}

/// One way to a home, which tries again and again. An actor on the event loop of its client.
protocol RouteLink: Actor {
  /// Begins to try, from nothing.
  func start()
  /// Gives up.
  func stop()
  /// What this route told is not what the client goes by any more: it wants the whole next time.
  func forget()
  func send(_ request: HubRequest, origin: String?) async -> Result<HubReply, HomeError>
}

// For the client, which is on the loop: what it says is done when it goes on.
extension RouteLink {
  nonisolated func startNow() { assumeIsolated { $0.start() } }
  nonisolated func stopNow() { assumeIsolated { $0.stop() } }
  nonisolated func forgetNow() { assumeIsolated { $0.forget() } }
}

/// Tells the client; on its event loop, in order.
typealias RouteEar = @Sendable (RouteNews) -> Void

extension SourceStatus {
  /// The same, seen from the other end of a route.
  func seen(by locality: DataSourceLocality) -> SourceStatus {
    var status = self
    switch (connectivity.dataSourceLocality, locality) {
    // What the hub itself gets from afar comes from no nearer by way of it.
    case (.unspecified, _), (_, .peer), (.remote, .local), (.mixed, .local): break
    default: status.connectivity.dataSourceLocality = locality
    }
    return status
  }
}

extension HomeChange {
  func seen(by locality: DataSourceLocality) -> HomeChange {
    if case .connectivity(let source, let status) = self {
      .connectivity(source, status.seen(by: locality))
    } else {
      self
    }
  }
}

extension HomeState {
  func seen(by locality: DataSourceLocality) -> HomeState {
    var state = self
    for source in devices.values.flatMap(\.sources) where source.status != source.status.seen(by: locality) {
      state.apply(.connectivity(source.id, source.status.seen(by: locality)))
    }
    return state
  }
}
