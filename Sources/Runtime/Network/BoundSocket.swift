internal import Glibc
public import MatterProtocol

/// A UDP socket bound to one local address, or to both addresses of the loopback interface.
protocol LocalSocket {
  var local: MatterProtocol.SocketAddress { get }
  /// The IPv6 address of a socket of both families, whose `local` is the IPv4 address.
  var local6: MatterProtocol.SocketAddress? { get }
}

extension LocalSocket {
  /// The addresses of the socket.
  var locals: [MatterProtocol.SocketAddress] { local6.map { [local, $0] } ?? [local] }
}

/// A bound socket that no transport owns yet.
struct BoundSocket: LocalSocket, Sendable {
  var descriptor: CInt
  var local: MatterProtocol.SocketAddress
  var local6: MatterProtocol.SocketAddress?
  /// The interface of the address.
  var interface: NetworkInterface

  /// Opens a non-blocking datagram socket for the family of `ip`.
  static func open(for ip: IPAddress) throws(NetworkError) -> CInt {
    let type = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    let descriptor = socket(ip.isIPv6 ? AF_INET6 : AF_INET, type, 0)
    guard descriptor >= 0 else { throw .system(operation: "socket", code: errno) }
    if ip.isIPv6 { _ = set(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, 1) }
    return descriptor
  }

  /// Sets a socket option and returns whether the system accepted it.
  static func set<Value>(_ descriptor: CInt, _ level: Int, _ name: CInt, _ value: Value) -> Bool {
    withUnsafePointer(to: value) {
      setsockopt(descriptor, CInt(level), name, $0, socklen_t(MemoryLayout<Value>.size)) == 0
    }
  }

  static func set(_ descriptor: CInt, _ level: Int, _ name: CInt, _ value: CInt) -> Bool {
    withUnsafePointer(to: value) {
      setsockopt(descriptor, CInt(level), name, $0, socklen_t(MemoryLayout<CInt>.size)) == 0
    }
  }

  /// Binds a socket and returns the error number, or 0.
  static func bind(_ descriptor: CInt, to address: MatterProtocol.SocketAddress) -> CInt {
    address.withSystemAddress { Glibc.bind(descriptor, $0, $1) == 0 ? 0 : errno }
  }

  /// Returns the port that a socket is bound to.
  static func port(of descriptor: CInt) throws(NetworkError) -> UInt16 {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let address = withUnsafeMutablePointer(to: &storage) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        getsockname(descriptor, pointer, &length) == 0 ? MatterProtocol.SocketAddress(pointer) : nil
      }
    }
    guard let address else { throw .system(operation: "getsockname", code: errno) }
    return address.port
  }
}

extension BoundSocket {
  /// Opens one socket for both addresses of the loopback interface, so that a process may have twice as many nodes.
  ///
  /// It is bound to the interface and the wildcard address, so it receives no datagram of another interface. No other
  /// socket can have the port, neither on another interface nor for a multicast group.
  /// - Returns: nil if the interface has other addresses, the system does not permit it, or the port is in use, possibly
  ///   only in a way that sockets with addresses of their own can share it.
  static func loopback(port: UInt16, on interface: NetworkInterface) throws(NetworkError) -> BoundSocket? {
    guard interface.hasLoopbackPair, port != NodeCore.groupPort, let descriptor = try? open(for: .loopback6)
    else { return nil }
    let wildcard = MatterProtocol.SocketAddress(.v6(high: 0, low: 0, scope: 0), port: port)
    guard bindToDevice(descriptor, interface), set(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, 0),
      bind(descriptor, to: wildcard) == 0
    else {
      _ = Glibc.close(descriptor)
      return nil
    }
    do throws(NetworkError) {
      let port = port == 0 ? try self.port(of: descriptor) : port
      var socket = BoundSocket(
        descriptor: descriptor, local: MatterProtocol.SocketAddress(.loopback4, port: port), interface: interface)
      socket.local6 = MatterProtocol.SocketAddress(.loopback6, port: port)
      ignoreForeignGroups(descriptor)
      configure(descriptor, .loopback4, interface)
      return socket
    } catch {
      _ = Glibc.close(descriptor)
      throw error
    }
  }

  /// Restricts a socket to the datagrams of one interface. Returns whether the system permits it.
  static func bindToDevice(_ descriptor: CInt, _ interface: NetworkInterface) -> Bool {
    interface.name.withCString {
      setsockopt(descriptor, SOL_SOCKET, SO_BINDTODEVICE, $0, socklen_t(interface.name.utf8.count + 1)) == 0
    }
  }

  /// Makes a socket receive only the multicast groups that it joins itself.
  static func ignoreForeignGroups(_ descriptor: CInt) {
    _ = set(descriptor, IPPROTO_IPV6, SystemNumber.ipv6MulticastAll, 0)
    _ = set(descriptor, IPPROTO_IP, SystemNumber.ipMulticastAll, 0)
  }

  /// Opens a socket bound to one address of an interface.
  /// - Parameter port: the port, or 0 for a free one.
  /// - Returns: nil if the address can't be used at present: an IPv6 address still in duplicate address detection, or
  ///   one just removed.
  static func unicast(
    _ ip: IPAddress, port: UInt16, on interface: NetworkInterface
  ) throws(NetworkError) -> BoundSocket? {
    let local = MatterProtocol.SocketAddress(ip, port: port)
    let descriptor = try open(for: ip)
    do throws(NetworkError) {
      let failure = bind(descriptor, to: local)
      if failure == EADDRINUSE { throw .portInUse(local) }
      if failure != 0 && failure != EADDRNOTAVAIL { throw .system(operation: "bind to \(local)", code: failure) }
      if failure == EADDRNOTAVAIL {
        _ = Glibc.close(descriptor)
        return nil
      }
      var socket = BoundSocket(descriptor: descriptor, local: local, interface: interface)
      if port == 0 { socket.local.port = try self.port(of: descriptor) }
      configure(descriptor, ip, interface)
      return socket
    } catch {
      _ = Glibc.close(descriptor)
      throw error
    }
  }

