internal import Home
public import VirtualDevices
internal import Synchronization

/// What happened in a run, the last of it, and where in the file it stands. May be used from anywhere.
public final class Timeline: Sendable {
  private struct State {
    var lines: [String] = []
    var mark: SourceMark?
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

  /// Both, for the last word of a process: whoever crashed may be the one who holds them, and then there is none of it.
  var last: (lines: [String], mark: SourceMark?) { state.withLockIfAvailable { ($0.lines, $0.mark) } ?? ([], nil) }

  /// What whoever reads the result should know, whether or not it passed.
  var remarks: [String] { state.withLock(\.remarks) }

  func remark(_ text: String, at mark: SourceMark) { state.withLock { $0.remarks.append("\(mark): \(text)") } }

  func add(_ time: Duration, _ text: String) {
    state.withLock { state in
      if state.lines.count >= Self.limit { state.lines.removeFirst() }
      state.lines.append("\(TimeText.text(time)): \(text)")
    }
  }

  func begin(_ step: ScenarioStep, at time: Duration) {
    state.withLock { $0.mark = step.mark }
    add(time, step.text)
    onStep?("\(TimeText.text(time)): \(step.mark): \(step.text)")
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
