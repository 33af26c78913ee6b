internal import MatterProtocol

/// The deadlines of a world's members, so that a step does not query all of them.
struct Schedule: Sendable {
  private struct WakeUp: Comparable {
    let at: Instant
    let member: Int
    static func < (left: Self, right: Self) -> Bool { (left.at, left.member) < (right.at, right.member) }
  }

  /// The valid deadlines, by member.
  private var deadlines: [Instant?] = []
  /// Has at least one entry for each valid deadline; other entries are stale.
  private var heap = EventHeap<WakeUp>()
  /// The members whose deadline may have changed.
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

  /// Sets the deadlines of the members that were touched.
  mutating func update(_ deadline: (Int) -> Instant?) {
    while let member = touched.popLast() {
      isTouched[member] = false
      set(deadline(member), of: member)
    }
  }

  private mutating func set(_ deadline: Instant?, of member: Int) {
    guard deadlines[member] != deadline else { return }
    deadlines[member] = deadline
    if let deadline { heap.insert(WakeUp(at: deadline, member: member)) }
  }

  /// The earliest deadline.
  var first: Instant? {
    mutating get {
      while let first = heap.first {
        if deadlines[first.member] == first.at { return first.at }
        _ = heap.removeFirst()
      }
      return nil
    }
  }

  /// Removes the members that are due, in the order of their numbers, and marks them as changed.
  mutating func takeDue(at now: Instant) -> [Int] {
    var due: [Int] = []
    while let first = heap.first, first.at <= now {
      _ = heap.removeFirst()
      guard deadlines[first.member] == first.at else { continue }
      deadlines[first.member] = nil
      due.append(first.member)
      touch(first.member)
    }
    if due.count > 1 { due.sort() }
    return due
  }
}
