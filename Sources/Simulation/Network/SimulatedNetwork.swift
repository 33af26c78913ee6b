import MatterCrypto
import MatterProtocol

/// Names a host of a simulation; they are numbered from 0 in the order in which they were added.
public struct HostID: Hashable, Comparable, Sendable, CustomStringConvertible {
  public let rawValue: Int
  init(_ rawValue: Int) { self.rawValue = rawValue }
  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  public var description: String { "h\(rawValue)" }
}

/// Why a datagram did not arrive.
public enum LossReason: String, CaseIterable, Sendable {
  /// The link's conditions had it so.
  case link
  /// It was picked by its number.
  case picked
  case partition
  /// Longer than what fits an IPv6 packet of 1280 bytes.
  case tooLong
  /// Nobody has the address.
  case noSuchAddress
  /// The receiver has no power.
  case powerOff
  /// It was multicast, where that gets nowhere.
  case multicast
}

/// A datagram that did not arrive.
public struct LostDatagram: Hashable, Sendable {
  /// When it was sent, or should have arrived.
  public var at: Instant
  /// The name of a host or machine.
  public var sender: String
  /// Nil: a group, or an address that no host has.
  public var receiver: String?
  public var reason: LossReason

  public init(at: Instant, sender: String, receiver: String?, reason: LossReason) {
    (self.at, self.sender, self.receiver, self.reason) = (at, sender, receiver, reason)
  }
}

/// A network that carries datagrams between hosts in virtual time, and loses, delays, repeats and reorders them as its seed
/// and its conditions have it.
public struct SimulatedNetwork: Sendable {
  /// A datagram on its way.
  struct Datagram: Sendable {
    let arrival: Instant
    /// Keeps the order of those that arrive at one time.
    let sequence: UInt64
    let packet: Int
    let from: SocketAddress
    let destination: SocketAddress
    let sender: HostID
    let receiver: HostID
    let bytes: [UInt8]
  }

  /// What fits an IPv6 packet of 1280 bytes, which every link carries.
  public static let maximumDatagramSize = 1280 - 40 - 8

  /// How links are, of which nothing else is said.
  public var conditions = LinkConditions.perfect {
    didSet { version += 1 }
  }
  /// How many datagrams were sent; the next one gets this number. Duplicates have their original's.
  public private(set) var packetCount = 0
  /// How many arrive no more, by reason.
  public private(set) var losses: [LossReason: Int] = [:]

  private var random: TracedRandomSource
  private var links: [Link: LinkConditions] = [:]
  /// When a slow link is done with what was given to it.
  private var busyUntil: [Link: Instant] = [:]
  private var cuts: Set<Link> = [] {
    didSet { version += 1 }
  }
  /// Which of several networks hosts are in, by its name; those that are not named are in the home's own. There is a router
  /// between them: datagrams for one host pass it, multicast does not, nor does service discovery.
  public var places: [HostID: String] = [:] {
    didSet { version += 1 }
  }
  /// Hosts whose multicast gets nowhere: they neither see by service discovery nor are seen, and hear no groupcast.
  public var silent: Set<HostID> = [] {
    didSet { version += 1 }
  }
  /// Which addresses hosts have, of those that do not have both.
  private var families: [HostID: Set<IPFamily>] = [:] {
    didSet { version += 1 }
  }
  /// Another one whenever who reaches whom may be different.
  private(set) var version = 0
  private var picked: Set<Int> = []
  private var addresses: [SocketAddress: HostID] = [:]
  /// Who takes in what is sent to a multicast address.
  private var members: [IPAddress: Set<HostID>] = [:]
  /// Hosts listen for multicast on Matter's port alone, whatever their own is.
  static let multicastPort: UInt16 = 5540
  private var flying = EventHeap<Datagram>()
  private(set) var nextSequence: UInt64 = 0

  private struct Link: Hashable {
    let from: HostID
    let to: HostID
  }

  /// A network without hosts, whose links are perfect.
  /// - Parameter seed: of what its links lose, delay and repeat.
  public init(seed: UInt64) { self.init(seed: seed, DrawTally()) }

  init(seed: UInt64, _ draws: DrawTally) { random = TracedRandomSource(SeededRandomSource(seed: seed), draws) }

  // MARK: Faults

  /// Sets how datagrams from one host to another are treated, and those the other way round too unless told otherwise.
  public mutating func set(
    _ conditions: LinkConditions?, from: HostID, to: HostID, isSymmetric: Bool = true
  ) {
    version += 1
    for link in [Link(from: from, to: to)] + (isSymmetric ? [Link(from: to, to: from)] : []) {
      links[link] = conditions
      if conditions == nil { busyUntil[link] = nil }
    }
  }

  /// All links are as ``conditions`` has them.
  public mutating func forgetLinks() {
    version += 1
    links = [:]
    busyUntil = [:]
  }

  /// Loses the datagram of this number, counted from 0 in the order of sending.
  public mutating func drop(packet number: Int) { picked.insert(number) }

  /// Cuts a group of hosts off from all others, until ``heal()``.
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

  /// Undoes a cut of one direction.
  public mutating func mend(from: HostID, to: HostID) { cuts.remove(Link(from: from, to: to)) }

  /// Undoes all partitions.
  public mutating func heal() { cuts.removeAll() }

  /// Whether a datagram from one host could reach the other.
  public func isConnected(_ from: HostID, to: HostID) -> Bool { !cuts.contains(Link(from: from, to: to)) }

