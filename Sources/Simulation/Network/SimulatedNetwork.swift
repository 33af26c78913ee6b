import MatterCrypto
import MatterProtocol

/// The ID of a host in a simulation, numbered from 0 in the order of creation.
public struct HostID: Hashable, Comparable, Sendable, CustomStringConvertible {
  public let rawValue: Int
  init(_ rawValue: Int) { self.rawValue = rawValue }
  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  public var description: String { "h\(rawValue)" }
}

/// Why a datagram was lost.
public enum LossReason: String, CaseIterable, Sendable {
  /// Dropped by the link's conditions.
  case link
  /// Selected by its number for fault injection.
  case picked
  case partition
  /// Longer than the payload of an IPv6 packet of 1280 bytes.
  case tooLong
  /// No host has the address.
  case noSuchAddress
  /// The receiver has no power.
  case powerOff
  /// Multicast that does not reach the receiver.
  case multicast
}

/// A datagram that did not reach its destination, with the reason.
public struct LostDatagram: Hashable, Sendable {
  /// The time of sending or of the missed arrival.
  public var at: Instant
  /// The name of a host or machine.
  public var sender: String
  /// The name of the receiver; nil for a group or an unassigned address.
  public var receiver: String?
  public var reason: LossReason

  init(at: Instant, sender: String, receiver: String?, reason: LossReason) {
    (self.at, self.sender, self.receiver, self.reason) = (at, sender, receiver, reason)
  }
}

/// A network that carries datagrams between hosts in virtual time, and loses, delays, duplicates and reorders them by
/// its seed and its conditions.
public struct SimulatedNetwork: Sendable {
  /// A datagram in flight. An object, since a heap moves its elements.
  final class Datagram: Sendable {
    let arrival: Instant
    /// Orders datagrams with the same arrival.
    let sequence: UInt64
    let packet: Int
    let from: SocketAddress
    let destination: SocketAddress
    let sender: HostID
    let receiver: HostID
    let bytes: [UInt8]

    init(
      arrival: Instant, sequence: UInt64, packet: Int, from: SocketAddress, destination: SocketAddress, sender: HostID,
      receiver: HostID, bytes: [UInt8]
    ) {
      (self.arrival, self.sequence, self.packet) = (arrival, sequence, packet)
      (self.from, self.destination, self.sender, self.receiver) = (from, destination, sender, receiver)
      self.bytes = bytes
    }
  }

  /// The payload of an IPv6 packet of 1280 bytes, which every link carries.
  public static let maximumDatagramSize = 1280 - 40 - 8

  /// The conditions of links without conditions of their own.
  public var conditions = LinkConditions.perfect {
    didSet { version += 1 }
  }
  /// The number of datagrams sent, which is the number of the next one. Duplicates have the number of the original.
  public private(set) var packetCount = 0
  /// The number of lost datagrams by reason.
  public private(set) var losses: [LossReason: Int] = [:]

  private var random: TracedRandomSource
  private var links: [Link: LinkConditions] = [:]
  /// When the transmission queue of a slow link is empty.
  private var busyUntil: [Link: Instant] = [:]
  private var cuts: Set<Link> = [] {
    didSet { version += 1 }
  }
  /// The network that each host is in, by name; other hosts are in the home's own. A router between networks forwards
  /// unicast, but neither multicast nor service discovery.
  public var networks: [HostID: String] = [:] {
    didSet { version += 1 }
  }
  /// Hosts without multicast: they send and receive neither service discovery nor groupcast.
  public var withoutMulticast: Set<HostID> = [] {
    didSet { version += 1 }
  }
  /// The address families of hosts that do not have both.
  private var families: [HostID: Set<IPFamily>] = [:] {
    didSet { version += 1 }
  }
  /// Incremented whenever reachability may have changed.
  private(set) var version = 0
  private var picked: Set<Int> = []
  private var addresses: [SocketAddress: HostID] = [:]
  /// The members of each multicast group.
  private var members: [IPAddress: Set<HostID>] = [:]
  /// The port of multicast, independent of the hosts' own ports.
  static let multicastPort: UInt16 = 5540
  private var inFlight = EventHeap<Datagram>()
  private(set) var nextSequence: UInt64 = 0

  private struct Link: Hashable {
    let from: HostID
    let to: HostID
  }

  /// Creates a network without hosts and with perfect links.
  /// - Parameter seed: the seed for losses, delays and duplicates.
  init(seed: UInt64) { self.init(seed: seed, DrawTally()) }

  init(seed: UInt64, _ draws: DrawTally) { random = TracedRandomSource(SeededRandomSource(seed: seed), draws) }

  // MARK: Faults

