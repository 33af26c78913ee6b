internal import Logging
internal import MatterProtocol
internal import NIOCore

/// DNS-SD through the system's Avahi daemon. Confined to its event loop.
final class AvahiDiscovery: DiscoveryProvider {
  private let daemon: AvahiDaemon
  private let publisher: AvahiPublisher
  private let browser: AvahiBrowser

  /// - Parameter interfaces: the interfaces to publish and browse on, without loopback, which Avahi does not serve.
  init(
    interfaces: [NetworkInterface], on eventLoop: any EventLoop, logger: Logger,
    _ onEvent: @escaping (ProviderEvent) -> Void
  ) {
    daemon = AvahiDaemon(on: eventLoop, logger: logger)
    publisher = AvahiPublisher(daemon, interfaces: interfaces, on: eventLoop, logger: logger, onEvent)
    browser = AvahiBrowser(daemon, interfaces: interfaces, on: eventLoop, logger: logger, onEvent)
    daemon.onUp = { [weak self] in
      self?.publisher.daemonConnected()
      self?.browser.daemonConnected()
    }
    daemon.onDown = { [weak self] in
      self?.publisher.daemonDisconnected()
      self?.browser.daemonDisconnected()
    }
    daemon.start()
  }

  func publish(_ service: MatterService) { publisher.publish(service) }
  /// Withdraws a service. The daemon always sends a goodbye, since it is still running.
  func withdraw(_ service: MatterService, silently: Bool) { publisher.withdraw(service.kind) }
  func browse(_ query: DiscoveryQuery, as browse: ServiceDiscovery.Browse) { browser.browse(query, as: browse) }
  func stop(_ browse: ServiceDiscovery.Browse) { browser.stop(browse) }

  func close() {
    publisher.close()
    browser.close()
    daemon.close()
  }

  func follow(_ interfaces: [NetworkInterface]) {
    let external = interfaces.filter { !$0.isLoopback }
    publisher.setInterfaces(external)
    browser.setInterfaces(external)
  }
}
