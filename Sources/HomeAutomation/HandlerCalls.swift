internal import Dispatch
internal import Runtime
internal import Synchronization

/// Calls the handler of one query: in order, one call at a time, and on no thread that anybody else waits for, so that a
/// handler may take as long as it likes. See the article “The home model”, “Observing”.
package final class HandlerCalls: Sendable {
  private let machine: any Machine
  /// Threads of its own as far as it needs them; nil: the machine has a time of its own, which nothing may escape from.
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

  /// A call that has begun comes to its end; no other begins.
  func stop() { isStopped.store(true, ordering: .releasing) }
}
