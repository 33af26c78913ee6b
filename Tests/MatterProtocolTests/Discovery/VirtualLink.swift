import MatterCrypto

@testable import MatterProtocol

/// A network link in virtual time, with packet loss. Each host has a responder and a browser.
struct VirtualLink {
  struct Host {
    var responder: DNSResponder
    var browser: DNSBrowser
    let v4: IPAddress
    let v6: IPAddress
    var events: [BrowseEvent] = []
    /// The source of new host names after a conflict; nil leaves conflicts to the test.
    var names: SeededRandomSource?
    var conflicts: [DNSResponder.Event] = []
  }
  struct Packet {
    let at: Instant
    let host: Int
    let bytes: [UInt8]
    let from: SocketAddress
  }
  /// A sent packet.
  struct Sent {
    let at: Instant
    let host: Int
    let output: DNSOutput
    var message: DNSMessage? { try? DNSMessage(output.bytes) }
  }

  static let interface = InterfaceID(7)
  var now = Instant.zero
  var hosts: [Host] = []
  var sent: [Sent] = []
  private var flying: [Packet] = []
  private var random: SeededRandomSource
  /// The percentage of lost packets.
  var lossPercent: UInt64 = 0
  /// Whether multicast packets are delivered.
  var hasMulticast = true

  init(
    hosts count: Int, seed: UInt64 = 1, responder: DNSResponder.Options = .init(), browser: DNSBrowser.Options = .init()
  ) {
    random = SeededRandomSource(seed: seed)
    for number in 0..<count {
      let v4 = IPAddress.v4(0x0A00_0001 + UInt32(number))
      let v6 = IPAddress.v6(
        high: 0xFE80_0000_0000_0000, low: 1 + UInt64(number), scope: Self.interface.rawValue)
      var host = Host(
        responder: DNSResponder(random: SeededRandomSource(seed: seed + 1000 + UInt64(number)), options: responder),
        browser: DNSBrowser(random: SeededRandomSource(seed: seed + 2000 + UInt64(number)), options: browser),
        v4: v4, v6: v6)
      host.responder.setInterfaces([Self.interface: [v4, v6]], at: now)
      hosts.append(host)
    }
  }

  private mutating func transmit(_ output: DNSOutput, from host: Int) {
    sent.append(Sent(at: now, host: host, output: output))
    switch output.destination {
    case .multicast(_, let isIPv6):
      guard hasMulticast else { return }
      for other in hosts.indices {
        if isIPv6 != true { fly(output.bytes, to: other, from: SocketAddress(hosts[host].v4, port: 5353)) }
        if isIPv6 != false { fly(output.bytes, to: other, from: SocketAddress(hosts[host].v6, port: 5353)) }
      }
    case .unicast(let address, _):
      for other in hosts.indices where hosts[other].v4 == address.ip || hosts[other].v6 == address.ip {
        fly(output.bytes, to: other, from: SocketAddress(hosts[host].v4, port: 5353))
      }
    case .direct:
      for other in hosts.indices {
        fly(output.bytes, to: other, from: SocketAddress(hosts[host].v4, port: 40_000 + UInt16(host)))
      }
    }
  }

  private mutating func fly(_ bytes: [UInt8], to host: Int, from: SocketAddress) {
    let word: UInt64 = random.next()
    if word % 100 < lossPercent { return }
    flying.append(Packet(at: now + .milliseconds(1), host: host, bytes: bytes, from: from))
  }

  private mutating func drain() {
    for index in hosts.indices {
      while let output = hosts[index].responder.nextOutput() { transmit(output, from: index) }
      while let output = hosts[index].browser.nextOutput() { transmit(output, from: index) }
      while let event = hosts[index].browser.nextEvent() { hosts[index].events.append(event) }
      if hosts[index].names != nil, moveHosts(of: index) { return drain() }
    }
  }

  /// Renames a host after a conflict, as a device does. Returns whether it was renamed.
  private mutating func moveHosts(of index: Int) -> Bool {
    var hasMoved = false
    while let event = hosts[index].responder.nextEvent() {
      hosts[index].conflicts.append(event)
      guard case .hostConflict(let name, _) = event, var names = hosts[index].names else { continue }
      let another = MatterService.hostName(drawnFrom: &names)
      hosts[index].names = names
      for var service in hosts[index].responder.published where service.hostName == name {
        service.hostName = another
        hosts[index].responder.publish(service, at: now)
      }
      hasMoved = true
    }
    return hasMoved
  }

  /// Runs until `end`, or until `done` is true after some step.
  mutating func run(until end: Instant, _ done: (VirtualLink) -> Bool = { _ in false }) {
    drain()
    var steps = 0
    while !done(self) {
      var next = flying.first?.at
      for host in hosts {
        next = .earlier(next, .earlier(host.responder.nextDeadline, host.browser.nextDeadline))
      }
      guard let next, next <= end else {
        now = end
        return
      }
      now = max(now, next)
      steps += 1
      if steps > 2_000_000 { return }
      let due = flying.prefix { $0.at <= now }
      flying.removeFirst(due.count)
      for packet in due {
        hosts[packet.host].responder.handle(packet: packet.bytes, from: packet.from, on: Self.interface, at: now)
        hosts[packet.host].browser.handle(packet: packet.bytes, from: packet.from, on: Self.interface, at: now)
        drain()
      }
      for index in hosts.indices {
        hosts[index].responder.advance(to: now)
        hosts[index].browser.advance(to: now)
      }
      drain()
    }
  }

  mutating func run(for duration: Duration, _ done: (VirtualLink) -> Bool = { _ in false }) {
    run(until: now + duration, done)
  }
}

extension MatterService {
  static func lamp(_ number: UInt64 = 1, discriminator: UInt16 = 3840, host: String? = nil) -> MatterService {
    var service = MatterService(
      kind: .commissionable(instance: 0xA000_0000_0000_0000 + number),
      hostName: host ?? MatterService.hostName(macAddress: 0x0200_0000_0000 + number), port: 5540)
    service.discriminator = discriminator
    service.commissioningMode = 1
    service.setVendor(0xFFF1, product: 0x8001)
    service.deviceType = 0x0101
    service.deviceName = "Lamp \(number)"
    service.idleInterval = .milliseconds(500)
    service.activeInterval = .milliseconds(300)
    return service
  }

  static func node(_ node: UInt64, fabric: UInt64 = 0x2906_C908_D115_D362) -> MatterService {
    var service = MatterService(
      kind: .operational(compressedFabricID: fabric, nodeID: node),
      hostName: MatterService.hostName(macAddress: 0x0200_0000_0000 + node), port: 5541)
    service.idleInterval = .seconds(5)
    service.activeInterval = .milliseconds(300)
    service.activeThreshold = .milliseconds(4000)
    return service
  }
}
