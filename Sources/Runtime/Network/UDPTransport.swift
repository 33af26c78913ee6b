public import MatterProtocol
public import NIOCore

/// The datagrams of one node, on all of its sockets. Confined to its event loop.
public final class UDPTransport: DatagramTransport {
  /// What was lost on this side of the network, by reason.
  public struct Counters: Hashable, Sendable {
    /// No interface that was chosen leads there.
    public var unreachable = 0
    /// The system refused.
    public var failed = 0
    /// Came in faster than it was read, and was thrown away by the system.
    public var overflowed = 0
    /// Came from an address that is none.
    public var unknownSource = 0

    public init(unreachable: Int = 0, failed: Int = 0, overflowed: Int = 0, unknownSource: Int = 0) {
      (self.unreachable, self.failed) = (unreachable, failed)
      (self.overflowed, self.unknownSource) = (overflowed, unknownSource)
    }

    mutating func add(_ socket: DatagramSocket) {
      failed += socket.sendFailures
      overflowed += socket.overflows
      unknownSource += socket.unknownSources
    }

    /// What came and got no further than the socket, by reason; what did not happen is left out.
    public var drops: [String: Int] {
      ["overflowed": overflowed, "unknownSource": unknownSource].filter { $0.value > 0 }
    }
  }

  public let eventLoop: any EventLoop
  public let port: UInt16
  private var sockets: [DatagramSocket]
  /// One for each interface that multicast can go out by.
  private var multicastSenders: [DatagramSocket] = []
  /// Listening for each multicast address, one for each of those interfaces.
  private var listeners: [IPAddress: [DatagramSocket]] = [:]
  /// The port that each multicast address is listened for at.
  private var groups: [IPAddress: UInt16] = [:]
  private var unreachable = 0
  /// What sockets counted that are closed since.
  private var past = Counters()
  private var isClosed = false
  /// Called for each datagram, on the loop.
  public var onDatagram: ((consuming [UInt8], MatterProtocol.SocketAddress) -> Void)? {
    didSet {
      for socket in sockets { socket.onDatagram = onDatagram }
      for socket in listeners.values.joined() { socket.onDatagram = onDatagram }
    }
  }

  /// Datagrams longer than this are cut off. Matter's are at most 1280 bytes. Matter Core § 4.4.4.
  static let datagramSize = 2048

  /// Takes over the sockets. To be called on the event loop.
  public init(_ bound: BoundSockets, on eventLoop: any EventLoop) {
    self.eventLoop = eventLoop
    port = bound.port
    sockets = bound.sockets.map {
      DatagramSocket($0, on: eventLoop, datagramSize: Self.datagramSize, batch: 16)
    }
    chooseSenders()
  }

  private func chooseSenders() {
    var senders: [DatagramSocket] = []
    for socket in sockets where MulticastRoute.fits(socket.local.ip, socket.interface) {
      guard let index = senders.firstIndex(where: { $0.interface.id == socket.interface.id }) else {
        senders.append(socket)
        continue
      }
      // A link-local source would not do for a receiver beyond the link.
      if senders[index].local.ip.isLinkLocal { senders[index] = socket }
    }
    multicastSenders = senders
  }

  // MARK: Multicast

  /// Takes in what is sent to an IPv6 multicast address on the interfaces that were chosen, and on no other.
  ///
  /// Each such address has a socket of its own, bound to it. Others may share the port, in this process and elsewhere: each of
  /// them gets its own copy, and unicast to the port is none of these sockets' business.
  /// - Returns: what went wrong, interface by interface.
  public func join(_ group: IPAddress, port: UInt16) -> [NetworkError] {
    groups[group] = port
    return listen(group, port: port)
  }

  /// Listens on those interfaces where it does not yet, and no longer on those that are gone.
  private func listen(_ group: IPAddress, port: UInt16) -> [NetworkError] {
    var failures: [NetworkError] = []
    let wanted = multicastSenders.map(\.interface)
    var opened: [DatagramSocket] = []
    for socket in listeners[group] ?? [] {
      if wanted.contains(where: { $0.id == socket.interface.id }) { opened.append(socket) } else { retire(socket) }
    }
    for interface in wanted where !opened.contains(where: { $0.interface.id == interface.id }) {
      do throws(NetworkError) {
        let bound = try BoundSocket.listener(group, port: port, on: interface)
        let socket = DatagramSocket(bound, on: eventLoop, datagramSize: Self.datagramSize, batch: 4)
        socket.onDatagram = onDatagram
        opened.append(socket)
      } catch {
        failures.append(error)
      }
    }
    listeners[group] = opened
    return failures
  }

