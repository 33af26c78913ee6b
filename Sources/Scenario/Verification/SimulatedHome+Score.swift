internal import HearthHome
internal import MatterProtocol
internal import Runtime
internal import Simulation

extension SimulatedHome {
  /// Observes the home for some time, and compares its reports with the actual state of the devices: at every change of
  /// connectivity that the home reports, and once per period.
  /// - Parameters:
  ///   - time: the duration of the observation.
  ///   - period: the interval at which the devices are examined. It is the resolution of all times; that of stale
  ///     values is two periods.
  public func score(for time: Duration, every period: Duration = .milliseconds(500)) async throws -> ScoreCard {
    let score = ScoreState()
    let end = await simulation.now + time
    var rounds = 0
    var observed: (home: Home, listener: HomeListener)?
    defer { observed?.listener.close() }
    while true {
      let now = await simulation.now
      if let home = opened {
        if observed?.home !== home {
          observed?.listener.close()
          observed = (home, await observe(home, score))
        }
        // Comparing values is expensive, so it is done every other time.
        if rounds.isMultiple(of: 2) { score.stale = Set(staleValues(await home.state).map(\.device)) }
        rounds += 1
        compare(home, score)
      } else {
        score.card.pause()
      }
      guard now < end else {
        score.card.pause()
        return score.card
      }
      try await simulation.sleep(for: period)
    }
  }

  /// Compares whenever the home reports a change of connectivity, before its next report.
  private func observe(_ home: Home, _ score: ScoreState) async -> HomeListener {
    await HomeListener(to: home, DeviceIdentities()) { [weak self, weak home] view, changes in
      score.devices = view.devices
      let isReported = changes.contains { if case .connectivity = $0 { true } else { false } }
      // All of the simulated world runs on one thread.
      if isReported, let home { self?.assumeIsolated { $0.compare(home, score) } }
    }
  }

  private func compare(_ home: Home, _ score: ScoreState) {
    // The power of the home's machine may have been cut meanwhile.
    guard opened === home else { return }
    let now = simulation.world.value.now
    for truth in truth() {
      score.card.observe(
        truth.path, isReachable: truth.isReachable, reported: score.reported[truth.uniqueID] ?? .unknown,
        isStale: score.stale.contains(truth.path), at: now)
    }
  }
}

/// The state of an observation.
private final class ScoreState: @unchecked Sendable {
  // Not checked: only used on the world's thread.
  var card = ScoreCard()
  /// The devices after the last change of the home.
  var devices: [HomeDevice] = [] {
    didSet { states = nil }
  }
  private var states: [String: ConnectivityState]?
  /// The devices with stale values at the last comparison.
  var stale: Set<String> = []

  /// The connectivity of each device by its unique ID, as the home reports it.
  var reported: [String: ConnectivityState] {
    if let states { return states }
    let now = SimulatedHome.states(devices)
    states = now
    return now
  }
}
