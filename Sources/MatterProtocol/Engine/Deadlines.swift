/// The deadlines of many subjects, such as the subscriptions of a controller. A timer handles only those that are due.
///
/// A changed deadline leaves its old entry in the heap, which is then stale. The first entry is never stale, and at most
/// half of the entries are, apart from a few.
public struct Deadlines<Subject: Hashable & Comparable & Sendable>: Sendable {
  @usableFromInline struct Entry: Comparable, Sendable {
    @usableFromInline let time: Instant
    @usableFromInline let subject: Subject

    @inlinable init(time: Instant, subject: Subject) { (self.time, self.subject) = (time, subject) }

    @inlinable static func < (left: Self, right: Self) -> Bool { left.time < right.time }
  }

  @usableFromInline var times: [Subject: Instant] = [:]
  /// An entry is stale if its time is not that of its subject.
  @usableFromInline var entries = EventHeap<Entry>()
  /// The number of stale entries that are always kept.
  @usableFromInline static var keptEntries: Int { 32 }

  @inlinable public init() {}

  /// The earliest deadline; nil if there is none.
  @inlinable public var first: Instant? { entries.first?.time }

  /// The deadline of a subject; nil removes it.
  @inlinable public subscript(subject: Subject) -> Instant? {
    get { times[subject] }
    set {
      let old: Instant?
      if let newValue {
        old = times.updateValue(newValue, forKey: subject)
      } else {
        old = times.removeValue(forKey: subject)
      }
      guard old != newValue else { return }
      if let newValue { entries.insert(Entry(time: newValue, subject: subject)) }
      // The entry of the old deadline is stale now.
      if old != nil { removeStaleEntries() }
    }
  }

  /// Returns the subjects whose deadlines have passed, sorted. Their deadlines remain until they are changed.
  @inlinable public func due(at now: Instant) -> [Subject] {
    guard let first, first <= now else { return [] }
    let entries = entries.elements { $0.time <= now }
    // The deadline of a subject may have been changed and changed back.
    return Set(entries.lazy.filter { times[$0.subject] == $0.time }.map(\.subject)).sorted()
  }

  @inlinable mutating func removeStaleEntries() {
    if entries.count > 2 * times.count + Self.keptEntries {
      entries = EventHeap()
      for (subject, time) in times { entries.insert(Entry(time: time, subject: subject)) }
    }
    while let first = entries.first, times[first.subject] != first.time { _ = entries.removeFirst() }
  }
}
