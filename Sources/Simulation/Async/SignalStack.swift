internal import Glibc

/// An alternate signal stack for the current thread, so that a signal handler can run after a stack overflow.
package struct SignalStack {
  /// Enough for a backtrace.
  private static let size = 64 << 10
  /// `SS_DISABLE`, which Glibc's module lacks.
  private static let isDisabled: Int32 = 2

  private let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
  private var before = stack_t()

  /// Installs a stack permanently on a thread that is owned elsewhere, unless it has one.
  package static func keep() {
    var stack = stack_t()
    guard sigaltstack(nil, &stack) == 0, stack.ss_flags & isDisabled != 0 else { return }
    _ = SignalStack()
  }

  init() {
    var stack = stack_t(ss_sp: memory, ss_flags: 0, ss_size: Self.size)
    sigaltstack(&stack, &before)
  }

  /// Restores the previous stack. To be called on the same thread, at its end.
  func remove() {
    var before = before
    sigaltstack(&before, nil)
    memory.deallocate()
  }
}
