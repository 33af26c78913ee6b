/// Records pending operations, so that a stalled simulation can report what it is waiting for.
///
/// Outside a simulation no registry is set, and the cost is one read of a task-local value.
public enum PendingWork {
  /// The registry of pending operations; nil outside a simulation. Child tasks inherit it; listeners that wait forever
  /// clear it.
  @TaskLocal public static var board: (any WaitRegistry)?

  /// Registers a pending operation.
  /// - Parameter what: the operation, completing “still waiting for …”: `Kitchen/Lamp to answer onOff.toggle`.
  /// - Returns: the entry to end when the operation completes, or nil without a registry.
  public static func begin(_ what: @autoclosure () -> String) -> Wait? {
    guard let board, let number = board.begin(what()) else { return nil }
    return Wait(board: board, number: number)
  }
}

/// The entry of a pending operation.
public struct Wait: Sendable {
  let board: any WaitRegistry
  let number: Int

  /// Removes the entry: the operation completed or was canceled.
  public func end() { board.end(number) }
}

/// A registry of pending operations.
public protocol WaitRegistry: Sendable {
  /// Registers a pending operation.
  /// - Returns: the number of the entry, or nil if the operation does not belong to this registry.
  func begin(_ what: String) -> Int?
  /// Removes an entry.
  func end(_ number: Int)
}
