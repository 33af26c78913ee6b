internal import Foundation
internal import Glibc
internal import MatterProtocol
internal import Runtime
internal import Synchronization

/// A command that a delivery wakes, with a process group of its own: what it starts is asked to end with it. Asked to end, made to
/// where it does not, and answered for once.
final class RunningCommand: Sendable {
  /// The default time between SIGTERM and SIGKILL, for a command and then for the processes that it started.
  static let defaultGracePeriod = Duration.seconds(3)
  /// The time to wait for the end of a command after SIGKILL.
  private static let killTimeout = Duration.seconds(3)

  private enum Life {
    case starting
    case running(pid_t)
    /// It was to end before it had begun.
    case unwanted
    case ending(pid_t)
    /// Its number may be another's by now.
    case gone
  }

  private struct State {
    var life = Life.starting
    var answer: CheckedContinuation<String?, Never>?
  }

  private static let starting = Mutex(())
  private let name: String
  private let gracePeriod: Duration
  private let state = Mutex(State())

  private init(named name: String, gracePeriod: Duration) { (self.name, self.gracePeriod) = (name, gracePeriod) }

  /// Runs a command, found in the PATH where it has no slash. Ends early when the task is cancelled; what completes in spite of
  /// that is completed. What it leaves behind when it completes by itself is left alone.
  /// - Parameter input: what it can read, a few hundred bytes.
  /// - Returns: nil when it ended with 0, else what went wrong.
  static func run(
    _ arguments: [String], environment: [String: String], input: [UInt8], gracePeriod: Duration = defaultGracePeriod
  ) async -> String? {
    let command = RunningCommand(named: arguments.first ?? "", gracePeriod: gracePeriod)
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        command.state.withLock { $0.answer = continuation }
        // One at a time: none has the pipe of another, which would never see its end.
        switch starting.withLock({ _ in spawn(["env"] + arguments, environment, input) }) {
        case .success(let number): command.started(number)
        case .failure(let error):
          command.answer("“\(command.name)” can't be run: \(String(cString: strerror(error.code)))")
        }
      }
    } onCancel: {
      command.end()
    }
  }

  private func started(_ number: pid_t) {
    let isUnwanted = state.withLock { state in
      defer { state.life = .running(number) }
      if case .unwanted = state.life { return true }
      return false
    }
    Thread.detachNewThread { self.wait(for: number) }
    if isUnwanted { end() }
  }

  /// Waits for its end, and for nothing that it left behind.
  private func wait(for number: pid_t) {
    var information = siginfo_t()
    while waitid(P_PID, id_t(number), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    // As long as nobody has taken note of its end, its number is nobody else's.
    let isEnding = state.withLock { state in
      defer { state.life = .gone }
      if case .ending = state.life { return true }
      return false
    }
    var status: Int32 = 0
    var found = waitpid(number, &status, 0)
    while found < 0, errno == EINTR { found = waitpid(number, &status, 0) }
    guard found == number else { return answer("the exit status of “\(name)” is not known") }
    if isEnding { endRest(of: number) }
    let (signal, code) = (status & 0x7F, status >> 8 & 0xFF)
    answer(
      signal != 0 ? "“\(name)” was ended by signal \(signal)" : code != 0 ? "“\(name)” ended with \(code)" : nil)
  }

  /// What a command started and did not end itself was asked to end, too, and has its time for it.
  private func endRest(of group: pid_t) {
    // As long as anybody is in it, its number is nobody else's.
    for _ in 0..<max(1, gracePeriod.milliseconds / 100) {
      guard kill(-group, 0) == 0 else { return }
      usleep(100_000)
    }
    kill(-group, SIGKILL)
  }

  /// Only the first one counts.
  private func answer(_ failure: String?) { state.withLock { $0.answer.take() }?.resume(returning: failure) }

  /// It is wanted no more.
  private func end() {
    let isAsked = state.withLock { state in
      switch state.life {
      case .starting: state.life = .unwanted
      case .running(let number):
        state.life = .ending(number)
        kill(-number, SIGTERM)
        return true
      default: break
      }
      return false
    }
    guard isAsked else { return }
    Tasks.start {
      try? await Task.sleep(for: self.gracePeriod)
      self.state.withLock { if case .ending(let number) = $0.life { kill(-number, SIGKILL) } }
      try? await Task.sleep(for: Self.killTimeout)
      self.answer("“\(self.name)” was ended")
    }
  }

  // MARK: Starting

  /// What a program that we start would have of ours: what was not opened with that in mind.
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

  /// Starts a program with nothing of ours but the standard error: no descriptors, no signals that are ignored or blocked.
  private static func spawn(
    _ arguments: [String], _ environment: [String: String], _ input: [UInt8]
  ) -> Result<pid_t, SpawnError> {
    var pipe: [Int32] = [-1, -1]
    guard Glibc.pipe(&pipe) == 0 else { return .failure(SpawnError(code: errno)) }
    defer { close(pipe[0]) }
    for end in pipe { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    // The pipe holds it before anybody reads: nobody waits, and nobody's end can break it.
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
