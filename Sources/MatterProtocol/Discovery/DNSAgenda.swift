/// What a browser has to look at, and when: a thousand services have thousands of records, and each moment is about few.
///
/// Whatever has an entry knows for when it is. An entry of another time is out of date, and passed over when its turn comes:
/// nothing has to be looked for in here.
struct DNSAgenda: Sendable {
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

/// What is due now, each in an order that is the same in every process.
struct DueInBrowser {
  var browses: [BrowseID] = []
  var instances: [CacheKey] = []
  var hosts: [CacheKey] = []
}

extension DNSBrowser {
  /// Puts something into the agenda, unless it stands there for as early a time.
  mutating func plan(_ subject: DNSAgenda.Subject, at time: Instant) {
    guard let times = times(of: subject), times.planned.map({ time < $0 }) ?? true else { return }
    setPlanned(time, subject)
    agenda.add(subject, at: time)
  }

  /// Takes out of the agenda what is due.
  mutating func takeDue(at now: Instant, into due: inout DueInBrowser) {
    dropOutdated()
    while let (subject, time) = agenda.first, time <= now {
      agenda.removeFirst()
      setPlanned(nil, subject)
      switch subject {
      case .browse(let id): due.browses.append(id)
      case .instance(let key): due.instances.append(key)
      case .host(let key): due.hosts.append(key)
      }
      dropOutdated()
    }
    due.browses.sort()
    due.instances.sort()
    due.hosts.sort()
  }

  /// Puts what was due back in, for when it is due again.
  mutating func planAgain(_ due: DueInBrowser) {
    let subjects: [DNSAgenda.Subject] =
      due.browses.map { .browse($0) } + due.instances.map { .instance($0) } + due.hosts.map { .host($0) }
    for subject in subjects {
      if let deadline = times(of: subject)?.deadline { plan(subject, at: deadline) }
    }
    dropOutdated()
  }

  /// Makes the first entry one that counts: others came before it that are out of date, or were put off.
  mutating func dropOutdated() {
    while let (subject, time) = agenda.first {
      let times = times(of: subject)
      if times?.planned == time {
        if times?.deadline == time { return }
        setPlanned(nil, subject)
      }
      agenda.removeFirst()
      if let times, times.planned == time, let deadline = times.deadline { plan(subject, at: deadline) }
    }
  }

  /// For when something stands in the agenda, and when it is due; nil where it is not there any more.
  private func times(of subject: DNSAgenda.Subject) -> (planned: Instant?, deadline: Instant?)? {
    switch subject {
    case .browse(let id): browses[id].map { ($0.planned, $0.nextQuery) }
    case .instance(let key): instances[key].map { ($0.planned, $0.deadline) }
    case .host(let key): hosts[key].map { ($0.planned, $0.deadline) }
    }
  }

  private mutating func setPlanned(_ time: Instant?, _ subject: DNSAgenda.Subject) {
    switch subject {
    case .browse(let id): browses[id]?.planned = time
    case .instance(let key): instances[key]?.planned = time
    case .host(let key): hosts[key]?.planned = time
    }
  }
}
