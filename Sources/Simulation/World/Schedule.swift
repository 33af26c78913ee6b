internal import MatterProtocol

/// When each member of a world has something to do, so that a step need not ask them all.
struct Schedule: Sendable {
  private struct WakeUp: Comparable {
    let at: Instant
    let member: Int
    static func < (left: Self, right: Self) -> Bool { (left.at, left.member) < (right.at, right.member) }
  }

  /// The deadlines that count, by member.
  private var deadlines: [Instant?] = []
  /// Has one entry at least for each of those; others are out of date.
  private var heap = EventHeap<WakeUp>()
  /// Whose deadline has to be asked for.
  private var touched: [Int] = []
  private var isTouched: [Bool] = []

  /// Adds a member, with the next number.
  mutating func add() {
    deadlines.append(nil)
    isTouched.append(false)
    touch(deadlines.count - 1)
  }

  mutating func touch(_ member: Int) {
    guard !isTouched[member] else { return }
    isTouched[member] = true
    touched.append(member)
  }

  mutating func nextTouched() -> Int? {
    guard let member = touched.popLast() else { return nil }
    isTouched[member] = false
    return member
  }

  mutating func set(_ deadline: Instant?, of member: Int) {
    guard deadlines[member] != deadline else { return }
    deadlines[member] = deadline
    if let deadline { heap.insert(WakeUp(at: deadline, member: member)) }
  }

  /// When the next member has something to do.
  var first: Instant? {
    mutating get {
      while let first = heap.first {
        if deadlines[first.member] == first.at { return first.at }
        _ = heap.removeFirst()
      }
      return nil
    }
  }

  /// Those that are due, in the order of their numbers; they are asked again afterwards.
  mutating func takeDue(at now: Instant) -> [Int] {
    var due: [Int] = []
    while let first = heap.first, first.at <= now {
      _ = heap.removeFirst()
      guard deadlines[first.member] == first.at else { continue }
      deadlines[first.member] = nil
      due.append(first.member)
      touch(first.member)
    }
    return due.sorted()
  }
}
