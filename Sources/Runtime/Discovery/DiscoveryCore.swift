internal import Logging
internal import MatterCrypto
internal import MatterProtocol
internal import NIOCore

/// Drives the responder and the browser. Confined to its event loop.
final class DiscoveryCore {
  private let eventLoop: any EventLoop
  private let logger: Logger
  private var responder: DNSResponder
  private var browser: DNSBrowser
  private let sockets: [DatagramSocket]
  private let direct: [DatagramSocket]
  private let registry: DirectRegistry?
  private var searches: [BrowseID: Search] = [:]
  private var ids: [ServiceDiscovery.Browse: BrowseID] = [:]
  private var isPumping = false
  private var isClosed = false
  private var timer: LazyTimer?
  /// Datagrams that did not come from the link, and those that are no DNS messages.
  private(set) var droppedDatagrams = 0

  private struct Search {
    let owner: any EventLoop
    let handler: @Sendable (ServiceDiscovery.Event) -> Void
    var reported: [MatterService.Kind: Reported] = [:]
  }

  /// A service as it was told, and as it was heard on each interface.
  private struct Reported {
    var told: MatterService?
    var heard: [InterfaceID: MatterService] = [:]
  }

  private static let datagramSize = 9216

  init(_ sockets: DiscoverySockets, on eventLoop: any EventLoop, logger: Logger) {
    self.eventLoop = eventLoop
    self.logger = logger
    registry = sockets.registry
    responder = DNSResponder(random: SystemRandomSource())
    var options = DNSBrowser.Options()
    options.interfaces = sockets.addresses.keys.sorted()
    browser = DNSBrowser(random: SystemRandomSource(), options: options)
    self.sockets = sockets.multicast.map {
      DatagramSocket($0, on: eventLoop, datagramSize: Self.datagramSize, batch: 4)
    }
    direct = (sockets.direct?.sockets ?? []).map {
      DatagramSocket($0, on: eventLoop, datagramSize: Self.datagramSize, batch: 4)
    }
    timer = LazyTimer(on: eventLoop) { [weak self] in self?.fired() }
    for socket in self.sockets {
      let interface = socket.interface
      socket.onDatagram = { [weak self] in self?.received($0, from: $1, on: interface.id, interface) }
    }
    for socket in direct {
      let interface = socket.interface
      socket.onDatagram = { [weak self] in self?.received($0, from: $1, on: .direct, interface) }
    }
    responder.setInterfaces(sockets.addresses, at: HostClock.now())
  }

  // MARK: - What is asked for

  func publish(_ service: MatterService) {
    responder.publish(service, at: HostClock.now())
    pump()
  }

  func withdraw(_ service: MatterService, silently: Bool) {
    responder.withdraw(service.kind, silently: silently, at: HostClock.now())
    pump()
  }

  func browse(
    _ query: DiscoveryQuery, as browse: ServiceDiscovery.Browse, on owner: any EventLoop,
    _ handler: @escaping @Sendable (ServiceDiscovery.Event) -> Void
  ) {
    let id = browser.browse(query, at: HostClock.now())
    ids[browse] = id
    searches[id] = Search(owner: owner, handler: handler)
    pump()
  }

  func stop(_ browse: ServiceDiscovery.Browse) {
    guard let id = ids.removeValue(forKey: browse) else { return }
    browser.stop(id)
    searches[id] = nil
    pump()
  }

  func queryAgain() {
    browser.queryAgain(at: HostClock.now())
    pump()
  }

  func close() {
    if isClosed { return }
    responder.withdrawAll(at: HostClock.now())
    pump()
    isClosed = true
    timer?.cancel()
    for socket in sockets + direct { socket.close() }
    registry?.close()
    searches = [:]
  }

  // MARK: - What happens

  private func received(
    _ bytes: [UInt8], from source: MatterProtocol.SocketAddress, on id: InterfaceID, _ interface: NetworkInterface
  ) {
    // Only the link is listened to. RFC 6762 § 11. What comes in on loopback is from this host, whatever its address.
    let isNear =
      interface.isLoopback || source.ip.isLinkLocal || interface.addresses.contains { $0.contains(source.ip) }
    guard isNear, !isClosed else {
      droppedDatagrams += 1
      return
    }
    do throws(DNSError) {
      let message = try DNSMessage(bytes)
      let now = HostClock.now()
      responder.handle(message, from: source, on: id, at: now)
      browser.handle(message, from: source, on: id, at: now)
    } catch {
      droppedDatagrams += 1
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

  /// Carries out what the engines want until they want nothing more.
  private func pump() {
    if isPumping || isClosed { return }
    isPumping = true
    var peers: [[MatterProtocol.SocketAddress]]?
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
        if case .conflict(let kind) = event { logger.warning("another host on the network uses the name of \(kind)") }
        isBusy = true
      }
      while let event = browser.nextEvent() {
        tell(event)
        isBusy = true
      }
    }
    isPumping = false
    timer?.arm(.earlier(responder.nextDeadline, browser.nextDeadline))
  }

