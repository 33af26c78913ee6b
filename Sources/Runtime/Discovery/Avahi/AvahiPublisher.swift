internal import CAvahi
internal import Logging
internal import MatterProtocol
internal import NIOCore

/// Registers services, their subtypes and the addresses of their hosts with the Avahi daemon. Confined to its event
/// loop.
///
/// Uses one entry group for each service and one for each host, on each selected interface, so that a change does not
/// disturb the others. Names are registered unchanged: a collision is reported to the publisher of the service.
final class AvahiPublisher {
  /// An entry group. The daemon reports its state.
  private final class Group {
    weak var publisher: AvahiPublisher?
    var object: AvahiDaemon.Object?
    let owner: Owner

    init(_ publisher: AvahiPublisher, _ owner: Owner) { (self.publisher, self.owner) = (publisher, owner) }
  }

  private enum Owner: Hashable {
    case service(MatterService.Kind)
    case host(String)
  }

  private struct Host {
    var groups: [Group] = []
    var addresses: [IPAddress] = []
    var users: Set<MatterService.Kind> = []
  }

  private let daemon: AvahiDaemon
  private let eventLoop: any EventLoop
  private let logger: Logger
  private let onEvent: (ProviderEvent) -> Void
  private var interfaces: [NetworkInterface]
  /// The services to publish.
  private var wanted: [MatterService.Kind: MatterService] = [:]
  private var registered: [MatterService.Kind: (service: MatterService, groups: [Group])] = [:]
  private var hosts: [String: Host] = [:]
  /// Names that another host has, with the timers of the next attempts.
  private var refused: [Owner: Scheduled<Void>] = [:]
  private var queue: [MatterService.Kind] = []
  private var isProcessing = false
  private var pause = TimeAmount.zero
  private var isClosed = false

  /// The delay before a name that another host has is tried again.
  private static let retryDelay = TimeAmount.seconds(60)

  init(
    _ daemon: AvahiDaemon, interfaces: [NetworkInterface], on eventLoop: any EventLoop, logger: Logger,
    _ onEvent: @escaping (ProviderEvent) -> Void
  ) {
    (self.daemon, self.interfaces, self.eventLoop, self.logger) = (daemon, interfaces, eventLoop, logger)
    self.onEvent = onEvent
  }

  // MARK: - Requests

  func publish(_ service: MatterService) {
    guard wanted[service.kind] != service else { return }
    wanted[service.kind] = service
    enqueue(service.kind)
  }

  func withdraw(_ kind: MatterService.Kind) {
    guard wanted.removeValue(forKey: kind) != nil else { return }
    refused.removeValue(forKey: .service(kind))?.cancel()
    enqueue(kind)
  }

  /// Registers all services again after a change of the interfaces or their addresses.
  func setInterfaces(_ interfaces: [NetworkInterface]) {
    guard interfaces != self.interfaces else { return }
    self.interfaces = interfaces
    for kind in registered.keys { unregister(kind) }
    for kind in wanted.keys { enqueue(kind) }
  }

  /// Registers all services.
  func daemonConnected() { for kind in wanted.keys { enqueue(kind) } }

  /// Drops the daemon's objects, which are void.
  func daemonDisconnected() {
    registered = [:]
    hosts = [:]
    queue = []
    for task in refused.values { task.cancel() }
    refused = [:]
  }

  func close() {
    isClosed = true
    for task in refused.values { task.cancel() }
    queue = []
    registered = [:]
    hosts = [:]
  }

  // MARK: - Work, one service at a time

  private func enqueue(_ kind: MatterService.Kind) {
    queue.append(kind)
    processQueue()
  }

  /// Registers the next service. Each takes several blocking calls: a millisecond or two, more if the daemon is busy.
  /// The pause before the next one is as long, which leaves time for the loop's other work and lets the daemon catch
  /// up.
  private func processQueue() {
    guard !isProcessing, !isClosed, daemon.isUp, !queue.isEmpty else { return }
    isProcessing = true
    eventLoop.assumeIsolated().scheduleTask(in: pause) { [weak self] in
      guard let self else { return }
      isProcessing = false
      guard !isClosed, daemon.isUp, !queue.isEmpty else { return }
      let start = HostClock.now()
      reconcile(queue.removeFirst())
      pause = .nanoseconds(min((HostClock.now() - start).nanoseconds, 500_000_000))
      processQueue()
    }
  }

