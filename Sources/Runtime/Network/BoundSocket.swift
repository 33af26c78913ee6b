internal import Glibc
public import MatterProtocol

/// A UDP socket that is bound to one local address and belongs to nobody yet.
struct BoundSocket: Sendable {
  var descriptor: CInt
  var local: MatterProtocol.SocketAddress
  /// The interface whose address it is bound to.
  var interface: NetworkInterface

  /// A new datagram socket that does not block, for the family of `ip`.
  static func open(for ip: IPAddress) throws(NetworkError) -> CInt {
    let type = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    let descriptor = socket(ip.isIPv6 ? AF_INET6 : AF_INET, type, 0)
    guard descriptor >= 0 else { throw .system(operation: "socket", code: errno) }
    if ip.isIPv6 { _ = set(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, 1) }
    return descriptor
  }

  /// Sets a socket option; says whether the system took it.
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

  /// Binds; gives the error number of a failure, else 0.
  static func bind(_ descriptor: CInt, to address: MatterProtocol.SocketAddress) -> CInt {
    address.withSystemAddress { Glibc.bind(descriptor, $0, $1) == 0 ? 0 : errno }
  }

  /// The port that a socket is bound to.
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
  /// A socket bound to one address of an interface.
  /// - Parameter port: 0 for one that is free.
  /// - Returns: nil where the address can't be used now: an IPv6 address that is still being checked for duplicates, or one
  ///   just taken away.
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
    // The address that a socket is bound to does not tell multicast where to go out: this keeps it off the other interfaces.
    if ip.isIPv6 {
      _ = set(descriptor, IPPROTO_IPV6, IPV6_MULTICAST_IF, CInt(interface.index))
      _ = set(descriptor, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, 64)
    } else {
      _ = set(descriptor, IPPROTO_IP, IP_MULTICAST_IF, request(nil, interface))
    }
    if interface.isLoopback { return }
    // What is sent leaves by this interface and no other, whatever the routing table says.
    let index = CInt(bitPattern: interface.index.bigEndian)
    if ip.isIPv6 {
      _ = set(descriptor, IPPROTO_IPV6, SystemNumber.ipv6UnicastInterface, index)
    } else {
      _ = set(descriptor, IPPROTO_IP, SystemNumber.ipUnicastInterface, index)
    }
  }
}

/// The sockets of one node: one for each address of the interfaces chosen, all on the same port.
///
/// None is bound to the wildcard address, so nothing comes in from another interface. They are open from here on: hand them to
/// a ``UDPTransport`` or `close()` them.
public struct BoundSockets: Sendable {
  let sockets: [BoundSocket]
  /// The UDP port, also where one was asked for that is free.
  public let port: UInt16

  /// The addresses that the node can be reached at.
  public var addresses: [MatterProtocol.SocketAddress] { sockets.map(\.local) }

  /// Opens and binds the sockets.
  /// - Parameter port: nil or 0 for one that is free on all addresses.
  /// - Throws: ``NetworkError/portInUse(_:)`` and the others.
  public init(_ interfaces: [NetworkInterface], port: UInt16? = nil) throws(NetworkError) {
    if let port, port != 0 {
      sockets = try Self.bind(interfaces, port: port)
      self.port = port
      return
    }
    // The system picks one for the first address; another process may have it on the next address.
    for _ in 0..<64 {
      do throws(NetworkError) {
        let sockets = try Self.bind(interfaces, port: 0)
        self.sockets = sockets
        self.port = sockets.first?.local.port ?? 0
        return
      } catch .portInUse {
        continue
      }
    }
    throw .noFreePort
  }

  /// Opens on the interfaces that are selected.
  public init(_ selection: InterfaceSelection = .loopback, port: UInt16? = nil) throws(NetworkError) {
    try self.init(try NetworkInterfaces.select(selection), port: port)
  }

  /// Closes sockets that were not handed to a transport.
  public func close() {
    for socket in sockets { _ = Glibc.close(socket.descriptor) }
  }

  private static func bind(_ interfaces: [NetworkInterface], port: UInt16) throws(NetworkError) -> [BoundSocket] {
    var sockets: [BoundSocket] = []
    var port = port
    do throws(NetworkError) {
      for interface in interfaces {
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

/// Linux socket options that Glibc's module lacks.
enum SystemNumber {
  static let ipMulticastAll: CInt = 49
  static let ipUnicastInterface: CInt = 50
  static let ipv6MulticastAll: CInt = 29
  static let ipv6UnicastInterface: CInt = 76
  static let memoryInformation: CInt = 55
}
