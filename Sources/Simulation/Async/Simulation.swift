internal import Foundation
public import MatterProtocol
internal import Runtime
internal import Synchronization

/// Runs async code on virtual time.
public enum Simulation {
  /// A run takes all of a processor: with more of them at a time than there are each would only take longer, and everything else
  /// in the process would starve.
  private static let places = DispatchSemaphore(value: max(1, ProcessInfo.processInfo.activeProcessorCount - 1))

  /// Lets as many runs go on at a time as there are processors, from now on: for a process that does nothing else. To be called
  /// once.
  public static func useAllProcessors() { if ProcessInfo.processInfo.activeProcessorCount > 1 { places.signal() } }

  /// How a run went, besides what it came to.
  public struct Run<Result: Sendable>: Sendable {
    public var result: Swift.Result<Result, any Error>
    public var trace: Trace
    /// The virtual time at the end.
    public var end: Instant
  }

  /// Three times as long as what takes longest of all that devices do by themselves: Matter's timed commands end within 6554 s.
  public static let usualTimeout = Duration.seconds(6 * 3_600)

  /// Runs a body in a world of its own, on a thread of its own, until it returns. It has the task-local values of who calls, so
  /// that a test is told of what it expected in there.
  ///
  /// The body, the tasks that it starts and the actors that it calls run on the world's executor. `Task.detached`, the main actor
  /// and `Task.sleep` lead out of it: what comes back from there ends the run with ``SimulationError/escaped(at:)``. The run does not
  /// wait for it, though: where it does not come back at once, time goes on without it, or nothing is left to happen, and the run ends
  /// with ``SimulationError/timedOut(at:waiting:)`` or ``SimulationError/deadlock(at:waiting:)``.
  /// - Parameters:
  ///   - seed: the same one gives the same run, to the byte.
  ///   - limit: how much virtual time it may take.
  ///   - timeout: how long the body may wait without anything happening to it, while nothing is to come at a time of its own:
  ///     then the run ends with ``SimulationError/noProgress(at:since:waiting:)``.
  ///   - prepare: sets up the world before anything runs.
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
          Self.places.wait()
          defer { Self.places.signal() }
          continuation.resume(returning: Self.run(seed, limit, timeout, prepare, isCancelled, handover, body))
        }
        // Engines are deep, and a debug build's frames are wide.
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

  /// Lets a world go on for some more steps.
  private static func windDown(_ world: World, until isOver: () -> Bool) {
    world.forgetLivelock()
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
      // What waits gets a chance to end, and to clear away behind itself.
      task?.cancel()
      world.giveUpWaiting()
      windDown(world) { outcome.result != nil }
      if outcome.result == nil {
        // Somebody keeps it from that: all that runs is ended, but for the body.
        world.cutPower(exceptOf: machine.id)
        world.giveUpWaiting()
        windDown(world) { outcome.result != nil }
      }
      outcome.result = .failure(error)
    }
    return Run(
      result: outcome.result ?? .failure(CancellationError()), trace: world.trace, end: world.now)
  }
}
