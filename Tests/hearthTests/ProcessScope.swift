import Foundation
import Synchronization
import Testing

/// The processes and directories of one test, which end with it.
final class ProcessScope: Sendable {
  @TaskLocal fileprivate static var current: ProcessScope?

  private let contents = Mutex<(processes: [ChildProcess], directories: [String])>(([], []))

  static func add(_ process: ChildProcess) { required?.contents.withLock { $0.processes.append(process) } }

  /// Adds a file or directory to remove.
  static func add(directory: String) { required?.contents.withLock { $0.directories.append(directory) } }

  private static var required: ProcessScope? {
    if current == nil { Issue.record("the suite needs the trait .processes") }
    return current
  }

  /// Ends the processes, the last one first, and removes the directories.
  fileprivate func end() async {
    let (processes, directories) = contents.withLock { $0 }
    for process in processes.reversed() where process.isRunning { await process.stop() }
    for directory in directories { try? FileManager.default.removeItem(atPath: directory) }
  }
}

/// Gives each test of a suite a `ProcessScope`.
struct ProcessTrait: SuiteTrait, TestTrait, TestScoping {
  var isRecursive: Bool { true }

  func provideScope(
    for _: Testing.Test, testCase _: Testing.Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    let scope = ProcessScope()
    do {
      try await ProcessScope.$current.withValue(scope) { try await function() }
    } catch {
      await scope.end()
      throw error
    }
    await scope.end()
  }
}

extension Trait where Self == ProcessTrait {
  /// Ends the processes that a test started, and removes the state directories of its `Hearth` values, when it ends.
  static var processes: Self { Self() }
}
