internal import MatterProtocol

/// A DNS-SD implementation: publishes services and browses for them. Confined to an event loop.
protocol DiscoveryProvider: AnyObject {
  func publish(_ service: MatterService)
  /// - Parameter silently: whether to omit the goodbye, if the provider can.
  func withdraw(_ service: MatterService, silently: Bool)
  /// Starts a search; events go to the provider's `onEvent`.
  func browse(_ query: DiscoveryQuery, as browse: ServiceDiscovery.Browse)
  func stop(_ browse: ServiceDiscovery.Browse)
  /// Switches to these interfaces.
  func follow(_ interfaces: [NetworkInterface])
  /// Withdraws everything with a goodbye and releases the sockets.
  func close()
  /// Dropped input by reason.
  var drops: [String: Int] { get }
}

extension DiscoveryProvider {
  /// None: the packets are read outside this process.
  var drops: [String: Int] { [:] }
}

/// An event of a provider.
enum ProviderEvent {
  /// A service was found, updated or announced again on an interface.
  case found(ServiceDiscovery.Browse, MatterService, on: InterfaceID)
  /// A service was lost on an interface.
  case lost(ServiceDiscovery.Browse, MatterService.Kind, on: InterfaceID)
  /// Another host has the name of a service. It is not published; the provider retries.
  case conflict(MatterService.Kind)
  /// Another host has a host name of ours. The services on it are not published; the provider retries.
  case hostConflict(String, [MatterService.Kind])
}
