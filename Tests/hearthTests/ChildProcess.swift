import Foundation
import Glibc
import Synchronization
import Testing

/// A child process of a test, which waits for its end without blocking a thread of the cooperative pool.
///
/// Foundation's `Process` can crash if this process has more than 1,350 open files: it reads 256 bytes per entry of
/// /proc/self/fd regardless of its length, and so beyond the buffer of readdir.
final class ChildProcess: Sendable {
  /// The exit status of a process, or the signal that ended it.
  enum End: Hashable, Sendable {
    case exit(Int32), signal(Int32)
  }

  private struct State {
    var end: End?
    var waiters: [CheckedContinuation<End, Never>] = []
  }

  let id: pid_t
  private let state = Mutex(State())

  /// Starts a process with its own process group, which inherits only the three standard descriptors. It ends with the
  /// test at the latest, see ``ProcessScope``.
  /// - Parameters:
  ///   - environment: variables in addition to those of this process; nil removes one.
  ///   - output: the descriptor for the standard output; nil: /dev/null.
  ///   - errors: the descriptor for the standard error; nil: /dev/null.
  init(
    _ executable: URL, _ arguments: [String], environment: [String: String?] = [:], output: Int32? = nil,
    errors: Int32? = nil
  ) throws {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    for (descriptor, standard) in [(output, STDOUT_FILENO), (errors, STDERR_FILENO)] {
      if let descriptor {
        posix_spawn_file_actions_adddup2(&actions, descriptor, standard)
      } else {
        posix_spawn_file_actions_addopen(&actions, standard, "/dev/null", O_WRONLY, 0)
      }
    }
    let closeFrom: CloseFrom = try #require(Self.closeFrom, "glibc 2.34 or later is required")
    #expect(closeFrom(&actions, STDERR_FILENO + 1) == 0)

    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var (all, none) = (sigset_t(), sigset_t())
    sigfillset(&all)
    sigemptyset(&none)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setsigmask(&attributes, &none)

    var variables: [String: String?] = ProcessInfo.processInfo.environment
    variables.merge(environment) { $1 }
    var words = ([executable.path] + arguments).map { strdup($0) } + [nil]
    var settings = variables.compactMap { name, value in value.map { strdup("\(name)=\($0)") } } + [nil]
    defer { for text in words + settings { free(text) } }
    var id: pid_t = 0
    let code = posix_spawn(&id, executable.path, &actions, &attributes, &words, &settings)
    try #require(code == 0, "\(executable.path) can't be started: \(String(cString: strerror(code)))")
    self.id = id
    Thread.detachNewThread { [self] in reap() }
    ProcessScope.add(self)
  }

  private typealias CloseFrom = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32

  /// Closes the descriptors from a number on in the child. The header declares it only for `_GNU_SOURCE`.
  private static let closeFrom = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np").map {
    unsafeBitCast($0, to: CloseFrom.self)
  }

  private func reap() {
    var information = siginfo_t()
    while waitid(P_PID, id_t(id), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    let (end, waiters) = state.withLock { state in
      // The id may be reused from here on, so no signal may be sent at the same time.
      var status: Int32 = 0
      while waitpid(id, &status, 0) < 0, errno == EINTR {}
      let signal = status & 0x7F
      let end: End = signal == 0 ? .exit(status >> 8 & 0xFF) : .signal(signal)
      state.end = end
      return (end, exchange(&state.waiters, with: []))
    }
    for waiter in waiters { waiter.resume(returning: end) }
  }

  var isRunning: Bool { state.withLock { $0.end == nil } }

  /// Sends a signal, if the process is running.
  func send(_ signal: Int32) { state.withLock { if $0.end == nil { kill(id, signal) } } }

  func interrupt() { send(SIGINT) }

  /// Waits for the end of the process. Canceling the task, as a time limit does, kills the process.
  @discardableResult
  func end() async -> End {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let end = state.withLock { state in
          if state.end == nil { state.waiters.append(continuation) }
          return state.end
        }
        if let end { continuation.resume(returning: end) }
      }
    } onCancel: {
      send(SIGKILL)
    }
  }

  /// Ends the process with SIGTERM, or if it does not end soon, with SIGKILL, and waits for its end.
  func stop() async {
    send(SIGTERM)
    // It may be suspended.
    send(SIGCONT)
    let timer = Task {
      try await Task.sleep(for: .seconds(20))
      send(SIGKILL)
    }
    await end()
    timer.cancel()
  }
}
