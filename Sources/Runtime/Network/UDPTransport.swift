public import MatterProtocol
public import NIOCore

/// The datagrams of one node, on all of its sockets. Confined to its event loop.
public final class UDPTransport: DatagramTransport {
  /// Datagrams dropped on this host, by reason.
  public struct Counters: Hashable, Sendable {
    /// No selected interface leads to the destination.
    public var unreachable = 0
    /// The system refused to send.
    public var failed = 0
    /// The receive buffer was full.
    public var overflowed = 0
    /// The source address was not valid.
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

    /// Received datagrams that were dropped at the socket, by reason, without zero counts.
    public var drops: [String: Int] {
      ["overflowed": overflowed, "unknownSource": unknownSource].filter { $0.value > 0 }
    }
  }

  public let eventLoop: any EventLoop
  public let port: UInt16
  private var sockets: [DatagramSocket]
  /// One socket for each interface that multicast can be sent on.
  private var multicastSenders: [DatagramSocket] = []
  /// The sockets of each multicast group, one for each of those interfaces.
  private var listeners: [IPAddress: [DatagramSocket]] = [:]
  /// The port of each multicast group.
  private var groups: [IPAddress: UInt16] = [:]
  private var unreachable = 0
  /// The counters of closed sockets.
  private var closedCounters = Counters()
  private var isClosed = false
  /// Called for each datagram, on the loop.
  public var onDatagram: ((consuming [UInt8], MatterProtocol.SocketAddress) -> Void)? {
    didSet {
      for socket in sockets { socket.onDatagram = onDatagram }
      for socket in listeners.values.joined() { socket.onDatagram = onDatagram }
    }
  }

  /// The maximum size of a datagram; longer ones are truncated. Matter's are at most 1280 bytes. Matter Core § 4.4.4.
  static let datagramSize = 2048

  /// Takes ownership of the sockets. To be called on the event loop.
  public init(_ bound: BoundSockets, on eventLoop: any EventLoop) {
    self.eventLoop = eventLoop
    port = bound.port
    sockets = bound.sockets.map {
      DatagramSocket($0, on: eventLoop, datagramSize: Self.datagramSize)
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
      // Replies could not leave the link with a link-local source.
      if senders[index].local.ip.isLinkLocal { senders[index] = socket }
    }
    multicastSenders = senders
  }

  // MARK: Multicast

  /// Joins an IPv6 multicast group on the selected interfaces only.
  ///
  /// Each group has its own socket, bound to the group's address. Other sockets may share the port, in this process and
  /// elsewhere: each receives its own copy, and unicast to the port does not reach these sockets.
  /// - Returns: the failures, by interface.
  public func join(_ group: IPAddress, port: UInt16) -> [NetworkError] {
    groups[group] = port
    return listen(group, port: port)
  }

  /// Opens the group's missing sockets and closes those on removed interfaces.
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
        let socket = DatagramSocket(bound, on: eventLoop, datagramSize: Self.datagramSize)
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

  public var addresses: [MatterProtocol.SocketAddress] { sockets.flatMap(\.locals) }

  public var counters: Counters {
    var counters = closedCounters
    counters.unreachable = unreachable
    for socket in sockets { counters.add(socket) }
    for socket in listeners.values.joined() { counters.add(socket) }
    return counters
  }

  /// Closes a socket and keeps its counters.
  private func retire(_ socket: DatagramSocket) {
    closedCounters.add(socket)
    socket.close()
  }

  // MARK: Interface changes

  /// Opens sockets for new addresses, on the same port, and closes those of removed addresses. An address that can't be
  /// used yet is retried with the next call.
  /// - Parameter interfaces: all interfaces that the node may use, with their current addresses.
  /// - Returns: the failures.
  public func follow(_ interfaces: [NetworkInterface]) -> [NetworkError] {
    if isClosed { return [] }
    var failures: [NetworkError] = []
    var kept: [DatagramSocket] = []
    for interface in interfaces {
      if let socket = sockets.first(where: { $0.local6 != nil && $0.interface.id == interface.id }) {
        socket.interface = interface
        kept.append(socket)
        continue
      }
      for address in interface.addresses {
        if let socket = sockets.first(where: { $0.local.ip == address.ip && $0.interface.id == interface.id }) {
          socket.interface = interface
          kept.append(socket)
          continue
        }
        do throws(NetworkError) {
          guard let bound = try BoundSocket.unicast(address.ip, port: port, on: interface) else { continue }
          let socket = DatagramSocket(bound, on: eventLoop, datagramSize: Self.datagramSize)
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

  /// Sends a datagram from the socket that matches the destination, or drops and counts it if none does. To a multicast
  /// group it is sent once on each interface.
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

  /// Returns the socket for a destination: loopback for loopback; by scope for a link-local address; otherwise the
  /// socket of the subnet, or else the first one that isn't loopback or link-local, which leads to the router.
  private func socket(for ip: IPAddress) -> DatagramSocket? {
    var fallback: DatagramSocket?
    for socket in sockets {
      let local = socket.local.ip
      guard socket.fits(ip), socket.interface.isLoopback == ip.isLoopback else { continue }
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
