internal import Foundation
internal import Glibc
internal import MatterProtocol
internal import Runtime
internal import Synchronization

/// A command that a delivery runs, in a process group of its own, which ends with it. Terminated with SIGTERM and,
/// after a grace period, SIGKILL; reports one result.
final class RunningCommand: Sendable {
  /// The default time between SIGTERM and SIGKILL, for a command and then for the processes that it started.
  static let defaultGracePeriod = Duration.seconds(3)
  /// The time to wait for the end of a command after SIGKILL.
  private static let killTimeout = Duration.seconds(3)

  private enum Life {
    case starting
    case running(pid_t)
    /// Canceled before the start.
    case canceled
    case ending(pid_t)
    /// Exited; the process id may be reused.
    case exited
  }

  private struct State {
    var life = Life.starting
    var continuation: CheckedContinuation<String?, Never>?
  }

  private static let starting = Mutex(())
  private let name: String
  private let gracePeriod: Duration
  private let state = Mutex(State())

  private init(named name: String, gracePeriod: Duration) { (self.name, self.gracePeriod) = (name, gracePeriod) }

  /// Runs a command, searched in PATH if it has no slash. If the task is canceled, the process group is terminated; the
  /// command still counts as completed if it completes before. After a regular exit, the other processes of the group
  /// keep running.
  /// - Parameter input: the standard input, a few hundred bytes.
  /// - Returns: nil if it exited with 0, else the failure.
  static func run(
    _ arguments: [String], environment: [String: String], input: [UInt8], gracePeriod: Duration = defaultGracePeriod
  ) async -> String? {
    let command = RunningCommand(named: arguments.first ?? "", gracePeriod: gracePeriod)
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        command.state.withLock { $0.continuation = continuation }
        // Serialized, so that no command inherits the pipe of another, which would prevent its end of file.
        switch starting.withLock({ _ in spawn(["env"] + arguments, environment, input) }) {
        case .success(let number): command.didStart(number)
        case .failure(let error):
          command.complete("“\(command.name)” can't be run: \(String(cString: strerror(error.code)))")
        }
      }
    } onCancel: {
      command.end()
    }
  }

  private func didStart(_ number: pid_t) {
    let isCanceled = state.withLock { state in
      defer { state.life = .running(number) }
      if case .canceled = state.life { return true }
      return false
    }
    Thread.detachNewThread { self.wait(for: number) }
    if isCanceled { end() }
  }

  /// Waits for the exit of the command, but not for its children.
  private func wait(for number: pid_t) {
    var information = siginfo_t()
    while waitid(P_PID, id_t(number), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    // The process id isn't reused before waitpid.
    let isEnding = state.withLock { state in
      defer { state.life = .exited }
      if case .ending = state.life { return true }
      return false
    }
    var status: Int32 = 0
    var found = waitpid(number, &status, 0)
    while found < 0, errno == EINTR { found = waitpid(number, &status, 0) }
    guard found == number else { return complete("the exit status of “\(name)” is not known") }
    if isEnding { endGroup(of: number) }
    let (signal, code) = (status & 0x7F, status >> 8 & 0xFF)
    complete(
      signal != 0 ? "“\(name)” was ended by signal \(signal)" : code != 0 ? "“\(name)” ended with \(code)" : nil)
  }

  /// Waits for the rest of the process group, which has also received SIGTERM, and kills it after the grace period.
  private func endGroup(of group: pid_t) {
    // The id of a group isn't reused while the group has a process.
    for _ in 0..<max(1, gracePeriod.milliseconds / 100) {
      guard kill(-group, 0) == 0 else { return }
      usleep(100_000)
    }
    kill(-group, SIGKILL)
  }

  /// Reports the result; later calls have no effect.
  private func complete(_ failure: String?) { state.withLock { $0.continuation.take() }?.resume(returning: failure) }

  /// Terminates the process group.
  private func end() {
    let isRunning = state.withLock { state in
      switch state.life {
      case .starting: state.life = .canceled
      case .running(let number):
        state.life = .ending(number)
        kill(-number, SIGTERM)
        return true
      default: break
      }
      return false
    }
    guard isRunning else { return }
    Tasks.start {
      try? await Task.sleep(for: self.gracePeriod)
      self.state.withLock { if case .ending(let number) = $0.life { kill(-number, SIGKILL) } }
      try? await Task.sleep(for: Self.killTimeout)
      self.complete("“\(self.name)” was ended")
    }
  }

  // MARK: Starting

  /// The descriptors of this process that a child would inherit: those without FD_CLOEXEC.
  private static func inherited() -> [Int32] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return names.compactMap { Int32($0) }.filter { descriptor in
      let flags = fcntl(descriptor, F_GETFD)
      return descriptor > STDERR_FILENO && flags >= 0 && flags & FD_CLOEXEC == 0
    }
  }

  private struct SpawnError: Error {
    var code: Int32
  }

  /// Starts a program that inherits only the standard error: no other descriptors, and no ignored or blocked signals.
  private static func spawn(
    _ arguments: [String], _ environment: [String: String], _ input: [UInt8]
  ) -> Result<pid_t, SpawnError> {
    var pipe: [Int32] = [-1, -1]
    guard Glibc.pipe(&pipe) == 0 else { return .failure(SpawnError(code: errno)) }
    defer { close(pipe[0]) }
    for end in pipe { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    // The input fits into the buffer of the pipe, so the write neither blocks nor raises SIGPIPE.
    let written = write(pipe[1], input, input.count)
    close(pipe[1])
    guard written == input.count else { return .failure(SpawnError(code: EIO)) }

    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, pipe[0], STDIN_FILENO)
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
    for descriptor in inherited() { posix_spawn_file_actions_addclose(&actions, descriptor) }

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

    var words = arguments.map { strdup($0) } + [nil]
    var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for text in words + variables { free(text) } }
    var number: pid_t = 0
    let code = posix_spawn(&number, "/usr/bin/env", &actions, &attributes, &words, &variables)
    return code == 0 ? .success(number) : .failure(SpawnError(code: code))
  }
}
