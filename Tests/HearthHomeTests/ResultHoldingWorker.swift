import NIOCore
import Runtime
import Synchronization

/// A worker that runs jobs in order, and can hold back one result of the type `Held`.
final class ResultHoldingWorker<Held>: Worker {
  private let queue = QueueWorker()
  private let state = Mutex((holdsNext: false, answer: (@Sendable () -> Void)?.none))

  init(of _: Held.Type) {}

  func holdNext() { state.withLock { $0.holdsNext = true } }
  var isHolding: Bool { state.withLock { $0.answer != nil } }
  func release() { state.withLock { $0.answer.take() }?() }

  func submit<R: Sendable>(
    on eventLoop: any EventLoop, _ body: @escaping @Sendable () throws -> R
  ) -> EventLoopFuture<R> {
    let answer = queue.submit(on: eventLoop, body)
    guard R.self == Held.self, state.withLock({ exchange(&$0.holdsNext, with: false) }) else { return answer }
    let promise = eventLoop.makePromise(of: R.self)
    answer.whenComplete { result in
      self.state.withLock { $0.answer = { promise.completeWith(result) } }
    }
    return promise.futureResult
  }

  func close(_ done: @escaping @Sendable () -> Void) { queue.close(done) }
}
