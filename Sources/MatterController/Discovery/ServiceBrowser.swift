internal import MatterProtocol

/// The DNS-SD queries of a controller, each with its number of users, and the services found.
struct ServiceBrowser: Sendable {
  private var users: [DiscoveryQuery: Int] = [:]
  private var services: [MatterService.Kind: MatterService] = [:]

  /// Adds a user of a query.
  /// - Returns: whether the query has to be started.
  mutating func start(_ query: DiscoveryQuery) -> Bool {
    users[query, default: 0] += 1
    return users[query] == 1
  }

  /// Removes a user of a query, and the services that no query matches without it.
  /// - Returns: whether the query has to be stopped.
  mutating func stop(_ query: DiscoveryQuery) -> Bool {
    guard let count = users[query] else { return false }
    users[query] = count == 1 ? nil : count - 1
    guard count == 1 else { return false }
    if let kind = query.onlyKind {
      if let service = services[kind], !isBrowsed(service) { services[kind] = nil }
    } else {
      services = services.filter { isBrowsed($0.value) }
    }
    return true
  }

  /// Whether a query matches the service.
  func isBrowsed(_ service: MatterService) -> Bool { users.keys.contains { $0.matches(service) } }

  /// Stores a service that was found or has changed.
  /// - Returns: the service before the change.
  mutating func update(_ service: MatterService) -> MatterService? {
    services.updateValue(service, forKey: service.kind)
  }

  mutating func remove(_ service: MatterService) { services[service.kind] = nil }

  /// Returns the known services that match a query, in a fixed order.
  func known(_ query: DiscoveryQuery) -> [MatterService] {
    if let kind = query.onlyKind { return services[kind].map { [$0] } ?? [] }
    return services.values.filter { query.matches($0) }
      .sorted { "\($0.kind.instanceName)" < "\($1.kind.instanceName)" }
  }
}

extension DiscoveryQuery {
  /// The only kind of service that the query matches, or nil if there may be several.
  fileprivate var onlyKind: MatterService.Kind? {
    guard case .operational(let fabricID?, let node?) = self else { return nil }
    return .operational(compressedFabricID: fabricID, nodeID: node)
  }
}

extension MatterService {
  /// Returns the address that replaces `address` of a session after the service changed; nil if the session is to keep
  /// it: it is still announced, or it was never announced, as behind a NAT.
  func replacement(for address: SocketAddress, after old: MatterService) -> SocketAddress? {
    guard old.isAt(address), !isAt(address),
      let ip = addresses.first(where: { $0.family == address.ip.family }) ?? addresses.first
    else { return nil }
    return SocketAddress(ip, port: port)
  }

  private func isAt(_ address: SocketAddress) -> Bool { port == address.port && addresses.contains(address.ip) }
}
