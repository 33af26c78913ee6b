package import NIOCore
package import Runtime

/// Calls the handler of one observer query when there are new samples. Confined to the event loop, except the handler. See
/// the article “The home model”, “Observer queries”.
///
/// A call ends when its completion is called or released, or a time after the handler returned. New samples before the
/// end cause one further call.
package final class QuerySignal {
  package let query: ObserverQuery
  private let limits: DeliverySchedule.Limits
  private let eventLoop: any EventLoop
  private let calls: HandlerCalls
  private var lastCall = 0
  /// The number of the call that has not ended.
  private var call: Int?
  /// Whether a call is due.
  private var isPending = false
  private var isStopped = false
  /// Ends the call, or retries it.
  private var timer: Scheduled<Void>?

  /// - Parameter limits: the timeout of a completion, and the delay of a retry.
  package init(
    _ query: ObserverQuery, _ limits: DeliverySchedule.Limits, on eventLoop: any EventLoop, _ machine: any Machine
  ) {
    self.query = query
    self.limits = limits
    self.eventLoop = eventLoop
    calls = HandlerCalls(machine)
  }

  /// Whether no call is running or due.
  package var isIdle: Bool { call == nil && !isPending }

  /// Calls the handler, now or after the running call.
  package func signal() {
    guard !isStopped else { return }
    isPending = true
    begin()
  }

  /// Ends the calls; a running one completes.
  package func stop() {
    isStopped = true
    setTimer(nil)
    calls.stop()
  }

  private func begin() {
    guard isPending, call == nil, !isStopped else { return }
    setTimer(nil)
    isPending = false
    lastCall += 1
    let number = lastCall
    call = number
    let (bound, loop) = (NIOLoopBound(self, eventLoop: eventLoop), eventLoop)
    calls.add { [query] in
      let outcome = CallOutcome { isSuccess in loop.execute { bound.value.end(number, isSuccess: isSuccess) } }
      query.handler(query, ObserverCompletion { outcome.report($0) }, nil)
      loop.execute { bound.value.limit(number) }
    }
  }

  /// The handler returned.
  private func limit(_ number: Int) {
    guard call == number, !isStopped else { return }
    setTimer(limits.timeout) { $0.end(number, isSuccess: true) }
  }

  private func end(_ number: Int, isSuccess: Bool) {
    guard call == number, !isStopped else { return }
    call = nil
    setTimer(nil)
    guard isSuccess else {
      isPending = true
      return setTimer(limits.firstRetry) { $0.begin() }
    }
    begin()
  }

  private func setTimer(_ delay: Duration?, _ body: @escaping @Sendable (QuerySignal) -> Void = { _ in }) {
    timer?.cancel()
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    timer = delay.map { eventLoop.scheduleTask(in: TimeAmount($0)) { body(bound.value) } }
  }
}

/// The outcome of a call: reported by the handler, or success if the handler released it without a report.
private final class CallOutcome: Sendable {
  let report: @Sendable (Bool) -> Void

  init(_ report: @escaping @Sendable (Bool) -> Void) { self.report = report }

  deinit { report(true) }
}
