/// What somebody waits for, to be told where it never comes.
///
/// A simulation has whoever runs in it name his waits; anywhere else nobody asks, and it costs a look at a task-local value.
public enum PendingWork {
  /// Whom to tell; nil: nobody. Tasks hand it on to those that they start; who only listens takes it away from them.
  @TaskLocal public static var board: (any WaitRegistry)?

  /// Somebody begins to wait.
  /// - Parameter what: as in “there still waits …”: `Kitchen/Lamp to answer onOff.toggle`.
  /// - Returns: what to end it by; nil where nobody wants to know.
  public static func begin(_ what: @autoclosure () -> String) -> Wait? {
    guard let board, let number = board.begin(what()) else { return nil }
    return Wait(board: board, number: number)
  }
}

/// Somebody who waits.
public struct Wait: Sendable {
  let board: any WaitRegistry
  let number: Int

  /// It came, or is not waited for any more.
  public func end() { board.end(number) }
}

/// Who knows who waits for what.
public protocol WaitRegistry: Sendable {
  /// - Returns: a number to end the wait by; nil: it is none of this board's.
  func begin(_ what: String) -> Int?
  /// The wait of this number is over.
  func end(_ number: Int)
}
