internal import HearthHome
internal import MatterController
internal import MatterProtocol
internal import Simulation
public import VirtualDevices
internal import Synchronization

/// The last events of a run, the outcomes of its commands, and the current step. Thread-safe.
public final class Timeline: Sendable {
  private struct State {
    var lines: [String] = []
    /// The number of evicted lines.
    var forgotten = 0
    /// The start of the times in the lines.
    var start = Duration.zero
    /// The time of the last line, as the stage counts it.
    var latest = Duration.zero
    var isSettingUp = false
    var mark: SourceMark?
    /// The current or next step with its position; nil before the first.
    var current: String?
    var remarks: [String] = []
    var commands: [CommandRecord] = []
    var losses: [LossKey: NetworkLoss] = [:]

    /// The losses in the order of their first datagram.
    var orderedLosses: [NetworkLoss] {
      losses.values.sorted {
        ($0.first, $0.sender ?? "", $0.receiver ?? "", $0.reason.rawValue)
          < ($1.first, $1.sender ?? "", $1.receiver ?? "", $1.reason.rawValue)
      }
    }
  }

  private struct LossKey: Hashable {
    let sender: String?
    let receiver: String?
    let reason: LossReason
  }

  private static let limit = 40
  /// The largest number of commands.
  private static let commandLimit = 1000
  private let state = Mutex(State())
  private let onStep: (@Sendable (String) -> Void)?

  /// - Parameter onStep: called with each step as it begins, with its time and its position in the file.
  public init(onStep: (@Sendable (String) -> Void)? = nil) { self.onStep = onStep }

  var lines: [String] { state.withLock(\.lines) }
  /// The position of the current step.
  var mark: SourceMark? { state.withLock(\.mark) }

  /// The operation that the run waits for: the current step with its position, or the setup of the home.
  var current: String {
    state.withLock { $0.current ?? (["the home to be set up"] + $0.lines.suffix(1)).joined(separator: "; ") }
  }

  /// The parts of a timeline that a report uses.
  struct Summary {
    var lines: [String] = []
    var mark: SourceMark?
    /// The time of the last line.
    var time = Duration.zero
    var remarks: [String] = []
    var commands: [CommandRecord] = []
    var losses: [NetworkLoss] = []
  }

  /// The summary; empty if the lock is held, as in a crashed process its owner may be the crashed thread.
  var summary: Summary {
    state.withLockIfAvailable {
      Summary(
        lines: $0.lines, mark: $0.mark, time: $0.latest, remarks: $0.remarks, commands: $0.commands,
        losses: $0.orderedLosses)
    } ?? Summary()
  }

  func remark(_ text: String, at mark: SourceMark) { state.withLock { $0.remarks.append("\(mark): \(text)") } }

  /// - Parameter now: the time of the stage.
  func add(_ now: Duration, _ text: String) { _ = append(now, text) }

  /// Appends a line.
  /// - Returns: the line and its number, for ``change(line:_:)``.
  private func append(_ now: Duration, _ text: String) -> (line: String, number: Int) {
    state.withLock { state in
      if state.lines.count >= Self.limit {
        state.lines.removeFirst()
        state.forgotten += 1
      }
      state.latest = now
      let line = "\(state.isSettingUp ? "setting up, " : "")\(TimeText.text(now - state.start)): \(text)"
      state.lines.append(line)
      return (line, state.forgotten + state.lines.count - 1)
    }
  }

  /// Changes a line unless it has been evicted.
  private func change(line number: Int, _ body: (inout String) -> Void) {
    state.withLock { state in
      guard state.lines.indices.contains(number - state.forgotten) else { return }
      body(&state.lines[number - state.forgotten])
    }
  }

  // MARK: A scenario

  /// Marks the following lines as part of the setup, until the steps begin.
  func beginSettingUp() { state.withLock { $0.isSettingUp = true } }

  /// Ends the setup, and counts time from `now` on.
  func beginSteps(at now: Duration) {
    state.withLock { ($0.isSettingUp, $0.start, $0.losses) = (false, now, [:]) }
  }

  /// Sets the step whose time is waited for.
  func await(_ step: ScenarioStep) { state.withLock { ($0.mark, $0.current) = (step.mark, step.nameWithTime) } }

  func begin(_ step: ScenarioStep, at now: Duration) {
    let time = state.withLock { state in
      (state.mark, state.current) = (step.mark, step.name)
      return TimeText.text(now - state.start)
    }
    add(now, step.text)
    onStep?("\(time): \(step.mark): \(step.text)")
  }

  /// Records the outcome of a `do:`.
  /// - Parameter began: the time of the stage.
  func addCommand(_ step: ScenarioStep, began: Duration, error: String?) {
    state.withLock { state in
      let record = CommandRecord(mark: step.mark, text: step.text, time: began - state.start, error: error)
      if let last = state.commands.last, (last.mark, last.text, last.error) == (record.mark, record.text, record.error)
      {
        state.commands[state.commands.count - 1].count += 1
      } else if state.commands.count < Self.commandLimit {
        state.commands.append(record)
      }
    }
  }

  /// Records a datagram that did not arrive.
  /// - Parameter now: the time of the stage.
  func addLoss(from sender: String?, to receiver: String?, _ reason: LossReason, at now: Duration) {
    state.withLock { state in
      let time = now - state.start
      let key = LossKey(sender: sender, receiver: receiver, reason: reason)
      var loss =
        state.losses[key]
        ?? NetworkLoss(sender: sender, receiver: receiver, reason: reason, count: 0, first: time, last: time)
      loss.count += 1
      loss.last = time
      state.losses[key] = loss
    }
  }

  // MARK: Pairing

  /// Adds a line for a pairing, which is updated with the steps and the duration of each until the pairing is complete.
  func beginPairing(_ device: String, at now: Duration) -> @Sendable (CommissioningStep, StepProgress) -> Void {
    let (line, number) = append(now, "pair \(device)")
    return { step, progress in
      self.change(line: number) { text in
        switch progress {
        case .started: text += ", \(step.rawValue)"
        case .finished where step == .complete: text = line + ", complete"
        case .finished(let time): text += " \(TimeText.text(time))"
        }
      }
    }
  }
}

/// An unmet expectation or a violated rule.
public struct ScenarioFailure: Error, Sendable, CustomStringConvertible {
  /// The expected and the observed value.
  public var message: String
  /// The position of the expectation in the file.
  public var mark: SourceMark

  init(_ message: String, at mark: SourceMark) { (self.message, self.mark) = (message, mark) }

  public var description: String { "\(mark): \(message)" }
}
