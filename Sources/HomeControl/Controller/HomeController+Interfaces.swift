internal import Logging
internal import MatterProtocol
internal import NIOCore
package import Runtime

// The addresses of this host, which may change while the home is open.
extension HomeController {
  /// Starts to observe the addresses of the selected interfaces; those of loopback don't change.
  func followInterfaces() {
    guard options.machine.sharesFiles, options.interfaces != .loopback else { return }
    let known = NetworkInterfaces.usable(options.interfaces)
    interfaceMonitor = InterfaceMonitor(options.interfaces, known: known, on: eventLoop, logger: options.logger) {
      [weak self] interfaces in
      self?.assumeIsolated { $0.follow(interfaces) }
    }
  }

  /// Switches to these interfaces and their current addresses. Renews the subscriptions, because devices may still send
  /// to the previous addresses.
  package func follow(_ interfaces: [NetworkInterface]) {
    let transport = dispatcher.value.host.transport
    let before = transport.addresses
    for failure in transport.follow(interfaces) { options.logger.warning("\(failure)") }
    discovery?.follow(interfaces)
    let after = transport.addresses
    guard after != before, !after.isEmpty else { return }
    dispatcher.value.host.perform { engine, now in engine.addressesChanged(at: now) }
  }
}
