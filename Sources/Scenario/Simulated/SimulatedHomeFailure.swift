internal import Home
internal import MatterProtocol
internal import Simulation

/// Why ``withSimulatedHome(_:seed:limit:fileID:line:_:_:)`` came to no good end, and what it takes to see it again.
public struct SimulatedHomeFailure: Error, Sendable, CustomStringConvertible {
  /// What the body threw, or the ``SimulationError`` that ended the run.
  public var cause: any Error
  /// What everything that was drawn was drawn from.
  public var seed: UInt64
  /// What repeats the run: the call, and where it stands.
  public var again: String
  /// What happened before, the last of it, a line each, with its virtual time.
  public var timeline: [String]

  public var description: String {
    (["\(cause)", "  seed: \(seed)"] + timeline.map { "    \($0)" } + ["  again: \(again)"]).joined(separator: "\n")
  }
}

extension SimulatedHome: CustomStringConvertible {
  /// The seed and the last that happened, for what a test says of an expectation that fails: `#expect(isOn, "\(world)")`.
  /// What happened is known in ``withSimulatedHome(_:seed:limit:fileID:line:_:_:)`` alone.
  public nonisolated var description: String {
    let lines = options.timeline?.lines ?? []
    return (["seed: \(simulation.world.value.seed)"] + lines.map { "  \($0)" }).joined(separator: "\n")
  }

  /// Writes down what somebody does, or what is injected into a machine.
  func tell(_ text: String) { options.timeline?.add(simulation.world.value.now - .zero, text) }

  /// Writes down what a home says, from now on.
  /// - Returns: who does so; nil where nobody wants to know.
  func writeDown(_ home: Home) async -> HomeListener? {
    guard let timeline = options.timeline else { return nil }
    let world = simulation.world
    return await HomeListener(to: home, DeviceNames(definition).uniqueIDs) { view, changes in
      for line in view.lines(of: changes) { timeline.add(world.value.now - .zero, line) }
    }
  }
}
