internal import MatterProtocol
internal import NIOCore
internal import NIOPosix

/// The timers of all nodes on one event loop, behind a single timer of the loop, because NIO's timers are expensive if
/// there are thousands: it moves their closures within a heap, and searches all of them to cancel one.
///
/// Timers with a deadline at least ten seconds ahead fire up to 50 ms late, so that those of many nodes fire together: the
/// reports of idle devices wake the thread 20 times a second, not once for each device. In virtual time, timers fire exactly
/// at their deadlines.
final class LoopTimers: NIOScheduledCallbackHandler, @unchecked Sendable {
  // Unchecked, since timers are confined to the loop.
  private struct Entry: Comparable, @unchecked Sendable {
    let time: Instant
    let timer: LazyTimer
    static func < (left: Self, right: Self) -> Bool { left.time < right.time }
    static func == (left: Self, right: Self) -> Bool { left.time == right.time }
  }

  private let eventLoop: any EventLoop
  /// Whether the loop has a thread of its own, which is woken for each time.
  private let wakesThread: Bool
  /// In nanoseconds.
  private static let slack: Int64 = 50_000_000
  private static let distantTime = Duration.seconds(10)
  /// An entry is stale if its time is not the one in its timer.
  private var entries = EventHeap<Entry>()
  /// The number of entries at which the stale ones are removed.
  private var capacity = 64
  private var scheduled: (callback: NIOScheduledCallback, at: Instant)?

  private init(_ eventLoop: any EventLoop, wakesThread: Bool) {
    (self.eventLoop, self.wakesThread) = (eventLoop, wakesThread)
  }

  private static let ofThread = ThreadSpecificVariable<LoopTimers>()

  /// Returns the timers of a loop, which are new ones unless the loop has a thread of its own. To be called on the loop.
  static func of(_ eventLoop: any EventLoop) -> LoopTimers {
    guard MultiThreadedEventLoopGroup.currentEventLoop === eventLoop else {
      return LoopTimers(eventLoop, wakesThread: false)
    }
    if let timers = ofThread.currentValue { return timers }
    let timers = LoopTimers(eventLoop, wakesThread: true)
    ofThread.currentValue = timers
    return timers
  }

  /// The number of entries, including stale ones.
  var entryCount: Int { entries.count }

  /// Inserts an entry for the timer's deadline.
  func insert(_ timer: LazyTimer, for deadline: Instant) {
    add(timer, for: deadline)
    if entries.count > capacity { removeStale() }
    schedule()
  }

  private func add(_ timer: LazyTimer, for deadline: Instant) {
    var time = deadline
    if wakesThread, deadline - now >= Self.distantTime {
      time.nanoseconds = time.nanoseconds.saturatingAdd(Self.slack - 1) / Self.slack * Self.slack
    }
    timer.entry = time
    entries.insert(Entry(time: time, timer: timer))
  }

  private var now: Instant { Instant(nanoseconds: Int64(clamping: eventLoop.now.uptimeNanoseconds)) }

  private func removeStale() {
    let all = entries.elements { _ in true }
    entries = EventHeap()
    var kept: Set<ObjectIdentifier> = []
    for entry in all where entry.timer.entry == entry.time && kept.insert(ObjectIdentifier(entry.timer)).inserted {
      entries.insert(entry)
    }
    capacity = max(64, 2 * entries.count)
  }

  /// Cancels the loop's timer if no timer is left.
  func canceled() {
    guard nextTime() == nil else { return }
    scheduled?.callback.cancel()
    scheduled = nil
  }

  /// Schedules the loop's timer for the first entry, if it isn't scheduled for an earlier time.
  private func schedule() {
    guard let next = nextTime() else { return }
    if let scheduled {
      if scheduled.at <= next { return }
      scheduled.callback.cancel()
    }
    // Fails only if the loop has been shut down.
    let callback = try? eventLoop.scheduleCallback(at: next.deadline, handler: self)
    scheduled = callback.map { ($0, next) }
  }

  /// Returns the time of the first timer, after the entries before it were moved to the deadlines of their timers.
  private func nextTime() -> Instant? {
    while let first = entries.first {
      let timer = first.timer
      let isValid = timer.entry == first.time
      if isValid, let deadline = timer.deadline, deadline <= first.time { return first.time }
      _ = entries.removeFirst()
      guard isValid else { continue }
      timer.entry = nil
      if let deadline = timer.deadline { add(timer, for: deadline) }
    }
    return nil
  }

  func handleScheduledCallback(eventLoop: some EventLoop) {
    scheduled = nil
    let now = now
    // Timers that are armed meanwhile wait for the loop's next turn, even if they are due.
    var due: [LazyTimer] = []
    while let time = nextTime(), time <= now, let timer = entries.removeFirst()?.timer {
      timer.entry = nil
      due.append(timer)
    }
    for timer in due { timer.fire(at: now) }
    schedule()
  }
}
