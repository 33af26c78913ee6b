internal import MatterProtocol

/// Decides which routes to a home are connected and which one is used. A value without I/O and clock.
///
/// The nearest route that works is used. A route that fails or does not answer in time is left for the nearest other one
/// that works; a nearer route is used again after it has worked for the stable time without a delay. Each further failure
/// of a route doubles its stable time. The fallback is left at once for any other route that works and was not late
/// shortly before. A route that answers late on a network that loses packets is left for one that answers in time; if
/// both answer late, the timeout is longer. So loss causes few changes.
struct RouteSelection {
  /// The times of a client.
  struct Times {
    /// The time without an answer after which another route is used.
    var timeout: Duration
    /// The time for which a nearer route must work before it is used again.
    var stable: Duration
    /// The time after which one failure of a route, and its last delay, no longer count.
    var failureMemory: Duration = .seconds(600)
    /// The time after a delay of another route in which a delayed route is not left for it.
    var delayMemory: Duration = .seconds(10)
    /// The factor of the timeout if both routes were delayed recently.
    var delayedTimeoutFactor = 8
  }

  private enum State {
    /// Not connected, because a nearer route is used.
    case stopped
    case connecting
    case failed
    case working
  }

  private struct Route {
    var state = State.stopped
    var start = Instant.zero
    /// The time for which it has not answered.
    var silence = Duration.zero
    /// The time since which it works without a delay.
    var steadySince: Instant?
    /// The end of its last delay.
    var lastDelay: Instant?
    /// The number of failures while it worked, and the time of the last one.
    var failures = 0
    var lastFailure = Instant.zero
    /// Whether it was left because it was silent, and the result of the next connection is not known yet.
    var wasLeft = false
  }

  /// The maximum number of failures that counts: the stable time is at most 32 times the configured one.
  private static let maximumFailures = 6

  private var times: Times
  /// The index of the route that is used only while no other one works, if there is one.
  private let fallback: Int?
  private var routes: [Route]
  /// The index of the route that is used; nil: none works.
  private(set) var active: Int?

  /// - Parameter count: the number of routes, the nearest first.
  init(count: Int, _ times: Times, fallback: Int? = nil) {
    (self.times, self.fallback) = (times, fallback)
    self.times.stable = min(times.stable, .seconds(86_400))
    routes = Array(repeating: Route(), count: count)
  }

  // MARK: Results

  /// Returns whether the route is to be connected.
  func isStarted(_ index: Int) -> Bool { routes[index].state != .stopped }

  /// Returns whether the route works, used or not.
  func works(_ index: Int) -> Bool { routes[index].state == .working }

  /// Returns whether the result of a connection attempt is outstanding.
  func isPending(_ index: Int) -> Bool {
    routes[index].state == .connecting || routes[index].state == .failed && routes[index].wasLeft
  }

  var haveAllFailed: Bool { routes.allSatisfy { $0.state == .failed } }

  /// Returns whether no route works, and none is expected to work soon.
  func isLost(at now: Instant) -> Bool { active == nil && !routes.indices.contains { isPromising($0, at: now) } }

  /// The next time at which ``advance(to:)`` may change the selection.
  func nextDeadline(after now: Instant) -> Instant? {
    var next: Instant?
    for index in routes.indices {
      let route = routes[index]
      let deadline: Instant? =
        switch route.state {
        case .stopped, .failed: nil
        case .connecting: route.start + times.timeout
        case .working:
          index == active && routes.dropFirst(index + 1).allSatisfy({ $0.state == .stopped })
            ? nil : route.steadySince.map { $0 + stableTime(of: index, at: now) }
        }
      if let deadline, deadline > now { next = .earlier(next, deadline) }
    }
    return next
  }

  // MARK: Inputs

  /// Starts the routes that are due, and selects the route to use.
  mutating func advance(to now: Instant) {
    select(at: now)
    startAndStop(at: now)
  }

  /// The route works.
  mutating func succeeded(_ index: Int, at now: Instant) {
    guard routes[index].state != .stopped, routes[index].state != .working else { return }
    (routes[index].state, routes[index].steadySince, routes[index].silence) = (.working, now, .zero)
    routes[index].wasLeft = false
    advance(to: now)
  }

  /// The route does not work.
  mutating func failed(_ index: Int, at now: Instant) {
    guard routes[index].state != .stopped else { return }
    end(index, at: now)
    advance(to: now)
  }

