package import NIOCore

/// An actor whose executor is an event loop.
package protocol LoopActor: Actor {
  nonisolated var eventLoop: any EventLoop { get }
}

extension LoopActor {
  /// Calls the body on the actor after a delay, unless the actor is released before.
  @discardableResult
  package nonisolated func schedule(
    in delay: Duration, _ body: @escaping @Sendable (isolated Self) -> Void
  ) -> Scheduled<Void> {
    eventLoop.scheduleTask(in: TimeAmount(delay)) { [weak self] in self?.assumeIsolated(body) }
  }

  /// Calls the body on the actor at regular intervals, the first time after one interval. The task is to be canceled when the
  /// actor ends.
  package nonisolated func schedule(
    each interval: Duration, _ body: @escaping @Sendable (isolated Self) -> Void
  ) -> RepeatedTask {
    let interval = TimeAmount(interval)
    return eventLoop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { [weak self] _ in
      self?.assumeIsolated(body)
    }
  }
}
