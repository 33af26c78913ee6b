internal import Glibc

/// A stack for what is done at a signal, on the thread that makes it: one that has used its own up has nothing else to tell of it on.
package struct SignalStack {
  /// Enough for a backtrace.
  private static let size = 64 << 10
  /// `SS_DISABLE`, which Glibc's module lacks.
  private static let isDisabled: Int32 = 2

  private let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
  private var before = stack_t()

  /// For a thread that somebody else has made, who keeps it for good: it has one from now on.
  package static func keep() {
    var stack = stack_t()
    guard sigaltstack(nil, &stack) == 0, stack.ss_flags & isDisabled != 0 else { return }
    _ = SignalStack()
  }

  init() {
    var stack = stack_t(ss_sp: memory, ss_flags: 0, ss_size: Self.size)
    sigaltstack(&stack, &before)
  }

  /// To be called on the same thread, at its end.
  func remove() {
    var before = before
    sigaltstack(&before, nil)
    memory.deallocate()
  }
}
