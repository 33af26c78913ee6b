public import MatterProtocol
public import NIOCore

/// A timer for a deadline that moves often. Confined to its event loop.
///
/// It is rescheduled only when the deadline moves earlier. When the deadline moves later, the timer fires early, and
/// its owner checks the deadline and arms it again: postponing the deadline with every packet costs nothing.
@usableFromInline final class LazyTimer: NIOScheduledCallbackHandler {
  private let eventLoop: any EventLoop
  private let fire: () -> Void
  private var scheduled: NIOScheduledCallback?
  private var due: Instant?

  /// - Parameter fire: called on the loop, possibly before the deadline. Must not retain its owner.
  @usableFromInline init(on eventLoop: any EventLoop, _ fire: @escaping () -> Void) {
    self.eventLoop = eventLoop
    self.fire = fire
  }

  @usableFromInline func arm(_ deadline: Instant?) {
    guard let deadline else { return }
    if let due, due <= deadline { return }
    scheduled?.cancel()
    due = deadline
    // Fails only if the loop has been shut down.
    scheduled = try? eventLoop.assumeIsolated().scheduleCallback(at: deadline.deadline, handler: self)
  }

  @usableFromInline func handleScheduledCallback(eventLoop: some EventLoop) {
    scheduled = nil
    due = nil
    fire()
  }

  func cancel() {
    scheduled?.cancel()
    scheduled = nil
    due = nil
  }
}
