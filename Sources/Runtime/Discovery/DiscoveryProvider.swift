internal import MatterProtocol

/// Somebody who publishes services and looks for them. Confined to an event loop.
protocol DiscoveryProvider: AnyObject {
  func publish(_ service: MatterService)
  /// - Parameter silently: without a goodbye, where that can be.
  func withdraw(_ service: MatterService, silently: Bool)
  /// What is found is told to the provider's `onNews`.
  func browse(_ query: DiscoveryQuery, as browse: ServiceDiscovery.Browse)
  func stop(_ browse: ServiceDiscovery.Browse)
  func queryAgain()
  /// The interfaces that may be used are others now.
  func follow(_ interfaces: [NetworkInterface])
  /// Says goodbye to everything.
  func close()
  /// What came and was not acted on, by reason.
  var drops: [String: Int] { get }
}

extension DiscoveryProvider {
  /// Somebody else reads the packets.
  var drops: [String: Int] { [:] }
}

/// What a provider has to tell.
enum DiscoveryNews {
  /// A service is there on an interface, or says something new about itself there, or the same anew.
  case heard(ServiceDiscovery.Browse, MatterService, on: InterfaceID)
  /// A service is not there any more on an interface.
  case gone(ServiceDiscovery.Browse, MatterService.Kind, on: InterfaceID)
  /// Somebody else has the name of a service. It is not published, and tried again later.
  case conflict(MatterService.Kind)
  /// Somebody else has the name of a host of ours. Services on that host are not published, and tried again later.
  case hostConflict(String, [MatterService.Kind])
}
