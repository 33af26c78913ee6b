/// Where tasks run that outlive the scope that starts them.
public enum Tasks {
  /// Nil: on Swift's own threads. A simulation sets it for everything that runs in it, so that nothing escapes from its time;
  /// tasks hand it on to those that they start.
  @TaskLocal public static var executor: (any TaskExecutor)?

  /// Starts a task; to be used wherever `Task { … }` would be.
  @discardableResult
  public static func start<Success: Sendable>(
    _ body: sending @escaping () async -> Success
  ) -> Task<Success, Never> {
    Task(executorPreference: executor, operation: body)
  }
}
