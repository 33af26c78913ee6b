import Dispatch
import NIOCore
import NIOPosix
import Testing

@testable import Runtime

@Suite struct WorkerTests {
  /// The owner may have queued writes.
  @Test(.timeLimit(.minutes(10))) func completesQueuedWorkBeforeClosing() async throws {
    let worker = HostMachine().makeWorker()
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let gate = DispatchSemaphore(value: 0)
    let first = worker.submit(on: loop) { gate.wait() }
    let rest = (0..<10).map { number in worker.submit(on: loop) { number } }
    let isOver = loop.makePromise(of: Void.self)
    worker.close { isOver.succeed() }
    gate.signal()
    try await first.get()
    for (number, answer) in rest.enumerated() { #expect(try await answer.get() == number) }
    try await isOver.futureResult.get()
  }
}
