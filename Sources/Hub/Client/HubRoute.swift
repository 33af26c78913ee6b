public import HomeControl
public import HomeModel
internal import HomeStore
internal import MatterModel

/// A route to a home. See the article “The home model”, “Routes”.
public enum HubRoute: Sendable {
  /// A controller in this process, on the home's state, that reaches the devices directly. The nearest working route is
  /// selected for the home as a whole: this one works while it reaches any device, and a device that it can't reach is
  /// offline, even if a farther route could reach it.
  case peer(HomeController.Options)
  /// A hub on the local network.
  case local(HubAddress)
  /// A hub on the internet. A manufacturer's cloud is not a route: it is a source of some devices of the process that
  /// follows them, and its data is `remote` on any route.
  case remote(HubAddress)

  /// Where it leads, for messages.
  var place: String {
    switch self {
    case .peer(let options): options.state.root
    case .local(let address), .remote(let address): "\(address)"
    }
  }

  /// The locality of data through this route.
  public var locality: DataSourceLocality {
    switch self {
    case .peer: .peer
    case .local: .local
    case .remote: .remote
    }
  }
}

/// A whole home, as it is told.
struct ToldHome: Sendable {
  var state = HomeState()
  var contacts: [NodeID: Contact] = [:]
  var settling = DebouncerState()
  /// Who follows its devices.
  var hub = HubState.connected
}

/// What a route tells the client that uses it.
enum RouteNews: Sendable {
  /// The whole home, as it is from now on.
  case loaded(ToldHome)
  /// The same once more: what happened since this route told something last nobody knows any more.
  case reloaded(ToldHome)
  /// It is where it was when it broke: what was missed follows.
  case resumed
  case update(HomeUpdate, [NodeID: Contact])
  case contacts([NodeID: Contact])
  case settling(DebouncerState)
  /// Somebody else follows the devices now.
  case hub(HubState)
  case down(HomeError)
}

/// One way to a home, which tries again and again. An actor on the event loop of its client.
protocol RouteLink: Actor {
  /// Begins to try, from nothing.
  func start()
  /// Gives up.
  func stop()
  /// Gives up for good, and returns when nothing is left to be done.
  func end() async
  /// What this route told is not what the client goes by any more: it wants the whole next time.
  func forget()
  /// - Parameters:
  ///   - limit: the time to wait for the reply.
  ///   - progress: receives the values that precede the reply.
  func send(
    _ request: HomeRequest, origin: String?, within limit: Duration, progress: @escaping HomeProgress.Handler
  ) async -> Result<HomeReply, HomeError>
}

extension RouteLink {
  func end() { stop() }
}

// For the client, which is on the loop: what it says is done when it goes on.
extension RouteLink {
  nonisolated func startNow() { assumeIsolated { $0.start() } }
  nonisolated func stopNow() { assumeIsolated { $0.stop() } }
  nonisolated func forgetNow() { assumeIsolated { $0.forget() } }
}

/// Tells the client; on its event loop, in order.
typealias RouteListener = @Sendable (RouteNews) -> Void
