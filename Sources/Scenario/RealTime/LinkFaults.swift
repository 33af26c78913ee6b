internal import MatterCrypto
internal import MatterProtocol
internal import Simulation

/// What becomes of the datagrams of one machine in real time.
struct LinkFaults {
  private var faults = MachineFaults()
  /// When what was given to a slow link before is through: what goes out, what comes in.
  private var busyUntil = (out: Instant.zero, into: Instant.zero)

  /// Whether others see by DNS-SD what it publishes, and whether it sees what they do.
  var isSeen: Bool { faults.hasMulticast && !faults.isMute }
  var sees: Bool { faults.hasMulticast && !faults.isDeaf }
  var familiesOff: Set<IPFamily> { faults.familiesOff }
  var place: String? { faults.place }

  mutating func befall(_ fault: NetworkFault) {
    faults.befall(fault)
    if fault == .heal { busyUntil = (.zero, .zero) }
  }

  /// In how much time the copies of a datagram arrive; empty: it is lost.
  mutating func delays(_ size: Int, _ family: IPFamily, isOutgoing: Bool, at now: Instant) -> [Duration] {
    guard !(isOutgoing ? faults.isMute : faults.isDeaf), !faults.familiesOff.contains(family) else { return [] }
    guard let conditions = faults.conditions else { return [.zero] }
    if conditions.maximumDatagramSize > 0, size > conditions.maximumDatagramSize { return [] }
    if happens(conditions.loss) { return [] }
    let isHeld = happens(conditions.reordering)
    let copies = happens(conditions.duplication) ? 2 : 1
    let rate = conditions.bytesPerSecond
    let queued = isOutgoing ? queue(size, rate, &busyUntil.out, at: now) : queue(size, rate, &busyUntil.into, at: now)
    let jitter = max(0, conditions.jitter.nanoseconds)
    return (0..<copies).map { copy in
      conditions.latency + queued + .nanoseconds(Int64.random(in: 0...jitter))
        + (isHeld && copy == 0 ? conditions.holding : .zero)
    }
  }

  private func happens(_ ratio: Ratio) -> Bool {
    ratio.numerator > 0 && UInt64.random(in: 0..<max(1, ratio.denominator)) < ratio.numerator
  }

  private func queue(_ size: Int, _ bytesPerSecond: Int, _ busyUntil: inout Instant, at now: Instant) -> Duration {
    guard bytesPerSecond > 0 else { return .zero }
    busyUntil = max(busyUntil, now) + .nanoseconds(Int64(size) * 1_000_000_000 / Int64(bytesPerSecond))
    return busyUntil - now
  }
}
