public import MatterProtocol
internal import NIOCore
public import Runtime

/// The async interface to a ``World``, for code that runs on its virtual time in `VirtualTime.run`.
///
/// Time advances only while all tasks wait; computation takes no virtual time.
public actor SimulatedWorld {
  /// The world, for code on its thread.
  public nonisolated let world: Confined<World>
  /// The machine that the body of `run` runs on.
  public nonisolated let machine: SimulatedMachine

  public nonisolated var unownedExecutor: UnownedSerialExecutor { machine.eventLoop.asUnownedSerialExecutor() }

  init(_ world: Confined<World>, on machine: SimulatedMachine) {
    self.world = world
    self.machine = machine
  }

  /// The present virtual time.
  public var now: Instant { world.value.now }

  /// Calls `body` with the world, between two steps.
  public func perform<R: Sendable, Failure: Error>(
    _ body: @Sendable (World) throws(Failure) -> R
  ) throws(Failure) -> R {
    try body(world.value)
  }

  /// Suspends the task for a virtual duration.
  /// - Throws: `CancellationError` as soon as the task is canceled.
  public func sleep(for time: Duration) async throws {
    try Task.checkCancellation()
    let wait = PendingWork.begin("\(time) to pass")
    defer { wait?.end() }
    let end = machine.eventLoop.scheduleTask(in: .nanoseconds(time.nanoseconds)) {}
    try await withTaskCancellationHandler {
      do { try await end.futureResult.get() } catch {
        try Task.checkCancellation()
        throw error
      }
    } onCancel: {
      end.cancel()
    }
    try Task.checkCancellation()
  }

  /// Sleeps for a multiple of a polling interval: one interval, or as many as pass before the next event of the world,
  /// during which a polled condition can't change.
  /// - Parameters:
  ///   - time: the maximum duration, whether or not it is a multiple.
  ///   - pace: the polling interval.
  /// - Throws: `CancellationError` as soon as the task is canceled.
  package func sleepUntilNextEvent(within time: Duration, pace: Duration) async throws {
    let start = now
    let next = await withCheckedContinuation { continuation in
      world.value.onNextEvent { continuation.resume(returning: $0) }
    }
    let quiet = min(next.map { $0 - start } ?? time, time)
    let begun = quiet.nanoseconds % max(1, pace.nanoseconds)
    let paces = begun == 0 ? quiet : quiet - .nanoseconds(begun) + pace
    try await sleep(for: min(max(pace, paces), time))
  }

  /// Runs an operation that may take virtual time under a name, which the errors of a stalled run list.
  public func naming<R: Sendable, Failure: Error>(
    _ what: String, _ body: @Sendable () async throws(Failure) -> R
  ) async throws(Failure) -> R {
    let number = world.value.beginWait(what)
    defer { world.value.endWait(number) }
    return try await body()
  }

  /// Waits until a condition holds, which is checked after every step of the world.
  /// - Parameters:
  ///   - what: the awaited condition, for the errors of a stalled run.
  ///   - time: the timeout. In a canceled task the call returns at once.
  /// - Returns: whether the condition held before the timeout.
  @discardableResult
  public func wait(
    for what: String, within time: Duration, until condition: @escaping @Sendable (World) -> Bool
  ) async -> Bool {
    let confined = world
    let number = confined.value.nextWait()
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let world = confined.value
        let end = Task.isCancelled ? world.now : world.now + time
        world.wait(for: what, until: end, number: number, condition) { continuation.resume(returning: $0) }
      }
    } onCancel: { [machine] in
      // The handler may run on any thread.
      machine.eventLoop.execute { confined.value.cancelWait(number) }
    }
  }
}

extension SimulatedWorld: WaitRegistry {
  /// Runs `body` with this registry, so that the operations that it waits for are recorded.
  package nonisolated func noting<R: Sendable>(_ body: () async throws -> R) async rethrows -> R {
    try await PendingWork.$board.withValue(self, operation: body)
  }

  public nonisolated func begin(_ what: String) -> Int? {
    // Operations off the world's thread are not recorded.
    machine.eventLoop.inEventLoop ? world.value.beginWait(what) : nil
  }

  /// Removes an entry.
  public nonisolated func end(_ number: Int) { if machine.eventLoop.inEventLoop { world.value.endWait(number) } }
}

/// A value that is confined to the thread of its world; the user is responsible for that.
public struct Confined<Value>: @unchecked Sendable {
  public let value: Value
  init(_ value: Value) { self.value = value }
}
