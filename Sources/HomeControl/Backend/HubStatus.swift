public import Foundation
public import HomeModel

/// The process that owns a home, its devices and its clients.
public struct HubStatus: Hashable, Sendable, Codable {
  /// A connected client.
  public struct Client: Hashable, Sendable, Codable {
    /// The name of its invitation, or, for processes of the hub's own user, the name that it reported.
    public var name: String
    public var role: HomeRole
    /// `local` or the remote address.
    public var address: String
    /// The ``connectionDate`` in microseconds since 1970.
    package var since: Int64

    /// The time of the connection.
    public var connectionDate: Date { Date(microseconds: since) }

    package init(name: String, role: HomeRole, address: String, since: Int64) {
      (self.name, self.role, self.address, self.since) = (name, role, address, since)
    }
  }

  /// The identity of the home, which is also in the greeting of a hub.
  public var home = ""
  /// The process id of the hub.
  public var process: Int32
  /// Whether the process follows the devices.
  public var isFollowing: Bool
  /// Whether the process serves the home as a hub, and not only while it uses the home itself.
  public var isHub = false
  /// The ``startDate`` in microseconds since 1970.
  package var since: Int64
  /// The number of devices.
  public var devices: Int
  /// The number of reachable devices.
  public var devicesOnline: Int
  /// The addresses where the hub listens.
  public var addresses: [String]
  /// The network interfaces that the process uses; `all`: every one; empty: loopback only.
  public var interfaces: [String] = []
  /// The connected clients, in the order of connection.
  public var clients: [Client]
  /// Counts of messages that the controller dropped since the start, by reason.
  public var drops: [String: Int]
  /// The names of the devices that lack an access entry for invited clients, which reach them through the hub: their access
  /// control list is full, or they have not been reached since the entry was added or changed; nil: unknown.
  public var missingAccess: [String]?
  /// The fingerprint of its certificate; nil if it does not listen on the network.
  public var fingerprint: String?

  /// The time when the hub started.
  public var startDate: Date { Date(microseconds: since) }

  package init(
    process: Int32, isFollowing: Bool, since: Int64, devices: Int, devicesOnline: Int, addresses: [String] = [],
    clients: [Client] = [], drops: [String: Int], fingerprint: String? = nil
  ) {
    (self.process, self.isFollowing, self.since) = (process, isFollowing, since)
    (self.devices, self.devicesOnline) = (devices, devicesOnline)
    (self.addresses, self.clients, self.drops, self.fingerprint) = (addresses, clients, drops, fingerprint)
  }
}