  /// The route has not answered for some time, or answers again.
  mutating func noteSilence(_ silence: Duration, of index: Int, at now: Instant) {
    guard routes[index].state == .working else { return }
    routes[index].silence = silence
    if isDelayed(index) {
      routes[index].steadySince = nil
    } else if routes[index].steadySince == nil {
      (routes[index].steadySince, routes[index].lastDelay) = (now, now)
    }
    advance(to: now)
  }

  // MARK: Selection

  private mutating func end(_ index: Int, at now: Instant) {
    if routes[index].state == .working {
      routes[index].failures = min(failures(of: index, at: now) + 1, Self.maximumFailures)
      routes[index].lastFailure = now
    }
    (routes[index].state, routes[index].steadySince, routes[index].silence) = (.failed, nil, .zero)
    routes[index].wasLeft = false
  }

  private mutating func select(at now: Instant) {
    if let used = active, !works(used) { active = nil }
    if let used = active {
      if isSilent(used) {
        if let other = routes.indices.first(where: { works($0) && !isDelayed($0) && isLeft(used, for: $0, at: now) }) {
          end(used, at: now)
          (routes[used].lastDelay, routes[used].wasLeft) = (now, true)
          active = other
        }
      } else if let nearer = routes.indices.prefix(used).first(where: {
        isSteady($0, at: now) || used == fallback && isPrompt($0, at: now)
      }) {
        active = nearer
      }
    } else {
      let working = routes.indices.filter { works($0) }
      active = working.first { !isSilent($0) } ?? working.first
    }
  }

  /// Starts all routes up to the used one, or, if it is delayed, up to the first one that is expected to work. Stops the
  /// farther ones when the used one is stable.
  private mutating func startAndStop(at now: Instant) {
    guard !routes.isEmpty else { return }
    var last = active ?? 0
    if active.map({ isDelayed($0) }) ?? true {
      last = max(last, routes.indices.first { isPromising($0, at: now) } ?? routes.count - 1)
    }
    for index in 0...last where routes[index].state == .stopped {
      (routes[index].state, routes[index].start) = (.connecting, now)
    }
    guard let active, isSteady(active, at: now) else { return }
    for index in routes.indices.dropFirst(active + 1) where routes[index].state != .stopped {
      (routes[index].state, routes[index].steadySince, routes[index].silence) = (.stopped, nil, .zero)
    }
  }

  /// Whether the route works without a delay, or may work soon.
  private func isPromising(_ index: Int, at now: Instant) -> Bool {
    switch routes[index].state {
    case .stopped: true
    case .connecting: now - routes[index].start < times.timeout
    case .failed: false
    case .working: !isDelayed(index)
    }
  }

  private func isSilent(_ index: Int) -> Bool { routes[index].silence >= times.timeout }

  /// Whether farther routes are connected, to be used when the route becomes silent.
  private func isDelayed(_ index: Int) -> Bool { routes[index].silence * 2 >= times.timeout }

  /// Whether a silent route is left for another one. A change between two routes that are often delayed does not help.
  private func isLeft(_ used: Int, for other: Int, at now: Instant) -> Bool {
    !wasDelayed(used, within: times.failureMemory, at: now)
      || !wasDelayed(other, within: times.delayMemory, at: now)
      || routes[used].silence >= times.timeout * times.delayedTimeoutFactor
  }

  /// Whether the last delay before the current silence ended within a time.
  private func wasDelayed(_ index: Int, within limit: Duration, at now: Instant) -> Bool {
    routes[index].lastDelay.map { now - $0 - routes[index].silence < limit } ?? false
  }

  private func isSteady(_ index: Int, at now: Instant) -> Bool {
    routes[index].steadySince.map { $0 + stableTime(of: index, at: now) <= now } ?? false
  }

  /// Whether the route works, and was not late shortly before, as on a network that loses packets.
  private func isPrompt(_ index: Int, at now: Instant) -> Bool {
    works(index) && !isDelayed(index) && !wasDelayed(index, within: times.delayMemory, at: now)
  }

  private func stableTime(of index: Int, at now: Instant) -> Duration {
    times.stable * (1 << max(0, failures(of: index, at: now) - 1))
  }

  /// Returns how many of the failures still count.
  private func failures(of index: Int, at now: Instant) -> Int {
    let forgotten = (now - routes[index].lastFailure).nanoseconds / max(1, times.failureMemory.nanoseconds)
    return max(0, routes[index].failures - Int(clamping: forgotten))
  }
}
