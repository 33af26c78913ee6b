internal import Logging
internal import MatterCrypto
internal import MatterProtocol
internal import NIOCore

/// DNS-SD with Hearth's own responder and browser on its own sockets. Confined to its event loop.
final class BuiltinDiscovery: DiscoveryProvider {
  private let eventLoop: any EventLoop
  private let logger: Logger
  private var responder: DNSResponder
  private var browser: DNSBrowser
  private var sockets: [DatagramSocket]
  /// Set if Avahi serves the other interfaces.
  private let isForLoopbackOnly: Bool
  /// Sockets on ephemeral ports that send the first query of a search. Opened with the first search.
  private var queriers: [DatagramSocket] = []
  private let direct: [DatagramSocket]
  private let registry: DirectRegistry?
  /// A message to this process, whose arrival shows that loopback carries multicast.
  private let probe: [UInt8]
  private var hasMulticast = false
  private let onEvent: (ProviderEvent) -> Void
  private var ids: [ServiceDiscovery.Browse: BrowseID] = [:]
  private var browses: [BrowseID: ServiceDiscovery.Browse] = [:]
  private var isPumping = false
  private var isClosed = false
  private var timer: LazyTimer?
  /// The number of datagrams from beyond the link.
  private var offLink = 0
  /// The number of datagrams that are not DNS messages.
  private var malformed = 0
  /// The counters of closed sockets.
  private var closedCounters = UDPTransport.Counters()

  private static let datagramSize = 9216

  init(
    _ sockets: DiscoverySockets, isForLoopbackOnly: Bool = false, on eventLoop: any EventLoop, logger: Logger,
    _ onEvent: @escaping (ProviderEvent) -> Void
  ) {
    self.isForLoopbackOnly = isForLoopbackOnly
    self.eventLoop = eventLoop
    self.logger = logger
    self.onEvent = onEvent
    registry = sockets.registry
    var random = SystemRandomSource()
    let number: UInt64 = random.next()
    probe = DNSMessage(id: UInt16(truncatingIfNeeded: number)).encoded()
    responder = DNSResponder(random: SystemRandomSource())
    var options = DNSBrowser.Options()
    options.interfaces = sockets.addresses.keys.sorted()
    browser = DNSBrowser(random: SystemRandomSource(), options: options)
    self.sockets = sockets.multicast.map {
      DatagramSocket($0, on: eventLoop, datagramSize: Self.datagramSize)
    }
    direct = (sockets.direct?.sockets ?? []).map {
      DatagramSocket($0, on: eventLoop, datagramSize: Self.datagramSize)
    }
    timer = LazyTimer(on: eventLoop) { [weak self] in self?.fired() }
    for socket in self.sockets { listen(socket) }
    for socket in direct {
      let interface = socket.interface
      socket.onDatagram = { [weak self] in self?.received($0, from: $1, on: .direct, interface) }
    }
    noteFamilies()
    responder.setInterfaces(sockets.addresses, at: HostClock.now())
    if registry != nil {
      for socket in self.sockets where socket.interface.isLoopback { socket.send(probe, to: socket.local) }
    }
  }

  /// Saves announcements that no socket would send.
  private func noteFamilies() {
    var families: [InterfaceID: Set<IPFamily>] = [:]
    for socket in sockets { families[socket.interface.id, default: []].insert(socket.local.ip.family) }
    if let family = direct.first?.local.ip.family { families[.direct] = [family] }
    responder.options.onlyFamilies = families.compactMapValues { $0.count == 1 ? $0.first : nil }
  }

  private func listen(_ socket: DatagramSocket) {
    socket.onDatagram = { [weak self, weak socket] bytes, source in
      guard let interface = socket?.interface else { return }
      self?.received(bytes, from: source, on: interface.id, interface)
    }
  }

  // MARK: - Interface changes

