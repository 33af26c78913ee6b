internal import HearthHome
internal import MatterProtocol
internal import Runtime
public import Simulation
public import VirtualDevices

/// The result of one run of a scenario.
public struct ScenarioResult: Sendable {
  /// The reason why a run did not pass.
  public struct Failure: Sendable {
    /// The unmet expectation or the error, in one sentence.
    public var message: String
    /// The position in the file; nil if the failure concerns no line.
    public var mark: SourceMark?
    /// The line at the position, with its number and a mark below the column; nil if the text is unknown.
    public var excerpt: String?
    /// The last events before the failure, one line each.
    public var timeline: [String]
    /// The command that repeats the run; nil if the scenario was not read from a file.
    public var again: String?

    package init(message: String, mark: SourceMark?, timeline: [String]) {
      (self.message, self.mark, self.timeline) = (message, mark, timeline)
    }
  }

  /// The name of the scenario: the value of `scenario:`, or the name of the file.
  public var scenario: String
  /// The value of the variable of `vary`; nil for a file without one.
  public var variant: Int?
  /// The seed; nil for a run in real time.
  public var seed: UInt64?
  /// The failure; nil if the run passed.
  public var failure: Failure?
  /// The time that passed in the scenario.
  public var duration: Duration
  /// The wall-clock time of the run.
  public var elapsed: Duration
  /// The digest of the trace, which is the same for each run with the seed; 0 in real time.
  public var digest: UInt64

  /// Deviations from the file that are no failures, with their position: steps that began late.
  public var remarks: [String] = []
  /// The outcome of each `do:`, with equal successive ones merged; at most 1000.
  public var commands: [CommandRecord] = []
  /// The datagrams lost since the first step began.
  public var losses: [NetworkLoss] = []

  /// Whether the run passed.
  public var isPassed: Bool { failure == nil }
}

extension ScenarioDefinition {
  /// Runs the scenario on virtual time.
  /// - Parameters:
  ///   - keepsTrace: whether the trace keeps its entries, not only its digest.
  ///   - defect: a seeded defect, which should make the scenario fail.
  ///   - timeline: records the events of the run.
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
    let run = await VirtualTime.run(
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

  /// Creates the result of a run.
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

  /// Returns the failure of a run that reached its ``limit``.
  /// - Parameter waits: the operations that are still awaited, as far as known.
  func timeIsOver(_ timeline: Timeline, waiting waits: [String] = []) -> ScenarioResult.Failure {
    let waits = (waits.isEmpty ? [timeline.current] : waits).map { "“\($0)”" }.joined(separator: ", ")
    return .init(
      message:
        "the time is over after \(TimeText.text(limit)) (“limit:” of the scenario), and there still waits \(waits)",
      mark: timeline.mark, timeline: timeline.lines)
  }

  /// Returns the result of a run that was interrupted or that crashed the process.
  /// - Parameters:
  ///   - reason: the reason in one sentence.
  ///   - seed: the seed; nil for a run in real time.
  ///   - defect: the seeded defect of the run.
  ///   - timeline: the events of the run.
  ///   - elapsed: the wall-clock time of the run.
  public func result(
    endedEarly reason: String, seed: UInt64?, defect: SeededDefect? = nil, _ timeline: Timeline, after elapsed: Duration
  ) -> ScenarioResult {
    let summary = timeline.summary
    return result(
      ScenarioResult.Failure(message: reason, mark: summary.mark, timeline: summary.lines), seed: seed, defect: defect,
      summary, duration: seed == nil ? elapsed : summary.time, elapsed: elapsed)
  }

  /// Runs the scenario on a stage.
  /// - Returns: the failure; nil if the run passed.
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
