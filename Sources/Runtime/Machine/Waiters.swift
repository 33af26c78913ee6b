package import NIOCore

/// Callers that wait until their conditions hold. Confined to an event loop.
package final class Waiters {
  private let eventLoop: any EventLoop
  private var waiting: [CheckedContinuation<Void, Never>] = []

  package init(on eventLoop: any EventLoop) { self.eventLoop = eventLoop }

  /// The number of callers that wait now.
  package var count: Int { waiting.count }

  /// Resumes all callers, which check their conditions again.
  package func wakeUp() {
    for caller in exchange(&waiting, with: []) { caller.resume() }
  }

  /// Waits for ``wakeUp()``, or for the deadline.
  package func wait(until deadline: NIODeadline? = nil, isolation: isolated (any Actor)? = #isolation) async {
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    let timer = deadline.map { eventLoop.scheduleTask(deadline: $0) { bound.value.wakeUp() } }
    await withCheckedContinuation { waiting.append($0) }
    timer?.cancel()
  }

  /// Waits for ``wakeUp()``, for the deadline, or for the cancellation of the task, which the caller checks before.
  package func waitUnlessCanceled(
    until deadline: NIODeadline? = nil, isolation: isolated (any Actor)? = #isolation
  ) async {
    let (bound, eventLoop) = (NIOLoopBound(self, eventLoop: eventLoop), eventLoop)
    await withTaskCancellationHandler {
      await wait(until: deadline, isolation: isolation)
    } onCancel: {
      eventLoop.execute { bound.value.wakeUp() }
    }
  }
}
