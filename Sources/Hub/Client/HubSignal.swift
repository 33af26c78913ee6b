internal import HomeAutomation
internal import HomeModel
internal import MatterModel
internal import MatterProtocol
internal import NIOCore
internal import Runtime

/// Rings for one observer query when the hub tells of something that its predicate lets through. Where nobody knows what
/// happened it may ring for nothing; it never misses anything.
/// Who does not complete, or says that it could not, is called again, as without a hub.
/// See the article “The home model”, “Observer queries”.
/// Confined to the event loop, but for the handler: that may take as long as it likes.
final class HubSignal {
  private let query: ObserverQuery
  private let eventLoop: any EventLoop
  private let calls: HandlerCalls
  private(set) var schedule: DeliverySchedule
  private var timer: Scheduled<Void>?
  private var isStopped = false
  /// Told when it rings no more because its handler failed too often.
  private let onEnd: () -> Void

  init(
    _ query: ObserverQuery, _ limits: DeliverySchedule.Limits, on eventLoop: any EventLoop, _ machine: any Machine,
    onEnd: @escaping () -> Void
  ) {
    self.query = query
    self.eventLoop = eventLoop
    self.onEnd = onEnd
    calls = HandlerCalls(machine)
    var limits = limits
    limits.period = .zero
    schedule = DeliverySchedule(limits)
  }

  /// Whether a change of a device, or of none, is one to ring for.
  func isMeant(by change: HomeChange, of device: String?) -> Bool { query.predicate.contains(change, device: device) }

  func ring() { step { $0.change(at: $1) } }

  /// The handler is called no more.
  func stop() {
    // One that was given up is still to be told so.
    guard !isStopped else { return }
    end()
    calls.stop()
  }

  private func end() {
    isStopped = true
    timer?.cancel()
    timer = nil
  }

  private func step(_ body: (inout DeliverySchedule, Instant) -> [DeliverySchedule.Action]) {
    guard !isStopped else { return }
    for action in body(&schedule, Instant(nanoseconds: Int64(clamping: eventLoop.now.uptimeNanoseconds))) {
      switch action {
      case .deliver(let run): call(run)
      case .abandon: break
      case .suspend:
        end()
        let error = HomeError(.timedOut, "the observer did not complete; execute a new query")
        calls.add { [query] in query.handler(query, ObserverCompletion { _ in }, error) }
        onEnd()
      }
    }
    arm()
  }

  private func call(_ run: Int) {
    let (bound, loop) = (NIOLoopBound(self, eventLoop: eventLoop), eventLoop)
    let completion = ObserverCompletion { isSuccess in
      loop.execute { bound.value.step { isSuccess ? $0.finish(run: run, at: $1) : $0.fail(run: run, at: $1) } }
    }
    calls.add { [query] in query.handler(query, completion, nil) }
  }

  /// Sets the timer to when it is to be called again, or given up.
  private func arm() {
    timer?.cancel()
    timer = nil
    guard !isStopped, let deadline = schedule.deadline else { return }
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    timer = eventLoop.scheduleTask(deadline: .uptimeNanoseconds(UInt64(clamping: deadline.nanoseconds))) {
      bound.value.step { $0.advance(to: $1) }
    }
  }
}
