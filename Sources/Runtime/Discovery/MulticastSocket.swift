internal import Glibc
internal import MatterProtocol

extension BoundSocket {
  /// Opens a multicast DNS socket for one interface and one family, sharing port 5353.
  ///
  /// The socket is bound to the group's address and joins the group on this interface only, so it receives no packets
  /// of other interfaces and takes no unicast packets from other responders on this host. RFC 6762 § 15.
  /// - Parameter isShared: if false, the socket has an ephemeral port, sends to the group and receives only the
  ///   answers.
  static func multicast(
    on interface: NetworkInterface, isIPv6: Bool, isShared: Bool = true
  ) throws(NetworkError) -> BoundSocket {
    let group: IPAddress =
      isIPv6
      ? .v6(high: MulticastDNS.groupV6.high, low: MulticastDNS.groupV6.low, scope: interface.index)
      : .v4(MulticastDNS.groupV4)
    let descriptor = try open(for: group)
    do throws(NetworkError) {
      func need(_ taken: Bool, _ operation: String) throws(NetworkError) {
        if !taken { throw .system(operation: "\(operation) on \(interface.name)", code: errno) }
      }
      if isShared {
        try need(set(descriptor, Int(SOL_SOCKET), SO_REUSEADDR, 1), "SO_REUSEADDR")
        _ = set(descriptor, Int(SOL_SOCKET), SO_REUSEPORT, 1)
      }
      // Needs a privilege on some kernels; the membership and the outgoing interface below suffice for multicast.
      _ = bindToDevice(descriptor, interface)
      ignoreForeignGroups(descriptor)
      let index = CInt(bitPattern: interface.index.bigEndian)
      if isIPv6 {
        _ = set(descriptor, IPPROTO_IPV6, SystemNumber.ipv6UnicastInterface, index)
        _ = set(descriptor, IPPROTO_IPV6, IPV6_MULTICAST_LOOP, 1)
        try need(set(descriptor, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, 255), "IPV6_MULTICAST_HOPS")
        try need(set(descriptor, IPPROTO_IPV6, IPV6_UNICAST_HOPS, 255), "IPV6_UNICAST_HOPS")
        try need(set(descriptor, IPPROTO_IPV6, IPV6_MULTICAST_IF, CInt(interface.index)), "IPV6_MULTICAST_IF")
      } else {
        _ = set(descriptor, IPPROTO_IP, SystemNumber.ipUnicastInterface, index)
        _ = set(descriptor, IPPROTO_IP, IP_MULTICAST_LOOP, 1)
        try need(set(descriptor, IPPROTO_IP, IP_MULTICAST_TTL, 255), "IP_MULTICAST_TTL")
        try need(set(descriptor, IPPROTO_IP, IP_TTL, 255), "IP_TTL")
        try need(set(descriptor, IPPROTO_IP, IP_MULTICAST_IF, request(nil, interface)), "IP_MULTICAST_IF")
      }
      let any: IPAddress = isIPv6 ? .v6(high: 0, low: 0, scope: 0) : .v4(0)
      let local = MatterProtocol.SocketAddress(isShared ? group : any, port: isShared ? MulticastDNS.port : 0)
      let failure = bind(descriptor, to: local)
      if failure == EADDRINUSE { throw .portInUse(local) }
      if failure != 0 { throw .system(operation: "bind to \(local) on \(interface.name)", code: failure) }
      guard isShared else { return BoundSocket(descriptor: descriptor, local: local, interface: interface) }
      if case .v6(let high, let low, _) = group {
        let request = ipv6_mreq(
          ipv6mr_multiaddr: in6_addr(high: high, low: low), ipv6mr_interface: interface.index)
        try need(set(descriptor, IPPROTO_IPV6, IPV6_JOIN_GROUP, request), "IPV6_JOIN_GROUP")
      } else {
        let joined = set(descriptor, IPPROTO_IP, IP_ADD_MEMBERSHIP, request(MulticastDNS.groupV4, interface))
        try need(joined, "IP_ADD_MEMBERSHIP")
      }
      return BoundSocket(descriptor: descriptor, local: local, interface: interface)
    } catch {
      _ = Glibc.close(descriptor)
      throw error
    }
  }

  /// Returns the value of the options that name a group and an interface. Without the address, packets sent on loopback
  /// would have the address of another interface.
  static func request(_ group: UInt32?, _ interface: NetworkInterface) -> ip_mreqn {
    let addresses = interface.addresses.compactMap { if case .v4(let value) = $0.ip { value } else { nil } }
    return ip_mreqn(
      imr_multiaddr: in_addr(s_addr: (group ?? 0).bigEndian),
      imr_address: in_addr(s_addr: (addresses.first ?? 0).bigEndian), imr_ifindex: CInt(interface.index))
  }
}
