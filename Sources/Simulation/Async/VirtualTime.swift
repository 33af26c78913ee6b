internal import Foundation
public import MatterProtocol
internal import Runtime
internal import Synchronization

/// Runs async code on virtual time.
public enum VirtualTime {
  /// Limits the concurrent runs, each of which occupies a processor: more runs would only slow each other down and
  /// starve the rest of the process.
  private static let slots = DispatchSemaphore(value: max(1, ProcessInfo.processInfo.activeProcessorCount - 1))

  /// Allows as many concurrent runs as there are processors, for a process without other work. To be called once.
  public static func useAllProcessors() { if ProcessInfo.processInfo.activeProcessorCount > 1 { slots.signal() } }

  /// The outcome of a run.
  public struct Run<Result: Sendable>: Sendable {
    public var result: Swift.Result<Result, any Error>
    public var trace: Trace
    /// The virtual time at the end.
    public var end: Instant
  }

  /// The default timeout: three times the longest timer of a device, since Matter's timed commands end within 6554 s.
  public static let usualTimeout = Duration.seconds(6 * 3_600)

  /// Runs a body in its own world, on its own thread, until it returns. The body has the caller's task-local values, so
  /// that expectations in it are attributed to the calling test.
  ///
  /// The body, the tasks that it starts and the actors that it calls run on the world's executor. `Task.detached`, the
  /// main actor and `Task.sleep` leave it: a return from there ends the run with ``SimulationError/escaped(at:)``. The
  /// run does not wait for that: unless it returns at once, time advances without it, or no event is left, and the run
  /// ends with ``SimulationError/timedOut(at:waiting:)`` or ``SimulationError/deadlock(at:waiting:)``.
  /// - Parameters:
  ///   - seed: the seed; the same one gives the same run, byte for byte.
  ///   - limit: the limit of virtual time.
  ///   - timeout: the maximum time without an event for the body while nothing is scheduled; after that the run ends
  ///     with ``SimulationError/noProgress(at:since:waiting:)``.
  ///   - prepare: sets up the world before the start.
  public static func run<R: Sendable>(
    seed: UInt64, limit: Duration = .seconds(7 * 86_400), timeout: Duration = usualTimeout,
    prepare: (@Sendable (World) -> Void)? = nil,
    _ body: @escaping @Sendable (SimulatedWorld) async throws -> R
  ) async -> Run<R> {
    let isCancelled = Atomic<Bool>(false)
    let handover = Handover()
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let thread = Thread {
          let stack = SignalStack()
          defer { stack.remove() }
          Self.slots.wait()
          defer { Self.slots.signal() }
          continuation.resume(returning: Self.run(seed, limit, timeout, prepare, isCancelled, handover, body))
        }
        // Engines have deep call stacks, and a debug build has large frames.
        thread.stackSize = 8 << 20
        thread.name = "simulation \(seed)"
        thread.start()
      }
    } onCancel: {
      isCancelled.store(true, ordering: .relaxed)
    }
  }

  private final class Outcome<R: Sendable>: @unchecked Sendable {
    var result: Result<R, any Error>?
  }

  /// Runs some more steps, until `isOver` returns true.
  private static func windDown(_ world: World, until isOver: () -> Bool) {
    world.resetLivelock()
    for _ in 0..<20_000 where !isOver() { guard (try? world.step()) == true else { return } }
  }

  private static func run<R: Sendable>(
    _ seed: UInt64, _ limit: Duration, _ timeout: Duration, _ prepare: (@Sendable (World) -> Void)?,
    _ isCancelled: borrowing Atomic<Bool>, _ handover: Handover,
    _ body: @escaping @Sendable (SimulatedWorld) async throws -> R
  ) -> Run<R> {
    let world = World(seed: seed)
    let machine = world.addMachine("test")
    prepare?(world)
    let simulated = SimulatedWorld(Confined(world), on: machine)
    let outcome = Outcome<R>()
    var task: Task<Void, Never>?
    handover {
      task = machine.task {
        do {
          outcome.result = .success(try await body(simulated))
        } catch {
          outcome.result = .failure(error)
        }
      }
    }
    let end = Instant.zero + limit
    do throws(SimulationError) {
      while outcome.result == nil {
        guard try world.step(before: end) else { throw .deadlock(at: world.now, waiting: world.waits) }
        try world.checkProgress(of: machine, timeout)
        if isCancelled.load(ordering: .relaxed) { task?.cancel() }
      }
    } catch {
      // Cancel the body and its waits, so that it can clean up.
      task?.cancel()
      world.cancelAllWaits()
      windDown(world) { outcome.result != nil }
      if outcome.result == nil {
        // Another host keeps the body from ending: stop everything else.
        world.cutPower(exceptOf: machine.id)
        world.cancelAllWaits()
        windDown(world) { outcome.result != nil }
      }
      outcome.result = .failure(error)
    }
    return Run(
      result: outcome.result ?? .failure(CancellationError()), trace: world.trace, end: world.now)
  }
}
