package import HomeControl
package import HomeModel

/// The version of the commands and events with the prefix `hearth_`. A hub rejects clients of another version.
package let hubVersion = 9

/// A message of a client: a command with the prefix `hearth_`.
package enum HubMessage: Sendable {
  /// Requests the home and its changes.
  case start(HubStart)
  /// - Parameters:
  ///   - origin: the caller within the client, which is not notified of its own changes.
  ///   - options: the options of the client.
  case request(id: String, HomeRequest, origin: String?, options: RequestOptions = RequestOptions())
  /// Cancels a request, to which the hub still replies.
  case cancel(id: String)
}

/// The arguments of `hearth_start`.
package struct HubStart: Hashable, Sendable, Codable {
  var version: Int
  var name: String
  /// The last update that the client received; nil: none.
  var position: HubPosition?

  package init(version: Int = hubVersion, name: String, position: HubPosition? = nil) {
    (self.version, self.name, self.position) = (version, name, position)
  }
}

/// A position in the updates of a hub; valid until the hub ends.
package struct HubPosition: Hashable, Sendable, Codable {
  /// The id of the hub, drawn at its start.
  var hub: UInt64
  /// The number of updates before the position.
  var count: UInt64

  package init(hub: UInt64, count: UInt64) { (self.hub, self.count) = (hub, count) }
}

/// The data of the event `hearth_welcome`, the first one after `hearth_start`.
package struct HubWelcome: Hashable, Sendable, Codable {
  var role: HomeRole
  var home: String
  /// The prefix of the origins of the client's own changes.
  var client: String
  /// Whether only the missed updates follow, not the whole home.
  var isResumed: Bool

  package init(_ role: HomeRole, home: String, client: String, isResumed: Bool) {
    (self.role, self.home, self.client, self.isResumed) = (role, home, client, isResumed)
  }
}

/// The data of the event `hearth_update`.
package struct HubUpdate: Equatable, Sendable, Codable {
  var update: HomeUpdate
  /// The times of contact of the nodes of the update.
  var contacts: [NodeID: Contact]
  /// The position after the update.
  var position: HubPosition

  package init(_ update: HomeUpdate, _ contacts: [NodeID: Contact], _ position: HubPosition) {
    (self.update, self.contacts, self.position) = (update, contacts, position)
  }
}

/// The data of the event `hearth_progress`.
package struct HubProgress: Sendable, Codable {
  var id: String
  var progress: HomeProgress
}

/// A message of a hub to a client that has sent `hearth_start`.
package enum HubNews: Sendable {
  case welcome(HubWelcome)
  /// The connection ends, because the client was rejected or its invitation was revoked.
  case refused(HomeError)
  /// The whole home follows in parts, and replaces the home that the client knows.
  case reset
  /// A part of the whole home.
  case part([HomeChange])
  /// The changed times of contact.
  case contacts([NodeID: Contact])
  /// The grace time and the pending changes of connectivity.
  case debouncer(DebouncerState)
  /// The client is up to date.
  case synchronized(HubPosition)
  case update(HubUpdate)
  /// A value of a request before its reply.
  case progress(HubProgress)
  case reply(id: String, Result<HomeReply, HomeError>)
  /// A message of the standard API, such as the server info.
  case other
}
