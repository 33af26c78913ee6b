internal import Home
internal import MatterModel

/// The version of the wire, told first: a hub of another version says so and hangs up.
let hubWireVersion: UInt64 = 2

/// What a client sends.
enum HubMessage: Sendable {
  case hello(HubHello)
  /// - Parameter origin: which of the client's own clients asks, so that that one is not told of what it did.
  case request(UInt64, HubRequest, origin: String?)
}

/// A client's first words.
struct HubHello: Hashable, Sendable {
  var version = hubWireVersion
  var name: String
  /// Nil: it is known by its connection.
  var token: String?
  /// How far it came before; nil: it knows nothing yet.
  var position: HubPosition?
}

/// A place in what a hub told: good for as long as the hub runs.
struct HubPosition: Hashable, Sendable {
  /// Which hub; drawn when it starts.
  var hub: UInt64
  /// How many updates it had told.
  var count: UInt64
}

/// What a hub sends.
enum HubNews: Sendable {
  /// The client is let in, as `client`: what begins so are the origins of its own changes.
  case welcome(HomeRole, client: String)
  /// It is not, or no longer.
  case refused(HomeError)
  /// Forget the home: the whole of it follows.
  case reset
  /// A part of the whole.
  case part([HomeChange])
  /// When nodes were heard; empty: the hub is there.
  case contacts([NodeID: Contact])
  /// All is told up to here.
  case synchronized(HubPosition)
  case update(HomeUpdate, [NodeID: Contact], HubPosition)
  case reply(UInt64, Result<HubReply, HomeError>)
}
