/// The slots for inbound handshakes of one kind, with the policy that evicts a handshake when all slots are taken.
///
/// Any address can start any number of handshakes, so a flood could occupy all slots for good. The policy bounds the
/// time that a flood can block other peers, regardless of the number of its addresses:
///
/// - Where an address has one slot only, restarting a handshake reuses the slot and keeps its age.
/// - An address without a slot takes one from an address that holds two or more.
/// - A slot older than its timeout is evicted for the next address that needs one. The timeout is short until the peer's
///   second message confirms that it receives our responses, and longer after that.
/// - An address that lost a slot is penalized for 30 s: it can only evict slots that are older still.
///
/// A flood from n addresses is therefore penalized as a whole after n / slots timeouts, and the next peer outside of
/// the flood gets the next slot. With 16 slots and a timeout of 0.5 s, 32 slots become free per second, so this takes
/// about half a minute for 1,000 addresses.
struct HandshakeSlots: Sendable {
  /// The ages at which a slot may be evicted. An object, because it is the same for all nodes.
  final class Timeouts: Sendable {
    /// Before the peer's second message.
    let unconfirmed: Duration
    /// After the peer's second message.
    let confirmed: Duration
    /// When the requesting address is penalized.
    let penalized: Duration
    /// Whether an address holds at most one slot, which a restarted handshake reuses.
    let isOnePerAddress: Bool

    init(unconfirmed: Duration, confirmed: Duration, penalized: Duration, isOnePerAddress: Bool = false) {
      (self.unconfirmed, self.confirmed, self.penalized) = (unconfirmed, confirmed, penalized)
      self.isOnePerAddress = isOnePerAddress
    }

    static let passcode = Timeouts(
      unconfirmed: .milliseconds(500), confirmed: Handshake.slotTimeout, penalized: Handshake.slotTimeout,
      isOnePerAddress: true)
    static let certificates = Timeouts(
      unconfirmed: Handshake.slotTimeout, confirmed: Handshake.slotTimeout,
      penalized: Handshake.slotTimeout + Handshake.slotTimeout)
    static let resumption = Timeouts(unconfirmed: .seconds(1), confirmed: .seconds(1), penalized: .seconds(2))
  }

  struct Slot: Sendable {
    var exchange: ExchangeID
    let address: SocketAddress
    let since: Instant
    /// Whether the peer has sent a second message.
    var isConfirmed = false
  }

  enum Admission: Equatable {
    /// `evicting` is the exchange that lost its slot.
    case admitted(evicting: ExchangeID?)
    case full
  }

  /// By age, the oldest first.
  private(set) var slots: [Slot] = []
  private let timeouts: Timeouts
  /// The addresses whose slots were evicted.
  private var evictions = RecentKeys<SocketAddress>(limit: 1024)
  private static let penalty: Duration = .seconds(30)

  init(_ timeouts: Timeouts) { self.timeouts = timeouts }

  /// Assigns a slot to an exchange, evicting another one if the policy allows it.
  /// - Parameter capacity: The number of slots.
  mutating func acquire(
    _ exchange: ExchangeID, from address: SocketAddress, capacity: Int, at now: Instant
  ) -> Admission {
    if timeouts.isOnePerAddress, capacity > 0, let own = slots.firstIndex(where: { $0.address == address }) {
      let old = slots[own].exchange
      slots[own].exchange = exchange
      slots[own].isConfirmed = false
      return .admitted(evicting: old)
    }
    var evicted: Slot?
    if slots.count >= capacity {
      guard let index = surplusSlot(for: address) ?? expiredSlot(for: address, at: now) else { return .full }
      let slot = slots.remove(at: index)
      if slot.address != address { evictions.insert(slot.address, at: now) }
      evicted = slot
    }
    slots.append(Slot(exchange: exchange, address: address, since: now))
    return .admitted(evicting: evicted?.exchange)
  }

  /// Records the peer's second message.
  mutating func confirm(_ exchange: ExchangeID) {
    if let index = slots.firstIndex(where: { $0.exchange == exchange }) { slots[index].isConfirmed = true }
  }

  mutating func release(_ exchange: ExchangeID) { slots.removeAll { $0.exchange == exchange } }

