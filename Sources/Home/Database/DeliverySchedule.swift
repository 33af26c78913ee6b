public import MatterProtocol

/// When an observer is woken: at the first change at once, then once in a period at most; again, later and later, where it
/// did not complete; no more after too many failures. A value that reads no clock.
/// See <doc:TheHomeModel>, “Observer queries”.
public struct DeliverySchedule: Hashable, Sendable {
  /// How often an observer is woken, how long it may take, and when one gives it up.
  public struct Limits: Hashable, Sendable {
    /// Between the beginnings of two deliveries; zero: as often as there is something.
    public var period: Duration
    /// How long a delivery may take.
    public var timeout: Duration
    /// Before the second attempt; doubled for each further one.
    public var firstRetry: Duration
    /// Failures in a row that end it.
    public var strikes: Int

    public init(
      period: Duration = .zero, timeout: Duration = .seconds(30), firstRetry: Duration = .seconds(5), strikes: Int = 3
    ) {
      self.period = period
      self.timeout = timeout
      self.firstRetry = firstRetry
      self.strikes = strikes
    }
  }

  /// What is to be done now.
  public enum Action: Hashable, Sendable {
    /// Wake the observer, and say how it ended with this number.
    case deliver(run: Int)
    /// The delivery took too long: end it, it has failed.
    case abandon(run: Int)
    /// It failed too often: nothing more until ``DeliverySchedule/resume(at:)``.
    case suspend
  }

  public var limits: Limits
  /// Failures in a row.
  public private(set) var strikes: Int
  /// Whether it failed too often; nothing is delivered until ``resume(at:)``.
  public private(set) var isSuspended: Bool
  /// Whether there is something that the observer was not told of.
  public private(set) var isPending = false
  /// Whether something came since the last delivery began: it is not told of that by completing.
  private var isNew = false
  /// Deliveries that were given up and may be completed yet.
  private var givenUp: Set<Int> = []
  private var run = 0
  /// When the delivery that runs is given up.
  private var timeoutEnd: Instant?
  /// When the next delivery may begin; nil: at once.
  public private(set) var notBefore: Instant?
  /// The same if the delivery that began last is completed.
  private var periodEnd: Instant?
  /// As it was before the delivery that runs.
  private var earlierNotBefore: Instant?

  /// - Parameter notBefore: when the first delivery may begin, where there was one before.
  public init(
    _ limits: Limits = Limits(), strikes: Int = 0, isSuspended: Bool = false, notBefore: Instant? = nil
  ) {
    self.limits = limits
    self.strikes = strikes
    self.isSuspended = isSuspended
    self.notBefore = notBefore
  }

  /// Whether a delivery has begun and has not ended.
  public var isRunning: Bool { timeoutEnd != nil }

  /// Whether it is this delivery that runs.
  func isRunning(_ number: Int) -> Bool { isRunning && number == run }

  /// Whether this delivery is waited for: it runs, or it was given up and has not ended.
  func isOpen(_ number: Int) -> Bool { isRunning(number) || givenUp.contains(number) }

  /// When ``advance(to:)`` is to be called next; nil: not before something happens.
  public var deadline: Instant? {
    timeoutEnd ?? (isPending && !isSuspended ? notBefore : nil)
  }

  /// There is something new.
  public mutating func change(at now: Instant) -> [Action] {
    (isPending, isNew) = (true, true)
    return advance(to: now)
  }

  /// A delivery was completed, be it later than it should: that it took long is no reason to tell the same again.
  public mutating func finish(run number: Int, at now: Instant) -> [Action] {
    guard isOpen(number) else { return [] }
    let isLate = givenUp.remove(number) != nil
    strikes = 0
    isSuspended = false
    if !isLate {
      timeoutEnd = nil
    } else if number == run {
      // The next attempt has not begun, and there is no need for it.
      (isPending, notBefore) = (isNew, periodEnd)
    }
    return advance(to: now)
  }

  /// There was nothing to deliver: as if it had not begun.
  public mutating func withdraw(run number: Int, at now: Instant) -> [Action] {
    guard isRunning, number == run else { return [] }
    timeoutEnd = nil
    notBefore = earlierNotBefore
    return advance(to: now)
  }

  /// A delivery was not completed.
  public mutating func fail(run number: Int, at now: Instant) -> [Action] {
    // One that was given up has failed already.
    if givenUp.remove(number) != nil { return [] }
    guard isRunning, number == run else { return [] }
    return strike(at: now) + advance(to: now)
  }

  /// The time that ``deadline`` told has come, or any other.
  public mutating func advance(to now: Instant) -> [Action] {
    var actions: [Action] = []
    if let end = timeoutEnd, end <= now {
      actions.append(.abandon(run: run))
      givenUp.insert(run)
      actions += strike(at: now)
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

  /// The user forgives its failures and wants it again: at once. One that did not fail, or runs just now, goes on as it is.
  public mutating func resume(at now: Instant) -> [Action] {
    guard isSuspended || strikes > 0 else { return [] }
    isSuspended = false
    strikes = 0
    if !isRunning { (isPending, notBefore) = (true, nil) }
    return advance(to: now)
  }

  /// How long it is left alone after so many failures.
  private var pause: Duration { strikes > 0 ? limits.firstRetry * (1 << min(strikes - 1, 20)) : .zero }

  /// The longest time that a delivery may have to wait, as it is now.
  var longestWait: Duration { max(limits.period, pause) }

  private mutating func strike(at now: Instant) -> [Action] {
    timeoutEnd = nil
    // What it was to be told of, it was not.
    isPending = true
    strikes = strikes.saturatingAdd(1)
    guard strikes < limits.strikes else {
      isSuspended = true
      return [.suspend]
    }
    let retry = now + pause
    notBefore = max(notBefore ?? retry, retry)
    return []
  }
}
