public import Home
public import MatterProtocol

/// How well a home knew how its devices were: what it said, held against the truth.
public struct ScoreCard: Hashable, Sendable {
  /// How long it took the home to say so, each time that a device had become unreachable.
  public private(set) var noticedGone: [Duration] = []
  /// The same, each time that one could be reached again.
  public private(set) var noticedBack: [Duration] = []
  /// How long a device was away without the home ever saying so, each time: until it was back, or nobody watched any more.
  public private(set) var unnoticedGone: [Duration] = []
  /// The same of the times that one was back, or there all the time and said to be away, and the home never said that it was there.
  public private(set) var unnoticedBack: [Duration] = []
  /// How long a device that was there was said to be away, each time that the home took it back by itself: it never was away, and
  /// so nobody noticed that it came.
  public private(set) var takenBackOffline: [Duration] = []
  /// The same of devices that were away, and said to be there once more.
  public private(set) var takenBackOnline: [Duration] = []
  /// How often the home said that a device was away that was there.
  public private(set) var falseOffline = 0
  /// How often the home said that a device was there that was away.
  public private(set) var falseOnline = 0
  /// For how long the home showed a value that the device did not have any more, while it could be reached; of all
  /// devices together.
  public private(set) var stale: Duration = .zero
  /// How long devices were watched, all together.
  public private(set) var watched: Duration = .zero

  private struct Subject: Hashable {
    var isReachable: Bool
    var isSaidOnline: Bool
    var isStale: Bool
    /// Since when the home is wrong about it, if it is.
    var changed: Instant?
    /// Whether that began with what the home said, and not with what became of the device.
    var isFalse = false
    var last: Instant
  }

  private var subjects: [String: Subject] = [:]

  public init() {}

  /// Takes in how a device is at one moment, and what the home says of it.
  /// - Parameter isStale: whether the home shows values of it that it does not have.
  public mutating func observe(
    _ device: String, isReachable: Bool, said: ConnectivityState, isStale: Bool, at now: Instant
  ) {
    let isOnline = said == .online || said == .partiallyOnline
    guard var subject = subjects[device] else {
      // What was wrong before it was looked at is nobody's fault.
      subjects[device] = Subject(
        isReachable: isReachable, isSaidOnline: isOnline, isStale: isReachable && isOnline && isStale,
        changed: isReachable == isOnline ? nil : now, last: now)
      return
    }
    let time = now - subject.last
    watched += time
    if subject.isStale { stale += time }
    if isReachable != subject.isReachable {
      giveUp(subject, at: now)
      // It is as the home says again, or it is not any more.
      subject.changed = isReachable == subject.isSaidOnline ? nil : now
      subject.isFalse = false
    }
    if isOnline != subject.isSaidOnline {
      if isOnline == isReachable {
        if let changed = subject.changed { end(after: now - changed, isOnline: isOnline, wasFalse: subject.isFalse) }
        subject.changed = nil
      } else {
        if isOnline { falseOnline += 1 } else { falseOffline += 1 }
        (subject.changed, subject.isFalse) = (now, true)
      }
    }
    subject.isReachable = isReachable
    subject.isSaidOnline = isOnline
    subject.isStale = isReachable && isOnline && isStale
    subject.last = now
    subjects[device] = subject
  }

  /// The home is right about a device again, as it says something else of it.
  private mutating func end(after time: Duration, isOnline: Bool, wasFalse: Bool) {
    switch (isOnline, wasFalse) {
    case (true, false): noticedBack.append(time)
    case (true, true): takenBackOffline.append(time)
    case (false, false): noticedGone.append(time)
    case (false, true): takenBackOnline.append(time)
    }
  }

  /// What the home has not said by now it will not say any more.
  private mutating func giveUp(_ subject: Subject, at now: Instant) {
    guard let changed = subject.changed, subject.isReachable != subject.isSaidOnline else { return }
    if subject.isReachable { unnoticedBack.append(now - changed) } else { unnoticedGone.append(now - changed) }
  }

  /// Nobody can say anything until the next ``observe(_:isReachable:said:isStale:at:)``, as the home itself has no power, or
  /// nobody watches it any more.
  public mutating func lookAway() {
    for subject in subjects.values { giveUp(subject, at: subject.last) }
    subjects = [:]
  }

  /// A part of some times, in whole per cent: 50 is the median, 95 the least that 95 of a hundred keep within. Nil for no times.
  public static func percentile(_ per: Int, of times: [Duration]) -> Duration? {
    let sorted = times.sorted()
    guard !sorted.isEmpty else { return nil }
    return sorted[max(0, min(sorted.count, (sorted.count * per + 99) / 100) - 1)]
  }

  /// In lines, for people.
  public var lines: [String] {
    func text(_ times: [Duration]) -> String {
      guard let half = Self.percentile(50, of: times), let most = Self.percentile(95, of: times) else { return "never" }
      return "\(times.count) times; p50 \(half.tenths) s, p95 \(most.tenths) s"
    }
    func longest(_ times: [Duration]) -> String {
      times.max().map { "\(times.count) times; the longest was \($0.tenths) s" } ?? "never"
    }
    return [
      "noticed that a device went: \(text(noticedGone))", "noticed that a device came: \(text(noticedBack))",
      "was away, and it was not noticed: \(longest(unnoticedGone))",
      "was back, and it was not noticed: \(longest(unnoticedBack))", "false \u{201C}offline\u{201D}: \(falseOffline)",
      "false \u{201C}online\u{201D}: \(falseOnline)",
      "took a false \u{201C}offline\u{201D} back: \(text(takenBackOffline))",
      "took a false \u{201C}online\u{201D} back: \(text(takenBackOnline))",
      "stale values: \(stale.tenths) s of \(watched.tenths) s watched",
    ]
  }
}

extension Duration {
  /// Seconds with one digit behind the point.
  fileprivate var tenths: String {
    let tenths = nanoseconds / 100_000_000
    return "\(tenths / 10).\(tenths % 10)"
  }
}
