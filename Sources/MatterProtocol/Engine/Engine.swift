/// A sans-IO protocol engine: a value that never blocks, reads no clock, opens no socket and draws no randomness of its
/// own.
///
/// The driver passes in inputs with the current time, then carries out the effects in order until ``nextEffect()``
/// returns nil. After every call, including the engine's own commands, the driver must drain the effects and read
/// ``nextDeadline`` again.
public protocol Engine {
  /// The events that the engine emits to its driver.
  associatedtype Event: Sendable

  /// Handles an input. The engine owns the input, so that it can decrypt a datagram in place.
  mutating func handle(_ input: consuming Input, at now: Instant)
  /// Runs the timers that are due. An early call has no effect.
  mutating func advance(to now: Instant)
  /// The time at which ``advance(to:)`` is due; nil if no timer is running.
  var nextDeadline: Instant? { get }
  /// Returns the next effect to carry out, or nil if there is none.
  mutating func nextEffect() -> Effect<Event>?
}

/// An input to an engine.
public enum Input: Sendable {
  /// A UDP datagram.
  case datagram([UInt8], from: SocketAddress)
  /// DNS-SD found or updated a service that the engine browses for, or received an unchanged announcement of it again.
  case serviceFound(MatterService)
  /// A service was withdrawn or expired.
  case serviceLost(MatterService)
  /// Another host uses a name of this node, so the records that depend on the name are not announced.
  case serviceConflict(ServiceConflict)
}

/// A name of this node that another host on the network uses. RFC 6762 § 9.
public enum ServiceConflict: Hashable, Sendable {
  /// The instance name of this service.
  case instance(MatterService.Kind)
  /// The host name, including `.local`.
  case host(String)
}

/// An action that the driver carries out for an engine. Large rare ones are indirect, so that the others are small.
public enum Effect<Event: Sendable>: Sendable {
  /// Commit the changes before carrying out the effects that follow. A nil value removes the entry.
  case store([StoreChange])
  /// Send a datagram; delivery is not guaranteed.
  case send([UInt8], to: SocketAddress)
  /// Join a multicast group on the Matter port.
  case join(IPAddress)
  /// Leave a multicast group.
  case leave(IPAddress)
  /// Announce a service of this node, or update its announcement.
  indirect case publish(MatterService)
  /// Withdraw a service with a goodbye.
  indirect case withdraw(MatterService)
  /// Browse for services and pass each one found or lost to the engine, until `stopBrowsing`.
  indirect case browse(DiscoveryQuery)
  /// Stop passing services that match the query to the engine.
  indirect case stopBrowsing(DiscoveryQuery)
  /// Deliver an event to the driver.
  case emit(Event)
}

/// A change of one entry in an engine's stored state, a flat map of keys to bytes. All changes of one effect are
/// atomic.
public struct StoreChange: Hashable, Sendable {
  /// The key, a lower-case path: `fabric/1`, `attribute/1/6/0`.
  public var key: String
  /// The new value; nil removes the entry.
  public var value: [UInt8]?
  /// Whether the change must survive a power loss once it is committed. True for keys, certificates, fabrics, access
  /// control and counter reservations: using a counter twice with the same key repeats a nonce (Matter Core § 4.6.1).
  /// Other changes must survive the end of the process only.
  public var isDurable: Bool

  public init(_ key: String, _ value: [UInt8]?, isDurable: Bool = false) {
    (self.key, self.value, self.isDurable) = (key, value, isDurable)
  }
}

/// The contents of the store when an engine starts.
public typealias StoredState = [String: [UInt8]]