  // MARK: - Sending

  private func send(_ output: DNSOutput, _ peers: inout [[MatterProtocol.SocketAddress]]?) {
    switch output.destination {
    case .unicast(let destination, let interface):
      let candidates = interface == .direct ? direct : sockets.filter { $0.interface.id == interface }
      candidates.first { $0.local.ip.isIPv6 == destination.ip.isIPv6 }?.send(output.bytes, to: destination)
    case .multicast(let interface, let isIPv6):
      let bytes = interface == .direct ? output.bytes : Self.askingAll(output.bytes)
      for socket in sockets {
        if let interface, socket.interface.id != interface { continue }
        if let isIPv6, socket.local.ip.isIPv6 != isIPv6 { continue }
        // The group's address is what the socket is bound to.
        socket.send(bytes, to: socket.local)
      }
      if interface == nil || interface == .direct { sendDirect(output.bytes, isIPv6, &peers) }
    case .direct: sendDirect(output.bytes, nil, &peers)
    }
  }

  /// Sends to each process in the registry, once, whichever family it is meant for.
  private func sendDirect(_ bytes: [UInt8], _ isIPv6: Bool?, _ peers: inout [[MatterProtocol.SocketAddress]]?) {
    guard let socket = direct.first, isIPv6 == nil || isIPv6 == socket.local.ip.isIPv6 else { return }
    let known = peers ?? registry?.peers() ?? []
    peers = known
    for peer in known {
      if let address = peer.first(where: { $0.ip.isIPv6 == socket.local.ip.isIPv6 }) { socket.send(bytes, to: address) }
    }
  }

  /// A query without the wish for a unicast answer: port 5353 is shared, and such an answer would come to any of those
  /// who share it. RFC 6762 § 15.1.
  private static func askingAll(_ bytes: [UInt8]) -> [UInt8] {
    do throws(DNSError) {
      var message = try DNSMessage(bytes)
      guard !message.isResponse, message.questions.contains(where: \.wantsUnicast) else { return bytes }
      for index in message.questions.indices { message.questions[index].wantsUnicast = false }
      return message.encoded(limit: DNSMessage.maximumSize)
    } catch {
      return bytes
    }
  }

  // MARK: - Telling

  /// Tells a service once, with all its addresses, on however many interfaces it was heard.
  private func tell(_ event: BrowseEvent) {
    switch event {
    case .found(let id, let service, let interface), .updated(let id, let service, let interface):
      update(id, service.kind) { reported in
        reported.heard[interface] = service
        return service
      }
    case .lost(let id, let service, let interface):
      update(id, service.kind) { reported in
        reported.heard[interface] = nil
        return reported.heard.min { $0.key < $1.key }?.value
      }
    }
  }

  /// - Parameter change: notes what was heard, and gives the service as it is now, nil when it is gone.
  private func update(_ id: BrowseID, _ kind: MatterService.Kind, _ change: (inout Reported) -> MatterService?) {
    guard var reported = searches[id]?.reported[kind] ?? (searches[id] == nil ? nil : Reported()) else { return }
    let told = reported.told
    if var service = change(&reported) {
      for other in reported.heard.sorted(by: { $0.key < $1.key }) {
        for address in other.value.addresses where !service.addresses.contains(address) {
          service.addresses.append(address)
        }
      }
      reported.told = service
      searches[id]?.reported[kind] = reported
      // The order of the addresses says nothing.
      if told.map({ Self.isSame($0, service) }) ?? false { return }
      deliver(.found(service), to: id)
    } else {
      searches[id]?.reported[kind] = nil
      if let told { deliver(.lost(told), to: id) }
    }
  }

  private static func isSame(_ left: MatterService, _ right: MatterService) -> Bool {
    var left = left
    var right = right
    guard Set(left.addresses) == Set(right.addresses) else { return false }
    left.addresses = []
    right.addresses = []
    return left == right
  }

  private func deliver(_ event: ServiceDiscovery.Event, to id: BrowseID) {
    guard let search = searches[id] else { return }
    if search.owner.inEventLoop {
      search.handler(event)
    } else {
      search.owner.execute { search.handler(event) }
    }
  }
}
