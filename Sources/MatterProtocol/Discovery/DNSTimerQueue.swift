/// The timers of a browser's searches, instances and hosts, so that only those that are due are visited.
///
/// Each subject stores the time of its valid entry. Entries with another time are stale and skipped when they come up,
/// so that rescheduling need not search the queue.
struct DNSTimerQueue: Sendable {
  enum Subject: Hashable, Sendable {
    case browse(BrowseID)
    case instance(CacheKey)
    case host(CacheKey)
  }

  private struct Entry: Comparable, Sendable {
    let time: Instant
    let subject: Subject

    static func < (left: Entry, right: Entry) -> Bool { left.time < right.time }
  }

  private var entries = EventHeap<Entry>()

  var first: (subject: Subject, time: Instant)? { entries.first.map { ($0.subject, $0.time) } }

  mutating func add(_ subject: Subject, at time: Instant) { entries.insert(Entry(time: time, subject: subject)) }

  mutating func removeFirst() { _ = entries.removeFirst() }
}

/// The subjects that are due, each list in a deterministic order.
struct DueTimers {
  var browses: [BrowseID] = []
  var instances: [CacheKey] = []
  var hosts: [CacheKey] = []
}

extension DNSBrowser {
  /// Schedules a subject, unless it is already scheduled for that time or earlier.
  mutating func schedule(_ subject: DNSTimerQueue.Subject, at time: Instant) {
    guard let times = times(of: subject), times.scheduled.map({ time < $0 }) ?? true else { return }
    setScheduled(time, subject)
    timers.add(subject, at: time)
  }

  /// Removes the subjects that are due from the queue and adds them to `due`.
  mutating func removeDue(at now: Instant, into due: inout DueTimers) {
    dropStaleEntries()
    while let (subject, time) = timers.first, time <= now {
      timers.removeFirst()
      setScheduled(nil, subject)
      switch subject {
      case .browse(let id): due.browses.append(id)
      case .instance(let key): due.instances.append(key)
      case .host(let key): due.hosts.append(key)
      }
      dropStaleEntries()
    }
    due.browses.sort()
    due.instances.sort()
    due.hosts.sort()
  }

  /// Schedules the subjects that were due for their next deadlines.
  mutating func reschedule(_ due: DueTimers) {
    let subjects: [DNSTimerQueue.Subject] =
      due.browses.map { .browse($0) } + due.instances.map { .instance($0) } + due.hosts.map { .host($0) }
    for subject in subjects {
      if let deadline = times(of: subject)?.deadline { schedule(subject, at: deadline) }
    }
    dropStaleEntries()
  }

  /// Removes stale and postponed entries until the first entry is valid.
  mutating func dropStaleEntries() {
    while let (subject, time) = timers.first {
      let times = times(of: subject)
      if times?.scheduled == time {
        if times?.deadline == time { return }
        setScheduled(nil, subject)
      }
      timers.removeFirst()
      if let times, times.scheduled == time, let deadline = times.deadline { schedule(subject, at: deadline) }
    }
  }

  /// Returns the scheduled time and the deadline of a subject; nil if it no longer exists.
  private func times(of subject: DNSTimerQueue.Subject) -> (scheduled: Instant?, deadline: Instant?)? {
    switch subject {
    case .browse(let id): browses[id].map { ($0.scheduled, $0.nextQuery) }
    case .instance(let key): instances[key].map { ($0.scheduled, $0.deadline) }
    case .host(let key): hosts[key].map { ($0.scheduled, $0.deadline) }
    }
  }

  private mutating func setScheduled(_ time: Instant?, _ subject: DNSTimerQueue.Subject) {
    switch subject {
    case .browse(let id): browses[id]?.scheduled = time
    case .instance(let key): instances[key]?.scheduled = time
    case .host(let key): hosts[key]?.scheduled = time
    }
  }
}