  /// Whether datagrams of so many bytes get from one host to the other, by the cuts and by the link's own conditions.
  /// - Parameter size: nil: those that keep a subscription.
  public func carries(_ size: Int? = nil, from: HostID, to: HostID) -> Bool {
    isConnected(from, to: to)
      && (links[Link(from: from, to: to)] ?? conditions).carries(size ?? LinkConditions.leastDatagramSize)
  }

  /// Whether multicast of one host gets to the other.
  func isHeard(_ from: HostID, by to: HostID) -> Bool {
    places[from] == places[to] && !silent.contains(from) && !silent.contains(to)
  }

  /// How much longer a packet of service discovery takes over a link than over a perfect one; nil: it gets lost. Draws nothing where
  /// none does, or every one, nor for the time where there is no jitter.
  mutating func takesPacket(from: HostID, to: HostID) -> Duration? {
    let conditions = links[Link(from: from, to: to)] ?? conditions
    guard !conditions.loss.happens(&random) else { return nil }
    return max(.zero, delay(conditions) - LinkConditions.perfect.latency)
  }

  // MARK: Hosts

  /// Whether a host has addresses of a family.
  func has(_ host: HostID, _ family: IPFamily) -> Bool { families[host]?.contains(family) ?? true }

  mutating func set(_ new: Set<IPFamily>, of host: HostID) {
    let new = new.count == IPFamily.allCases.count ? nil : new
    if families[host] != new { families[host] = new }
  }

  /// Whether a host takes in what is sent to an address.
  func isThere(_ host: HostID, at destination: SocketAddress) -> Bool {
    destination.ip.isMulticast ? has(host, destination.ip.family) : addresses[destination] == host
  }

  /// The host that has an address; nil for an address of a group.
  func host(at address: SocketAddress) -> HostID? { addresses[address] }

  mutating func attach(_ host: HostID, at address: SocketAddress) { addresses[address] = host }
  mutating func detach(_ address: SocketAddress) { addresses[address] = nil }

  mutating func join(_ group: IPAddress, _ host: HostID) { members[group, default: []].insert(host) }
  mutating func leave(_ group: IPAddress, _ host: HostID) { members[group]?.remove(host) }
  mutating func leaveAll(_ host: HostID) { for group in members.keys { members[group]?.remove(host) } }

  // MARK: Datagrams

  /// Sends a datagram.
  /// - Returns: its number, and why it will not arrive, if so.
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
      guard receivers.contains(where: { isHeard(sender, by: $0) }) else { return lose(number, .multicast) }
      // Each of them may get it or not; it is lost when nobody does.
      let isPicked = picked.remove(number) != nil
      let losses = receivers.filter { isHeard(sender, by: $0) }.map {
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

  /// Lets a datagram fly to one receiver, unless something is in its way.
  private mutating func carry(
    _ bytes: [UInt8], _ number: Int, _ isPicked: Bool, from sender: HostID, at address: SocketAddress,
    to receiver: HostID, _ destination: SocketAddress, at now: Instant
  ) -> LossReason? {
    let link = Link(from: sender, to: receiver)
    let conditions = links[link] ?? conditions
    // All draws are made whatever the outcome, so that picking a packet leaves the fate of the others alone.
    let isLost = conditions.loss.happens(&random)
    let isDoubled = conditions.duplication.happens(&random)
    let isHeld = conditions.reordering.happens(&random)
    var delays = [delay(conditions) + (isHeld ? conditions.holding : .zero)]
    if isDoubled { delays.append(delay(conditions)) }
    if isPicked { return .picked }
    if cuts.contains(link) { return .partition }
    if conditions.maximumDatagramSize > 0, bytes.count > conditions.maximumDatagramSize { return .tooLong }
    if isLost { return .link }
    let start = queue(bytes.count, link, conditions, at: now)
    for delay in delays {
      flying.insert(
        Datagram(
          arrival: start + delay, sequence: nextSequence, packet: number, from: address, destination: destination,
          sender: sender,
          receiver: receiver, bytes: bytes))
      nextSequence += 1
    }
    return nil
  }

  /// When a link is done with a datagram that is given to it now.
  private mutating func queue(_ size: Int, _ link: Link, _ conditions: LinkConditions, at now: Instant) -> Instant {
    guard conditions.bytesPerSecond > 0 else { return now }
    let end =
      max(now, busyUntil[link] ?? now) + .nanoseconds(Int64(size) * 1_000_000_000 / Int64(conditions.bytesPerSecond))
    busyUntil[link] = end
    return end
  }

  /// A partition that came meanwhile, or a host that lost its power, catch datagrams that are on their way.
  mutating func lose(_ number: Int, _ reason: LossReason) -> (number: Int, loss: LossReason?) {
    losses[reason, default: 0] += 1
    return (number, reason)
  }

  private mutating func delay(_ conditions: LinkConditions) -> Duration {
    let span = max(0, conditions.jitter.nanoseconds / 1000)
    guard span > 0 else { return conditions.latency }
    return conditions.latency + .microseconds(Int64.random(in: 0...span, using: &random))
  }

  /// When the next datagram arrives.
  var nextArrival: Instant? { flying.first?.arrival }

  /// Takes the next datagram that has arrived.
  /// - Parameter end: those from this sequence on are for another time.
  mutating func nextDatagram(at now: Instant, before end: UInt64 = .max) -> Datagram? {
    guard let first = flying.first, first.arrival <= now, first.sequence < end else { return nil }
    return flying.removeFirst()
  }
}

extension SimulatedNetwork.Datagram: Comparable {
  static func < (left: Self, right: Self) -> Bool { (left.arrival, left.sequence) < (right.arrival, right.sequence) }
  static func == (left: Self, right: Self) -> Bool { left.sequence == right.sequence }
}
