internal import Glibc

/// A stack for what is done at a signal, on the thread that makes it: one that has used its own up has nothing else to tell of it on.
/// The threads of simulations have one, those of NIO, on which scenarios run in real time, have not.
struct SignalStack {
  /// Enough for a backtrace.
  private static let size = 64 << 10

  private let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
  private var before = stack_t()

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
