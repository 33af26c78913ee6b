import Foundation
import Glibc
import HearthHome
import NIOCore
import NIOPosix
import Testing

@testable import HomeAutomation

/// Environment, input and termination of delivery commands.
@Suite("Running commands", .timeLimit(.minutes(10))) struct RunningCommandTests {
  private let scratch: TestDatabase

  init() throws { scratch = try TestDatabase() }

  private var file: String { scratch.directory + "/output" }
  private func output() throws -> String { try String(contentsOfFile: file, encoding: .utf8) }

  @discardableResult
  private func run(
    _ script: String, _ variables: [String: String] = [:], input: String = "",
    gracePeriod: Duration = RunningCommand.defaultGracePeriod
  ) async -> String? {
    await RunningCommand.run(
      ["sh", "-c", script], variables: variables, input: Array(input.utf8), gracePeriod: gracePeriod,
      on: MultiThreadedEventLoopGroup.singleton.any())
  }

  /// Whether a process is running, and not a zombie.
  private static func isRunning(_ number: Int32) -> Bool {
    let text = (try? String(contentsOfFile: "/proc/\(number)/stat", encoding: .utf8)) ?? ""
    guard let state = text.split(separator: ")").last?.split(separator: " ").first else { return false }
    return state != "Z" && state != "X"
  }

  /// Waits for the process id that a script writes, and returns it.
  private func number() async throws -> Int32 {
    let file = file
    @Sendable func read() -> Int32? {
      (try? String(contentsOfFile: file, encoding: .utf8)).flatMap { $0.hasSuffix("\n") ? Int32($0.dropLast()) : nil }
    }
    #expect(await eventually { read() != nil })
    return try #require(read())
  }

  @Test func reportsExitStatus() async {
    #expect(await run("exit 0") == nil)
    #expect(await run("exit 3") == "“sh” ended with 3")
    #expect(await run("kill -9 $$") == "“sh” was ended by signal 9")
    let missing = await RunningCommand.run(
      ["/nowhere/at/all"], on: MultiThreadedEventLoopGroup.singleton.any())
    #expect(missing == "“/nowhere/at/all” ended with 127")
    // A command that ends without reading its input succeeds.
    for _ in 0..<20 { #expect(await run("exit 0", input: "unread") == nil) }
  }

  @Test func passesOnlyEnvironmentAndInput() async throws {
    #expect(await run("echo $HEARTH_TEST > \(file); cat >> \(file)", ["HEARTH_TEST": "a b"], input: "range\n") == nil)
    #expect(try output() == "a b\nrange\n")
    #expect(await run("out=$(readlink /proc/$$/fd/1); echo $out > \(file)") == nil)
    #expect(try output() == "/dev/null\n")
    // Open descriptors, however many, and ignored signals are not inherited.
    let open = (0..<100).map { _ in Glibc.open("/dev/null", O_RDONLY) }
    defer { for descriptor in open { close(descriptor) } }
    signal(SIGPIPE, SIG_IGN)
    #expect(await run("ls /proc/$$/fd > \(file); true") == nil)
    let descriptors = Set(try output().split(separator: "\n").compactMap { Int32($0) })
    #expect(descriptors.isSuperset(of: [0, 1, 2]) && descriptors.isDisjoint(with: open))
    #expect(await run("kill -PIPE $$; exit 0") == "“sh” was ended by signal \(SIGPIPE)")
  }

  /// After exit status 0 the remaining child processes keep running, and are not waited for.
  @Test func leavesBackgroundProcessesAlone() async throws {
    #expect(await run("sleep 1000 & echo $! > \(file)") == nil)
    let number = try await number()
    #expect(Self.isRunning(number))
    kill(number, SIGKILL)
  }

  /// Including children that ignore SIGTERM.
  @Test(arguments: ["", "trap '' TERM; "]) func terminatesChildProcesses(_ trap: String) async throws {
    let script = "(\(trap)exec sleep 1000) & echo $! > \(file); wait"
    let task = Task { await run(script) }
    let number = try await number()
    #expect(Self.isRunning(number))
    task.cancel()
    #expect(await task.value == "“sh” was ended by signal 15")
    #expect(await eventually { !Self.isRunning(number) })
  }

  /// The shell ends at once, but its child gets the full grace period.
  @Test func childProcessesGetGracePeriod() async throws {
    let left = scratch.directory + "/left"
    let inner = "trap 'sleep 0.3; echo left > \(left); exit' TERM; echo $$ > \(file); while :; do sleep 0.1; done"
    let task = Task { await run("sh -c \"$INNER\" & wait", ["INNER": inner], gracePeriod: .seconds(600)) }
    _ = try await number()
    task.cancel()
    #expect(await task.value == "“sh” was ended by signal 15")
    #expect(FileManager.default.fileExists(atPath: left))
  }

  @Test func killsCommandThatIgnoresSIGTERM() async throws {
    let script = "trap '' TERM; echo $$ > \(file); exec sleep 1000"
    let task = Task { await run(script, gracePeriod: .milliseconds(100)) }
    let number = try await number()
    task.cancel()
    #expect(await task.value == "“sh” was ended by signal 9")
    #expect(!Self.isRunning(number))
  }

  @Test func terminatesCommandCanceledBeforeStart() async {
    let script = "sleep 1000"
    let task = Task {
      // Wait for the cancellation.
      while !Task.isCancelled { await Task.yield() }
      return await run(script)
    }
    task.cancel()
    #expect(await task.value == "“sh” was ended by signal 15")
  }
}