  /// The oldest slot of an address that holds more slots than `address` would hold with one more.
  private func surplusSlot(for address: SocketAddress) -> Int? {
    if timeouts.isOnePerAddress { return nil }
    let surplus = slots.count { $0.address == address } + 2
    return slots.firstIndex { slot in slots.count { $0.address == slot.address } >= surplus }
  }

  private func expiredSlot(for address: SocketAddress, at now: Instant) -> Int? {
    let isPenalized = evictions[address].map { now - $0 < Self.penalty } ?? false
    return slots.firstIndex { slot in
      let limit = isPenalized ? timeouts.penalized : slot.isConfirmed ? timeouts.confirmed : timeouts.unconfirmed
      return now - slot.since > limit
    }
  }
}

/// The slots for all inbound handshakes of a node, and its filter for replayed first messages of CASE.
struct HandshakeAdmission: Sendable {
  /// PASE. A legitimate commissioner answers within a round trip, and a peer without the passcode that continues after
  /// that uses up one of the 20 attempts.
  var passcode = HandshakeSlots(.passcode)
  /// CASE with certificates. Only peers that know an identity protection key of a fabric acquire these slots.
  var certificates = HandshakeSlots(.certificates)
  /// CASE resumption. The first message proves knowledge of an earlier session, so other peers can't occupy these
  /// slots.
  var resumption = HandshakeSlots(.resumption)
  /// The first 8 bytes of the initiator random of each Sigma1 that was answered with cryptography. A repeated value is
  /// a replay, because a legitimate initiator draws a new random number for each handshake.
  var answered = RecentKeys<UInt64>(limit: 1024)

  mutating func release(_ exchange: ExchangeID) {
    passcode.release(exchange)
    certificates.release(exchange)
    resumption.release(exchange)
  }
}

/// Limits the rate at which an address may start handshakes, so that a flood from few addresses is dropped before it
/// costs computation or fills the socket buffers.
///
/// Addresses share 256 counters. The assignment depends on a secret key and changes every second, so a peer that shares
/// a counter with a flood is admitted with one of its retransmissions.
struct StartLimiter: Sendable {
  /// Empty until the first start.
  private var counts: [UInt16] = []
  private var windowEnd = Instant.zero
  private var key: UInt64

  init(key: UInt64) { self.key = key }

  /// Counts a start from an address, and returns whether it is within the limit for the current second.
  mutating func allows(_ address: SocketAddress, limit: Int, at now: Instant) -> Bool {
    if now >= windowEnd || counts.isEmpty {
      if counts.isEmpty { counts = Array(repeating: 0, count: 256) }
      for index in counts.indices { counts[index] = 0 }
      windowEnd = now + .seconds(1)
      // One step of Knuth's linear congruential generator; only the highest bits are used.
      key = key &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    }
    let index = counter(of: address)
    guard Int(counts[index]) < limit else { return false }
    counts[index] += 1
    return true
  }

  /// Releases the counters after the end of the current second.
  mutating func releaseMemory(at now: Instant) { if now >= windowEnd { counts = [] } }

  private func counter(of address: SocketAddress) -> Int {
    var hash = key
    func mix(_ word: UInt64) {
      hash = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
      hash ^= hash >> 29
    }
    switch address.ip {
    case .v4(let value): mix(UInt64(value))
    case .v6(let high, let low, let scope):
      mix(high)
      mix(low)
      mix(UInt64(scope))
    }
    mix(UInt64(address.port))
    return Int(hash >> 56)
  }
}

/// The most recently inserted keys, with the time of the last insertion. Bounded: the oldest insertions are evicted.
struct RecentKeys<Key: Hashable & Sendable>: Sendable {
  private var times: [Key: Instant] = [:]
  private var order: [(key: Key, time: Instant)] = []
  /// The index of the oldest insertion in `order`.
  private var oldest = 0
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  subscript(_ key: Key) -> Instant? { times[key] }
  var count: Int { order.count - oldest }

  mutating func insert(_ key: Key, at now: Instant) {
    times[key] = now
    order.append((key, now))
    guard count > limit else { return }
    let evicted = order[oldest]
    oldest += 1
    if times[evicted.key] == evicted.time { times[evicted.key] = nil }
    if oldest == limit {
      order.removeFirst(oldest)
      oldest = 0
    }
  }
}
