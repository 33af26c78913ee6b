import Foundation
import Glibc
import MatterProtocol
import Runtime

/// Has something said before a signal ends the process: the user's, the system's, or a crash's.
///
/// In the moment of a crash nothing may be done that takes memory or a lock. So a handler only rings a bell, at which a thread of its
/// own says what there is to say. Whoever crashed waits until it has, though not for long: it may hold a lock that this needs. Whoever a
/// stop has come to goes on, for the same reason: there is no hurry. Who stops it once more has waited long enough: then it ends at once,
/// whatever is said by then.
enum CrashReporter {
  /// What a user or a service manager ends it by.
  static let stops = [SIGINT, SIGTERM]
  /// What it does to itself: a trap of Swift's is one of the first two.
  static let crashes = [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV]

  /// What was done with each signal before, by its number.
  nonisolated(unsafe) fileprivate static let before = {
    let actions = UnsafeMutablePointer<sigaction>.allocate(capacity: 65)
    actions.initialize(repeating: sigaction(), count: 65)
    return actions
  }()
  /// Two pipes: by the first a handler says which signal came, by the second it hears that all is said.
  nonisolated(unsafe) fileprivate static let bell = UnsafeMutablePointer<Int32>.allocate(capacity: 4)
  /// When the first stop came, in nanoseconds; 0: none has.
  nonisolated(unsafe) fileprivate static let firstStop = {
    let time = UnsafeMutablePointer<Int64>.allocate(capacity: 1)
    time.pointee = 0
    return time
  }()
  /// A stop is often sent twice by those who send it: only after so many nanoseconds is it another one.
  fileprivate static let stopPause: Int64 = 1_000_000_000

  /// To be called once in a process.
  /// - Parameter speak: called on a thread of its own, with the signal; says whether a stop is to end the process, which may be
  ///   about to end by itself.
  static func prepare(_ speak: @escaping @Sendable (Int32) -> Bool) {
    guard pipe(bell) == 0, pipe(bell + 2) == 0 else { return }
    // Made here, and not in a handler.
    _ = (before, firstStop)
    let thread = Thread {
      // Else the handler might be called here, and wait for itself.
      var all = sigset_t()
      sigfillset(&all)
      for crash in crashes { sigdelset(&all, crash) }
      pthread_sigmask(SIG_BLOCK, &all, nil)
      var number: UInt8 = 0
      while true {
        let count = read(bell[0], &number, 1)
        if count < 0, errno == EINTR { continue }
        guard count == 1 else { return }
        let isEnd = speak(Int32(number))
        if crashes.contains(Int32(number)) {
          _ = write(bell[3], &number, 1)
        } else if isEnd {
          _exit(ProcessExit.interrupted.rawValue)
        }
      }
    }
    thread.name = "last words"
    thread.start()
    var action = sigaction()
    action.__sigaction_handler.sa_sigaction = ringAndWait
    action.sa_flags = SA_ONSTACK | SA_SIGINFO
    for number in crashes { sigaction(number, &action, before + Int(number)) }
    action.__sigaction_handler.sa_sigaction = ringOrEnd
    action.sa_flags |= SA_RESTART
    for number in stops { sigaction(number, &action, before + Int(number)) }
  }

  /// All is said: signals do what they did before.
  static func forget() { for number in stops + crashes { sigaction(number, before + Int(number), nil) } }
}

/// Nothing in here but what POSIX allows in a handler.
private func ring(_ number: Int32, _: UnsafeMutablePointer<siginfo_t>?, _: UnsafeMutableRawPointer?) {
  // Whoever was interrupted may be about to look at it.
  let error = errno
  var byte = UInt8(truncatingIfNeeded: number)
  _ = write(CrashReporter.bell[1], &byte, 1)
  errno = error
}

/// The same.
private func ringOrEnd(_ number: Int32, _ info: UnsafeMutablePointer<siginfo_t>?, _ context: UnsafeMutableRawPointer?) {
  let now = HostClock.now().nanoseconds
  if CrashReporter.firstStop.pointee == 0 {
    CrashReporter.firstStop.pointee = now
  } else if now - CrashReporter.firstStop.pointee >= CrashReporter.stopPause {
    _exit(ProcessExit.interrupted.rawValue)
  }
  ring(number, info, context)
}

/// The same.
private func ringAndWait(_ number: Int32, _ info: UnsafeMutablePointer<siginfo_t>?, _: UnsafeMutableRawPointer?) {
  ring(number, nil, nil)
  var heard = pollfd(fd: CrashReporter.bell[2], events: Int16(POLLIN), revents: 0)
  _ = poll(&heard, 1, 5_000)
  // A crash goes on as it would have, with its backtrace. What somebody else has sent is none, and just ends it.
  if let info, info.pointee.si_code == SI_USER {
    signal(number, SIG_DFL)
  } else {
    sigaction(number, CrashReporter.before + Int(number), nil)
  }
  raise(number)
}
