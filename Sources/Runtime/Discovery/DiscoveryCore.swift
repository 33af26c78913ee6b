internal import Logging
internal import MatterProtocol
internal import NIOCore

/// Gives what is to be published and looked for to those who do it, and tells what they found. Confined to its event loop.
final class DiscoveryCore {
  typealias ConflictHandler = @Sendable (ServiceConflict) -> Void

  private let logger: Logger
  private var providers: [any DiscoveryProvider] = []
  private var searches: [ServiceDiscovery.Browse: Search] = [:]
  private var conflictHandlers: [MatterService.Kind: (owner: any EventLoop, handler: ConflictHandler)] = [:]
  /// Names in conflict that the user knows of.
  private var reported: Set<String> = []

  private struct Search {
    let owner: any EventLoop
    let handler: @Sendable (ServiceDiscovery.Event) -> Void
    var reported: [MatterService.Kind: Reported] = [:]
  }

  /// A service as it was told, and as it was heard on each interface.
  private struct Reported {
    var told: MatterService?
    var heard: [InterfaceID: MatterService] = [:]
  }

  init(logger: Logger) { self.logger = logger }

  /// Adds somebody who does the work.
  func add(_ make: (@escaping (DiscoveryNews) -> Void) -> any DiscoveryProvider) {
    providers.append(make { [weak self] in self?.take($0) })
  }

  // MARK: - What is asked for

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

  func queryAgain() { for provider in providers { provider.queryAgain() } }

  func follow(_ interfaces: [NetworkInterface]) { for provider in providers { provider.follow(interfaces) } }

  var drops: [String: Int] { providers.reduce(into: [:]) { $0.merge($1.drops) { $0 + $1 } } }

  func close() {
    for provider in providers { provider.close() }
    providers = []
    searches = [:]
    conflictHandlers = [:]
  }

  // MARK: - Telling

  private func take(_ news: DiscoveryNews) {
    switch news {
    case .heard(let browse, let service, let interface):
      // The same on the same interface: it was announced anew.
      let isAnew = searches[browse]?.reported[service.kind]?.heard[interface] == service
      update(browse, service.kind, isNews: isAnew) { reported in
        reported.heard[interface] = service
        return service
      }
    case .gone(let browse, let kind, let interface):
      update(browse, kind) { reported in
        reported.heard[interface] = nil
        return reported.heard.min { $0.key < $1.key }?.value
      }
    case .conflict(let kind):
      if reported.insert(kind.instanceLabel).inserted {
        logger.warning("another node on the network is announced as \(kind.instanceName)")
      }
      tell(.instance(kind), to: [kind])
    case .hostConflict(let name, let kinds):
      if reported.insert(name).inserted {
        logger.warning(
          "another host on the network has the name \(name); \(kinds.count) services are not announced under that name")
      }
      tell(.host(name), to: kinds)
    }
  }

  /// Tells whoever published these services of a conflict.
  private func tell(_ conflict: ServiceConflict, to kinds: [MatterService.Kind]) {
    for kind in kinds {
      guard let publisher = conflictHandlers[kind] else { continue }
      publisher.owner.execute { publisher.handler(conflict) }
    }
  }

  /// Tells a service once, with all its addresses, on however many interfaces it was heard.
  /// - Parameters:
  ///   - isNews: whether it is told even if it is as it was told before.
  ///   - change: notes what was heard, and gives the service as it is now, nil when it is gone.
  private func update(
    _ id: ServiceDiscovery.Browse, _ kind: MatterService.Kind, isNews: Bool = false,
    _ change: (inout Reported) -> MatterService?
  ) {
    guard var reported = searches[id]?.reported[kind] ?? (searches[id] == nil ? nil : Reported()) else { return }
    let told = reported.told
    if var service = change(&reported) {
      for other in reported.heard.sorted(by: { $0.key < $1.key }) {
        for address in other.value.addresses where !service.addresses.contains(address) {
          service.addresses.append(address)
        }
      }
      reported.told = service
      searches[id]?.reported[kind] = reported
      // The order of the addresses says nothing.
      if !isNews, told.map({ Self.isSame($0, service) }) ?? false { return }
      deliver(.found(service), to: id)
    } else {
      searches[id]?.reported[kind] = nil
      if let told { deliver(.lost(told), to: id) }
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

  /// Never at once: what is known already is found while the search begins, and who began it would not know it yet.
  private func deliver(_ event: ServiceDiscovery.Event, to id: ServiceDiscovery.Browse) {
    guard let search = searches[id] else { return }
    search.owner.execute { search.handler(event) }
  }
}
