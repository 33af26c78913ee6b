package import Dispatch
internal import MatterProtocol
package import NIOCore
internal import Runtime
internal import Synchronization

/// An event loop whose clock goes faster than that of another one, or slower; all it does it does on that other one's thread.
package final class DriftingEventLoop: ClockedEventLoop, NIOSerialEventLoopExecutor {
  private struct Timer {
    /// By the clock of this loop.
    let deadline: Instant
    let body: @Sendable () -> Void
    var scheduled: Scheduled<Void>?
  }

  private struct State {
    var clock = MachineClock()
    var timers: [UInt64: Timer] = [:]
    var lastTimer: UInt64 = 0
  }

  /// The other one.
  package let base: any EventLoop
  private let state = Mutex(State())

  package init(_ base: any EventLoop) { self.base = base }

  // MARK: Time

  private var baseNow: Instant { Instant(nanoseconds: Int64(clamping: base.now.uptimeNanoseconds)) }

  /// How far its clock has gone ahead of the other one's.
  package var lead: Duration {
    let now = baseNow
    return state.withLock { $0.clock.local(now) } - now
  }

  /// Lets its clock go faster or slower from now on, in millionths: what it shows does not jump, and those who wait for a time by it
  /// wait for another.
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

  /// Ends nothing: the other one goes on.
  package func shutdownGracefully(queue: DispatchQueue, _ callback: @escaping @Sendable ((any Error)?) -> Void) {
    queue.async { callback(nil) }
  }
}