  public func leave(_ group: IPAddress) {
    groups[group] = nil
    for socket in listeners.removeValue(forKey: group) ?? [] { retire(socket) }
  }

  public var addresses: [MatterProtocol.SocketAddress] { sockets.map(\.local) }

  public var counters: Counters {
    var counters = past
    counters.unreachable = unreachable
    for socket in sockets { counters.add(socket) }
    for socket in listeners.values.joined() { counters.add(socket) }
    return counters
  }

  /// Closes a socket, and keeps what it counted.
  private func retire(_ socket: DatagramSocket) {
    past.add(socket)
    socket.close()
  }

  // MARK: Interfaces that come and go

  /// Opens sockets for addresses that are new, on the same port, and closes those of addresses that are gone. An address that
  /// can't be used yet is tried again with the next call.
  /// - Parameter interfaces: all that the node may use, as they are now.
  /// - Returns: what went wrong.
  public func follow(_ interfaces: [NetworkInterface]) -> [NetworkError] {
    if isClosed { return [] }
    var failures: [NetworkError] = []
    var kept: [DatagramSocket] = []
    for interface in interfaces {
      for address in interface.addresses {
        if let socket = sockets.first(where: { $0.local.ip == address.ip && $0.interface.id == interface.id }) {
          socket.interface = interface
          kept.append(socket)
          continue
        }
        do throws(NetworkError) {
          guard let bound = try BoundSocket.unicast(address.ip, port: port, on: interface) else { continue }
          let socket = DatagramSocket(bound, on: eventLoop, datagramSize: Self.datagramSize, batch: 16)
          socket.onDatagram = onDatagram
          kept.append(socket)
        } catch {
          failures.append(error)
        }
      }
    }
    for socket in sockets where !kept.contains(where: { $0 === socket }) {
      retire(socket)
    }
    sockets = kept
    chooseSenders()
    for (group, port) in groups.sorted(by: { "\($0.key)" < "\($1.key)" }) { failures += listen(group, port: port) }
    return failures
  }

  /// Sends a datagram from the socket that the destination calls for; dropped and counted where there is none. To a multicast
  /// address it goes out once on each interface.
  public func send(_ bytes: [UInt8], to destination: MatterProtocol.SocketAddress) {
    if destination.ip.isMulticast {
      if multicastSenders.isEmpty { unreachable += 1 }
      for socket in multicastSenders {
        let group = MulticastRoute.address(of: destination.ip, on: socket.interface)
        socket.send(bytes, to: MatterProtocol.SocketAddress(group, port: destination.port))
      }
      return
    }
    guard let socket = socket(for: destination.ip) else {
      unreachable += 1
      return
    }
    socket.send(bytes, to: destination)
  }

  public func close() {
    isClosed = true
    onDatagram = nil
    for socket in sockets { socket.close() }
    for socket in listeners.values.joined() { retire(socket) }
    listeners = [:]
  }

  /// Loopback to loopback; a link-local address by its scope; else the socket of the subnet, else the first that isn't
  /// loopback or link-local: the way to the router.
  private func socket(for ip: IPAddress) -> DatagramSocket? {
    var fallback: DatagramSocket?
    for socket in sockets {
      let local = socket.local.ip
      guard local.isIPv6 == ip.isIPv6, socket.interface.isLoopback == ip.isLoopback else { continue }
      if ip.isLoopback { return socket }
      if ip.isLinkLocal {
        guard local.isLinkLocal else { continue }
        if case .v6(_, _, let scope) = ip, scope != socket.interface.index { continue }
        return socket
      }
      if local.isLinkLocal { continue }
      if socket.interface.addresses.contains(where: { $0.ip == local && $0.contains(ip) }) { return socket }
      if fallback == nil { fallback = socket }
    }
    return fallback
  }
}
