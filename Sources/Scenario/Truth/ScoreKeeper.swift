internal import Home
internal import MatterProtocol
internal import Runtime
internal import Simulation

extension SimulatedHome {
  /// Watches the home for a while, and holds what it says against what is.
  /// - Parameters:
  ///   - time: for how long.
  ///   - period: between two looks: no time in the card is known better than that, and none of a value better than two.
  public func score(for time: Duration, every period: Duration = .milliseconds(500)) async throws -> ScoreCard {
    var card = ScoreCard()
    // Values are looked at less often: that is the dear part.
    var stale: Set<String> = []
    var looks = 0
    let end = await simulation.now + time
    while true {
      let now = await simulation.now
      if let home = opened {
        let said = try await states(home)
        if looks.isMultiple(of: 2) { stale = Set(staleValues(await home.state).map(\.device)) }
        looks += 1
        for truth in truth() {
          card.observe(
            truth.path, isReachable: truth.isReachable, said: said[truth.uniqueID] ?? .unknown,
            isStale: stale.contains(truth.path), at: now)
        }
      } else {
        card.lookAway()
      }
      guard now < end else { return card }
      try await simulation.sleep(for: period)
    }
  }
}
