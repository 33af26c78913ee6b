/// Starts tasks that outlive their scope.
public enum Tasks {
  /// The executor of started tasks; nil for Swift's own threads. A simulation sets it for all code that it runs, so
  /// that no task escapes virtual time; child tasks inherit it.
  @TaskLocal static var executor: (any TaskExecutor)?

  /// Starts a task; use it instead of `Task { … }`.
  @discardableResult
  public static func start<Success: Sendable>(
    _ body: sending @escaping () async -> Success
  ) -> Task<Success, Never> {
    Task(executorPreference: executor, operation: body)
  }
}
