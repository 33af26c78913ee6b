package import MatterProtocol

/// The schedule of an observer's deliveries: at once for the first change, then at most once per period; with
/// exponential back-off after failures, and suspended after too many of them. A value that reads no clock. See
/// the article “The home model”, “Observer queries”.
package struct DeliverySchedule: Hashable, Sendable {
  /// The period, timeout and retry limits of an observer.
  package struct Limits: Hashable, Sendable {
    /// The minimum time between the beginnings of two deliveries; zero: no limit.
    package var period: Duration
    package var timeout: Duration
    /// The delay of the first retry, doubled for each further one.
    package var firstRetry: Duration
    /// The number of consecutive failures after which the observer is suspended.
    package var strikes: Int

    package init(
      period: Duration = .zero, timeout: Duration = .seconds(30), firstRetry: Duration = .seconds(5), strikes: Int = 3
    ) {
      self.period = period
      self.timeout = timeout
      self.firstRetry = firstRetry
      self.strikes = strikes
    }
  }

  /// An action to perform.
  package enum Action: Hashable, Sendable {
    /// Call the observer, and report the result with this number.
    case deliver(run: Int)
    /// The delivery timed out and counts as failed: abandon it.
    case abandon(run: Int)
  }

  package var limits: Limits
  /// The number of consecutive failures.
  package private(set) var strikes: Int
  /// Whether the observer is suspended until ``resume(at:)``.
  package private(set) var isSuspended: Bool
  /// Whether there are changes to deliver.
  package private(set) var isPending = false
  /// Whether there were changes since the last delivery began, which its completion does not cover.
  private var isNew = false
  /// Deliveries that timed out but may still complete.
  private var timedOut: Set<Int> = []
  private var run = 0
  /// The end of the timeout of the current delivery.
  private var timeoutEnd: Instant?
  /// The earliest time of the next delivery; nil: at once.
  package private(set) var notBefore: Instant?
  /// The value of `notBefore` after a completion of the last delivery.
  private var periodEnd: Instant?
  /// The value of `notBefore` before the current delivery.
  private var earlierNotBefore: Instant?

  /// - Parameter notBefore: the earliest time of the first delivery, restored from a previous run.
  package init(
    _ limits: Limits = Limits(), strikes: Int = 0, isSuspended: Bool = false, notBefore: Instant? = nil
  ) {
    self.limits = limits
    self.strikes = strikes
    self.isSuspended = isSuspended
    self.notBefore = notBefore
  }

  /// Whether a delivery is in progress.
  package var isRunning: Bool { timeoutEnd != nil }

  /// Whether this delivery is in progress.
  package func isRunning(_ number: Int) -> Bool { isRunning && number == run }

  /// Whether this delivery may still complete: it is in progress, or has timed out without an end.
  package func isOpen(_ number: Int) -> Bool { isRunning(number) || timedOut.contains(number) }

  /// The time of the next call of ``advance(to:)``; nil: not before another event.
  package var deadline: Instant? {
    timeoutEnd ?? (isPending && !isSuspended ? notBefore : nil)
  }

  package mutating func change(at now: Instant) -> [Action] {
    (isPending, isNew) = (true, true)
    return advance(to: now)
  }

  /// Completes a delivery. A completion after the timeout counts as well, so that the same changes are not delivered
  /// again.
  package mutating func finish(run number: Int, at now: Instant) -> [Action] {
    guard isOpen(number) else { return [] }
    let isLate = timedOut.remove(number) != nil
    strikes = 0
    isSuspended = false
    if !isLate {
      timeoutEnd = nil
    } else if number == run {
      // The retry has not begun and is not necessary any longer.
      (isPending, notBefore) = (isNew, periodEnd)
    }
    return advance(to: now)
  }

  /// Withdraws a delivery without changes, as if it had not begun.
  package mutating func withdraw(run number: Int, at now: Instant) -> [Action] {
    guard isRunning, number == run else { return [] }
    timeoutEnd = nil
    notBefore = earlierNotBefore
    return advance(to: now)
  }

  /// Notes the failure of a delivery.
  package mutating func fail(run number: Int, at now: Instant) -> [Action] {
    // The timeout has already counted as a failure.
    if timedOut.remove(number) != nil { return [] }
    guard isRunning, number == run else { return [] }
    strike(at: now)
    return advance(to: now)
  }

  /// Advances the time; to be called at ``deadline``, and harmless at any other time.
  package mutating func advance(to now: Instant) -> [Action] {
    var actions: [Action] = []
    if let end = timeoutEnd, end <= now {
      actions.append(.abandon(run: run))
      timedOut.insert(run)
      strike(at: now)
    }
    guard isPending, !isRunning, !isSuspended, notBefore.map({ $0 <= now }) ?? true else { return actions }
    (isPending, isNew) = (false, false)
    run += 1
    timeoutEnd = now + limits.timeout
    earlierNotBefore = notBefore
    notBefore = now + limits.period
    periodEnd = notBefore
    return actions + [.deliver(run: run)]
  }

  /// Clears the failures and delivers at once. Without failures, or during a delivery, it does not start another one.
  package mutating func resume(at now: Instant) -> [Action] {
    guard isSuspended || strikes > 0 else { return [] }
    isSuspended = false
    strikes = 0
    if !isRunning { (isPending, notBefore) = (true, nil) }
    return advance(to: now)
  }

  /// The back-off after the current number of failures.
  private var pause: Duration { strikes > 0 ? limits.firstRetry * (1 << min(strikes - 1, 20)) : .zero }

  /// The maximum delay of the next delivery.
  var longestWait: Duration { max(limits.period, pause) }

  private mutating func strike(at now: Instant) {
    timeoutEnd = nil
    // The changes were not delivered.
    isPending = true
    strikes = strikes.saturatingAdd(1)
    guard strikes < limits.strikes else {
      isSuspended = true
      return
    }
    let retry = now + pause
    notBefore = max(notBefore ?? retry, retry)
  }
}
