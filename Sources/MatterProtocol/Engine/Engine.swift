/// A protocol engine: a value that never waits, reads no clock, opens no socket and rolls no dice.
///
/// Whoever drives it passes in what happened and when, and then carries out the effects, in order, until there are none.
/// After every call, and after every command of the engine's own, ask again for effects and for ``nextDeadline``.
public protocol Engine {
  /// What the engine tells whoever drives it.
  associatedtype Event: Sendable

  /// Something came from outside. The input is the engine's own: a datagram can be decrypted in place.
  mutating func handle(_ input: consuming Input, at now: Instant)
  /// Time passed. Harmless when called too early.
  mutating func advance(to now: Instant)
  /// When ``advance(to:)`` is due; nil: not before something else happens.
  var nextDeadline: Instant? { get }
  /// The next thing to do, nil when all is done.
  mutating func nextEffect() -> Effect<Event>?
}

/// What comes into an engine from outside.
public enum Input: Sendable {
  /// A UDP datagram.
  case datagram([UInt8], from: SocketAddress)
  /// DNS-SD found or updated a service that the engine browses for, or heard it announced anew as it was.
  case serviceFound(MatterService)
  /// A service went away.
  case serviceLost(MatterService)
  /// Somebody else on the network has a name of this node, and what needs the name therefore is not announced.
  case serviceConflict(ServiceConflict)
}

/// A name of ours that somebody else on the network turned out to have. RFC 6762 § 9.
public enum ServiceConflict: Hashable, Sendable {
  /// The instance name of this service.
  case instance(MatterService.Kind)
  /// This host name, with `.local`.
  case host(String)
}

/// What an engine wants done outside.
public enum Effect<Event: Sendable>: Sendable {
  /// Make this durable before carrying out the effects that follow it. Nil bytes remove the entry.
  case store([StoreChange])
  /// A datagram, which may get lost.
  case send([UInt8], to: SocketAddress)
  /// Take in what is sent to this multicast address, on Matter's port.
  case join(IPAddress)
  /// Take it in no longer.
  case leave(IPAddress)
  /// Announce, or announce anew, a service of this node.
  case publish(MatterService)
  /// Take a service back, with a goodbye.
  case withdraw(MatterService)
  /// Look for services, and tell the engine of all that come and go, until told to stop.
  case browse(DiscoveryQuery)
  /// Look for them no longer.
  case stopBrowsing(DiscoveryQuery)
  /// Something for whoever drives the engine.
  case emit(Event)
}

/// A change of one entry of an engine's durable state: a flat map of keys to bytes. All changes of one effect are atomic.
public struct StoreChange: Hashable, Sendable {
  /// Path-like, lower case: `fabric/1`, `attribute/1/6/0`.
  public var key: String
  /// Nil: the entry is removed.
  public var value: [UInt8]?
  /// Whether the change must survive a loss of power once it is committed: keys, certificates, fabrics, access control and
  /// reservations of counters, because a counter that is used twice with the same key repeats a nonce (Matter Core § 4.6.1).
  /// Other changes survive a kill of the process, and may be lost with the power.
  public var isDurable: Bool

  public init(_ key: String, _ value: [UInt8]?, isDurable: Bool = false) {
    (self.key, self.value, self.isDurable) = (key, value, isDurable)
  }
}

/// What a store held when an engine starts.
public typealias StoredState = [String: [UInt8]]