  /// Sets the conditions of the link from one host to another, and of the opposite direction unless `isSymmetric` is
  /// false.
  public mutating func set(
    _ conditions: LinkConditions?, from: HostID, to: HostID, isSymmetric: Bool = true
  ) {
    version += 1
    for link in [Link(from: from, to: to)] + (isSymmetric ? [Link(from: to, to: from)] : []) {
      links[link] = conditions
      if conditions == nil { busyUntil[link] = nil }
    }
  }

  /// Resets all links to ``conditions``.
  public mutating func forgetLinks() {
    version += 1
    links = [:]
    busyUntil = [:]
  }

  /// Drops the datagram with this number, counted from 0 in the order of sending.
  package mutating func drop(packet number: Int) { picked.insert(number) }

  /// Partitions a group of hosts from all others, until ``heal()``.
  public mutating func partition(_ group: [HostID], from others: [HostID]) {
    for host in group {
      for other in others where other != host {
        cuts.insert(Link(from: host, to: other))
        cuts.insert(Link(from: other, to: host))
      }
    }
  }

  /// Cuts one direction between two hosts, until ``heal()`` or ``mend(from:to:)``.
  public mutating func cut(from: HostID, to: HostID) { cuts.insert(Link(from: from, to: to)) }

  /// Restores one direction.
  public mutating func mend(from: HostID, to: HostID) { cuts.remove(Link(from: from, to: to)) }

  /// Removes all partitions.
  public mutating func heal() { cuts.removeAll() }

  /// Returns whether no partition separates one host from the other.
  func isConnected(_ from: HostID, to: HostID) -> Bool { !cuts.contains(Link(from: from, to: to)) }

  /// Returns whether datagrams of a size can get from one host to the other, by partitions and by the link's
  /// conditions.
  /// - Parameter size: the size in bytes; nil for that of the datagrams that keep a subscription.
  public func carries(_ size: Int? = nil, from: HostID, to: HostID) -> Bool {
    isConnected(from, to: to)
      && (links[Link(from: from, to: to)] ?? conditions).carries(size ?? LinkConditions.leastDatagramSize)
  }

  /// Returns whether multicast of one host reaches the other.
  func isMulticastReceived(_ from: HostID, by to: HostID) -> Bool {
    networks[from] == networks[to] && !withoutMulticast.contains(from) && !withoutMulticast.contains(to)
  }

  /// Returns the additional time of a service discovery packet over a link compared with a perfect one, or nil if it is
  /// lost. Makes no random draw if the loss is certain or impossible, nor for the time without jitter.
  mutating func packetDelay(from: HostID, to: HostID) -> Duration? {
    let conditions = links[Link(from: from, to: to)] ?? conditions
    guard !conditions.loss.happens(&random) else { return nil }
    return max(.zero, delay(conditions) - LinkConditions.perfect.latency)
  }

  // MARK: Hosts

  /// Whether a host has addresses of a family.
  func has(_ host: HostID, _ family: IPFamily) -> Bool { families[host]?.contains(family) ?? true }

  /// Returns whether two hosts have addresses of the same family.
  func shareFamily(_ one: HostID, _ other: HostID) -> Bool {
    switch (families[one], families[other]) {
    case (nil, nil): true
    case (let families?, nil), (nil, let families?): !families.isEmpty
    case (let families?, let others?): !families.isDisjoint(with: others)
    }
  }

  mutating func set(_ new: Set<IPFamily>, of host: HostID) {
    let new = new.count == IPFamily.allCases.count ? nil : new
    if families[host] != new { families[host] = new }
  }

  /// Returns whether a host receives datagrams for an address.
  func isReachable(_ host: HostID, at destination: SocketAddress) -> Bool {
    destination.ip.isMulticast ? has(host, destination.ip.family) : addresses[destination] == host
  }

  /// Returns the host with an address, or nil for a group.
  func host(at address: SocketAddress) -> HostID? { addresses[address] }

  mutating func attach(_ host: HostID, at address: SocketAddress) { addresses[address] = host }
  mutating func detach(_ address: SocketAddress) { addresses[address] = nil }

  mutating func join(_ group: IPAddress, _ host: HostID) { members[group, default: []].insert(host) }
  mutating func leave(_ group: IPAddress, _ host: HostID) { members[group]?.remove(host) }
  mutating func leaveAll(_ host: HostID) { for group in members.keys { members[group]?.remove(host) } }

  // MARK: Datagrams

