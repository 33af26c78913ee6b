internal import Glibc
package import MatterProtocol
package import NIOCore

// Conversions between Matter's, the system's and NIO's addresses.

extension IPAddress {
  init(_ address: in_addr) { self = .v4(UInt32(bigEndian: address.s_addr)) }

  init(_ address: in6_addr, scope: UInt32) {
    let (high, low) = withUnsafeBytes(of: address) {
      ($0.loadUnaligned(as: UInt64.self), $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }
    self = .v6(high: UInt64(bigEndian: high), low: UInt64(bigEndian: low), scope: scope)
  }
}

extension in6_addr {
  init(high: UInt64, low: UInt64) {
    self.init()
    withUnsafeMutableBytes(of: &self) {
      $0.storeBytes(of: high.bigEndian, as: UInt64.self)
      $0.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
    }
  }
}

extension MatterProtocol.SocketAddress {
  init(_ address: sockaddr_in) {
    self.init(IPAddress(address.sin_addr), port: UInt16(bigEndian: address.sin_port))
  }

  /// Keeps the scope of link-local addresses only, so that equal addresses compare equal.
  init(_ address: sockaddr_in6) {
    let plain = IPAddress(address.sin6_addr, scope: 0)
    let ip = plain.isLinkLocal ? IPAddress(address.sin6_addr, scope: address.sin6_scope_id) : plain
    self.init(ip, port: UInt16(bigEndian: address.sin6_port))
  }

  /// - Parameter family: the family, if the address itself does not have it, as in a netmask.
  init?(_ pointer: UnsafePointer<sockaddr>, family: sa_family_t? = nil) {
    let raw = UnsafeRawPointer(pointer)
    switch Int32(family ?? pointer.pointee.sa_family) {
    case AF_INET: self.init(raw.loadUnaligned(as: sockaddr_in.self))
    case AF_INET6: self.init(raw.loadUnaligned(as: sockaddr_in6.self))
    default: return nil
    }
  }

  package init?(_ address: NIOCore.SocketAddress) {
    switch address {
    case .v4(let address): self.init(address.address)
    case .v6(let address): self.init(address.address)
    case .unixDomainSocket: return nil
    }
  }

  /// The address as a socket of both families has it: an IPv4 address mapped to IPv6, RFC 4291 § 2.5.5.2.
  var mappedToIPv6: Self {
    guard case .v4(let value) = ip else { return self }
    return Self(.v6(high: 0, low: 0xFFFF_0000_0000 | UInt64(value), scope: 0), port: port)
  }

  /// The IPv4 address that is mapped to this one, or this address.
  var unmappedFromIPv6: Self {
    guard case .v6(0, let low, _) = ip, low >> 32 == 0xFFFF else { return self }
    return Self(.v4(UInt32(truncatingIfNeeded: low)), port: port)
  }

  /// Calls `body` with the address as a `sockaddr`.
  func withSystemAddress<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
    switch ip {
    case .v4(let value):
      withUnsafePointer(to: sockaddr_in(value, port: port)) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
      }
    case .v6(let high, let low, let scope):
      withUnsafePointer(to: sockaddr_in6(high: high, low: low, scope: scope, port: port)) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in6>.size)) }
      }
    }
  }

  /// The address for NIO.
  var nio: NIOCore.SocketAddress {
    switch ip {
    case .v4(let value): NIOCore.SocketAddress(sockaddr_in(value, port: port))
    case .v6(let high, let low, let scope):
      NIOCore.SocketAddress(sockaddr_in6(high: high, low: low, scope: scope, port: port))
    }
  }
}

extension sockaddr_in {
  init(_ value: UInt32, port: UInt16) {
    self.init()
    sin_family = sa_family_t(AF_INET)
    sin_port = port.bigEndian
    sin_addr = in_addr(s_addr: value.bigEndian)
  }
}

extension sockaddr_in6 {
  init(high: UInt64, low: UInt64, scope: UInt32, port: UInt16) {
    self.init()
    sin6_family = sa_family_t(AF_INET6)
    sin6_port = port.bigEndian
    sin6_addr = in6_addr(high: high, low: low)
    sin6_scope_id = scope
  }
}
