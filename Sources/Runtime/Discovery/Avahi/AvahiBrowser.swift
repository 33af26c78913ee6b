internal import Logging
internal import MatterProtocol
internal import NIOCore

/// Browses for services through the Avahi daemon and tracks those found. Confined to its event loop.
///
/// Subscribes to the SRV and TXT records of each instance and to the address records of each host. The daemon's own
/// resolver reports a single address and no later changes.
final class AvahiBrowser {
  private struct Search {
    let subject: DiscoveryQuery.Subject
    var instances: AvahiInstances?
    /// The services last reported, by interface.
    var reported: [MatterService.Kind: [InterfaceID: MatterService]] = [:]
  }

  private struct Instance {
    let srv: AvahiRecords
    let txt: AvahiRecords
    var hosts: Set<String> = []
  }

  private struct Host {
    let records: [AvahiRecords]
    var users: Set<MatterService.Kind> = []
  }

  private let daemon: AvahiDaemon
  private let eventLoop: any EventLoop
  private let logger: Logger
  private let onEvent: (ProviderEvent) -> Void
  private var interfaces: Set<InterfaceID>
  private var searches: [ServiceDiscovery.Browse: Search] = [:]
  private var instances: [MatterService.Kind: Instance] = [:]
  private var hosts: [String: Host] = [:]
  private var isUpdating = false
  private var isClosed = false
  /// Grace period after the daemon reconnects, during which services that it has not reported yet are not reported
  /// lost.
  private var settling: Scheduled<Void>?
  private var hasRefused = false
  private var hasBeenUp = false

  private static let settlingTime = TimeAmount.seconds(5)

  init(
    _ daemon: AvahiDaemon, interfaces: [NetworkInterface], on eventLoop: any EventLoop, logger: Logger,
    _ onEvent: @escaping (ProviderEvent) -> Void
  ) {
    (self.daemon, self.eventLoop, self.logger, self.onEvent) = (daemon, eventLoop, logger, onEvent)
    self.interfaces = Set(interfaces.map(\.id))
  }

  func browse(_ query: DiscoveryQuery, as browse: ServiceDiscovery.Browse) {
    searches[browse] = Search(subject: query.subject)
    startSearch(browse)
    update()
  }

  func stop(_ browse: ServiceDiscovery.Browse) {
    guard let search = searches.removeValue(forKey: browse) else { return }
    if daemon.isUp { search.instances?.stop() }
    update()
  }

  func setInterfaces(_ interfaces: [NetworkInterface]) {
    self.interfaces = Set(interfaces.map(\.id))
    update()
  }

  func daemonConnected() {
    if hasBeenUp {
      settling?.cancel()
      settling = eventLoop.assumeIsolated().scheduleTask(in: Self.settlingTime) { [weak self] in
        self?.settling = nil
        self?.update()
      }
    }
    hasBeenUp = true
    for browse in searches.keys { startSearch(browse) }
    update()
  }

  /// Drops the daemon's objects, which are void. Reported services stay valid until the daemon is available again and
  /// the grace period ends.
  func daemonDisconnected() {
    instances = [:]
    hosts = [:]
    for browse in searches.keys { searches[browse]?.instances = nil }
  }

  func close() {
    isClosed = true
    settling?.cancel()
    searches = [:]
    instances = [:]
    hosts = [:]
  }

  // MARK: - Record subscriptions

  private func startSearch(_ browse: ServiceDiscovery.Browse) {
    guard daemon.isUp, case .type(let type)? = searches[browse]?.subject else { return }
    do throws(AvahiFailure) {
      searches[browse]?.instances = try AvahiInstances(type, daemon) { [weak self] in self?.changed() }
    } catch {
      logRefusal(error)
    }
  }

  private func logRefusal(_ failure: AvahiFailure) {
    // Logged once: a daemon at its object limit refuses every further request.
    if !hasRefused { logger.error("Avahi does not look for services: \(failure)") }
    hasRefused = true
  }

  /// Schedules an update. Called from inside the library, so the update runs later, once for several changes.
  private func changed() {
    if isUpdating || isClosed { return }
    isUpdating = true
    eventLoop.assumeIsolated().execute { [weak self] in
      guard let self, !isClosed else { return }
      isUpdating = false
      update()
    }
  }

