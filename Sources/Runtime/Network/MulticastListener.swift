internal import Glibc
internal import MatterProtocol

/// The multicast routing on an interface.
///
/// Linux has no route for IPv6 multicast on the loopback interface, but carries IPv4 multicast there. So on loopback
/// multicast DNS uses IPv4 only, and an IPv6 group is mapped to an IPv4 address, a convention among Hearth nodes on one
/// host, which are the only ones on loopback.
enum MulticastRoute {
  private static func carriesIPv6(_ interface: NetworkInterface) -> Bool { !interface.isLoopback }

  /// Returns whether a group, which has an IPv6 address, can be reached from an address of the interface.
  static func fits(_ ip: IPAddress, _ interface: NetworkInterface) -> Bool { ip.isIPv6 == carriesIPv6(interface) }

  /// Returns the families of multicast DNS on an interface: true for IPv6.
  static func families(on interface: NetworkInterface) -> [Bool] {
    (carriesIPv6(interface) ? [false, true] : [false]).filter { isIPv6 in
      interface.addresses.contains { $0.ip.isIPv6 == isIPv6 }
    }
  }

  /// Returns the address that represents an IPv6 group on an interface.
  static func address(of group: IPAddress, on interface: NetworkInterface) -> IPAddress {
    guard !carriesIPv6(interface), case .v6(let high, let low, _) = group else { return group }
    // 239.255/16 has site-local scope. Two groups may map to one address; only members can decrypt their messages.
    let mixed = (high ^ low &* 0x9E37_79B9_7F4A_7C15) >> 24 ^ low
    return .v4(0xEFFF_0000 | UInt32(truncatingIfNeeded: mixed & 0xFFFF))
  }
}

extension BoundSocket {
  /// Opens a socket that receives a multicast group on one interface, sharing the port.
  ///
  /// The socket is bound to the group's address and joins the group on this interface only.
  /// - Parameter group: an IPv6 address.
  static func listener(
    _ group: IPAddress, port: UInt16, on interface: NetworkInterface
  ) throws(NetworkError) -> BoundSocket {
    let group = MulticastRoute.address(of: group, on: interface)
    let descriptor = try open(for: group)
    do throws(NetworkError) {
      func need(_ taken: Bool, _ operation: String) throws(NetworkError) {
        if !taken { throw .system(operation: "\(operation) on \(interface.name)", code: errno) }
      }
      try need(set(descriptor, Int(SOL_SOCKET), SO_REUSEADDR, 1), "SO_REUSEADDR")
      _ = set(descriptor, Int(SOL_SOCKET), SO_REUSEPORT, 1)
      // The kernel matches memberships by the group alone: without this option, the socket would also receive datagrams
      // of another interface on which any process has joined the group.
      try need(bindToDevice(descriptor, interface), "SO_BINDTODEVICE")
      ignoreForeignGroups(descriptor)
      let local = MatterProtocol.SocketAddress(group, port: port)
      let failure = bind(descriptor, to: local)
      if failure == EADDRINUSE { throw .portInUse(local) }
      if failure != 0 { throw .system(operation: "bind to \(local) on \(interface.name)", code: failure) }
      switch group {
      case .v6(let high, let low, _):
        let request = ipv6_mreq(ipv6mr_multiaddr: in6_addr(high: high, low: low), ipv6mr_interface: interface.index)
        try need(set(descriptor, IPPROTO_IPV6, IPV6_JOIN_GROUP, request), "IPV6_JOIN_GROUP")
      case .v4(let address):
        try need(set(descriptor, IPPROTO_IP, IP_ADD_MEMBERSHIP, request(address, interface)), "IP_ADD_MEMBERSHIP")
      }
      return BoundSocket(descriptor: descriptor, local: local, interface: interface)
    } catch {
      _ = Glibc.close(descriptor)
      throw error
    }
  }
}
