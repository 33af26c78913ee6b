internal import MatterProtocol

/// The timers of an event loop, in the order of their deadlines; those for the same time in the order of creation.
struct TimerTable {
  private struct Timer: Comparable {
    let deadline: Instant
    let number: UInt64
    static func < (left: Self, right: Self) -> Bool { (left.deadline, left.number) < (right.deadline, right.number) }
    static func == (left: Self, right: Self) -> Bool { left.number == right.number }
  }

  private struct Action {
    /// The number of its timer: in the order of creation, with the position of the action in the lower bits.
    let number: UInt64
    /// The delay when the timer was set, in nanoseconds.
    let span: Int64
    let body: @Sendable () -> Void
  }

  /// The timers, including canceled ones.
  private var timers = EventHeap<Timer>()
  /// The actions of the timers that were not canceled. An array, because a dictionary would hash several times for each
  /// timer.
  private var actions: [Action?] = []
  /// The positions of ``actions`` that are nil.
  private var freePositions: [Int] = []
  private var lastNumber: UInt64 = 0

  /// The bits of a timer's number that are its position: for more timers than memory can hold.
  private static let positionBits: UInt64 = 30

  private static func position(_ number: UInt64) -> Int { Int(number & ((1 << positionBits) - 1)) }

  /// The deadline of the first timer; nil if there is none.
  var nextDeadline: Instant? {
    mutating get {
      while let first = timers.first {
        let isPending = actions[Self.position(first.number)]?.number == first.number
        if isPending { return first.deadline }
        _ = timers.removeFirst()
      }
      return nil
    }
  }

  /// Returns whether a timer had a longer delay than this.
  func contains(longerThan time: Duration) -> Bool {
    actions.contains { $0.map { $0.span > time.nanoseconds } ?? false }
  }

  /// Adds a timer.
  /// - Returns: its number.
  mutating func add(at deadline: Instant, now: Instant, _ body: @escaping @Sendable () -> Void) -> UInt64 {
    let position = freePositions.popLast() ?? actions.count
    if position == actions.count { actions.append(nil) }
    lastNumber += 1
    let number = lastNumber << Self.positionBits | UInt64(position)
    timers.insert(Timer(deadline: deadline, number: number))
    actions[position] = Action(number: number, span: deadline.nanoseconds - now.nanoseconds, body: body)
    return number
  }

  /// Removes a timer and returns its action; nil if it was removed already. The caller releases the action, which may
  /// access the table.
  mutating func remove(_ number: UInt64) -> (@Sendable () -> Void)? {
    let position = Self.position(number)
    guard position < actions.count, let action = actions[position], action.number == number else { return nil }
    actions[position] = nil
    freePositions.append(position)
    return action.body
  }

  /// Removes the first timer and returns its action, if it is due.
  mutating func takeDue(at now: Instant) -> (@Sendable () -> Void)? {
    while let first = timers.first, first.deadline <= now {
      _ = timers.removeFirst()
      if let body = remove(first.number) { return body }
    }
    return nil
  }
}
