public import Home
internal import MatterModel

/// A way to a home. See the article “The home model”, “Routes”.
public enum HubRoute: Sendable {
  /// A controller of our own, on the home's state: straight to the devices. Which route is the nearest that works is a matter of
  /// the home as a whole: this one works as long as any device can be reached by it, and a device that it alone does not reach is
  /// offline, whatever a further route would say of it.
  case peer(HomeController.Options)
  /// A hub on the local network.
  case local(HubAddress)
  /// A hub that is reached through the internet. The cloud of a maker is no route to a home: it is a way to some of its devices,
  /// for whoever follows these, and what it tells is `remote` whatever route it is seen by.
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
  /// - Parameter limit: how long to wait for the answer.
  func send(_ request: HubRequest, origin: String?, within limit: Duration) async -> Result<HubReply, HomeError>
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
