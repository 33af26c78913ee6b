package import Dispatch
internal import MatterProtocol
package import NIOCore
internal import Runtime
internal import Synchronization

/// An event loop whose clock runs faster or slower than that of its base loop, on whose thread it runs.
package final class DriftingEventLoop: ClockedEventLoop, NIOSerialEventLoopExecutor {
  private struct Timer {
    /// The deadline by the clock of this loop.
    let deadline: Instant
    let body: @Sendable () -> Void
    var scheduled: Scheduled<Void>?
  }

  private struct State {
    var clock = MachineClock()
    var timers: [UInt64: Timer] = [:]
    var lastTimer: UInt64 = 0
  }

  /// The wrapped loop.
  package let base: any EventLoop
  private let state = Mutex(State())

  package init(_ base: any EventLoop) { self.base = base }

  // MARK: Time

  private var baseNow: Instant { Instant(nanoseconds: Int64(clamping: base.now.uptimeNanoseconds)) }

  /// The lead of this clock over that of the base loop.
  package var lead: Duration {
    let now = baseNow
    return state.withLock { $0.clock.local(now) } - now
  }

  /// Sets the drift in millionths from now on. The clock does not jump, and pending timers are rescheduled.
  package func setDrift(_ drift: Int64) {
    let now = baseNow
    state.withLock { state in
      state.clock.setDrift(drift, at: now)
      for number in state.timers.keys { schedule(number, &state) }
    }
  }

  package var now: NIODeadline {
    let now = baseNow
    return .uptimeNanoseconds(UInt64(clamping: state.withLock { $0.clock.local(now) }.nanoseconds))
  }

  private func schedule(_ number: UInt64, _ state: inout State) {
    guard let timer = state.timers[number] else { return }
    timer.scheduled?.cancel()
    let due = NIODeadline.uptimeNanoseconds(UInt64(clamping: state.clock.world(timer.deadline).nanoseconds))
    state.timers[number]?.scheduled = base.scheduleTask(deadline: due) { [self] in
      self.state.withLock { $0.timers.removeValue(forKey: number) }?.body()
    }
  }

  // MARK: EventLoop

  package var inEventLoop: Bool { base.inEventLoop }

  package func execute(_ task: @escaping @Sendable () -> Void) { base.execute(task) }

  package func submit<T>(_ task: @escaping @Sendable () throws -> T) -> EventLoopFuture<T> {
    let promise = makePromise(of: T.self)
    base.execute { Self.complete(promise, task) }
    return promise.futureResult
  }

  package func scheduleTask<T>(deadline: NIODeadline, _ task: @escaping @Sendable () throws -> T) -> Scheduled<T> {
    let promise = makePromise(of: T.self)
    let timer = Timer(deadline: Instant(nanoseconds: Int64(clamping: deadline.uptimeNanoseconds))) {
      Self.complete(promise, task)
    }
    let number = state.withLock { state in
      state.lastTimer += 1
      state.timers[state.lastTimer] = timer
      schedule(state.lastTimer, &state)
      return state.lastTimer
    }
    return Scheduled(promise: promise) { [self] in
      state.withLock { $0.timers.removeValue(forKey: number) }?.scheduled?.cancel()
    }
  }

  package func scheduleTask<T>(in time: TimeAmount, _ task: @escaping @Sendable () throws -> T) -> Scheduled<T> {
    scheduleTask(deadline: now + time, task)
  }

  private static func complete<T>(_ promise: EventLoopPromise<T>, _ task: () throws -> T) {
    do { promise.assumeIsolated().succeed(try task()) } catch { promise.fail(error) }
  }

  /// Completes without effect: the base loop keeps running.
  package func shutdownGracefully(queue: DispatchQueue, _ callback: @escaping @Sendable ((any Error)?) -> Void) {
    queue.async { callback(nil) }
  }
}
