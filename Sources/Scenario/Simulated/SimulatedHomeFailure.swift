internal import HearthHome
internal import MatterProtocol
internal import Simulation

/// The failure of ``withSimulatedHome(_:seed:limit:fileID:line:_:_:)``, with all that a replay needs.
public struct SimulatedHomeFailure: Error, Sendable, CustomStringConvertible {
  /// What the body threw, or the `SimulationError` that ended the run.
  public var cause: any Error
  /// The seed of the run.
  public var seed: UInt64
  /// The call that repeats the run, with its source location.
  public var again: String
  /// The last events before the failure with their virtual times, one line each.
  public var timeline: [String]

  public var description: String {
    (["\(cause)", "  seed: \(seed)"] + timeline.map { "    \($0)" } + ["  again: \(again)"]).joined(separator: "\n")
  }
}

extension SimulatedHome: CustomStringConvertible {
  /// The seed and the last events, for use as a test comment, `#expect(isOn, "\(world)")`. Events are only recorded in
  /// ``withSimulatedHome(_:seed:limit:fileID:line:_:_:)``.
  public nonisolated var description: String {
    let lines = options.timeline?.lines ?? []
    return (["seed: \(simulation.world.value.seed)"] + lines.map { "  \($0)" }).joined(separator: "\n")
  }

  /// Adds an action or a fault to the timeline.
  func addToTimeline(_ text: String) { options.timeline?.add(simulation.world.value.now - .zero, text) }

  /// Records the changes of a home from now on.
  /// - Returns: the listener; nil without a timeline.
  func recordChanges(of home: Home) async -> HomeListener? {
    guard let timeline = options.timeline else { return nil }
    let world = simulation.world
    return await HomeListener(to: home, names.identities) { view, changes in
      for line in view.lines(of: changes) { timeline.add(world.value.now - .zero, line) }
    }
  }
}
