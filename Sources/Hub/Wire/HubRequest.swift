public import Home
package import MatterModel
package import MatterProtocol

/// What a client asks of a hub.
package enum HubRequest: Hashable, Sendable {
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
package enum HubReply: Sendable {
  case done
  case edited([HomeEdit.Result])
  case report([AttributeData], [AttributeStatus])
  case written([AttributeStatus])
  case invoked(CommandData?)
  case anchor(Anchor)
  case samples(AnchoredResult)
  case status(HubStatus)
}

/// How a hub is doing.
public struct HubStatus: Hashable, Sendable {
  /// A client that is connected.
  public struct Client: Hashable, Sendable {
    /// As it was invited, or what it calls itself where it is of the hub's own user.
    public var name: String
    public var role: HomeRole
    /// Where it comes from: `local` or an address.
    public var address: String
    /// Since when, in microseconds since 1970.
    public var since: Int64

    public init(name: String, role: HomeRole, address: String, since: Int64) {
      (self.name, self.role, self.address, self.since) = (name, role, address, since)
    }
  }

  /// The hub's process.
  public var process: Int32
  /// Whether it is the one that follows the devices; else it reads what that one writes down.
  public var isFollower: Bool
  /// Since when it runs, in microseconds since 1970.
  public var since: Int64
  /// How many the home has.
  public var devices: Int
  /// How many of them can be reached.
  public var devicesOnline: Int
  /// Where it listens.
  public var addresses: [String]
  /// In the order they came.
  public var clients: [Client]
  /// Messages of devices, and of others, that its controller did not take in since it runs, by reason.
  public var drops: [String: Int]
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
    return ElementNames.info(attribute, of: cluster)?.write ?? cluster.undeclaredPrivilege
  }

  private static func privilege(_ command: CommandData) -> Privilege {
    ElementNames.command(command.path)?.privilege ?? command.path.cluster.undeclaredPrivilege
  }
}

extension ClusterID {
  /// The privilege for elements that the catalogue doesn't declare: Administer in clusters of the standard, as some of them hand
  /// out credentials, and Operate in manufacturers' own, which have the vendor's id in their upper half. Matter Core § 7.18.2.
  var undeclaredPrivilege: Privilege { rawValue >> 16 == 0 ? .administer : .operate }
}
