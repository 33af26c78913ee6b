internal import Glibc
internal import MatterProtocol
internal import NIOCore
internal import Subprocess
internal import SystemPackage

/// A command that a delivery runs, in a process group of its own.
enum RunningCommand {
  /// The default time between SIGTERM and SIGKILL, for a command and then for the processes that it started.
  static let defaultGracePeriod = Duration.seconds(3)

  /// Runs a command, searched in PATH if it has no slash, which inherits the environment and the standard error. If the
  /// task is canceled, the process group gets SIGTERM and, after a grace period, SIGKILL; the command still counts as
  /// completed if it completes before. After a regular exit, the other processes of the group keep running.
  /// - Parameters:
  ///   - variables: variables in addition to the environment of this process.
  ///   - input: the standard input, a few hundred bytes.
  ///   - eventLoop: has the clock for the rest of the process group.
  /// - Returns: nil if it exited with 0, else the failure.
  static func run(
    _ arguments: [String], variables: [String: String] = [:], input: [UInt8] = [],
    gracePeriod: Duration = defaultGracePeriod, on eventLoop: any EventLoop
  ) async -> String? {
    let name = arguments.first ?? ""
    var options = PlatformOptions()
    options.processGroupID = 0
    options.teardownSequence = [.gracefulShutDown(toProcessGroup: true, allowedDurationToNextStep: gracePeriod)]
    let added = variables.compactMap { name, value in Environment.Key(rawValue: name).map { ($0, value as String?) } }
    do {
      // The input fits into the buffer of the pipe, so the write neither blocks nor raises SIGPIPE.
      let pipe = try FileDescriptor.pipe()
      try pipe.writeEnd.closeAfter { _ = try pipe.writeEnd.writeAll(input) }
      let result = try await Subprocess.run(
        .path("/usr/bin/env"), arguments: Arguments(arguments),
        environment: .inherit.updating(Dictionary(added) { $1 }), platformOptions: options,
        input: .fileDescriptor(pipe.readEnd, closeAfterSpawningProcess: true), output: .discarded,
        error: .currentStandardError)
      if Task.isCancelled { await endGroup(of: result.processIdentifier.value, gracePeriod, on: eventLoop) }
      return switch result.terminationStatus {
      case .exited(0): nil
      case .exited(let code): "“\(name)” ended with \(code)"
      case .signaled(let signal): "“\(name)” was ended by signal \(signal)"
      }
    } catch {
      return "“\(name)” can't be run: \(error)"
    }
  }

  /// Waits for the rest of a process group, which has also received SIGTERM, and kills it after the grace period.
  private static func endGroup(of group: pid_t, _ gracePeriod: Duration, on eventLoop: any EventLoop) async {
    // The id of a group isn't reused while the group has a process.
    for _ in 0..<max(1, gracePeriod.milliseconds / 100) {
      guard kill(-group, 0) == 0 else { return }
      // Not `Task.sleep`, which returns at once in a canceled task.
      try? await eventLoop.scheduleTask(in: .milliseconds(100)) {}.futureResult.get()
    }
    kill(-group, SIGKILL)
  }
}
