public import MatterProtocol
internal import NIOCore
public import Runtime

/// The ``World`` as async code sees it that runs on its virtual time, in ``Simulation/run(seed:limit:_:)``.
///
/// Time goes on only while everybody waits; nothing that is computed takes any.
public actor SimulatedWorld {
  /// The world itself, for code that is on its thread.
  public nonisolated let world: Confined<World>
  /// The machine that the code in `run` is on.
  public nonisolated let machine: SimulatedMachine

  public nonisolated var unownedExecutor: UnownedSerialExecutor { machine.eventLoop.asUnownedSerialExecutor() }

  init(_ world: Confined<World>, on machine: SimulatedMachine) {
    self.world = world
    self.machine = machine
  }

  /// Where time stands.
  public var now: Instant { world.value.now }

  /// Does something with the world, between two of its steps.
  public func perform<R: Sendable, Failure: Error>(
    _ body: @Sendable (World) throws(Failure) -> R
  ) throws(Failure) -> R {
    try body(world.value)
  }

  /// Lets virtual time go on.
  /// - Throws: `CancellationError` if the task is cancelled, as soon as it is.
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

  /// Lets virtual time go on by whole paces, for whoever looks again and again whether something is so: by one, or by as many as it
  /// takes until the next thing happens in the world. During all but the last of them nothing changes.
  /// - Parameters:
  ///   - time: how long at most, whether or not these are whole paces.
  ///   - pace: how often would be looked.
  /// - Throws: `CancellationError` if the task is cancelled, as soon as it is.
  package func sleepUntilNews(within time: Duration, pace: Duration) async throws {
    let start = now
    let next = await withCheckedContinuation { continuation in
      world.value.tellNext { continuation.resume(returning: $0) }
    }
    let quiet = min(next.map { $0 - start } ?? time, time)
    let begun = quiet.nanoseconds % max(1, pace.nanoseconds)
    let paces = begun == 0 ? quiet : quiet - .nanoseconds(begun) + pace
    try await sleep(for: min(max(pace, paces), time))
  }

  /// Does something that may take its time, and gives it a name: a run that never comes to its end tells it.
  public func naming<R: Sendable, Failure: Error>(
    _ what: String, _ body: @Sendable () async throws(Failure) -> R
  ) async throws(Failure) -> R {
    let number = world.value.beginWait(what)
    defer { world.value.endWait(number) }
    return try await body()
  }

  /// PendingWork until a condition holds, which is looked at after every step of the world.
  /// - Parameters:
  ///   - what: what is waited for, to be told if it never comes.
  ///   - time: how long at most; not at all in a task that is cancelled.
  /// - Returns: whether it came to hold in time.
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
      // Whoever cancels may be anywhere.
      machine.eventLoop.execute { confined.value.cancelWait(number) }
    }
  }
}

extension SimulatedWorld: WaitRegistry {
  /// Has all that a body waits for written down, as far as whoever is asked for it names it.
  package nonisolated func noting<R: Sendable>(_ body: () async throws -> R) async rethrows -> R {
    try await PendingWork.$board.withValue(self, operation: body)
  }

  public nonisolated func begin(_ what: String) -> Int? {
    // What has left the world's thread is not waited for here.
    machine.eventLoop.inEventLoop ? world.value.beginWait(what) : nil
  }

  /// The wait of this number is over.
  public nonisolated func end(_ number: Int) { if machine.eventLoop.inEventLoop { world.value.endWait(number) } }
}

/// A value that is used on one thread only, which whoever uses it answers for: that of its world.
public struct Confined<Value>: @unchecked Sendable {
  public let value: Value
  init(_ value: Value) { self.value = value }
}
