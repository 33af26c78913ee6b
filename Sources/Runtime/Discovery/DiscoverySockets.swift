internal import Logging
internal import MatterProtocol

/// The sockets that service discovery could open.
struct DiscoverySockets: Sendable {
  var multicast: [BoundSocket] = []
  /// On loopback, each on a port of its own, for those who know it from the registry.
  var direct: BoundSockets?
  var registry: DirectRegistry?
  /// What to tell of this host on each interface.
  var addresses: [InterfaceID: [IPAddress]] = [:]

  init(_ options: ServiceDiscovery.Options, logger: Logger) {
    for interface in options.interfaces {
      addresses[interface.id] = interface.addresses.map(\.ip)
      guard options.usesMulticast else { continue }
      for isIPv6 in [false, true] where interface.addresses.contains(where: { $0.ip.isIPv6 == isIPv6 }) {
        do throws(NetworkError) {
          multicast.append(try .multicast(on: interface, isIPv6: isIPv6))
        } catch {
          logger.info("no multicast DNS over \(isIPv6 ? "IPv6" : "IPv4") on \(interface.name): \(error)")
        }
      }
    }
    let open = Set(multicast.map(\.interface.id))
    addresses = addresses.filter { open.contains($0.key) }
    if let directory = options.registry, var loopback = options.interfaces.first(where: \.isLoopback) {
      loopback.addresses.removeAll { $0.ip != .loopback4 && $0.ip != .loopback6 }
      openDirect(on: loopback, directory, logger)
    }
    if multicast.isEmpty && direct == nil {
      logger.warning("DNS-SD works on none of the interfaces; nodes can be reached by address and port only")
    }
  }

  private mutating func openDirect(on loopback: NetworkInterface, _ directory: String, _ logger: Logger) {
    do throws(NetworkError) {
      let sockets = try BoundSockets([loopback])
      do throws(StoreError) {
        registry = try DirectRegistry(directory: directory, addresses: sockets.addresses)
        direct = sockets
        addresses[.direct] = loopback.addresses.map(\.ip)
      } catch {
        sockets.close()
        logger.warning("this process can't be noted for direct discovery: \(error)")
      }
    } catch {
      logger.warning("no port for direct discovery: \(error)")
    }
  }

  var status: ServiceDiscovery.Status {
    ServiceDiscovery.Status(
      multicast: multicast.map { "\($0.interface.name)/\($0.local.ip.isIPv6 ? "IPv6" : "IPv4")" },
      directPort: direct?.port)
  }
}
