public import HearthHome
public import MatterProtocol

/// A comparison of what a home reported about its devices with their actual state.
public struct ScoreCard: Hashable, Sendable {
  /// The times from a device becoming unreachable until the home reported it offline.
  public private(set) var detectedOutages: [Duration] = []
  /// The times from a device becoming reachable until the home reported it online.
  public private(set) var detectedReturns: [Duration] = []
  /// How long devices were unreachable without being reported offline, until they were back or the observation ended.
  public private(set) var undetectedOutages: [Duration] = []
  /// How long devices were reachable without being reported online, until they were away again or the observation
  /// ended.
  public private(set) var undetectedReturns: [Duration] = []
  /// The durations of false “offline” reports that the home corrected by itself, without a change of the device.
  public private(set) var correctedOffline: [Duration] = []
  /// The durations of false “online” reports that the home corrected by itself.
  public private(set) var correctedOnline: [Duration] = []
  /// The number of times that the home reported a reachable device as offline.
  public private(set) var falseOffline = 0
  /// The number of times that the home reported an unreachable device as online.
  public private(set) var falseOnline = 0
  /// The total time during which the home showed values that a reachable device no longer had.
  public private(set) var stale: Duration = .zero
  /// The total observation time of all devices.
  public private(set) var watched: Duration = .zero

  private struct Subject: Hashable {
    var isReachable: Bool
    var isReportedOnline: Bool
    var isStale: Bool
    /// When the home's report became wrong; nil if it is right.
    var changed: Instant?
    /// Whether it became wrong by a report of the home rather than by a change of the device.
    var isFalse = false
    var last: Instant
  }

  private var subjects: [String: Subject] = [:]

  package init() {}

  /// Records the actual state of a device and the home's report at one moment.
  /// - Parameter isStale: whether the home shows values that the device doesn't have.
  public mutating func observe(
    _ device: String, isReachable: Bool, reported: ConnectivityState, isStale: Bool, at now: Instant
  ) {
    let isOnline = reported == .online || reported == .partiallyOnline
    guard var subject = subjects[device] else {
      // An error that predates the observation is not counted as a false report.
      subjects[device] = Subject(
        isReachable: isReachable, isReportedOnline: isOnline, isStale: isReachable && isOnline && isStale,
        changed: isReachable == isOnline ? nil : now, last: now)
      return
    }
    let time = now - subject.last
    watched += time
    if subject.isStale { stale += time }
    if isReachable != subject.isReachable {
      recordUndetected(subject, at: now)
      // Either the report is right again, or it has just become wrong.
      subject.changed = isReachable == subject.isReportedOnline ? nil : now
      subject.isFalse = false
    }
    if isOnline != subject.isReportedOnline {
      if isOnline == isReachable {
        if let changed = subject.changed { end(after: now - changed, isOnline: isOnline, wasFalse: subject.isFalse) }
        subject.changed = nil
      } else {
        if isOnline { falseOnline += 1 } else { falseOffline += 1 }
        (subject.changed, subject.isFalse) = (now, true)
      }
    }
    subject.isReachable = isReachable
    subject.isReportedOnline = isOnline
    subject.isStale = isReachable && isOnline && isStale
    subject.last = now
    subjects[device] = subject
  }

  /// Records that the home's report about a device became right.
  private mutating func end(after time: Duration, isOnline: Bool, wasFalse: Bool) {
    switch (isOnline, wasFalse) {
    case (true, false): detectedReturns.append(time)
    case (true, true): correctedOffline.append(time)
    case (false, false): detectedOutages.append(time)
    case (false, true): correctedOnline.append(time)
    }
  }

  /// Records that the home did not notice a change before the next one or before the end of the observation.
  private mutating func recordUndetected(_ subject: Subject, at now: Instant) {
    guard let changed = subject.changed, subject.isReachable != subject.isReportedOnline else { return }
    if subject.isReachable { undetectedReturns.append(now - changed) } else { undetectedOutages.append(now - changed) }
  }

  /// Ends the observation until the next ``observe(_:isReachable:reported:isStale:at:)``, because the home has no power
  /// or is no longer observed.
  package mutating func pause() {
    for subject in subjects.values { recordUndetected(subject, at: subject.last) }
    subjects = [:]
  }

  /// Returns a percentile (50 is the median) by the nearest-rank method, or nil if there are no times.
  public static func percentile(_ per: Int, of times: [Duration]) -> Duration? {
    let sorted = times.sorted()
    guard !sorted.isEmpty else { return nil }
    return sorted[max(0, min(sorted.count, (sorted.count * per + 99) / 100) - 1)]
  }

  /// The score in lines for a report.
  public var lines: [String] {
    func text(_ times: [Duration]) -> String {
      guard let half = Self.percentile(50, of: times), let most = Self.percentile(95, of: times) else { return "never" }
      return "\(times.count) times; p50 \(half.tenths) s, p95 \(most.tenths) s"
    }
    func longest(_ times: [Duration]) -> String {
      times.max().map { "\(times.count) times; the longest was \($0.tenths) s" } ?? "never"
    }
    return [
      "detected outages: \(text(detectedOutages))", "detected returns: \(text(detectedReturns))",
      "undetected outages: \(longest(undetectedOutages))",
      "undetected returns: \(longest(undetectedReturns))", "false \u{201C}offline\u{201D}: \(falseOffline)",
      "false \u{201C}online\u{201D}: \(falseOnline)",
      "corrected a false \u{201C}offline\u{201D}: \(text(correctedOffline))",
      "corrected a false \u{201C}online\u{201D}: \(text(correctedOnline))",
      "stale values: \(stale.tenths) s of \(watched.tenths) s watched",
    ]
  }
}

extension Duration {
  /// Seconds with one decimal.
  fileprivate var tenths: String {
    let tenths = nanoseconds / 100_000_000
    return "\(tenths / 10).\(tenths % 10)"
  }
}
