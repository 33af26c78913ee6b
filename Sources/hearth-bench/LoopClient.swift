import CBench
import Logging
import MatterProtocol
import NIOCore
import NIOPosix
import Runtime

let quiet = Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() }

/// The event loops of the two ends, used for the whole run.
struct Loops {
  let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
  let client: any EventLoop
  let server: any EventLoop

  init() {
    client = group.next()
    server = group.next()
  }

  func close() { try? group.syncShutdownGracefully() }
}

/// Repeats an operation on an engine's loop, starting the next one when the previous one has completed, and times each.
/// Confined to the loop.
final class LoopClient<E: Engine & SendableMetatype> {
  let host: EngineHost<E>
  /// Starts the operation.
  var begin: (inout E, Instant) -> Void
  /// Returns whether an event completes an operation; throws if it reports a failure. Operations complete in order.
  var isAnswer: (E.Event) throws -> Bool
  private var remaining = 0
  private var outstanding = 0
  private var window = 1
  private var started: [Instant] = []
  private var completed = 0
  private var result = Measured(isEach: true)
  private var allocated: UInt64 = 0
  private var count = 0
  private var promise: EventLoopPromise<Measured>?
  private var deadline: Scheduled<Void>?

  init(
    _ host: EngineHost<E>, begin: @escaping (inout E, Instant) -> Void = { _, _ in },
    isAnswer: @escaping (E.Event) throws -> Bool = { _ in false }
  ) {
    self.host = host
    self.begin = begin
    self.isAnswer = isAnswer
    host.onEvent = { [unowned self] event in self.received(event) }
  }

  /// - Parameter window: the number of concurrent operations.
  func run(_ count: Int, window: Int, _ promise: EventLoopPromise<Measured>) {
    (remaining, outstanding, self.window, self.count, self.promise) = (count, 0, window, count, promise)
    result = Measured(isEach: true)
    result.times.reserveCapacity(count)
    started = []
    started.reserveCapacity(count)
    completed = 0
    allocated = hearth_thread_allocations()
    deadline = host.eventLoop.assumeIsolated().scheduleTask(in: .seconds(20)) { [unowned self] in
      self.finish(.failure(BenchError("no answer to \(self.outstanding) requests after 20 s")))
    }
    fill()
  }

  /// Continues after the loop has processed the effects of the last answer, such as its acknowledgment, as an async
  /// caller would.
  private func next() {
    let bound = NIOLoopBound(self, eventLoop: host.eventLoop)
    host.eventLoop.execute { bound.value.fill() }
  }

  private func fill() {
    guard outstanding < window, remaining > 0 else { return }
    host.perform { engine, now in
      while outstanding < window, remaining > 0 {
        outstanding += 1
        remaining -= 1
        started.append(window == 1 ? now : HostClock.now())
        begin(&engine, now)
      }
    }
  }

  private func received(_ event: E.Event) {
    guard promise != nil else { return }
    do {
      guard try isAnswer(event) else { return }
    } catch {
      return finish(.failure(error))
    }
    let now = HostClock.now()
    result.times.append(Double((now - started[completed]).nanoseconds))
    completed += 1
    outstanding -= 1
    if remaining > 0 { return next() }
    guard outstanding == 0 else { return }
    if hearth_counts_allocations() != 0 {
      result.allocations = Double(hearth_thread_allocations() - allocated) / Double(count)
    }
    finish(.success(result))
  }

  private func finish(_ result: Result<Measured, any Error>) {
    deadline?.cancel()
    deadline = nil
    promise?.completeWith(result)
    promise = nil
  }
}

extension NIOLoopBound {
  /// Runs a client from another thread and waits for the result.
  func measure<E>(_ count: Int, window: Int = 1) throws -> Measured where Value == LoopClient<E> {
    let promise = eventLoop.makePromise(of: Measured.self)
    eventLoop.execute { value.run(count, window: window, promise) }
    return try promise.futureResult.wait()
  }
}

/// Counts the allocations of a loop's thread while the body runs.
func allocations<R>(on loop: any EventLoop, _ body: () throws -> R) throws -> (result: R, count: Double) {
  let before = try loop.submit { hearth_thread_allocations() }.wait()
  let result = try body()
  return (result, Double(try loop.submit { hearth_thread_allocations() }.wait() - before))
}
