internal import Dispatch
internal import Runtime
internal import Synchronization

/// Calls the handler of one query, in order and one call at a time, on a thread that a slow handler may block. See the
/// article “The home model”, “Observing”.
package final class HandlerCalls: Sendable {
  private let machine: any Machine
  /// A queue of its own; nil for a simulated machine, whose virtual time must control all tasks.
  private let queue: DispatchQueue?
  private let isStopped = Atomic(false)

  init(_ machine: any Machine) {
    self.machine = machine
    queue = machine.taskExecutor == nil ? DispatchQueue(label: "hearth.observer") : nil
  }

  func add(_ call: @escaping @Sendable () -> Void) {
    let one: @Sendable () -> Void = { [self] in if !isStopped.load(ordering: .acquiring) { call() } }
    if let queue { queue.async(execute: one) } else { machine.task { one() } }
  }

  /// Prevents further calls; a running one completes.
  func stop() { isStopped.store(true, ordering: .releasing) }
}