  func follow(_ interfaces: [NetworkInterface]) {
    if isClosed { return }
    let wanted = isForLoopbackOnly ? interfaces.filter(\.isLoopback) : interfaces
    var kept: [DatagramSocket] = []
    var isNew = false
    for interface in wanted {
      for isIPv6 in MulticastRoute.families(on: interface) {
        let known = sockets.first { $0.interface.id == interface.id && $0.local.ip.isIPv6 == isIPv6 }
        if let known, isIPv6 || Self.addresses4(known.interface) == Self.addresses4(interface) {
          known.interface = interface
          kept.append(known)
          continue
        }
        do throws(NetworkError) {
          let socket = DatagramSocket(
            try .multicast(on: interface, isIPv6: isIPv6), on: eventLoop, datagramSize: Self.datagramSize)
          listen(socket)
          kept.append(socket)
          isNew = true
        } catch {
          logger.info("no multicast DNS over \(isIPv6 ? "IPv6" : "IPv4") on \(interface.name): \(error)")
        }
      }
    }
    for socket in sockets where !kept.contains(where: { $0 === socket }) {
      for closed in [socket, openQuerier(beside: socket)].compactMap({ $0 }) {
        closedCounters.add(closed)
        closed.close()
        queriers.removeAll { $0 === closed }
      }
    }
    sockets = kept
    var addresses: [InterfaceID: [IPAddress]] = [:]
    for socket in kept { addresses[socket.interface.id] = socket.interface.addresses.map(\.ip) }
    addresses[.direct] = responder.interfaces[.direct]
    browser.options.interfaces = addresses.keys.sorted()
    noteFamilies()
    responder.setInterfaces(addresses, at: HostClock.now())
    if isNew { browser.queryAgain(at: HostClock.now()) }
    pump()
  }

  /// The addresses that an IPv4 socket was configured with.
  private static func addresses4(_ interface: NetworkInterface) -> [IPAddress] {
    interface.addresses.map(\.ip).filter { !$0.isIPv6 }
  }

  // MARK: - Requests

  func publish(_ service: MatterService) {
    responder.publish(service, at: HostClock.now())
    pump()
  }

  func withdraw(_ service: MatterService, silently: Bool) {
    responder.withdraw(service.kind, silently: silently, at: HostClock.now())
    pump()
  }

  func browse(_ query: DiscoveryQuery, as browse: ServiceDiscovery.Browse) {
    let id = browser.browse(query, at: HostClock.now())
    ids[browse] = id
    browses[id] = browse
    pump()
  }

  func stop(_ browse: ServiceDiscovery.Browse) {
    guard let id = ids.removeValue(forKey: browse) else { return }
    browser.stop(id)
    browses[id] = nil
    pump()
  }

  func close() {
    if isClosed { return }
    responder.withdrawAll(at: HostClock.now())
    pump()
    isClosed = true
    timer?.cancel()
    for socket in sockets + queriers + direct { socket.close() }
    registry?.close()
    browses = [:]
  }

  // MARK: - Input

  private func received(
    _ bytes: [UInt8], from source: MatterProtocol.SocketAddress, on id: InterfaceID, _ interface: NetworkInterface
  ) {
    // Only sources on the link are accepted, RFC 6762 § 11. Everything received on loopback is from this host.
    let isOnLink =
      interface.isLoopback || source.ip.isLinkLocal || interface.addresses.contains { $0.contains(source.ip) }
    if isClosed { return }
    if interface.isLoopback, !hasMulticast, bytes == probe {
      hasMulticast = true
      registry?.noteMulticast()
      return
    }
    guard isOnLink else {
      offLink += 1
      return
    }
    do throws(DNSError) {
      let message = try DNSMessage(bytes)
      let now = HostClock.now()
      responder.handle(message, from: source, on: id, at: now)
      browser.handle(message, from: source, on: id, at: now)
    } catch {
      malformed += 1
    }
    pump()
  }

  private func fired() {
    if isClosed { return }
    let now = HostClock.now()
    responder.advance(to: now)
    browser.advance(to: now)
    pump()
  }

  /// Performs the outputs and reports the events of both engines until none are left.
  private func pump() {
    if isPumping || isClosed { return }
    isPumping = true
    var peers: [DirectRegistry.Peer]?
    var isBusy = true
    while isBusy {
      isBusy = false
      while let output = responder.nextOutput() {
        send(output, &peers)
        isBusy = true
      }
      while let output = browser.nextOutput() {
        send(output, &peers)
        isBusy = true
      }
      while let event = responder.nextEvent() {
        switch event {
        case .conflict(let kind): onEvent(.conflict(kind))
        case .hostConflict(let name, let kinds): onEvent(.hostConflict(name, kinds))
        }
        isBusy = true
      }
      while let event = browser.nextEvent() {
        report(event)
        isBusy = true
      }
    }
    isPumping = false
    timer?.arm(.earlier(responder.nextDeadline, browser.nextDeadline))
  }

