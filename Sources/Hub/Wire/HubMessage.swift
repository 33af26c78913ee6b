package import Home
package import MatterModel

/// The version of the wire, told first: a hub of another version says so and hangs up.
package let hubWireVersion: UInt64 = 5

/// What a client sends.
package enum HubMessage: Sendable {
  case hello(HubHello)
  /// - Parameter origin: which of the client's own clients asks, so that that one is not told of what it did.
  case request(UInt64, HubRequest, origin: String?)
}

/// A client's first words.
package struct HubHello: Hashable, Sendable {
  var version: UInt64
  var name: String
  /// Nil: it is known by its connection.
  var token: String?
  /// How far it came before; nil: it knows nothing yet.
  var position: HubPosition?

  package init(
    version: UInt64 = hubWireVersion, name: String, token: String? = nil, position: HubPosition? = nil
  ) {
    (self.version, self.name, self.token, self.position) = (version, name, token, position)
  }
}

/// A place in what a hub told: good for as long as the hub runs.
package struct HubPosition: Hashable, Sendable {
  /// Which hub; drawn when it starts.
  var hub: UInt64
  /// How many updates it had told.
  var count: UInt64

  package init(hub: UInt64, count: UInt64) { (self.hub, self.count) = (hub, count) }
}

/// What a hub sends.
package enum HubNews: Sendable {
  /// The client is let in, as `client`: what begins so are the origins of its own changes.
  /// - Parameter isResumed: whether what it missed follows; else the whole does.
  case welcome(HomeRole, client: String, isResumed: Bool)
  /// It is not, or no longer.
  case refused(HomeError)
  /// Forget the home: the whole of it follows.
  case reset
  /// A part of the whole.
  case part([HomeChange])
  /// When nodes were heard; empty: the hub is there.
  case contacts([NodeID: Contact])
  /// How connectivity settles at the hub: its grace time, and what is on trial now.
  case settling(DebouncerState)
  /// All is told up to here.
  case synchronized(HubPosition)
  case update(HomeUpdate, [NodeID: Contact], HubPosition)
  case reply(UInt64, Result<HubReply, HomeError>)
}
