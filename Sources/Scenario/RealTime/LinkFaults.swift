internal import MatterCrypto
internal import MatterProtocol
internal import Simulation

/// What befalls the network around one machine in real time.
struct LinkFaults {
  private var conditions = LinkConditions(latency: .zero)
  private var isMute = false
  private var isDeaf = false
  private var hasMulticast = true
  private(set) var familiesOff: Set<IPFamily> = []
  /// When what was given to a slow link before is through: what goes out, what comes in.
  private var busyUntil = (out: Instant.zero, into: Instant.zero)

  /// Whether others see by DNS-SD what it publishes, and whether it sees what they do.
  var isSeen: Bool { hasMulticast && !isMute }
  var sees: Bool { hasMulticast && !isDeaf }

  mutating func befall(_ fault: NetworkFault) {
    switch fault {
    case .partition: (isMute, isDeaf) = (true, true)
    case .mute: isMute = true
    case .deaf: isDeaf = true
    case .heal: self = LinkFaults()
    case .conditions(let conditions): self.conditions = conditions
    case .multicast(let works): hasMulticast = works
    // Refused before it gets here: there is one network.
    case .place: break
    case .family(let family, true): familiesOff.remove(family)
    case .family(let family, false): familiesOff.insert(family)
    }
  }

  /// In how much time the copies of a datagram arrive; empty: it is lost.
  mutating func delays(_ size: Int, _ family: IPFamily, isOutgoing: Bool, at now: Instant) -> [Duration] {
    guard !(isOutgoing ? isMute : isDeaf), !familiesOff.contains(family) else { return [] }
    if conditions.maximumDatagramSize > 0, size > conditions.maximumDatagramSize { return [] }
    if happens(conditions.loss) { return [] }
    let isHeld = happens(conditions.reordering)
    let copies = happens(conditions.duplication) ? 2 : 1
    let queued = isOutgoing ? queue(size, &busyUntil.out, at: now) : queue(size, &busyUntil.into, at: now)
    let jitter = max(0, conditions.jitter.nanoseconds)
    return (0..<copies).map { copy in
      conditions.latency + queued + .nanoseconds(Int64.random(in: 0...jitter))
        + (isHeld && copy == 0 ? conditions.holding : .zero)
    }
  }

  private func happens(_ ratio: Ratio) -> Bool {
    ratio.numerator > 0 && UInt64.random(in: 0..<max(1, ratio.denominator)) < ratio.numerator
  }

  private func queue(_ size: Int, _ busyUntil: inout Instant, at now: Instant) -> Duration {
    guard conditions.bytesPerSecond > 0 else { return .zero }
    busyUntil = max(busyUntil, now) + .nanoseconds(Int64(size) * 1_000_000_000 / Int64(conditions.bytesPerSecond))
    return busyUntil - now
  }
}
