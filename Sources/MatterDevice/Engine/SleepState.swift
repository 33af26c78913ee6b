internal import MatterProtocol

/// Whether an intermittently connected device is active, and the datagrams that its parent keeps for it. Matter Core §
/// 9.16.1. A value without a clock.
struct SleepState: Sendable {
  /// A datagram that arrived while the device was idle.
  struct Datagram: Sendable {
    let bytes: [UInt8]
    let address: SocketAddress
  }

  let configuration: SleepConfiguration
  private(set) var isActive = false
  /// The start of the current mode.
  private(set) var since: Instant
  /// The earliest end of active mode.
  private(set) var activeUntil: Instant
  /// The datagrams for the next poll.
  private var kept: [Datagram] = []
  /// The number of datagrams that arrived while the device was idle and did not reach it.
  private(set) var lost = 0
  /// Whether the device is to become active at once, such as by a press of its button.
  var isWoken = true
  /// Whether a test event keeps the device active.
  var isKeptActive = false
  /// Whether the device operates with a long idle time.
  var operatesLong = false

  /// The number of datagrams that a parent keeps for its child.
  static let keptLimit = 16

  init(_ configuration: SleepConfiguration, at now: Instant) {
    self.configuration = configuration
    (since, activeUntil) = (now, now)
  }

  /// The time of the next change, unless messages or requirements cause one before.
  var deadline: Instant {
    if isActive { return activeUntil }
    return kept.isEmpty ? idleEnd : min(idleEnd, nextPoll)
  }

  /// The end of idle mode.
  var idleEnd: Instant { since + configuration.idleDuration }

  /// The first poll after the arrival of the first kept datagram.
  private var nextPoll = Instant.zero

  /// Handles a datagram that arrives in idle mode: it waits for the next poll, or is lost.
  mutating func keep(_ datagram: Datagram, at now: Instant) {
    guard !operatesLong, kept.count < Self.keptLimit else {
      lost += 1
      return
    }
    if kept.isEmpty {
      let interval = max(1, configuration.pollInterval.nanoseconds)
      let polls = (now - since).nanoseconds / interval
      nextPoll = since + .nanoseconds(interval.saturatingMultiply(polls.saturatingAdd(1)))
    }
    kept.append(datagram)
  }

  /// Returns the datagrams of a poll that is due, or all of them in active mode.
  mutating func takeKept(at now: Instant) -> [Datagram] {
    guard !kept.isEmpty, isActive || nextPoll <= now else { return [] }
    defer { kept = [] }
    return kept
  }

  /// Enters active mode, or extends it by the active mode threshold.
  /// - Returns: whether the device was idle.
  mutating func activate(at now: Instant) -> Bool {
    let threshold = now + configuration.activeThreshold
    guard !isActive else {
      activeUntil = max(activeUntil, threshold)
      return false
    }
    (isActive, since) = (true, now)
    activeUntil = configuration.activeDuration > .zero ? now + configuration.activeDuration : threshold
    return true
  }

  /// Extends active mode on request of a client.
  /// - Returns: the time for which the device stays active.
  mutating func stayActive(_ duration: Duration, at now: Instant) -> Duration {
    activeUntil = max(activeUntil, now + min(duration, SleepConfiguration.longestPromise))
    return activeUntil - now
  }

  /// Enters idle mode if active mode has ended.
  /// - Returns: whether the device is now idle.
  mutating func rest(at now: Instant) -> Bool {
    guard isActive, !isKeptActive, activeUntil <= now else { return false }
    (isActive, since) = (false, now)
    return true
  }
}
