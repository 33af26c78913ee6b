public import Dispatch
internal import Glibc
internal import MatterProtocol
public import NIOCore
internal import Synchronization

/// Set when work arrives from another thread; the world checks it in each step.
final class EscapeFlag: Sendable {
  let isRaised = Atomic<Bool>(false)
}

/// An event loop on virtual time, which is also the executor of Swift tasks and actors. It does not run by itself: its
/// ``World`` runs the work that is due.
///
/// Work for the same time runs in the order of submission, so that runs are deterministic. Work from other threads has
/// no deterministic order: it runs, and is reported to the world as an escape.
public final class SimulatedEventLoop: NIOSerialEventLoopExecutor, TaskExecutor, @unchecked Sendable {
  // Unchecked, since everything except `foreign` is confined to the world's thread.

  private enum Work: Sendable {
    case closure(@Sendable () -> Void)
    case job(UnownedJob)
  }

  private let thread = pthread_self()
  private let time: MachineTime
  private var ready: [Work] = []
  /// An empty array whose memory is reused.
  private var spare: [Work] = []
  private var timers = TimerTable()
  private let foreign = Mutex<[Work]>([])
  /// Whether `foreign` may have work, checked at every step.
  private let hasForeign = Atomic<Bool>(false)
  /// Set when another thread submits work.
  private let escape: EscapeFlag
  /// Called when there may be work earlier than before.
  private let onWork: () -> Void
  /// Called when a timer fires.
  private let onTimer: () -> Void
  /// The number of work items from other threads.
  private(set) var escapes = 0
  /// The last time with work, by the machine's clock.
  private(set) var lastWork = Instant.zero

  /// - Parameters:
  ///   - time: the time of the machine.
  ///   - onWork: called on the world's thread when there may be work earlier than before.
  ///   - onTimer: called on the world's thread when a timer fires.
  init(
    escape: EscapeFlag, time: MachineTime, onWork: @escaping () -> Void, onTimer: @escaping () -> Void
  ) {
    (self.escape, self.time, self.onWork, self.onTimer) = (escape, time, onWork, onTimer)
  }

  // MARK: Running

  /// The time of the next work by the machine's clock; nil if there is none.
  var nextDeadline: Instant? { ready.isEmpty && !hasEscapes ? timers.nextDeadline : time.now }

  /// Returns whether a pending timer had a longer delay than this.
  func hasTimer(longerThan time: Duration) -> Bool { timers.contains(longerThan: time) }

  /// Whether another thread has submitted work.
  private var hasEscapes: Bool { hasForeign.load(ordering: .acquiring) }

  /// Runs all work that is due, and the work that it submits for the same time.
  /// - Parameter limit: the maximum number of work items.
  /// - Returns: whether the work ended within the limit.
  func run(limit: Int) -> Bool {
    let now = time.now
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
      while let body = timers.takeDue(at: now) {
        onTimer()
        ready.append(.closure(body))
      }
      if ready.isEmpty { return true }
      lastWork = now
      var work = spare
      spare = []
      swap(&ready, &work)
      for item in work { perform(item) }
      count += work.count
      work.removeAll(keepingCapacity: work.count <= 4)
      spare = work
      if count > limit { return false }
    }
  }

  private func perform(_ work: Work) {
    switch work {
    case .closure(let body): body()
    case .job(let job):
      // Sets both executors: otherwise a task would leave the loop when it leaves an actor.
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

  /// The world's time.
  public var now: NIODeadline { .uptimeNanoseconds(UInt64(clamping: time.now.nanoseconds)) }

  public func execute(_ task: @escaping @Sendable () -> Void) { add(.closure(task)) }

  public func scheduleTask<T>(
    deadline: NIODeadline, _ task: @escaping @Sendable () throws -> T
  ) -> Scheduled<T> {
    let promise = makePromise(of: T.self)
    guard inEventLoop else {
      // Without a deterministic order, the deadline does not matter.
      execute { Self.complete(promise, task) }
      return Scheduled(promise: promise, cancellationTask: {})
    }
    let number = addTimer(deadline) { Self.complete(promise, task) }
    return Scheduled(promise: promise) { [self] in _ = timers.remove(number) }
  }

  /// Returns the number of the timer.
  private func addTimer(_ deadline: NIODeadline, _ body: @escaping @Sendable () -> Void) -> UInt64 {
    let deadline = Instant(nanoseconds: Int64(clamping: deadline.uptimeNanoseconds))
    let number = timers.add(at: deadline, now: time.now, body)
    onWork()
    return number
  }

  /// Schedules a callback without the promise of a task.
  public func scheduleCallback(
    at deadline: NIODeadline, handler: some NIOScheduledCallbackHandler & Sendable
  ) -> NIOScheduledCallback {
    let body: @Sendable () -> Void = { [self] in handler.handleScheduledCallback(eventLoop: self) }
    guard inEventLoop else {
      execute(body)
      return NIOScheduledCallback(self, id: 0)
    }
    return NIOScheduledCallback(self, id: addTimer(deadline, body))
  }

  /// Cancels a callback that has not run.
  public func cancelScheduledCallback(_ callback: NIOScheduledCallback) {
    if let number = callback.customCallbackID { _ = timers.remove(number) }
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

  /// Completes without effect: a loop lives as long as its world.
  public func shutdownGracefully(queue: DispatchQueue, _ callback: @escaping @Sendable ((any Error)?) -> Void) {
    queue.async { callback(nil) }
  }
}
