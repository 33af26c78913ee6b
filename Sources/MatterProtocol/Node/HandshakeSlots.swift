/// The slots for handshakes of one kind that peers began, and who gets one when all are taken.
///
/// Anybody can begin a handshake, and as often as they like: a slot is all that a flood can take away. So there are few of
/// them, and these rules keep them moving, however many addresses the flood comes from:
///
/// - Beginning anew makes a slot no younger: it is its address's since the first time.
/// - Who has no slot gets one from an address that has two or more.
/// - A slot of which nothing came for a turn goes to whoever asks next and has not just wasted a turn of its own.
///   A turn is short for who has not shown yet that our answers reach it, and longer for who has.
/// - After a longer time still, it goes to anybody.
///
/// A flood from n addresses so has had its turns after n / slots turns, and from then on the next to ask who is not part of
/// it gets the next slot. With 16 slots and turns of half a second these are 32 slots a second: 1,000 addresses are through
/// in half a minute.
struct HandshakeSlots: Sendable {
  /// How long a slot may be held while others want it.
  struct Timeouts: Sendable {
    /// Without a second message of the peer.
    var turn: Duration
    /// With one.
    var grace: Duration
    /// Against those who wasted a turn.
    var against: Duration
    /// Whether an address has one slot only, which it gets again if it begins again.
    var isOnePerAddress = false
  }

  struct Slot: Sendable {
    var exchange: ExchangeID
    let address: SocketAddress
    let since: Instant
    var hasGoneOn = false
  }

  enum Entry: Equatable {
    /// And this exchange has lost its slot.
    case admitted(insteadOf: ExchangeID?)
    case full
  }

  /// By age, the oldest first.
  private(set) var slots: [Slot] = []
  private let timeouts: Timeouts
  /// When addresses lost their slots by wasting their turn.
  private var wasted = RecentNotes<SocketAddress>(limit: 1024)
  /// How long those wait for the next turn while there are others.
  private static let rest: Duration = .seconds(30)

  init(_ timeouts: Timeouts) { self.timeouts = timeouts }

  /// Gives an exchange a slot, if there is one.
  /// - Parameter room: how many slots there are.
  mutating func enter(_ exchange: ExchangeID, from address: SocketAddress, room: Int, at now: Instant) -> Entry {
    if timeouts.isOnePerAddress, room > 0, let own = slots.firstIndex(where: { $0.address == address }) {
      let old = slots[own].exchange
      slots[own].exchange = exchange
      slots[own].hasGoneOn = false
      return .admitted(insteadOf: old)
    }
    var loser: Slot?
    if slots.count >= room {
      guard let index = greedy(beside: address) ?? overdue(for: address, at: now) else { return .full }
      let slot = slots.remove(at: index)
      if slot.address != address { wasted.note(slot.address, at: now) }
      loser = slot
    }
    slots.append(Slot(exchange: exchange, address: address, since: now))
    return .admitted(insteadOf: loser?.exchange)
  }

  /// The peer sent a second message.
  mutating func goOn(_ exchange: ExchangeID) {
    if let index = slots.firstIndex(where: { $0.exchange == exchange }) { slots[index].hasGoneOn = true }
  }

  mutating func leave(_ exchange: ExchangeID) { slots.removeAll { $0.exchange == exchange } }

  /// The oldest slot of an address that has more of them than the other would have with one more.
  private func greedy(beside address: SocketAddress) -> Int? {
    if timeouts.isOnePerAddress { return nil }
    let enough = slots.count { $0.address == address } + 2
    return slots.firstIndex { slot in slots.count { $0.address == slot.address } >= enough }
  }

  private func overdue(for address: SocketAddress, at now: Instant) -> Int? {
    let isResting = wasted[address].map { now - $0 < Self.rest } ?? false
    return slots.firstIndex { slot in
      let limit = isResting ? timeouts.against : slot.hasGoneOn ? timeouts.grace : timeouts.turn
      return now - slot.since > limit
    }
  }
}

/// All rooms of a node, and what keeps who overheard a handshake from getting into them.
struct HandshakeSlotTables: Sendable {
  /// By passcode. An honest commissioner answers within a round trip, and who goes on after that pays for it with an attempt, of
  /// which there are twenty.
  var passcode = HandshakeSlots(
    .init(turn: .milliseconds(500), grace: Handshake.grace, against: Handshake.grace, isOnePerAddress: true))
  /// By certificates. Only those who know a key of a fabric get here.
  var certificates = HandshakeSlots(
    .init(turn: Handshake.grace, grace: Handshake.grace, against: Handshake.grace + Handshake.grace))
  /// By what is left of an earlier session, which the first message has proved: slots that no stranger can take.
  var resumption = HandshakeSlots(.init(turn: .seconds(1), grace: .seconds(1), against: .seconds(2)))
  /// Of the first messages of CASE that were answered with cryptography, the beginning of the random number in each. The same
  /// again is a replay: whoever is honest draws a new number for each handshake.
  var answered = RecentNotes<UInt64>(limit: 1024)

  mutating func leave(_ exchange: ExchangeID) {
    passcode.leave(exchange)
    certificates.leave(exchange)
    resumption.leave(exchange)
  }
}

/// How often strangers may begin, so that there is time left for everybody else: a flood from few addresses is thrown away
/// before it costs anything, and takes the sockets' room from nobody.
///
/// Many addresses share one of 256 counters; which ones, nobody knows who does not know the key, and it is others in the
/// next second: who is mistaken for a flood gets in with a retransmission.
struct StartLimiter: Sendable {
  private var counts = [UInt16](repeating: 0, count: 256)
  private var windowEnd = Instant.zero
  private var key: UInt64

  init(key: UInt64) { self.key = key }

  /// Whether one more may begin from an address in the second that is.
  mutating func allows(_ address: SocketAddress, limit: Int, at now: Instant) -> Bool {
    if now >= windowEnd {
      for index in counts.indices { counts[index] = 0 }
      windowEnd = now + .seconds(1)
      // The next of Knuth's linear congruential generator, of which the highest bits are used.
      key = key &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    }
    let index = counter(of: address)
    guard Int(counts[index]) < limit else { return false }
    counts[index] += 1
    return true
  }

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

/// What was noted last, and when: only so much of it.
struct RecentNotes<Key: Hashable & Sendable>: Sendable {
  private var times: [Key: Instant] = [:]
  private var order: [(key: Key, time: Instant)] = []
  /// Where in `order` the oldest is.
  private var oldest = 0
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  subscript(_ key: Key) -> Instant? { times[key] }
  var count: Int { order.count - oldest }

  mutating func note(_ key: Key, at now: Instant) {
    times[key] = now
    order.append((key, now))
    guard count > limit else { return }
    let forgotten = order[oldest]
    oldest += 1
    if times[forgotten.key] == forgotten.time { times[forgotten.key] = nil }
    if oldest == limit {
      order.removeFirst(oldest)
      oldest = 0
    }
  }
}
