internal import Logging
internal import MatterProtocol
internal import NIOCore

/// DNS-SD by way of the system's Avahi daemon. Confined to its event loop.
final class AvahiDiscovery: DiscoveryProvider {
  private let daemon: AvahiDaemon
  private let publisher: AvahiPublisher
  private let browser: AvahiBrowser

  /// - Parameter interfaces: which ones services are registered and looked for on. Loopback is none of Avahi's.
  init(
    interfaces: [NetworkInterface], on eventLoop: any EventLoop, logger: Logger,
    _ onNews: @escaping (DiscoveryNews) -> Void
  ) {
    daemon = AvahiDaemon(on: eventLoop, logger: logger)
    publisher = AvahiPublisher(daemon, interfaces: interfaces, on: eventLoop, logger: logger, onNews)
    browser = AvahiBrowser(daemon, interfaces: interfaces, on: eventLoop, logger: logger, onNews)
    daemon.onUp = { [weak self] in
      self?.publisher.daemonCame()
      self?.browser.daemonCame()
    }
    daemon.onDown = { [weak self] in
      self?.publisher.daemonWent()
      self?.browser.daemonWent()
    }
    daemon.start()
  }

  func publish(_ service: MatterService) { publisher.publish(service) }
  /// The daemon always says goodbye: it is not it that lost its power.
  func withdraw(_ service: MatterService, silently: Bool) { publisher.withdraw(service.kind) }
  func browse(_ query: DiscoveryQuery, as browse: ServiceDiscovery.Browse) { browser.browse(query, as: browse) }
  func stop(_ browse: ServiceDiscovery.Browse) { browser.stop(browse) }
  func queryAgain() { browser.queryAgain() }

  func close() {
    publisher.close()
    browser.close()
    daemon.close()
  }

  func follow(_ interfaces: [NetworkInterface]) {
    let beyond = interfaces.filter { !$0.isLoopback }
    publisher.setInterfaces(beyond)
    browser.setInterfaces(beyond)
  }
}
