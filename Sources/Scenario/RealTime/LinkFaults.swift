internal import MatterCrypto
internal import MatterProtocol
internal import Simulation

/// What becomes of the datagrams of one machine in real time.
struct LinkFaults {
  private var faults = MachineFaults()
  /// When what was given to a slow link before is through, by whom it leads to: what goes out, what comes in.
  private var busyUntil: [SocketAddress: (out: Instant, into: Instant)] = [:]

  /// Whether others see by DNS-SD what it publishes, and whether it sees what they do.
  var isSeen: Bool { faults.hasMulticast && !faults.isMute }
  var sees: Bool { faults.hasMulticast && !faults.isDeaf }
  var familiesOff: Set<IPFamily> { faults.familiesOff }
  var place: String? { faults.place }
  /// How much of what is sent gets lost.
  var loss: Ratio { faults.conditions?.loss ?? .never }

  mutating func befall(_ fault: NetworkFault) {
    faults.befall(fault)
    if fault == .heal { busyUntil = [:] }
  }

  /// In how much time the copies of a datagram arrive; empty: it is lost.
  /// - Parameters:
  ///   - peer: where it goes to or comes from: between each two machines there is a link, as in a simulation.
  ///   - isMulticast: whether it is for a group.
  mutating func delays(
    _ size: Int, _ peer: SocketAddress, isOutgoing: Bool, isMulticast: Bool, at now: Instant
  ) -> [Duration] {
    guard !(isOutgoing ? faults.isMute : faults.isDeaf), !faults.familiesOff.contains(peer.ip.family),
      faults.hasMulticast || !isMulticast
    else { return [] }
    guard let conditions = faults.conditions else { return [.zero] }
    if conditions.maximumDatagramSize > 0, size > conditions.maximumDatagramSize { return [] }
    if conditions.loss.happens() { return [] }
    let isHeld = conditions.reordering.happens()
    let copies = conditions.duplication.happens() ? 2 : 1
    let queued = queue(size, conditions.bytesPerSecond, peer, isOutgoing: isOutgoing, at: now)
    let jitter = max(0, conditions.jitter.nanoseconds)
    return (0..<copies).map { copy in
      conditions.latency + queued + .nanoseconds(Int64.random(in: 0...jitter))
        + (isHeld && copy == 0 ? conditions.holding : .zero)
    }
  }

  private mutating func queue(
    _ size: Int, _ bytesPerSecond: Int, _ peer: SocketAddress, isOutgoing: Bool, at now: Instant
  ) -> Duration {
    guard bytesPerSecond > 0 else { return .zero }
    var link = busyUntil[peer] ?? (.zero, .zero)
    let before = isOutgoing ? link.out : link.into
    let end = max(before, now) + .nanoseconds(Int64(size) * 1_000_000_000 / Int64(bytesPerSecond))
    if isOutgoing { link.out = end } else { link.into = end }
    busyUntil[peer] = link
    return end - now
  }
}

extension Ratio {
  /// Whether it happens this time, by the system's chance.
  func happens() -> Bool { numerator > 0 && UInt64.random(in: 0..<max(1, denominator)) < numerator }
}
