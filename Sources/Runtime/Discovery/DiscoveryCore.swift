internal import Logging
internal import MatterProtocol
internal import NIOCore

/// Forwards publications and searches to the providers, and merges their events. Confined to its event loop.
final class DiscoveryCore {
  typealias ConflictHandler = @Sendable (ServiceConflict) -> Void

  private let logger: Logger
  private var providers: [any DiscoveryProvider] = []
  private var searches: [ServiceDiscovery.Browse: Search] = [:]
  private var conflictHandlers: [MatterService.Kind: (owner: any EventLoop, handler: ConflictHandler)] = [:]
  /// Names whose conflict has been logged.
  private var reported: Set<String> = []

  private struct Search {
    let owner: any EventLoop
    let handler: @Sendable (ServiceDiscovery.Event) -> Void
    var reported: [MatterService.Kind: Reported] = [:]
  }

  /// A service as last reported, and as found on each interface.
  private struct Reported {
    var lastReported: MatterService?
    var byInterface: [InterfaceID: MatterService] = [:]
  }

  init(logger: Logger) { self.logger = logger }

  func add(_ make: (@escaping (ProviderEvent) -> Void) -> any DiscoveryProvider) {
    providers.append(make { [weak self] in self?.handle($0) })
  }

  // MARK: - Requests

  func publish(_ service: MatterService, on owner: any EventLoop, _ onConflict: ConflictHandler?) {
    conflictHandlers[service.kind] = onConflict.map { (owner, $0) }
    for provider in providers { provider.publish(service) }
  }

  func withdraw(_ service: MatterService, silently: Bool) {
    conflictHandlers[service.kind] = nil
    for provider in providers { provider.withdraw(service, silently: silently) }
  }

  func browse(
    _ query: DiscoveryQuery, as browse: ServiceDiscovery.Browse, on owner: any EventLoop,
    _ handler: @escaping @Sendable (ServiceDiscovery.Event) -> Void
  ) {
    searches[browse] = Search(owner: owner, handler: handler)
    for provider in providers { provider.browse(query, as: browse) }
  }

  func stop(_ browse: ServiceDiscovery.Browse) {
    searches[browse] = nil
    for provider in providers { provider.stop(browse) }
  }

  func follow(_ interfaces: [NetworkInterface]) { for provider in providers { provider.follow(interfaces) } }

  var drops: [String: Int] { providers.reduce(into: [:]) { $0.merge($1.drops) { $0 + $1 } } }

  func close() {
    for provider in providers { provider.close() }
    providers = []
    searches = [:]
    conflictHandlers = [:]
  }

  // MARK: - Events

  private func handle(_ event: ProviderEvent) {
    switch event {
    case .found(let browse, let service, let interface):
      // The same service on the same interface: a new announcement.
      let isRepeated = searches[browse]?.reported[service.kind]?.byInterface[interface] == service
      update(browse, service.kind, isAnnouncement: isRepeated) { reported in
        reported.byInterface[interface] = service
        return service
      }
    case .lost(let browse, let kind, let interface):
      update(browse, kind) { reported in
        reported.byInterface[interface] = nil
        return reported.byInterface.min { $0.key < $1.key }?.value
      }
    case .conflict(let kind):
      if reported.insert(kind.instanceLabel).inserted {
        logger.warning("another node on the network is announced as \(kind.instanceName)")
      }
      notify(.instance(kind), to: [kind])
    case .hostConflict(let name, let kinds):
      if reported.insert(name).inserted {
        logger.warning(
          "another host on the network has the name \(name); \(kinds.count) services are not announced under that name")
      }
      notify(.host(name), to: kinds)
    }
  }

  /// Notifies the publishers of these services of a conflict.
  private func notify(_ conflict: ServiceConflict, to kinds: [MatterService.Kind]) {
    for kind in kinds {
      guard let publisher = conflictHandlers[kind] else { continue }
      publisher.owner.execute { publisher.handler(conflict) }
    }
  }

  /// Reports a service once, with the addresses from all interfaces.
  /// - Parameters:
  ///   - isAnnouncement: whether to report the service even if it is unchanged.
  ///   - change: updates the entry, and returns the service as it is now, or nil if it is lost.
  private func update(
    _ id: ServiceDiscovery.Browse, _ kind: MatterService.Kind, isAnnouncement: Bool = false,
    _ change: (inout Reported) -> MatterService?
  ) {
    guard var reported = searches[id]?.reported[kind] ?? (searches[id] == nil ? nil : Reported()) else { return }
    let lastReported = reported.lastReported
    if var service = change(&reported) {
      for other in reported.byInterface.sorted(by: { $0.key < $1.key }) {
        for address in other.value.addresses where !service.addresses.contains(address) {
          service.addresses.append(address)
        }
      }
      reported.lastReported = service
      searches[id]?.reported[kind] = reported
      // The order of the addresses has no meaning.
      if !isAnnouncement, lastReported.map({ Self.isSame($0, service) }) ?? false { return }
      deliver(.found(service), to: id)
    } else {
      searches[id]?.reported[kind] = nil
      if let lastReported { deliver(.lost(lastReported), to: id) }
    }
  }

  private static func isSame(_ left: MatterService, _ right: MatterService) -> Bool {
    var left = left
    var right = right
    guard Set(left.addresses) == Set(right.addresses) else { return false }
    left.addresses = []
    right.addresses = []
    return left == right
  }

  /// Delivers asynchronously: a cached service is found inside the call that starts the search, before the caller has
  /// its ID.
  private func deliver(_ event: ServiceDiscovery.Event, to id: ServiceDiscovery.Browse) {
    guard let search = searches[id] else { return }
    search.owner.execute { search.handler(event) }
  }
}
