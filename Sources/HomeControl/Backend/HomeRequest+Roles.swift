package import HomeModel
internal import MatterController
internal import MatterProtocol

extension HomeRequest {
  /// Whether a role permits the request. Access to a device follows the privilege of the role in the standard.
  package func isAllowed(to role: HomeRole) -> Bool {
    switch self {
    case .anchor, .samples, .read, .fabric, .attestation, .groups, .follow, .certify: true
    case .subscribe: role > .guest
    case .write(_, let writes, _), .writeDevice(_, _, let writes, _, _):
      role > .guest && writes.allSatisfy { role.privilege.grants(Self.privilege($0)) }
    case .invoke(_, let command, _), .invokeDevice(_, _, let command, _, _):
      role > .guest && role.privilege.grants(Self.privilege(command.path))
    case .invokeGroup(_, let cluster, let command, _):
      role > .guest
        && role.privilege.grants(Self.privilege(CommandPath(endpoint: nil, cluster: cluster, command: command)))
    case .edit, .openWindow, .pair, .remove, .discover, .createGroup, .deleteGroup, .addMember, .removeMember,
      .cloudAccounts, .addCloudAccount, .refreshCloudAccount, .removeCloudAccount, .settings, .changeSettings,
      .deliveries, .addDelivery, .resumeDelivery, .removeDelivery, .clients, .invite, .revoke, .status,
      .simulatedDevices, .simulate:
      role == .owner
    }
  }

  /// - Throws: ``HomeError`` `accessDenied` if the role does not permit the request.
  package func check(_ role: HomeRole) throws(HomeError) {
    guard !isAllowed(to: role) else { return }
    let permission = role == .guest ? "a guest may only read" : "a member may only control devices"
    throw HomeError(.accessDenied, permission + "; ask the home's owner")
  }

  private static func privilege(_ write: AttributeWrite) -> Privilege {
    guard let cluster = write.path.cluster, let attribute = write.path.attribute else { return .administer }
    return ElementNames.info(attribute, of: cluster)?.write ?? .administer
  }

  private static func privilege(_ command: CommandPath) -> Privilege {
    ElementNames.command(command)?.privilege ?? .administer
  }

  /// Whether the request is unlimited in time, or produces values before its reply.
  package var isLong: Bool {
    switch self {
    case .subscribe, .discover, .pair: true
    default: false
    }
  }

  /// Whether the request takes until it is canceled.
  package var isEndless: Bool {
    switch self {
    case .subscribe, .discover(_, nil): true
    default: false
    }
  }

  /// The number of items in the request, which the owner limits.
  package var count: Int {
    switch self {
    case .edit(let edits): edits.count
    case .read(_, let paths, _, _): paths.count
    case .write(_, let writes, _), .writeDevice(_, _, let writes, _, _): writes.count
    case .subscribe(_, let request): request.paths.count + request.events.count + request.knownVersions.count
    case .samples(_, let filter, _), .addDelivery(let filter, _, _, _, _):
      (filter.devices?.count ?? 0) + (filter.endpoints?.count ?? 0) + (filter.clusters?.count ?? 0)
        + (filter.attributes?.count ?? 0)
    default: 1
    }
  }

  /// The time for which a client waits for the reply. It is longer than the owner waits for a device, so that the owner can
  /// report the failure.
  /// - Parameter timeout: the timeout of the client's requests.
  package func limit(_ timeout: Duration) -> Duration {
    let rest: Duration = .seconds(5)
    return switch self {
    case .read(_, _, _, let own): (own ?? timeout) + rest
    case .writeDevice(_, _, _, _, let own), .invokeDevice(_, _, _, _, let own): (own ?? .zero) + timeout + rest
    case .write, .invoke, .openWindow, .invokeGroup, .refreshCloudAccount: timeout + rest
    // Several messages to one or more devices.
    case .remove, .deleteGroup, .addMember, .removeMember, .revoke, .certify: timeout + .seconds(60)
    case .pair(let request, _, _, _): request.timeout + timeout + .seconds(60)
    case .discover(_, let time): (time ?? Self.unlimited) + rest
    case .subscribe: Self.unlimited
    // A busy process of virtual devices has 15 s to reply.
    case .simulatedDevices, .simulate: max(timeout, .seconds(15)) + rest
    default: timeout
    }
  }

  /// Limits the time that a request of another process may wait.
  /// - Parameter role: the role of the client; nil: a caller in this process, whose time is not limited.
  static func allowed(_ timeout: Duration?, to role: HomeRole?) -> Duration? {
    role == nil ? timeout : timeout.map { min(max($0, .zero), .seconds(600)) }
  }

  /// The timeout of requests that end only by cancellation.
  private static let unlimited: Duration = .seconds(1 << 31)
}
