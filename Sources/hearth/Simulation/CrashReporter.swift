import Foundation
import Glibc
import MatterProtocol
import Runtime

/// Reports the state of the process before a signal ends it: a stop by the user or the system, or a crash.
///
/// A signal handler must not allocate memory or take a lock. It therefore writes the signal to a pipe, and a dedicated thread
/// reports. A crashed thread waits for the report, but only for a limited time, because it may hold a lock that the report needs. A
/// thread that was interrupted by a stop continues for the same reason. A second stop ends the process at once, with or without a
/// report.
enum CrashReporter {
  /// Signals by which a user or a service manager stops the process.
  static let stops = [SIGINT, SIGTERM]
  /// Signals of a crash. A Swift trap raises one of the first two.
  static let crashes = [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV]

  /// The previous action of each signal, by its number.
  nonisolated(unsafe) fileprivate static let previous = {
    let actions = UnsafeMutablePointer<sigaction>.allocate(capacity: 65)
    actions.initialize(repeating: sigaction(), count: 65)
    return actions
  }()
  /// Two pipes: the first carries signals from handlers to the thread, the second signals the end of a report to a handler.
  nonisolated(unsafe) fileprivate static let pipes = UnsafeMutablePointer<Int32>.allocate(capacity: 4)
  /// The time of the first stop in nanoseconds; 0 before it.
  nonisolated(unsafe) fileprivate static let firstStop = {
    let time = UnsafeMutablePointer<Int64>.allocate(capacity: 1)
    time.pointee = 0
    return time
  }()
  /// The time in nanoseconds after which a stop counts as another one, because senders often send a stop twice.
  fileprivate static let stopPause: Int64 = 1_000_000_000

  /// Installs the handlers. Must be called only once in a process.
  /// - Parameter report: called with the signal on a dedicated thread; returns whether a stop ends the process, which may be
  ///   ending by itself already.
  static func install(_ report: @escaping @Sendable (Int32) -> Bool) {
    guard pipe(pipes) == 0, pipe(pipes + 2) == 0 else { return }
    // Initializes the static variables outside of a handler.
    _ = (previous, firstStop)
    let thread = Thread {
      // Otherwise the handler could run on this thread and wait for itself.
      var all = sigset_t()
      sigfillset(&all)
      for crash in crashes { sigdelset(&all, crash) }
      pthread_sigmask(SIG_BLOCK, &all, nil)
      var number: UInt8 = 0
      while true {
        let count = read(pipes[0], &number, 1)
        if count < 0, errno == EINTR { continue }
        guard count == 1 else { return }
        let isEnd = report(Int32(number))
        if crashes.contains(Int32(number)) {
          _ = write(pipes[3], &number, 1)
        } else if isEnd {
          _exit(ProcessExit.interrupted.rawValue)
        }
      }
    }
    thread.name = "crash reporter"
    thread.start()
    var action = sigaction()
    action.__sigaction_handler.sa_sigaction = handleCrash
    action.sa_flags = SA_ONSTACK | SA_SIGINFO
    for number in crashes { sigaction(number, &action, previous + Int(number)) }
    action.__sigaction_handler.sa_sigaction = handleStop
    action.sa_flags |= SA_RESTART
    for number in stops { sigaction(number, &action, previous + Int(number)) }
  }

  /// Restores the previous actions of the signals.
  static func uninstall() { for number in stops + crashes { sigaction(number, previous + Int(number), nil) } }
}

/// Notifies the thread of a signal. Handlers call only functions that POSIX allows in a signal handler.
private func notify(_ number: Int32) {
  // The interrupted code may be about to read errno.
  let error = errno
  var byte = UInt8(truncatingIfNeeded: number)
  _ = write(CrashReporter.pipes[1], &byte, 1)
  errno = error
}

private func handleStop(_ number: Int32, _: UnsafeMutablePointer<siginfo_t>?, _: UnsafeMutableRawPointer?) {
  let now = HostClock.now().nanoseconds
  if CrashReporter.firstStop.pointee == 0 {
    CrashReporter.firstStop.pointee = now
  } else if now - CrashReporter.firstStop.pointee >= CrashReporter.stopPause {
    _exit(ProcessExit.interrupted.rawValue)
  }
  notify(number)
}

private func handleCrash(_ number: Int32, _ info: UnsafeMutablePointer<siginfo_t>?, _: UnsafeMutableRawPointer?) {
  notify(number)
  var isReported = pollfd(fd: CrashReporter.pipes[2], events: Int16(POLLIN), revents: 0)
  _ = poll(&isReported, 1, 5_000)
  // A crash continues with its previous action, which prints a backtrace. A signal from another process just ends this one.
  if let info, info.pointee.si_code == SI_USER {
    signal(number, SIG_DFL)
  } else {
    sigaction(number, CrashReporter.previous + Int(number), nil)
  }
  raise(number)
}
