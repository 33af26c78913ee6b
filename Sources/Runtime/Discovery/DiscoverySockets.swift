internal import Logging
internal import MatterProtocol

/// The sockets that service discovery could open.
struct DiscoverySockets: Sendable {
  var multicast: [BoundSocket] = []
  /// Sockets on loopback, on ephemeral ports, for the processes in the registry.
  var direct: BoundSockets?
  var registry: DirectRegistry?
  /// The addresses to publish on each interface.
  var addresses: [InterfaceID: [IPAddress]] = [:]

  init(_ options: ServiceDiscovery.Options, logger: Logger) {
    for interface in options.interfaces {
      addresses[interface.id] = interface.addresses.map(\.ip)
      guard options.usesMulticast else { continue }
      for isIPv6 in MulticastRoute.families(on: interface) {
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
      logger.warning("DNS-SD works on none of the interfaces; nodes are reachable by address and port only")
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
        logger.warning("no direct discovery, cannot register this process: \(error)")
      }
    } catch {
      logger.warning("no direct discovery, cannot open a port: \(error)")
    }
  }

  var status: ServiceDiscovery.Status {
    ServiceDiscovery.Status(
      multicast: multicast.map { "\($0.interface.name)/\($0.local.ip.isIPv6 ? "IPv6" : "IPv4")" },
      directPort: direct?.port)
  }
}
