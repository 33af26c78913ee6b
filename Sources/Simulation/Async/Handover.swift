internal import Synchronization

/// Runs work on another thread with the task-local values of the current task, so that expectations in a simulation are
/// attributed to the test that runs it.
final class Handover: TaskExecutor {
  private struct State {
    var job: UnownedJob?
    var work: Confined<() -> Void>?
  }

  private let state = Mutex(State())

  /// To be called in the task whose task-local values are passed on.
  init() {
    _ = Task(executorPreference: self) { [self] in
      // Runs on the thread that called `callAsFunction`, after the work was set.
      state.withLock { $0.work.take() }?.value()
    }
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    state.withLock { $0.job = job }
  }

  /// Performs the work on this thread with those values. To be called once.
  func callAsFunction(_ work: @escaping () -> Void) {
    let job = state.withLock { state in
      state.work = Confined(work)
      return state.job.take()
    }
    job?.runSynchronously(on: asUnownedTaskExecutor())
  }
}
