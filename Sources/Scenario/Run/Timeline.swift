internal import Home
public import VirtualDevices

/// What happened, the last of it.
struct Timeline: Sendable {
  private(set) var lines: [String] = []
  private static let limit = 40

  mutating func add(_ time: Duration, _ text: String) {
    if lines.count >= Self.limit { lines.removeFirst() }
    lines.append("\(TimeText.text(time)): \(text)")
  }
}

/// What did not come though it was expected, or came though it must not.
public struct ScenarioFailure: Error, Sendable, CustomStringConvertible {
  public var message: String
  /// The line that expected it.
  public var mark: SourceMark

  init(_ message: String, at mark: SourceMark) { (self.message, self.mark) = (message, mark) }

  public var description: String { "\(mark): \(message)" }
}
