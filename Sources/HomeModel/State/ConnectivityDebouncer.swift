internal import MatterProtocol

/// A changed connectivity of a device that has not lasted long enough to settle.
package struct DebounceTrial: Hashable, Sendable, Codable {
  /// The settled connectivity until then.
  package var settled: SourceConnectivity
  /// The time of the change, in microseconds since 1970.
  package var since: Int64

  package init(settled: SourceConnectivity, since: Int64) { (self.settled, self.since) = (settled, since) }
}

/// Debounces connectivity: a loss settles after the grace time, an improvement at once.
package struct ConnectivityDebouncer: Sendable {
  private struct Entry: Sendable {
    var settled: SourceConnectivity
    /// The value on trial, and the time when the trial began.
    var pending: (value: SourceConnectivity, since: Int64)?

    var trial: DebounceTrial? { pending.map { DebounceTrial(settled: settled, since: $0.since) } }
  }

  /// The time for which a device must be unreachable before its settled connectivity changes. A new value also applies
  /// to the current trials, from their beginning.
  package var grace: Duration { didSet { if grace != oldValue { nextDeadline = firstDeadline } } }
  private var entries: [String: Entry] = [:]
  /// The devices whose trials began or ended since the last call of `takeTrials()`.
  private var changedTrials: Set<String> = []
  /// A lower bound of the end of the first trial; it may be too early. Nil if there is no trial.
  package private(set) var nextDeadline: Int64?

  package init(grace: Duration) { self.grace = grace }

  private var timeout: Int64 { grace.nanoseconds / 1000 }
  private var firstDeadline: Int64? {
    entries.values.compactMap { $0.pending?.since }.min().map { $0.saturatingAdd(timeout) }
  }

  package subscript(device: String) -> SourceConnectivity { entries[device]?.settled ?? .unknown }

  /// Restores a stored device.
  /// - Parameters:
  ///   - trial: the stored trial.
  ///   - time: now; a trial that began later, by a clock set since, begins now.
  package mutating func restore(_ device: String, _ value: SourceConnectivity, _ trial: DebounceTrial?, at time: Int64)
  {
    guard let trial, Self.rank(value) < Self.rank(trial.settled) else {
      entries[device] = Entry(settled: value)
      return
    }
    let since = min(trial.since, time)
    entries[device] = Entry(settled: trial.settled, pending: (value, since))
    changedTrials.insert(device)
    nextDeadline = min(nextDeadline ?? .max, since.saturatingAdd(timeout))
  }

  package mutating func forget(_ device: String) { entries[device] = nil }

  /// Notes the current connectivity of a device.
  /// - Returns: whether the settled connectivity changed.
  package mutating func note(_ device: String, _ value: SourceConnectivity, at time: Int64) -> Bool {
    guard var entry = entries[device] else {
      entries[device] = Entry(settled: value)
      return value != .unknown
    }
    defer {
      if (entry.pending == nil) != (entries[device]?.pending == nil) { changedTrials.insert(device) }
      entries[device] = entry
    }
    guard entry.settled != value else {
      entry.pending = nil
      return false
    }
    let isWorse = Self.rank(value) < Self.rank(entry.settled)
    guard isWorse, grace > .zero else {
      entry.settled = value
      entry.pending = nil
      return true
    }
    // A further loss doesn't restart the trial.
    let since = entry.pending?.since ?? time
    entry.pending = (value, since)
    nextDeadline = min(nextDeadline ?? .max, since.saturatingAdd(timeout))
    return false
  }

  /// The current trials, by device.
  package var trials: [String: DebounceTrial] { entries.compactMapValues(\.trial) }

  /// Returns the trials that began since the last call, and nil for ended ones.
  mutating func takeTrials() -> [String: DebounceTrial?] {
    guard !changedTrials.isEmpty else { return [:] }
    defer { changedTrials = [] }
    return Dictionary(uniqueKeysWithValues: changedTrials.map { ($0, entries[$0]?.trial) })
  }

  /// Adjusts the trials to a set clock, so that their remaining time is unchanged.
  package mutating func moveClock(by step: Int64) {
    for (device, entry) in entries {
      guard let pending = entry.pending else { continue }
      entries[device]?.pending = (pending.value, pending.since &+ step)
      changedTrials.insert(device)
    }
    nextDeadline = nextDeadline.map { $0 &+ step }
  }

  /// Adopts the state of another debouncer of the same devices.
  /// - Parameters:
  ///   - other: the state, whose clock may differ from that of this process.
  ///   - known: the current connectivity of the devices.
  ///   - time: now, by the clock of this process.
  /// - Returns: the devices whose settled connectivity changed.
  package mutating func adopt(
    _ other: DebouncerState, _ known: [String: SourceConnectivity], at time: Int64
  ) -> Set<String> {
    grace = other.grace
    var changed: Set<String> = []
    for (device, value) in known {
      let old = self[device]
      var entry = Entry(settled: value)
      if let trial = other.trials[device], trial.settled != value {
        let since = min(time, time.saturatingSubtract(other.time.saturatingSubtract(trial.since)))
        entry = Entry(settled: trial.settled, pending: (value, since))
        nextDeadline = min(nextDeadline ?? .max, since.saturatingAdd(timeout))
      }
      entries[device] = entry
      if entry.settled != old { changed.insert(device) }
    }
    return changed
  }

  private static func rank(_ value: SourceConnectivity) -> Int {
    switch value.connectivityState {
    case .online: 2
    case .partiallyOnline: 1
    case .offline, .unknown: 0
    }
  }

  /// - Returns: the devices whose settled connectivity changed.
  package mutating func advance(to time: Int64) -> Set<String> {
    guard let deadline = nextDeadline, deadline <= time else { return [] }
    var changed: Set<String> = []
    for (device, entry) in entries {
      guard let pending = entry.pending, pending.since.saturatingAdd(timeout) <= time else { continue }
      entries[device] = Entry(settled: pending.value)
      changed.insert(device)
      changedTrials.insert(device)
    }
    nextDeadline = firstDeadline
    return changed
  }
}