  /// Dropped input by reason. `notOrdinary` counts messages with an opcode or a response code, `overloaded` queries
  /// above the rate limit, and `cacheFull` records of services beyond the capacity of the cache.
  var drops: [String: Int] {
    var counters = closedCounters
    for socket in sockets + queriers + direct { counters.add(socket) }
    let own = [
      "offLink": offLink, "malformed": malformed, "notOrdinary": responder.counters.notOrdinary,
      "overloaded": responder.counters.overloaded, "cacheFull": browser.counters.overflowed,
    ]
    return own.filter { $0.value > 0 }.merging(counters.drops) { $0 + $1 }
  }

  // MARK: - Sending

  private func send(_ output: DNSOutput, _ peers: inout [DirectRegistry.Peer]?) {
    switch output.destination {
    case .unicast(let destination, let interface):
      let candidates = interface == .direct ? direct : sockets.filter { $0.interface.id == interface }
      candidates.first { $0.fits(destination.ip) }?.send(output.bytes, to: destination)
    case .multicast(let interface, let isIPv6):
      let (bytes, wantsUnicast) =
        interface == .direct ? (output.bytes, false) : Self.withoutUnicastResponse(output.bytes)
      for socket in sockets {
        if let interface, socket.interface.id != interface { continue }
        if let isIPv6, socket.local.ip.isIPv6 != isIPv6 { continue }
        // The socket is bound to the group's address.
        socket.send(bytes, to: socket.local)
        if wantsUnicast { querier(beside: socket)?.send(bytes, to: socket.local) }
      }
      if interface == nil || interface == .direct { sendDirect(output.bytes, isIPv6, &peers) }
    case .direct: sendDirect(output.bytes, nil, &peers)
    }
  }

  /// Sends once to each process in the registry that multicast may not reach, for either family.
  private func sendDirect(_ bytes: [UInt8], _ isIPv6: Bool?, _ peers: inout [DirectRegistry.Peer]?) {
    guard let socket = direct.first, isIPv6 == nil || isIPv6 == socket.local.ip.isIPv6 else { return }
    let known = peers ?? registry?.peers() ?? []
    peers = known
    for peer in known where !(hasMulticast && peer.hasMulticast) {
      if let address = peer.addresses.first(where: { $0.ip.isIPv6 == socket.local.ip.isIPv6 }) {
        socket.send(bytes, to: address)
      }
    }
  }

  /// Returns a query without the unicast-response bit, and whether to send it from an ephemeral port as well. Port 5353
  /// is shared, and a unicast response could arrive at any of its sockets (RFC 6762 § 15.1). At an ephemeral port it is
  /// certain to arrive, and at once: responders must not delay it (§ 6.7). Such a query must not contain known answers.
  private static func withoutUnicastResponse(_ bytes: [UInt8]) -> (bytes: [UInt8], wantsUnicast: Bool) {
    if DNSMessage.isResponse(bytes) { return (bytes, false) }
    do throws(DNSError) {
      var message = try DNSMessage(bytes)
      guard message.questions.contains(where: \.wantsUnicast) else { return (bytes, false) }
      for index in message.questions.indices { message.questions[index].wantsUnicast = false }
      return (message.encoded(limit: DNSMessage.maximumSize), message.answers.isEmpty && !message.isTruncated)
    } catch {
      return (bytes, false)
    }
  }

  private func openQuerier(beside socket: DatagramSocket) -> DatagramSocket? {
    queriers.first {
      $0.interface.id == socket.interface.id && $0.local.ip.isIPv6 == socket.local.ip.isIPv6
    }
  }

  private func querier(beside socket: DatagramSocket) -> DatagramSocket? {
    if let open = openQuerier(beside: socket) { return open }
    do throws(NetworkError) {
      let opened = DatagramSocket(
        try .multicast(on: socket.interface, isIPv6: socket.local.ip.isIPv6, isShared: false), on: eventLoop,
        datagramSize: Self.datagramSize)
      listen(opened)
      queriers.append(opened)
      return opened
    } catch {
      logger.debug("no port for queries on \(socket.interface.name): \(error)")
      return nil
    }
  }

  // MARK: - Reporting

  private func report(_ event: BrowseEvent) {
    switch event {
    case .found(let id, let service, let interface), .updated(let id, let service, let interface):
      if let browse = browses[id] { onEvent(.found(browse, service, on: interface)) }
    case .lost(let id, let service, let interface):
      if let browse = browses[id] { onEvent(.lost(browse, service.kind, on: interface)) }
    }
  }
}
