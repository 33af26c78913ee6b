public import MatterProtocol
public import NIOCore

/// A timer for a deadline that moves often. Confined to its event loop.
///
/// Postponing the deadline with every packet costs nothing: the entry in ``LoopTimers`` stays until it is due, and is
/// then moved to the deadline.
@usableFromInline final class LazyTimer {
  private let timers: LoopTimers
  private let fire: () -> Void
  /// The deadline; nil for none.
  private(set) var deadline: Instant?
  /// The time of the valid entry in ``timers``; nil if there is none.
  var entry: Instant?

  /// To be called on the loop.
  /// - Parameter fire: called on the loop, at the deadline or later. Must not retain its owner.
  @usableFromInline init(on eventLoop: any EventLoop, _ fire: @escaping () -> Void) {
    timers = LoopTimers.of(eventLoop)
    self.fire = fire
  }

  @usableFromInline func arm(_ deadline: Instant?) {
    let isSame = deadline == self.deadline
    self.deadline = deadline
    guard let deadline else { return }
    if let entry, isSame || entry <= deadline { return }
    timers.insert(self, for: deadline)
  }

  func cancel() {
    deadline = nil
    timers.canceled()
  }

  /// Fires unless the timer was canceled or postponed.
  func fire(at now: Instant) {
    guard let deadline, deadline <= now else { return arm(deadline) }
    self.deadline = nil
    fire()
  }
}