  private func kinds(of search: Search) -> Set<MatterService.Kind> {
    switch search.subject {
    case .instance(let kind): [kind]
    case .type: search.instances?.kinds ?? []
    }
  }

  /// Adjusts the record subscriptions to the searches, and reports changes.
  private func update() {
    guard !isClosed, daemon.isUp else { return }
    var needed: Set<MatterService.Kind> = []
    for search in searches.values { needed.formUnion(kinds(of: search)) }
    for kind in instances.keys where !needed.contains(kind) {
      if let instance = instances.removeValue(forKey: kind) {
        stop(instance)
        for host in instance.hosts { release(host, kind) }
      }
    }
    for kind in needed { subscribe(kind) }
    for browse in searches.keys.sorted(by: { $0.number < $1.number }) { report(browse) }
  }

  private func subscribe(_ kind: MatterService.Kind) {
    do throws(AvahiFailure) {
      if instances[kind] == nil {
        let name = "\(kind.instanceName)"
        let srv = try AvahiRecords(name, .srv, daemon) { [weak self] in self?.changed() }
        let txt = try AvahiRecords(name, .txt, daemon) { [weak self] in self?.changed() }
        instances[kind] = Instance(srv: srv, txt: txt)
      }
      guard let instance = instances[kind] else { return }
      let named = Set(instance.srv.interfaces.flatMap { instance.srv.data(on: $0).suffix(1).compactMap(\.targetHost) })
      for host in instance.hosts.subtracting(named) { release(host, kind) }
      instances[kind]?.hosts = named
      for host in named {
        if hosts[host] == nil {
          hosts[host] = Host(
            records: [
              try AvahiRecords(host, .a, daemon) { [weak self] in self?.changed() },
              try AvahiRecords(host, .aaaa, daemon) { [weak self] in self?.changed() },
            ])
        }
        hosts[host]?.users.insert(kind)
      }
    } catch {
      logRefusal(error)
    }
  }

  private func stop(_ instance: Instance) {
    instance.srv.stop()
    instance.txt.stop()
  }

  private func release(_ host: String, _ kind: MatterService.Kind) {
    hosts[host]?.users.remove(kind)
    guard let entry = hosts[host], entry.users.isEmpty else { return }
    entry.records.forEach { $0.stop() }
    hosts[host] = nil
  }

  // MARK: - Reporting

  /// Returns the service as resolved on an interface, or nil while a record is missing.
  private func service(_ kind: MatterService.Kind, on interface: InterfaceID) -> MatterService? {
    guard let instance = instances[kind], let srv = instance.srv.data(on: interface).last,
      let txt = instance.txt.data(on: interface).last, let host = srv.targetHost
    else { return nil }
    let addresses = (hosts[host]?.records ?? []).flatMap { records in
      records.data(on: interface).compactMap { $0.address(on: interface) }
    }
    return addresses.isEmpty ? nil : MatterService(kind, srv: srv, txt: txt, addresses: addresses)
  }

  private func report(_ browse: ServiceDiscovery.Browse) {
    guard let search = searches[browse] else { return }
    let kinds = kinds(of: search)
    var events: [ProviderEvent] = []
    var reported = search.reported
    for kind in kinds.union(reported.keys).sorted(by: { $0.instanceLabel < $1.instanceLabel }) {
      for interface in interfaces.union((reported[kind] ?? [:]).keys).sorted() {
        let hasPointer = search.instances.map { $0.interfaces(of: kind).contains(interface) } ?? true
        let isPresent = kinds.contains(kind) && interfaces.contains(interface) && hasPointer
        let service = isPresent ? service(kind, on: interface) : nil
        let before = reported[kind]?[interface]
        if let service {
          guard service != before else { continue }
          reported[kind, default: [:]][interface] = service
          events.append(.found(browse, service, on: interface))
        } else if before != nil, settling == nil || !interfaces.contains(interface) {
          reported[kind]?[interface] = nil
          events.append(.lost(browse, kind, on: interface))
        }
      }
      if reported[kind]?.isEmpty ?? false { reported[kind] = nil }
    }
    searches[browse]?.reported = reported
    for one in events { onEvent(one) }
  }
}
