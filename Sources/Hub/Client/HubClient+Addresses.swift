internal import MatterProtocol
internal import NIOCore
internal import Runtime

// Changes of the addresses of this host.
extension HubClient {
  /// Starts to try routes on the network again when the addresses of this host change.
  func followInterfaces() {
    guard options.routes.contains(where: \.isOnNetwork), options.machine.sharesFiles else { return }
    let known = NetworkInterfaces.usable(.all)
    addresses = Set(known.flatMap(\.addresses).map(\.ip))
    interfaceMonitor = InterfaceMonitor(.all, known: known, on: eventLoop, logger: options.logger) {
      [weak self] interfaces in
      self?.assumeIsolated { $0.noteAddresses(Set(interfaces.flatMap(\.addresses).map(\.ip))) }
    }
  }

  /// Notifies the routes of a change of this host's addresses.
  func noteAddresses(_ addresses: Set<IPAddress>) {
    guard addresses != self.addresses else { return }
    let removed = self.addresses.subtracting(addresses)
    self.addresses = addresses
    for route in routes where route.isStarted { route.link.addressesChangedNow(removed: removed) }
  }
}