  /// Brings the registration of a service up to date.
  private func reconcile(_ kind: MatterService.Kind) {
    let service = wanted[kind]
    guard registered[kind]?.service != service else { return }
    guard let service else { return unregister(kind) }
    if var old = registered[kind], updatesText(of: old.groups, old.service, to: service) {
      old.service = service
      registered[kind] = old
      return
    }
    unregister(kind, keeping: service.hostName)
    let host = service.hostName
    guard refused[.service(kind)] == nil, refused[.host(host)] == nil else { return release(kind, host) }
    let start = HostClock.now()
    do throws(AvahiFailure) {
      try register(host, for: service)
      registered[kind] = (service, [])
      for interface in interfaces { try register(service, on: interface) }
      let taken = HostClock.now() - start
      logger.debug("Avahi took \(kind.instanceLabel) in \(taken.nanoseconds / 1000) µs")
    } catch {
      fail(.service(kind), error)
    }
  }

  private func unregister(_ kind: MatterService.Kind, keeping host: String? = nil) {
    guard let old = registered.removeValue(forKey: kind) else { return }
    for group in old.groups { group.object?.remove() }
    if old.service.hostName != host { release(kind, old.service.hostName) }
  }

  /// Removes the host with the last of its services.
  private func release(_ kind: MatterService.Kind, _ host: String) {
    hosts[host]?.users.remove(kind)
    guard let entry = hosts[host], entry.users.isEmpty else { return }
    for group in entry.groups { group.object?.remove() }
    hosts[host] = nil
  }

  // MARK: - The daemon's calls

  private func register(_ name: String, for service: MatterService) throws(AvahiFailure) {
    var host = hosts[name] ?? Host()
    host.users.insert(service.kind)
    let isNew = host.groups.isEmpty || host.addresses != service.addresses
    if isNew {
      for group in host.groups { group.object?.remove() }
      host.groups = []
      host.addresses = service.addresses
    }
    hosts[name] = host
    guard isNew else { return }
    for interface in interfaces {
      let addresses = service.addresses.isEmpty ? interface.addresses.map(\.ip) : service.addresses
      if addresses.isEmpty { continue }
      let group = try makeGroup(.host(name))
      hosts[name]?.groups.append(group)
      for address in addresses {
        var native = AvahiAddress(address)
        try call(group) {
          // The reverse name belongs to the host itself.
          avahi_entry_group_add_address(
            $0, CInt(interface.index), AvahiNumber.anyProtocol, AVAHI_PUBLISH_NO_REVERSE, name, &native)
        }
      }
      try call(group) { avahi_entry_group_commit($0) }
    }
  }

  private func register(_ service: MatterService, on interface: NetworkInterface) throws(AvahiFailure) {
    let group = try makeGroup(.service(service.kind))
    registered[service.kind]?.groups.append(group)
    let index = CInt(interface.index)
    let (label, type) = (service.kind.instanceLabel, service.kind.typeLabel)
    try call(group) { pointer in
      Self.withText(service) {
        avahi_entry_group_add_service_strlst(
          pointer, index, AvahiNumber.anyProtocol, AVAHI_PUBLISH_NO_COOKIE, label, type, "local", service.hostName,
          service.port, $0)
      }
    }
    for subtype in service.subtypeLabels {
      try call(group) {
        avahi_entry_group_add_service_subtype(
          $0, index, AvahiNumber.anyProtocol, AvahiPublishFlags(0), label, type, "local", subtype)
      }
    }
    try call(group) { avahi_entry_group_commit($0) }
  }

  /// Updates the TXT record in place if nothing else differs.
  private func updatesText(of groups: [Group], _ old: MatterService, to new: MatterService) -> Bool {
    var same = old
    same.text = new.text
    guard same == new, old.subtypeLabels == new.subtypeLabels, groups.count == interfaces.count else { return false }
    for (group, interface) in zip(groups, interfaces) {
      guard let object = group.object else { return false }
      let code = Self.withText(new) {
        avahi_entry_group_update_service_txt_strlst(
          object.pointer, CInt(interface.index), AvahiNumber.anyProtocol, AVAHI_PUBLISH_NO_COOKIE,
          new.kind.instanceLabel,
          new.kind.typeLabel, "local", $0)
      }
      if code < 0 { return false }
    }
    return true
  }

