internal import Logging
internal import MatterProtocol
internal import NIOCore

/// Looks for services through the Avahi daemon, and keeps watch over those found. Confined to its event loop.
///
/// For each instance it follows the SRV and TXT records, for each host the addresses: all of them, which the daemon's own
/// resolver would not tell, and what changes later.
final class AvahiBrowser {
  private struct Search {
    let subject: DiscoveryQuery.Subject
    var instances: AvahiInstances?
    /// What was told last.
    var told: [MatterService.Kind: [InterfaceID: MatterService]] = [:]
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
  private let onNews: (DiscoveryNews) -> Void
  private var interfaces: Set<InterfaceID>
  private var searches: [ServiceDiscovery.Browse: Search] = [:]
  private var instances: [MatterService.Kind: Instance] = [:]
  private var hosts: [String: Host] = [:]
  private var isUpdating = false
  private var isClosed = false
  /// After the daemon came back: until when what it has not heard yet is not taken for gone.
  private var settling: Scheduled<Void>?
  private var hasRefused = false
  private var hasBeenUp = false

  private static let settlingTime = TimeAmount.seconds(5)

  init(
    _ daemon: AvahiDaemon, interfaces: [NetworkInterface], on eventLoop: any EventLoop, logger: Logger,
    _ onNews: @escaping (DiscoveryNews) -> Void
  ) {
    (self.daemon, self.eventLoop, self.logger, self.onNews) = (daemon, eventLoop, logger, onNews)
    self.interfaces = Set(interfaces.map(\.id))
  }

  func browse(_ query: DiscoveryQuery, as browse: ServiceDiscovery.Browse) {
    searches[browse] = Search(subject: query.subject)
    begin(browse)
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

  func daemonCame() {
    if hasBeenUp {
      settling?.cancel()
      settling = eventLoop.assumeIsolated().scheduleTask(in: Self.settlingTime) { [weak self] in
        self?.settling = nil
        self?.update()
      }
    }
    hasBeenUp = true
    for browse in searches.keys { begin(browse) }
    update()
  }

  /// The daemon's objects are void. What was told is believed until the daemon is back and has had time to look.
  func daemonWent() {
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

  /// Asks anew for all that is searched for.
  func queryAgain() {
    guard daemon.isUp else { return }
    for browse in searches.keys {
      searches[browse]?.instances?.stop()
      searches[browse]?.instances = nil
    }
    for instance in instances.values { stop(instance) }
    for host in hosts.values { host.records.forEach { $0.stop() } }
    instances = [:]
    hosts = [:]
    daemonCame()
  }

  // MARK: - Following

  private func begin(_ browse: ServiceDiscovery.Browse) {
    guard daemon.isUp, case .type(let type)? = searches[browse]?.subject else { return }
    do throws(AvahiFailure) {
      searches[browse]?.instances = try AvahiInstances(type, daemon) { [weak self] in self?.changed() }
    } catch {
      refused(error)
    }
  }

  private func refused(_ failure: AvahiFailure) {
    // A daemon that is full refuses a thousand times.
    if !hasRefused { logger.error("Avahi does not look for services: \(failure)") }
    hasRefused = true
  }

  /// Something was heard, told from inside the library: what follows comes after it, once for much that is heard.
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

  /// Follows what is to be followed, and tells what is new.
  private func update() {
    guard !isClosed, daemon.isUp else { return }
    var needed: Set<MatterService.Kind> = []
    for search in searches.values { needed.formUnion(kinds(of: search)) }
    for kind in instances.keys where !needed.contains(kind) {
      if let instance = instances.removeValue(forKey: kind) {
        stop(instance)
        for host in instance.hosts { leave(host, kind) }
      }
    }
    for kind in needed { follow(kind) }
    for browse in searches.keys.sorted(by: { $0.number < $1.number }) { tell(browse) }
  }

  private func follow(_ kind: MatterService.Kind) {
    do throws(AvahiFailure) {
      if instances[kind] == nil {
        let name = "\(kind.instanceName)"
        let srv = try AvahiRecords(name, .srv, daemon) { [weak self] in self?.changed() }
        let txt = try AvahiRecords(name, .txt, daemon) { [weak self] in self?.changed() }
        instances[kind] = Instance(srv: srv, txt: txt)
      }
      guard let instance = instances[kind] else { return }
      let named = Set(instance.srv.interfaces.flatMap { instance.srv.data(on: $0).suffix(1).compactMap(\.targetHost) })
      for host in instance.hosts.subtracting(named) { leave(host, kind) }
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
      refused(error)
    }
  }

  private func stop(_ instance: Instance) {
    instance.srv.stop()
    instance.txt.stop()
  }

  private func leave(_ host: String, _ kind: MatterService.Kind) {
    hosts[host]?.users.remove(kind)
    guard let entry = hosts[host], entry.users.isEmpty else { return }
    entry.records.forEach { $0.stop() }
    hosts[host] = nil
  }

  // MARK: - Telling

  /// The service as it is on an interface, nil as long as something is missing.
  private func service(_ kind: MatterService.Kind, on interface: InterfaceID) -> MatterService? {
    guard let instance = instances[kind], let srv = instance.srv.data(on: interface).last,
      let txt = instance.txt.data(on: interface).last, let host = srv.targetHost
    else { return nil }
    let addresses = (hosts[host]?.records ?? []).flatMap { records in
      records.data(on: interface).compactMap { $0.address(on: interface) }
    }
    return addresses.isEmpty ? nil : MatterService(kind, srv: srv, txt: txt, addresses: addresses)
  }

  private func tell(_ browse: ServiceDiscovery.Browse) {
    guard let search = searches[browse] else { return }
    let kinds = kinds(of: search)
    var news: [DiscoveryNews] = []
    var told = search.told
    for kind in kinds.union(told.keys).sorted(by: { $0.instanceLabel < $1.instanceLabel }) {
      for interface in interfaces.union((told[kind] ?? [:]).keys).sorted() {
        let isPointedTo = search.instances.map { $0.interfaces(of: kind).contains(interface) } ?? true
        let isThere = kinds.contains(kind) && interfaces.contains(interface) && isPointedTo
        let service = isThere ? service(kind, on: interface) : nil
        let before = told[kind]?[interface]
        if let service {
          guard service != before else { continue }
          told[kind, default: [:]][interface] = service
          news.append(.heard(browse, service, on: interface))
        } else if before != nil, settling == nil || !interfaces.contains(interface) {
          told[kind]?[interface] = nil
          news.append(.gone(browse, kind, on: interface))
        }
      }
      if told[kind]?.isEmpty ?? false { told[kind] = nil }
    }
    searches[browse]?.told = told
    for one in news { onNews(one) }
  }
}
