internal import Home
internal import MatterController
public import VirtualDevices
internal import Synchronization

/// What happened in a run, the last of it, and where in the file it stands. May be used from anywhere.
public final class Timeline: Sendable {
  private struct State {
    var lines: [String] = []
    /// How many lines were before those.
    var forgotten = 0
    /// When the time of the lines began.
    var start = Duration.zero
    /// When the last that is told of happened, by the time of the stage.
    var latest = Duration.zero
    var isSettingUp = false
    var mark: SourceMark?
    /// The step that is waited for or goes on, with its line; nil: none was begun.
    var current: String?
    var remarks: [String] = []
  }

  private static let limit = 40
  private let state = Mutex(State())
  private let onStep: (@Sendable (String) -> Void)?

  /// - Parameter onStep: is told each step as it begins, with its time and its line in the file.
  public init(onStep: (@Sendable (String) -> Void)? = nil) { self.onStep = onStep }

  var lines: [String] { state.withLock(\.lines) }
  /// The line of the step that was begun last.
  var mark: SourceMark? { state.withLock(\.mark) }

  /// What there is to wait for: the step, with its line in the file; before the first one, that the home is set up.
  var current: String {
    state.withLock { $0.current ?? (["the home to be set up"] + $0.lines.suffix(1)).joined(separator: "; ") }
  }

  /// Both and the time of the last line, for the last word of a process: whoever crashed may be the one who holds them, and then
  /// there is none of it.
  var last: (lines: [String], mark: SourceMark?, time: Duration) {
    state.withLockIfAvailable { ($0.lines, $0.mark, $0.latest) } ?? ([], nil, .zero)
  }

  /// What whoever reads the result should know, whether or not it passed.
  var remarks: [String] { state.withLock(\.remarks) }

  func remark(_ text: String, at mark: SourceMark) { state.withLock { $0.remarks.append("\(mark): \(text)") } }

  /// - Parameter now: the time of the stage.
  func add(_ now: Duration, _ text: String) { _ = append(now, text) }

  /// - Returns: the line and its number, for what is to be added to it.
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

  /// Changes a line, if it is still there.
  private func change(line number: Int, _ body: (inout String) -> Void) {
    state.withLock { state in
      guard state.lines.indices.contains(number - state.forgotten) else { return }
      body(&state.lines[number - state.forgotten])
    }
  }

  // MARK: A scenario

  /// What happens from now on belongs to the setting up, until the steps begin.
  func beginSettingUp() { state.withLock { $0.isSettingUp = true } }

  /// The time of the lines begins anew.
  func beginSteps(at now: Duration) { state.withLock { ($0.isSettingUp, $0.start) = (false, now) } }

  /// The time of a step is waited for.
  func await(_ step: ScenarioStep) { state.withLock { ($0.mark, $0.current) = (step.mark, step.nameWithTime) } }

  func begin(_ step: ScenarioStep, at now: Duration) {
    let time = state.withLock { state in
      (state.mark, state.current) = (step.mark, step.name)
      return TimeText.text(now - state.start)
    }
    add(now, step.text)
    onStep?("\(time): \(step.mark): \(step.text)")
  }

  // MARK: Pairing

  /// Writes down that a device is paired: one line, with the steps and how long each took, until all are done.
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

/// What did not come though it was expected, or came though it must not.
public struct ScenarioFailure: Error, Sendable, CustomStringConvertible {
  /// What was expected, and what was there in its place.
  public var message: String
  /// The line that expected it.
  public var mark: SourceMark

  init(_ message: String, at mark: SourceMark) { (self.message, self.mark) = (message, mark) }

  public var description: String { "\(mark): \(message)" }
}