  private static func configure(_ descriptor: CInt, _ ip: IPAddress, _ interface: NetworkInterface) {
    _ = set(descriptor, Int(SOL_SOCKET), SO_RCVBUF, 1 << 20)
    _ = set(descriptor, Int(SOL_SOCKET), SO_SNDBUF, 1 << 20)
    // The bound address does not determine the interface of outgoing multicast: this option does.
    if ip.isIPv6 {
      _ = set(descriptor, IPPROTO_IPV6, IPV6_MULTICAST_IF, CInt(interface.index))
      _ = set(descriptor, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, 64)
    } else {
      _ = set(descriptor, IPPROTO_IP, IP_MULTICAST_IF, request(nil, interface))
    }
    if interface.isLoopback { return }
    // Send by this interface only, regardless of the routing table.
    let index = CInt(bitPattern: interface.index.bigEndian)
    if ip.isIPv6 {
      _ = set(descriptor, IPPROTO_IPV6, SystemNumber.ipv6UnicastInterface, index)
    } else {
      _ = set(descriptor, IPPROTO_IP, SystemNumber.ipUnicastInterface, index)
    }
  }
}

extension NetworkInterface {
  /// Whether one socket can serve all addresses of the interface: those of the loopback interface.
  fileprivate var hasLoopbackPair: Bool { isLoopback && addresses.map(\.ip) == [.loopback4, .loopback6] }
}

/// The sockets of one node: one for each address of the selected interfaces, or one for both addresses of the loopback
/// interface, all on the same port.
///
/// Each is bound to an address or to an interface, so no datagram of another interface is received. The sockets are open:
/// pass them to a ``UDPTransport`` or `close()` them.
public struct BoundSockets: Sendable {
  let sockets: [BoundSocket]
  /// The UDP port, including one assigned by the system.
  public let port: UInt16

  /// The addresses at which the node is reachable.
  public var addresses: [MatterProtocol.SocketAddress] { sockets.flatMap(\.locals) }

  /// Opens and binds the sockets.
  /// - Parameter port: the port; nil or 0 for one that is free on all addresses.
  /// - Throws: ``NetworkError``
  public init(_ interfaces: [NetworkInterface], port: UInt16? = nil) throws(NetworkError) {
    try self.init(interfaces, port: port, isLoopbackOnly: false)
  }

  /// - Parameter isLoopbackOnly: whether one socket may serve both addresses of the loopback interface. Sockets of other
  ///   interfaces can't have its port.
  private init(_ interfaces: [NetworkInterface], port: UInt16?, isLoopbackOnly: Bool) throws(NetworkError) {
    if let port, port != 0 {
      sockets = try Self.bind(interfaces, port: port, isLoopbackOnly)
      self.port = port
      return
    }
    // The system assigns a port for the first address; another process may use it on the next address, so retry.
    for _ in 0..<64 {
      do throws(NetworkError) {
        let sockets = try Self.bind(interfaces, port: 0, isLoopbackOnly)
        self.sockets = sockets
        self.port = sockets.first?.local.port ?? 0
        return
      } catch .portInUse {
        continue
      }
    }
    throw .noFreePort
  }

  /// Opens and binds the sockets on the selected interfaces.
  public init(_ selection: InterfaceSelection = .loopback, port: UInt16? = nil) throws(NetworkError) {
    try self.init(try NetworkInterfaces.select(selection), port: port, isLoopbackOnly: selection == .loopback)
  }

  /// Returns the number of sockets of a node, if the system permits one for both addresses of the loopback interface.
  /// - Parameter interfaces: those of the selection.
  package static func count(_ selection: InterfaceSelection, _ interfaces: [NetworkInterface]) -> Int {
    interfaces.reduce(0) { $0 + (selection == .loopback && $1.hasLoopbackPair ? 1 : $1.addresses.count) }
  }

  /// Closes sockets that were not passed to a transport.
  public func close() {
    for socket in sockets { _ = Glibc.close(socket.descriptor) }
  }

  private static func bind(
    _ interfaces: [NetworkInterface], port: UInt16, _ isLoopbackOnly: Bool
  ) throws(NetworkError) -> [BoundSocket] {
    var sockets: [BoundSocket] = []
    var port = port
    do throws(NetworkError) {
      for interface in interfaces {
        if isLoopbackOnly, let socket = try BoundSocket.loopback(port: port, on: interface) {
          port = socket.local.port
          sockets.append(socket)
          continue
        }
        for address in interface.addresses {
          guard let socket = try BoundSocket.unicast(address.ip, port: port, on: interface) else { continue }
          port = socket.local.port
          sockets.append(socket)
        }
      }
      guard !sockets.isEmpty else {
        throw .unusableInterface(interfaces.map(\.name).joined(separator: ", "))
      }
    } catch {
      for socket in sockets { _ = Glibc.close(socket.descriptor) }
      throw error
    }
    return sockets
  }
}

/// Linux socket options and file operations that Glibc's module lacks.
enum SystemNumber {
  static let ipMulticastAll: CInt = 49
  static let ipUnicastInterface: CInt = 50
  static let ipv6MulticastAll: CInt = 29
  static let ipv6UnicastInterface: CInt = 76
  static let memoryInformation: CInt = 55
  /// Sets a lock that belongs to an open file (F_OFD_SETLK).
  static let setFileLock: CInt = 37
}
