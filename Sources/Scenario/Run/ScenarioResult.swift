internal import Home
public import MatterProtocol
internal import Runtime
public import Simulation
public import VirtualDevices

/// What came of one run of a scenario.
public struct ScenarioResult: Sendable {
  /// Why it did not pass.
  public struct Failure: Sendable {
    /// What was expected and did not come, in one sentence.
    public var message: String
    /// The line of the file that it is about, if it is about one.
    public var mark: SourceMark?
    /// That line, with its number and a mark below the column; nil where the file's text is not known.
    public var excerpt: String?
    /// What happened before, the last of it, a line each.
    public var timeline: [String]
    /// The command that repeats the run; nil where nobody knows of what file it is one.
    public var again: String?

    public init(message: String, mark: SourceMark?, timeline: [String]) {
      (self.message, self.mark, self.timeline) = (message, mark, timeline)
    }
  }

  /// Its name: what `scenario:` says, else the file's.
  public var scenario: String
  /// The number that it stands for, where the file says “vary”.
  public var variant: Int?
  /// Nil: it was played in real time.
  public var seed: UInt64?
  /// Nil: it passed.
  public var failure: Failure?
  /// The time that passed in the scenario.
  public var duration: Duration
  /// The time that it took on the wall clock.
  public var elapsed: Duration
  /// The trace's digest, the same for each run with this seed; 0 in real time.
  public var digest: UInt64

  /// What did not go quite as the file says, though nothing failed by it: a step that came late, with its line.
  public var remarks: [String] = []
  /// Each `do:` and its outcome, successive equal ones as one; at most 1000.
  public var commands: [CommandRecord] = []
  /// What was lost on the network since the steps began.
  public var losses: [NetworkLoss] = []

  /// Whether nothing failed.
  public var isPassed: Bool { failure == nil }
}

extension ScenarioDefinition {
  /// Plays the scenario in a simulated world.
  /// - Parameters:
  ///   - defect: a fault that is built in, with which the scenario should fail.
  ///   - keepsTrace: whether the trace's entries are kept, and not its digest alone.
  ///   - timeline: where it is written down what happens.
  public func simulate(
    seed: UInt64, keepsTrace: Bool = false, defect: SeededDefect? = nil, timeline: Timeline = Timeline()
  ) async -> (result: ScenarioResult, trace: Trace) {
    var options = SimulatedHomeOptions()
    options.isPaired = isPaired
    options.defect = defect
    options.pairings = timeline
    timeline.beginSettingUp()
    let (scenario, given) = (self, options)
    let began = HostClock.now()
    let run = await Simulation.run(
      seed: seed, limit: limit,
      prepare: { world in
        world.trace.keepsEntries = keepsTrace
        world.onLoss = { timeline.addLoss(from: $0.sender, to: $0.receiver, $0.reason, at: $0.at - .zero) }
      }
    ) { simulation -> ScenarioResult.Failure? in
      let home = try await SimulatedHome.start(scenario.home, given, in: simulation)
      let failure = await Self.play(scenario, on: home, timeline)
      await home.close()
      return failure
    }
    var failure: ScenarioResult.Failure?
    switch run.result {
    case .success(let found): failure = found
    case .failure(SimulationError.timedOut(_, let waits)): failure = timeIsOver(timeline, waiting: waits)
    case .failure(let error):
      failure = ScenarioResult.Failure(message: "\(error)", mark: timeline.mark, timeline: timeline.lines)
    }
    let result = result(
      failure, seed: seed, defect: defect, timeline.summary, duration: run.end - Instant.zero,
      elapsed: HostClock.now() - began, digest: run.trace.digest)
    return (result, run.trace)
  }

  /// Makes the result of a run.
  func result(
    _ failure: ScenarioResult.Failure?, seed: UInt64?, defect: SeededDefect?, _ summary: Timeline.Summary,
    duration: Duration, elapsed: Duration, digest: UInt64 = 0
  ) -> ScenarioResult {
    var failure = failure
    failure?.again = again(seed: seed, defect: defect)
    if let mark = failure?.mark { failure?.excerpt = excerpt(at: mark) }
    return ScenarioResult(
      scenario: name, variant: variant, seed: seed, failure: failure, duration: duration, elapsed: elapsed,
      digest: digest, remarks: summary.remarks, commands: summary.commands, losses: summary.losses)
  }

  /// Why a run did not pass whose ``limit`` is reached.
  /// - Parameter waits: all that is waited for, as far as that is known.
  func timeIsOver(_ timeline: Timeline, waiting waits: [String] = []) -> ScenarioResult.Failure {
    let waits = (waits.isEmpty ? [timeline.current] : waits).map { "“\($0)”" }.joined(separator: ", ")
    return .init(
      message:
        "the time is over after \(TimeText.text(limit)) (“limit:” of the scenario), and there still waits \(waits)",
      mark: timeline.mark, timeline: timeline.lines)
  }

  /// What there is to say of a run of it that somebody ended, or that ended the process.
  /// - Parameters:
  ///   - reason: what happened, in one sentence.
  ///   - seed: nil: it was played in real time.
  ///   - defect: the fault that was built in.
  ///   - timeline: that of the run.
  ///   - elapsed: how long it went on, on the wall clock.
  public func result(
    endedEarly reason: String, seed: UInt64?, defect: SeededDefect? = nil, _ timeline: Timeline, after elapsed: Duration
  ) -> ScenarioResult {
    let summary = timeline.summary
    return result(
      ScenarioResult.Failure(message: reason, mark: summary.mark, timeline: summary.lines), seed: seed, defect: defect,
      summary, duration: seed == nil ? elapsed : summary.time, elapsed: elapsed)
  }

  /// - Returns: why it did not pass.
  static func play(
    _ scenario: ScenarioDefinition, on stage: any Stage, _ timeline: Timeline, pace: Duration = .milliseconds(10)
  ) async -> ScenarioResult.Failure? {
    let runner = ScenarioRunner(scenario, on: stage, timeline, pace: pace)
    do {
      try await runner.play()
      return nil
    } catch let failure as ScenarioFailure {
      return .init(message: failure.message, mark: failure.mark, timeline: timeline.lines)
    } catch {
      return .init(message: "\(error)", mark: timeline.mark, timeline: timeline.lines)
    }
  }
}
