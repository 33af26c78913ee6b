internal import Home
internal import MatterProtocol
internal import Runtime
internal import Simulation

extension SimulatedHome {
  /// Watches the home for a while, and holds what it says against what is: at every change of what it says of a device's
  /// connectivity, however short, and once in every period.
  /// - Parameters:
  ///   - time: for how long.
  ///   - period: how often it is looked how the devices really are: no time in the card is known better than that, and none
  ///     of a value better than two.
  public func score(for time: Duration, every period: Duration = .milliseconds(500)) async throws -> ScoreCard {
    let keeper = ScoreKeeper()
    let end = await simulation.now + time
    var looks = 0
    var ears: (home: Home, listener: HomeListener)?
    defer { ears?.listener.close() }
    while true {
      let now = await simulation.now
      if let home = opened {
        if ears?.home !== home {
          ears?.listener.close()
          ears = (home, await listen(to: home, keeper))
        }
        // Values are looked at less often: that is the dear part.
        if looks.isMultiple(of: 2) { keeper.stale = Set(staleValues(await home.state).map(\.device)) }
        looks += 1
        look(at: home, try await home.devices().list(), keeper)
      } else {
        keeper.card.lookAway()
      }
      guard now < end else {
        keeper.card.lookAway()
        return keeper.card
      }
      try await simulation.sleep(for: period)
    }
  }

  /// Looks whenever the home says something else of a device's connectivity, before it can say another thing.
  private func listen(to home: Home, _ keeper: ScoreKeeper) async -> HomeListener {
    await HomeListener(to: home, [:]) { [weak self, weak home] view, changes in
      let isSaid = changes.contains { if case .connectivity = $0 { true } else { false } }
      // The whole world has one thread.
      if isSaid, let home { self?.assumeIsolated { $0.look(at: home, view.devices, keeper) } }
    }
  }

  private func look(at home: Home, _ devices: [HomeDevice], _ keeper: ScoreKeeper) {
    // The home's power may have gone meanwhile.
    guard opened === home else { return }
    let (said, now) = (Self.states(devices), simulation.world.value.now)
    for truth in truth() {
      keeper.card.observe(
        truth.path, isReachable: truth.isReachable, said: said[truth.uniqueID] ?? .unknown,
        isStale: keeper.stale.contains(truth.path), at: now)
    }
  }
}

/// What is written down while a home is watched.
private final class ScoreKeeper: @unchecked Sendable {
  // Not checked: touched on the world's own thread alone.
  var card = ScoreCard()
  /// The devices that the home showed a stale value of when it was looked last.
  var stale: Set<String> = []
}
