public import HomeControl
public import HomeModel
internal import HomeStore
internal import MatterModel
internal import MatterProtocol
internal import Runtime

/// A route to a home. See the article “The home model”, “Routes”.
public enum HubRoute: Sendable {
  /// The files of the home on this machine: this process owns them and reaches the devices by itself, or is connected with
  /// the process of this user that does. Used by `Home(options)`.
  case peer(HomeController.Options)
  /// A hub on the local network.
  case local(HubAddress)
  /// A hub on the internet. A manufacturer's cloud is not a route: it is a source of some devices of the process that
  /// follows them, and its data is `remote` on any route.
  case remote(HubAddress)

  /// The address or the state directory, for messages.
  var place: String {
    switch self {
    case .peer(let options): options.state.root
    case .local(let address), .remote(let address): "\(address)"
    }
  }

  /// Whether the route uses the network of this host.
  var isOnNetwork: Bool {
    switch self {
    case .peer, .local(.socket), .remote(.socket): false
    case .local, .remote: true
    }
  }

  /// The locality of data through this route.
  public var locality: DataSourceLocality {
    switch self {
    // A client on the same state directory has the same data as the owner.
    case .peer: .peer
    case .local: .local
    case .remote: .remote
    }
  }
}

/// A whole home as received from a route.
struct ReceivedHome: Sendable {
  var state = HomeState()
  var contacts: [NodeID: Contact] = [:]
  var debouncer = DebouncerState()
  /// The process that follows the devices.
  var hub = HubState.connected
}

/// An event of a route for its client.
enum RouteEvent: Sendable {
  /// The current home.
  case loaded(ReceivedHome)
  /// The current home. The changes since the last event of this route are unknown.
  case reloaded(ReceivedHome)
  /// The connection was restored; the missed updates follow.
  case resumed
  case update(HomeUpdate, [NodeID: Contact])
  case contacts([NodeID: Contact])
  case debouncer(DebouncerState)
  /// Another process follows the devices.
  case hub(HubState)
  /// The time for which the other end has not answered; zero: it answers again.
  case silent(Duration)
  /// The hub accepts the client, with this role.
  case accepted(HomeRole)
  /// The hub does not accept the client; `down` follows.
  case refused(HomeError)
  case down(HomeError)
}

/// A connection over one route, which is established again after each failure. An actor on the event loop of its client.
protocol RouteLink: LoopActor {
  func start()
  func stop()
  /// Disconnects when the outstanding requests are answered.
  func retire()
  /// Disconnects finally, and returns when all resources are released.
  func end() async
  /// Reports the whole home again, because the client uses the state of another route. A connection is established again for
  /// this when the outstanding requests are answered.
  func reload()
  /// The addresses of this host changed.
  func addressesChanged(removed: Set<IPAddress>)
  /// - Parameters:
  ///   - limit: the time to wait for the reply.
  ///   - progress: receives the values that precede the reply.
  func send(
    _ request: HomeRequest, origin: String?, within limit: Duration, progress: @escaping HomeProgress.Handler
  ) async -> Result<HomeReply, HomeError>
}

extension RouteLink {
  func retire() { stop() }
  func addressesChanged(removed: Set<IPAddress>) {}
  func end() { stop() }
}

// For the client, which is on the event loop, so that the calls are synchronous.
extension RouteLink {
  nonisolated func startNow() { assumeIsolated { $0.start() } }
  nonisolated func stopNow() { assumeIsolated { $0.stop() } }
  nonisolated func retireNow() { assumeIsolated { $0.retire() } }
  nonisolated func addressesChangedNow(removed: Set<IPAddress>) {
    assumeIsolated { $0.addressesChanged(removed: removed) }
  }
  nonisolated func reloadNow() { assumeIsolated { $0.reload() } }
}

/// Receives the events of a route in order, on the event loop of the client.
typealias RouteListener = @Sendable (RouteEvent) -> Void