  private func makeGroup(_ owner: Owner) throws(AvahiFailure) -> Group {
    let group = Group(self, owner)
    group.object = try daemon.object(
      { client in
        avahi_entry_group_new(
          client,
          { _, state, data in
            guard let data else { return }
            let group = Unmanaged<Group>.fromOpaque(data).takeUnretainedValue()
            group.publisher?.changed(group, state)
          }, Unmanaged.passUnretained(group).toOpaque())
      }, free: { avahi_entry_group_free($0) })
    return group
  }

  private func call(_ group: Group, _ body: (OpaquePointer) -> CInt) throws(AvahiFailure) {
    guard let object = group.object else { return }
    let code = body(object.pointer)
    if code < 0 { throw AvahiFailure(reason: AvahiDaemon.text(code), code) }
  }

  private static func withText<R>(_ service: MatterService, _ body: (UnsafeMutablePointer<AvahiStringList>?) -> R) -> R
  {
    var list: UnsafeMutablePointer<AvahiStringList>?
    // Prepends.
    for string in service.textRecord { list = avahi_string_list_add_arbitrary(list, string, string.count) }
    list = avahi_string_list_reverse(list)
    defer { avahi_string_list_free(list) }
    return body(list)
  }

  // MARK: - State changes

  /// Called from inside the library.
  private func changed(_ group: Group, _ state: AvahiEntryGroupState) {
    let failure: AvahiFailure
    switch state {
    case AVAHI_ENTRY_GROUP_COLLISION:
      failure = AvahiFailure(reason: AvahiDaemon.text(AvahiNumber.collision), AvahiNumber.collision)
    case AVAHI_ENTRY_GROUP_FAILURE:
      failure = AvahiFailure(reason: group.object?.connection.error ?? "the entry group failed")
    default: return
    }
    eventLoop.assumeIsolated().execute { [weak self, weak group] in
      guard let self, let group, !isClosed, isCurrent(group) else { return }
      fail(group.owner, failure)
    }
  }

  private func isCurrent(_ group: Group) -> Bool {
    switch group.owner {
    case .service(let kind): registered[kind]?.groups.contains { $0 === group } ?? false
    case .host(let name): hosts[name]?.groups.contains { $0 === group } ?? false
    }
  }

  /// Unregisters a name that was refused, reports a conflict, and schedules another attempt.
  private func fail(_ owner: Owner, _ failure: AvahiFailure) {
    var owner = owner
    // The host is registered first: if the service has no group, the collision is that of the host name.
    if failure.isCollision, case .service(let kind) = owner, registered[kind] == nil, let service = wanted[kind] {
      owner = .host(service.hostName)
    }
    refused[owner]?.cancel()
    refused[owner] = eventLoop.assumeIsolated().scheduleTask(in: Self.retryDelay) { [weak self] in
      guard let self else { return }
      refused[owner] = nil
      for kind in wanted.keys where isOwner(owner, of: kind) { enqueue(kind) }
    }
    let kinds = wanted.keys.filter { isOwner(owner, of: $0) }.sorted { $0.instanceLabel < $1.instanceLabel }
    for kind in kinds {
      unregister(kind)
      if let host = wanted[kind]?.hostName { release(kind, host) }
    }
    switch owner {
    case .service(let kind) where failure.isCollision: onEvent(.conflict(kind))
    case .host(let name) where failure.isCollision: onEvent(.hostConflict(name, kinds))
    default:
      logger.error("Avahi did not register \(kinds.map(\.instanceLabel).joined(separator: ", ")): \(failure)")
    }
  }

  private func isOwner(_ owner: Owner, of kind: MatterService.Kind) -> Bool {
    switch owner {
    case .service(let owned): owned == kind
    case .host(let name): wanted[kind]?.hostName == name
    }
  }
}

extension AvahiAddress {
  init(_ ip: IPAddress) {
    self.init()
    proto = ip.isIPv6 ? AvahiNumber.ipv6 : AvahiNumber.ipv4
    withUnsafeMutableBytes(of: &data) { $0.copyBytes(from: ip.bytes) }
  }
}
