public import Dispatch
internal import Glibc
internal import MatterProtocol
public import NIOCore
internal import Synchronization

/// Raised when something came from another thread, for a world to look at in each of its steps.
final class EscapeFlag: Sendable {
  let isRaised = Atomic<Bool>(false)
}

/// An event loop on virtual time, which Swift's tasks and actors run on, too. It does nothing by itself: its ``World`` lets
/// it run whatever is due.
///
/// Everything that is given to it at one time is done in the order in which it was given, so that a run is the same each
/// time. What another thread gives it can have no such order: it is done, and the world is told that something escaped.
public final class SimulatedEventLoop: NIOSerialEventLoopExecutor, TaskExecutor, @unchecked Sendable {
  // Not checked, because everything but `foreign` is touched on the world's own thread alone.

  private enum Work: Sendable {
    case closure(@Sendable () -> Void)
    case job(UnownedJob)
  }

  private struct Timer: Comparable {
    let deadline: Int64
    let sequence: UInt64
    static func < (left: Self, right: Self) -> Bool {
      (left.deadline, left.sequence) < (right.deadline, right.sequence)
    }
    static func == (left: Self, right: Self) -> Bool { left.sequence == right.sequence }
  }

  private struct Action {
    /// How long it was to wait, in nanoseconds.
    let span: Int64
    let body: @Sendable () -> Void
  }

  private let thread = pthread_self()
  private let clock: () -> Instant
  private var ready: [Work] = []
  private var timers = EventHeap<Timer>()
  /// The timers that were not cancelled.
  private var actions: [UInt64: Action] = [:]
  private var sequence: UInt64 = 0
  private let foreign = Mutex<[Work]>([])
  /// Whether there may be some, to be asked at every step.
  private let hasForeign = Atomic<Bool>(false)
  /// Raised when another thread gave it something.
  private let escape: EscapeFlag
  /// Called when there may be something to do earlier than before.
  private let onWork: () -> Void
  /// Called when a timer goes off.
  private let onTimer: () -> Void
  /// Work that came from other threads.
  private(set) var escapes = 0
  /// When it did something last, by the machine's clock.
  private(set) var lastWork = Instant.zero

  /// - Parameters:
  ///   - clock: the time of the machine that it belongs to.
  ///   - onWork: called, on the world's thread, when there may be something to do earlier than before.
  ///   - onTimer: called, there too, when a timer goes off.
  init(
    escape: EscapeFlag, clock: @escaping () -> Instant, onWork: @escaping () -> Void, onTimer: @escaping () -> Void
  ) {
    (self.escape, self.clock, self.onWork, self.onTimer) = (escape, clock, onWork, onTimer)
  }

  // MARK: Running

  /// When there is something to do, by the machine's clock; nil if there is nothing.
  var nextDeadline: Instant? {
    if !ready.isEmpty || hasEscapes { return clock() }
    while let first = timers.first {
      if actions[first.sequence] != nil { return Instant(nanoseconds: first.deadline) }
      _ = timers.removeFirst()
    }
    return nil
  }

  /// Whether a timer waits that was set to more than this.
  func hasTimer(longerThan time: Duration) -> Bool { actions.values.contains { $0.span > time.nanoseconds } }

  /// Whether another thread has given it something.
  private var hasEscapes: Bool { hasForeign.load(ordering: .acquiring) }

  /// Does all that is due, and what that leads to at once.
  /// - Parameter limit: of pieces of work.
  /// - Returns: whether it came to an end.
  func run(limit: Int) -> Bool {
    let now = clock().nanoseconds
    var count = 0
    while true {
      if hasEscapes {
        let others = foreign.withLock { work in
          defer { work = [] }
          hasForeign.store(false, ordering: .releasing)
          return work
        }
        escapes += others.count
        ready += others
      }
      while let first = timers.first, first.deadline <= now {
        _ = timers.removeFirst()
        guard let action = actions.removeValue(forKey: first.sequence) else { continue }
        onTimer()
        ready.append(.closure(action.body))
      }
      if ready.isEmpty { return true }
      lastWork.nanoseconds = now
      let work = ready
      ready = []
      for item in work { perform(item) }
      count += work.count
      if count > limit { return false }
    }
  }

  private func perform(_ work: Work) {
    switch work {
    case .closure(let body): body()
    case .job(let job):
      // Both at once: else a task would leave the loop where it leaves an actor.
      job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
    }
  }

  private func add(_ work: Work) {
    guard inEventLoop else {
      foreign.withLock {
        $0.append(work)
        hasForeign.store(true, ordering: .releasing)
      }
      return escape.isRaised.store(true, ordering: .releasing)
    }
    ready.append(work)
    onWork()
  }

  // MARK: Executor

  public func enqueue(_ job: consuming ExecutorJob) { add(.job(UnownedJob(job))) }

  public func asUnownedTaskExecutor() -> UnownedTaskExecutor { UnownedTaskExecutor(ordinary: self) }

  // MARK: EventLoop

  public var inEventLoop: Bool { pthread_equal(thread, pthread_self()) != 0 }

  /// The world's time as NIO has it.
  public var now: NIODeadline { .uptimeNanoseconds(UInt64(clamping: clock().nanoseconds)) }

  public func execute(_ task: @escaping @Sendable () -> Void) { add(.closure(task)) }

  public func scheduleTask<T>(
    deadline: NIODeadline, _ task: @escaping @Sendable () throws -> T
  ) -> Scheduled<T> {
    let promise = makePromise(of: T.self)
    guard inEventLoop else {
      // Without an order of its own it is as good as any other work from outside.
      execute { Self.complete(promise, task) }
      return Scheduled(promise: promise, cancellationTask: {})
    }
    sequence += 1
    let number = sequence
    let due = Int64(clamping: deadline.uptimeNanoseconds)
    timers.insert(Timer(deadline: due, sequence: number))
    actions[number] = Action(span: due - clock().nanoseconds) { Self.complete(promise, task) }
    onWork()
    return Scheduled(promise: promise) { [self] in actions[number] = nil }
  }

  public func scheduleTask<T>(in time: TimeAmount, _ task: @escaping @Sendable () throws -> T) -> Scheduled<T> {
    scheduleTask(deadline: now + time, task)
  }

  public func submit<T>(_ task: @escaping @Sendable () throws -> T) -> EventLoopFuture<T> {
    let promise = makePromise(of: T.self)
    execute { Self.complete(promise, task) }
    return promise.futureResult
  }

  private static func complete<T>(_ promise: EventLoopPromise<T>, _ task: () throws -> T) {
    do { promise.assumeIsolated().succeed(try task()) } catch { promise.fail(error) }
  }

  /// Ends nothing: a loop lives as long as its world.
  public func shutdownGracefully(queue: DispatchQueue, _ callback: @escaping @Sendable ((any Error)?) -> Void) {
    queue.async { callback(nil) }
  }
}
