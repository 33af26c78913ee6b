internal import MatterProtocol

/// The run of an appliance: steps that follow one another and can be paused. A value without a clock, which is advanced
/// to the present time.
///
///     var run = OperationRun([.init("Washing", .seconds(60)), .init("Spinning", .seconds(30))], at: .zero)
///     run.advance(to: .zero + .seconds(70))  // current: 1, remaining: 20 s
public struct OperationRun: Hashable, Sendable {
  /// A part of a run: a phase of a program, or the cleaning of an area.
  public struct Step: Hashable, Sendable {
    /// Unique within the run.
    public var name: String
    public var duration: Duration

    public init(_ name: String, _ duration: Duration) { (self.name, self.duration) = (name, duration) }
  }

  /// The progress of a step. The values are those of OperationalStatusEnum of Service Area.
  enum Status: UInt8, Hashable, Sendable { case pending, operating, skipped, completed }

  /// A step with its progress.
  struct Progress: Hashable, Sendable {
    fileprivate(set) var step: Step
    fileprivate(set) var status = Status.pending
    /// The time that the step has taken, without pauses.
    fileprivate(set) var elapsed = Duration.zero
  }

  private(set) var steps: [Progress]
  /// The time at which the run started.
  let start: Instant
  /// The time of the last advance, or of the end of the run.
  private(set) var now: Instant
  private(set) var isPaused = false
  /// The total time of all pauses.
  private(set) var paused = Duration.zero

  /// Starts a run.
  init(_ steps: [Step], at now: Instant) {
    self.steps = steps.map { Progress(step: $0) }
    (start, self.now) = (now, now)
    beginNext()
    advance(to: now)
  }

  /// The index of the step in progress; nil after the last one.
  var current: Int? { steps.firstIndex { $0.status == .operating } }
  /// Whether no step is left.
  var isComplete: Bool { current == nil }
  /// The time since the start, with pauses.
  var total: Duration { now - start }

  /// The time until the end of the run, without pauses.
  var remaining: Duration {
    steps.reduce(.zero) { time, entry in
      switch entry.status {
      case .pending, .operating: time + entry.step.duration - entry.elapsed
      case .skipped, .completed: time
      }
    }
  }

  /// The time at which the current step ends; nil while the run is paused and after its end.
  var nextChange: Instant? {
    guard let current, !isPaused else { return nil }
    return now + (steps[current].step.duration - steps[current].elapsed)
  }

  /// Advances to a time; earlier times have no effect.
  mutating func advance(to time: Instant) {
    while let current, isPaused ? now < time : now <= time {
      if isPaused {
        paused += time - now
        now = time
      } else if let end = nextChange, end <= time {
        now = end
        steps[current].elapsed = steps[current].step.duration
        finish(current, .completed)
      } else {
        steps[current].elapsed += time - now
        now = time
        return
      }
    }
  }

  mutating func pause(at time: Instant) {
    advance(to: time)
    isPaused = !isComplete
  }

  mutating func resume(at time: Instant) {
    advance(to: time)
    isPaused = false
  }

  /// Skips a step that is not finished. Skipping the last one ends the run.
  /// - Returns: false if the step is finished, or not one of the run.
  mutating func skip(_ index: Int, at time: Instant) -> Bool {
    advance(to: time)
    guard steps.indices.contains(index), steps[index].status == .pending || steps[index].status == .operating else {
      return false
    }
    finish(index, .skipped)
    return true
  }

  /// Ends the run; the remaining steps are skipped.
  mutating func end(at time: Instant) {
    advance(to: time)
    for index in steps.indices where steps[index].status == .pending || steps[index].status == .operating {
      steps[index].status = .skipped
    }
  }

  /// Prolongs the last step.
  mutating func extend(by time: Duration) {
    guard !isComplete, let last = steps.indices.last else { return }
    steps[last].step.duration += time
  }

  private mutating func finish(_ index: Int, _ status: Status) {
    steps[index].status = status
    if current == nil { beginNext() }
  }

  private mutating func beginNext() {
    if let next = steps.firstIndex(where: { $0.status == .pending }) { steps[next].status = .operating }
  }
}
