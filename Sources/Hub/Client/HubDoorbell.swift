internal import Home
internal import MatterModel
internal import NIOCore

/// Rings for one observer query when the hub tells of something new. It may ring for nothing, and never misses anything.
/// Confined to the event loop.
final class HubDoorbell {
  private let query: ObserverQuery
  private let eventLoop: any EventLoop
  /// Its handler was called and has not completed yet.
  private var isBusy = false
  /// It rang meanwhile.
  private var isPending = false

  init(_ query: ObserverQuery, on eventLoop: any EventLoop) {
    self.query = query
    self.eventLoop = eventLoop
  }

  func ring(_ update: HomeUpdate) {
    let wanted = query.predicate.type
    if wanted == .all || update.changes.contains(where: { $0.sampleType == wanted }) { ring() }
  }

  func ring() {
    guard !isBusy else {
      isPending = true
      return
    }
    (isBusy, isPending) = (true, false)
    let (bound, loop) = (NIOLoopBound(self, eventLoop: eventLoop), eventLoop)
    query.handler(
      query, ObserverCompletion { isSuccess in loop.execute { bound.value.completed(isSuccess) } }, nil)
  }

  private func completed(_ isSuccess: Bool) {
    guard isBusy else { return }
    isBusy = false
    if isPending { ring() }
  }
}