  /// Sends a datagram.
  /// - Returns: its number, and the reason if it is lost.
  mutating func send(
    _ bytes: [UInt8], from sender: HostID, at address: SocketAddress, to destination: SocketAddress, at now: Instant
  ) -> (number: Int, loss: LossReason?) {
    let number = packetCount
    packetCount += 1
    guard bytes.count <= Self.maximumDatagramSize else { return lose(number, .tooLong) }
    if destination.ip.isMulticast {
      let receivers = members[destination.ip, default: []].filter { $0 != sender && has($0, destination.ip.family) }
        .sorted()
      guard !receivers.isEmpty, destination.port == Self.multicastPort else { return lose(number, .noSuchAddress) }
      guard receivers.contains(where: { isMulticastReceived(sender, by: $0) }) else { return lose(number, .multicast) }
      // Each member may receive it; it counts as lost if none does.
      let isPicked = picked.remove(number) != nil
      let losses = receivers.filter { isMulticastReceived(sender, by: $0) }.map {
        carry(bytes, number, isPicked, from: sender, at: address, to: $0, destination, at: now)
      }
      return losses.contains(nil) ? (number, nil) : lose(number, losses.first.flatMap(\.self) ?? .link)
    }
    guard let receiver = addresses[destination] else { return lose(number, .noSuchAddress) }
    let isPicked = picked.remove(number) != nil
    guard let loss = carry(bytes, number, isPicked, from: sender, at: address, to: receiver, destination, at: now)
    else {
      return (number, nil)
    }
    return lose(number, loss)
  }

  /// Queues a datagram for one receiver, or returns the reason of its loss.
  private mutating func carry(
    _ bytes: [UInt8], _ number: Int, _ isPicked: Bool, from sender: HostID, at address: SocketAddress,
    to receiver: HostID, _ destination: SocketAddress, at now: Instant
  ) -> LossReason? {
    let link = Link(from: sender, to: receiver)
    let conditions = links[link] ?? conditions
    // All draws are made regardless of the outcome, so that dropping one packet does not affect the others.
    let isLost = conditions.loss.happens(&random)
    let isDoubled = conditions.duplication.happens(&random)
    let isHeld = conditions.reordering.happens(&random)
    let first = delay(conditions) + (isHeld ? conditions.holding : .zero)
    let second = isDoubled ? delay(conditions) : nil
    if isPicked { return .picked }
    if cuts.contains(link) { return .partition }
    if conditions.maximumDatagramSize > 0, bytes.count > conditions.maximumDatagramSize { return .tooLong }
    if isLost { return .link }
    let start = queue(bytes.count, link, conditions, at: now)
    func insert(after delay: Duration) {
      inFlight.insert(
        Datagram(
          arrival: start + delay, sequence: nextSequence, packet: number, from: address, destination: destination,
          sender: sender, receiver: receiver, bytes: bytes))
      nextSequence += 1
    }
    insert(after: first)
    if let second { insert(after: second) }
    return nil
  }

  /// Returns when a link has transmitted a datagram that is queued now.
  private mutating func queue(_ size: Int, _ link: Link, _ conditions: LinkConditions, at now: Instant) -> Instant {
    guard conditions.bytesPerSecond > 0 else { return now }
    let end =
      max(now, busyUntil[link] ?? now) + .nanoseconds(Int64(size) * 1_000_000_000 / Int64(conditions.bytesPerSecond))
    busyUntil[link] = end
    return end
  }

  /// Counts a loss, also of datagrams in flight that meet a new partition or a host without power.
  mutating func lose(_ number: Int, _ reason: LossReason) -> (number: Int, loss: LossReason?) {
    losses[reason, default: 0] += 1
    return (number, reason)
  }

  private mutating func delay(_ conditions: LinkConditions) -> Duration {
    let span = max(0, conditions.jitter.nanoseconds / 1000)
    guard span > 0 else { return conditions.latency }
    return conditions.latency + .microseconds(Int64.random(in: 0...span, using: &random))
  }

  /// Returns the reason if a powered host does not receive a datagram that has arrived. Mutating, since reading the
  /// network of a world would copy it.
  mutating func lossOnArrival(of datagram: Datagram) -> LossReason? {
    if !isConnected(datagram.sender, to: datagram.receiver) { return .partition }
    return isReachable(datagram.receiver, at: datagram.destination) ? nil : .noSuchAddress
  }

  /// The next arrival of a datagram.
  var nextArrival: Instant? { inFlight.first?.arrival }

  /// Removes and returns the next datagram that has arrived.
  /// - Parameter end: excludes datagrams from this sequence number on.
  mutating func nextDatagram(at now: Instant, before end: UInt64 = .max) -> Datagram? {
    guard let first = inFlight.first, first.arrival <= now, first.sequence < end else { return nil }
    return inFlight.removeFirst()
  }
}

extension SimulatedNetwork.Datagram: Comparable {
  static func < (left: SimulatedNetwork.Datagram, right: SimulatedNetwork.Datagram) -> Bool {
    (left.arrival, left.sequence) < (right.arrival, right.sequence)
  }
  static func == (left: SimulatedNetwork.Datagram, right: SimulatedNetwork.Datagram) -> Bool {
    left.sequence == right.sequence
  }
}
