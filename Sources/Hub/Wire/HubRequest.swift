public import Home
package import MatterModel
package import MatterProtocol

/// What a client asks of a hub.
package enum HubRequest: Hashable, Sendable, Codable {
  case edit([HomeEdit])
  case read(NodeID, [AttributePath], isFabricFiltered: Bool, timeout: Duration?)
  case write(NodeID, [AttributeWrite], isTimed: Bool)
  case invoke(NodeID, CommandData, isTimed: Bool)
  /// As a value of a device asks for it; it knows endpoints as they are by one way to the device.
  case writeDevice(String, by: SourceID?, [AttributeWrite], isTimed: Bool, timeout: Duration?)
  case invokeDevice(String, by: SourceID?, CommandData, isTimed: Bool, timeout: Duration?)
  case anchor
  case samples(after: Anchor?, SampleFilter, limit: Int)
  /// Of the hub itself.
  case status
  /// Clients may have been invited or revoked.
  case lookAgain
}

/// What a hub answers.
package enum HubReply: Sendable, Codable {
  case done
  case edited([HomeEdit.Result])
  case report([AttributeData], [AttributeStatus])
  case written([AttributeStatus])
  case invoked(CommandData?)
  case anchor(Anchor)
  case samples(AnchoredResult)
  case status(HubStatus)
}

/// The process, the devices and the connected clients of a hub.
public struct HubStatus: Hashable, Sendable, Codable {
  /// A connected client.
  public struct Client: Hashable, Sendable, Codable {
    /// The name of its invitation, or, for processes of the hub's own user, the name that it reported.
    public var name: String
    public var role: HomeRole
    /// `local` or the remote address.
    public var address: String
    /// The time of the connection, in microseconds since 1970.
    public var since: Int64

    public init(name: String, role: HomeRole, address: String, since: Int64) {
      (self.name, self.role, self.address, self.since) = (name, role, address, since)
    }
  }

  /// The process id of the hub.
  public var process: Int32
  /// Whether the hub's process follows the devices; else it reads the updates of the process that does.
  public var isFollower: Bool
  /// The start time of the hub, in microseconds since 1970.
  public var since: Int64
  /// The number of devices.
  public var devices: Int
  /// The number of reachable devices.
  public var devicesOnline: Int
  /// The addresses where the hub listens.
  public var addresses: [String]
  /// The connected clients, in the order of connection.
  public var clients: [Client]
  /// Counts of messages that the controller dropped since the start, by reason.
  public var drops: [String: Int]
  /// The fingerprint of its certificate; nil if it does not listen on the network.
  public var fingerprint: String?
}

extension HubRequest {
  /// How many things are asked for in it.
  var count: Int {
    switch self {
    case .edit(let edits): edits.count
    case .read(_, let paths, _, _): paths.count
    case .write(_, let writes, _), .writeDevice(_, _, let writes, _, _): writes.count
    case .samples(_, let filter, _):
      (filter.devices?.count ?? 0) + (filter.endpoints?.count ?? 0) + (filter.clusters?.count ?? 0)
        + (filter.attributes?.count ?? 0)
    case .invoke, .invokeDevice, .anchor, .status, .lookAgain: 1
    }
  }

  /// How long a client waits for the answer: for what a device is asked for, a little longer than the hub waits for the device,
  /// so that the hub can say what was wrong.
  /// - Parameter timeout: of a request, as the client has it.
  func limit(_ timeout: Duration) -> Duration {
    switch self {
    case .read(_, _, _, let own): (own ?? timeout) + Self.rest
    case .write, .invoke: timeout + Self.rest
    case .writeDevice(_, _, _, _, let own), .invokeDevice(_, _, _, _, let own):
      (own ?? .zero) + timeout + Self.rest
    case .edit, .anchor, .samples, .status, .lookAgain: timeout
    }
  }

  private static let rest: Duration = .seconds(5)

  /// Whether a role permits the request. Access to a device follows the privilege of the role in the standard.
  package func isAllowed(to role: HomeRole) -> Bool {
    switch self {
    case .anchor, .samples, .read: true
    case .edit, .status, .lookAgain: role == .owner
    case .write(_, let writes, _), .writeDevice(_, _, let writes, _, _):
      role > .guest && writes.allSatisfy { role.privilege.grants(Self.privilege($0)) }
    case .invoke(_, let command, _), .invokeDevice(_, _, let command, _, _):
      role > .guest && role.privilege.grants(Self.privilege(command))
    }
  }

  private static func privilege(_ write: AttributeWrite) -> Privilege {
    guard let cluster = write.path.cluster, let attribute = write.path.attribute else { return .administer }
    return ElementNames.info(attribute, of: cluster)?.write ?? .administer
  }

  private static func privilege(_ command: CommandData) -> Privilege {
    ElementNames.command(command.path)?.privilege ?? .administer
  }
}
